//! How many switches and links a fabric takes.
//!
//! The rules reproduce published reference designs (NVIDIA DGX SuperPOD H100 and B300, three-tier Clos builds); the
//! tests hold the tables. Ports are counted at the speed of the endpoints.

/// Size of a two-tier (leaf-spine) fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoTier {
    /// Leaf switches.
    pub leaves: u64,
    /// Spine switches.
    pub spines: u64,
    /// Ports of a leaf towards endpoints.
    pub down: u64,
    /// Ports of a leaf towards spines.
    pub up: u64,
    /// Links between a leaf and each spine.
    pub parallel: u64,
}

impl TwoTier {
    /// Links between leaves and spines.
    #[must_use]
    pub fn uplinks(&self) -> u64 {
        self.leaves * self.up
    }
}

/// Size of a three-tier fat tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreeTier {
    /// Pods of `radix / 2` leaves and as many spines.
    pub pods: u64,
    /// Leaf switches.
    pub leaves: u64,
    /// Spine switches.
    pub spines: u64,
    /// Core switches.
    pub cores: u64,
    /// Core switches that a spine connects to.
    pub cores_per_spine: u64,
    /// Links between a spine and each of its cores.
    pub parallel: u64,
}

impl ThreeTier {
    /// Links between spines and cores.
    #[must_use]
    pub fn core_links(&self) -> u64 {
        self.spines * self.cores_per_spine * self.parallel
    }
}

/// The smallest divisor of `n` that is at least `low`, so that bundles to all are equal; `n` if there is none.
#[must_use]
pub fn divisor_at_least(n: u64, low: u64) -> u64 {
    (low.max(1)..n).find(|d| n.is_multiple_of(*d)).unwrap_or(n)
}

/// Ports of a leaf as (down, up) for an oversubscription of `over_milli / 1000` to 1.
#[must_use]
pub fn leaf_split(radix: u64, over_milli: u64) -> (u64, u64) {
    let up = radix * 1000 / (1000 + over_milli);
    (radix - up.min(radix), up)
}

/// Sizes a two-tier fabric of `endpoints` with switches of `radix` ports.
///
/// `over_milli` is the oversubscription times 1000; `down` sets the endpoint ports of a leaf instead of the split that
/// fills the switch (a depopulated leaf); the number of leaves is a multiple of `rails`.
///
/// # Errors
/// What does not fit.
pub fn two_tier(endpoints: u64, radix: u64, over_milli: u64, down: Option<u64>, rails: u64) -> Result<TwoTier, String> {
    let (split_down, split_up) = leaf_split(radix, over_milli);
    let down = down.unwrap_or(split_down);
    let up = if down == split_down { split_up } else { (down * 1000).div_ceil(over_milli.max(1)) };
    if down == 0 || up == 0 || down + up > radix {
        return Err(format!("a leaf of {radix} ports cannot have {down} ports down and {up} up"));
    }
    let rails = rails.max(1);
    let leaves = endpoints.div_ceil(down).next_multiple_of(rails);
    if leaves > radix {
        return Err(format!(
            "{endpoints} endpoints exceed the {} that two tiers of {radix}-port switches reach with {down} endpoints a leaf; use kind = \"fat-tree\" or a larger radix",
            radix / rails * rails * down
        ));
    }
    let spines = divisor_at_least(up, (leaves * up).div_ceil(radix));
    Ok(TwoTier { leaves, spines, down, up, parallel: up / spines })
}

/// Sizes a non-blocking three-tier fat tree; a partial one is rounded up to whole pods.
///
/// # Errors
/// What does not fit.
pub fn three_tier(endpoints: u64, radix: u64) -> Result<ThreeTier, String> {
    if radix < 2 || !radix.is_multiple_of(2) {
        return Err(format!("a fat tree needs switches with an even number of ports, not {radix}"));
    }
    let half = radix / 2;
    let pods = endpoints.div_ceil(half * half).max(1);
    if pods > radix {
        return Err(format!("{endpoints} endpoints exceed the {} of a fat tree of {radix}-port switches", radix * half * half));
    }
    let leaves = pods * half;
    if pods == 1 {
        return Ok(ThreeTier { pods, leaves, spines: half, cores: 0, cores_per_spine: 0, parallel: 0 });
    }
    let cores_per_spine = divisor_at_least(half, (pods * half).div_ceil(radix));
    Ok(ThreeTier { pods, leaves, spines: leaves, cores: cores_per_spine * half, cores_per_spine, parallel: half / cores_per_spine })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tiers_as_published() {
        // endpoints, radix, leaves, spines, uplinks: NVIDIA DGX SuperPOD H100 (radix 64) and B300 (144), and arithmetic (128).
        for (n, radix, leaves, spines, links) in [
            (256, 64, 8, 4, 256),
            (512, 64, 16, 8, 512),
            (768, 64, 24, 16, 768),
            (1024, 64, 32, 16, 1024),
            (1024, 128, 16, 8, 1024),
            (2048, 64, 64, 32, 2048),
            (4096, 128, 64, 32, 4096),
            (8192, 128, 128, 64, 8192),
            (2304, 144, 32, 18, 2304),
            (4608, 144, 64, 36, 4608),
            (10_368, 144, 144, 72, 10_368),
        ] {
            let size = two_tier(n, radix, 1000, None, 1).expect("fits");
            assert_eq!((size.leaves, size.spines, size.uplinks()), (leaves, spines, links), "{n} at radix {radix}");
        }
        let depopulated = two_tier(1024, 64, 2000, Some(32), 1).expect("fits");
        assert_eq!((depopulated.leaves, depopulated.spines, depopulated.uplinks()), (32, 8, 512));
        assert!(two_tier(2049, 64, 1000, None, 1).expect_err("too many").contains("2048"));
    }

    #[test]
    fn rail_only_is_one_fabric_a_rail() {
        for (n, radix, switches) in [(1024, 32, 96), (4096, 64, 192), (16_384, 128, 384)] {
            let rail = two_tier(n / 8, radix, 1000, None, 1).expect("fits");
            assert_eq!(8 * (rail.leaves + rail.spines), switches);
            assert_eq!(8 * rail.uplinks(), n);
        }
    }

    #[test]
    fn three_tiers_as_published() {
        for (n, radix, leaves, cores) in [
            (1024, 32, 64, 32),
            (4096, 64, 128, 64),
            (8192, 64, 256, 128),
            (16_384, 64, 512, 256),
            (16_384, 128, 256, 128),
            (131_072, 128, 2048, 1024),
            (65_536, 64, 2048, 1024),
        ] {
            let size = three_tier(n, radix).expect("fits");
            assert_eq!((size.leaves, size.spines, size.cores, size.core_links()), (leaves, leaves, cores, n), "{n} at radix {radix}");
        }
        assert!(three_tier(65_537, 64).is_err());
        assert!(three_tier(64, 7).is_err());
        assert_eq!(three_tier(1000, 64).map(|s| (s.pods, s.cores)), Ok((1, 0)));
    }
}
