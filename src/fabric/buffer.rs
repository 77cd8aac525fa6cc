//! Switch buffers: headroom, thresholds, marking.

use crate::case::{EcnSpec, PortSpec};
use crate::fabric::PortRules;
use crate::units::{SHARE_ONE, Unit, bytes_in};

/// Marking thresholds, and the rate they are meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marking {
    /// No marks up to here (bytes).
    pub kmin_bytes: u64,
    /// Every packet is marked above here (bytes).
    pub kmax_bytes: u64,
    /// Probability just below `kmax_bytes`, a share.
    pub pmax: u64,
    /// Thresholds grow with the port's rate and are those given at this rate (kb/s); `None` = the same at every port.
    pub at_rate_kbps: Option<u64>,
}

impl Marking {
    /// The marking of a port with this rate.
    ///
    /// # Errors
    /// If a threshold does not fit.
    pub fn at(&self, rate_kbps: u64) -> Result<EcnSpec, String> {
        let scale = |bytes: u64| match self.at_rate_kbps {
            Some(base) if base > 0 => u64::try_from(u128::from(bytes) * u128::from(rate_kbps) / u128::from(base)).unwrap_or(u64::MAX),
            _ => bytes,
        };
        ecn_spec(scale(self.kmin_bytes), scale(self.kmax_bytes), self.pmax)
    }
}

/// Marking with probability `pmax * (q - kmin) / (kmax - kmin)` as the model's mantissa and shift.
///
/// # Errors
/// If `kmin > kmax` or a threshold does not fit 32 bits.
pub fn ecn_spec(kmin_bytes: u64, kmax_bytes: u64, pmax: u64) -> Result<EcnSpec, String> {
    if kmin_bytes > kmax_bytes {
        return Err(format!("kmin is {} and above kmax, {}", Unit::Bytes.format(kmin_bytes), Unit::Bytes.format(kmax_bytes)));
    }
    let narrow = |v: u64| u32::try_from(v).map_err(|_| format!("a marking threshold of {v} bytes does not fit 32 bits"));
    let (kmin, kmax) = (narrow(kmin_bytes)?, narrow(kmax_bytes)?);
    let span = kmax_bytes - kmin_bytes;
    if span == 0 {
        return Ok(EcnSpec { kmin_bytes: kmin, kmax_bytes: kmax, slope: 0, slope_shift: 0 });
    }
    // pmax * 2^32 / span by long division, a bit at a time until the mantissa is full.
    let bottom = u128::from(SHARE_ONE) * u128::from(span);
    let top = u128::from(pmax.min(SHARE_ONE)) << 32;
    let (mut slope, mut rest, mut shift) = (top / bottom, top % bottom, 0);
    while shift < 63 && slope < 1 << 31 {
        rest *= 2;
        slope = slope * 2 + u128::from(rest >= bottom);
        if rest >= bottom {
            rest -= bottom;
        }
        shift += 1;
    }
    Ok(EcnSpec { kmin_bytes: kmin, kmax_bytes: kmax, slope: u32::try_from(slope).unwrap_or(u32::MAX), slope_shift: shift })
}

/// Time a receiver may take to stop after an XOFF (ps): the standard's quanta by speed (as tabulated by SONiC), 512 bit
/// times each. Speeds between two entries take those of the faster one.
#[must_use]
pub fn pfc_response_ps(rate_kbps: u64) -> u64 {
    let table = [(10, 67), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905)];
    let quanta = table.iter().find(|(gbps, _)| rate_kbps <= gbps * 1_000_000).map_or(905, |(_, quanta)| *quanta);
    (quanta * 512 * 1_000_000_000_u64).checked_div(rate_kbps).unwrap_or(0)
}

/// Headroom of one lossless class for what comes in through `port` from `incoming` (bytes), a whole number of KiB.
///
/// After the packet that crosses the threshold, the XOFF waits for a frame in transmission, is sent, travels and takes effect
/// (`pfc_delay_ps`); the peer finishes a frame; what is on the way (`delay_ps`) still arrives. This is the formula SONiC uses for
/// NVIDIA switches (lossless MTU, port MTU, cable both ways, PHY, 0.8 KiB of MAC and PHY, the peer's response), for packets that
/// fill their buffer cells, plus the pipeline latency and the crossing packet that this model also counts.
#[must_use]
pub fn headroom_bytes(port: &PortSpec, incoming: &PortSpec, rules: &PortRules) -> u64 {
    const MAC_PHY_BYTES: u64 = 819;
    let sending =
        |bytes: u64| u64::try_from((u128::from(bytes + rules.gap_bytes) * u128::from(port.byte_time_q16)) >> 16).unwrap_or(u64::MAX);
    let loop_ps = [sending(rules.frame_bytes), sending(rules.pfc_bytes), u64::from(port.pfc_delay_ps), u64::from(incoming.delay_ps)];
    let in_flight = bytes_in(incoming.rate_kbps, loop_ps.iter().fold(0, |a, b| a.saturating_add(*b)));
    in_flight.saturating_add(2 * rules.frame_bytes + MAC_PHY_BYTES).next_multiple_of(1024)
}

/// Headroom of HPCC ns-3 (bytes): three times what the link holds one way.
#[must_use]
pub fn three_delays_bytes(rate_kbps: u64, propagation_ps: u64) -> u64 {
    u64::try_from(u128::from(rate_kbps) * u128::from(propagation_ps) / 8_000_000_000).unwrap_or(u64::MAX).saturating_mul(3)
}

/// Alpha as in HPCC ns-3: doubled for each doubling of the rate over that of the first endpoint, up to 1.
#[must_use]
pub fn alpha_by_rate(alpha_q7: u32, rate_kbps: u64, first_rate_kbps: u64) -> u32 {
    let (mut alpha, mut rate) = (alpha_q7, rate_kbps);
    while rate > first_rate_kbps && alpha < 128 {
        alpha *= 2;
        rate /= 2;
    }
    alpha
}

/// Seed of the ECMP hash of switch `node`.
#[must_use]
pub fn hash_seed(seed: u64, node: usize) -> u32 {
    let word = crate::workload::rng::mix(seed ^ 0x5157_4954_4348, u64::try_from(node).unwrap_or(u64::MAX));
    u32::try_from(word >> 32).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{Channel, Headroom, build};

    #[test]
    fn marking_is_exact() {
        let ecn = ecn_spec(400_000, 1_600_000, SHARE_ONE / 5).expect("fits");
        for q in [400_001_u64, 700_000, 1_000_000, 1_600_000] {
            let limit = ((q - 400_000) * u64::from(ecn.slope)) >> ecn.slope_shift;
            let ideal = (u128::from(q - 400_000) << 32) / 5 / 1_200_000;
            assert!(ideal.abs_diff(u128::from(limit)) <= 1, "{q}: {limit} {ideal}");
        }
        assert_eq!(ecn_spec(5, 5, SHARE_ONE).map(|e| e.slope), Ok(0));
        assert!(ecn_spec(6, 5, 0).is_err());
        let steep = ecn_spec(0, 1, SHARE_ONE).expect("fits");
        assert_eq!((steep.slope, steep.slope_shift), (u32::MAX, 0));
        assert_eq!(ecn_spec(0, 1000, 0).map(|e| e.slope), Ok(0));
    }

    #[test]
    fn response_times_of_the_standard() {
        assert_eq!(pfc_response_ps(100_000_000), 2_017_280);
        assert_eq!(pfc_response_ps(400_000_000), 1_158_400);
        assert_eq!(pfc_response_ps(800_000_000), 579_200);
    }

    #[test]
    fn headroom_follows_the_published_formula() {
        // SONiC's formula for NVIDIA switches, large packets of 9100 B [KiB]: rate, then cables of 5, 40, 100 and 300 m.
        let table = [(100, [45, 49, 57, 82]), (200, [49, 58, 73, 123]), (400, [79, 97, 127, 227]), (800, [82, 117, 177, 377])];
        for (gbps, row) in table {
            for (metres, kib) in [5, 40, 100, 300].into_iter().zip(row) {
                let channel = Channel { rate_kbps: gbps * 1_000_000, propagation_ps: metres * 5000, loss_q32: 0, drop_every: 0 };
                let tiers = build::Tiers { host: channel, up: channel, core: channel };
                let wiring = crate::fabric::wire(&build::single(2, &tiers), &rules(9100)).expect("fits");
                let port = &wiring.ports[2];
                // Without the crossing packet and the pause frame itself, which the formula leaves out.
                let found = u64::from(port.headroom_bytes) - 9100 - 64;
                assert!(found.abs_diff(kib * 1024) < 1024 + found / 50, "{gbps}G {metres} m: {found} B, {kib} KiB");
            }
        }
    }

    #[test]
    fn pools_are_what_is_left() {
        let channel = Channel { rate_kbps: 100_000_000, propagation_ps: 1_000_000, loss_q32: 0, drop_every: 0 };
        let graph = build::single(4, &build::Tiers { host: channel, up: channel, core: channel });
        let mut rules = rules(1000);
        rules.headroom = Headroom::Bytes(10_000);
        rules.reserve_bytes = 100;
        rules.n_classes = 2;
        let wiring = crate::fabric::wire(&graph, &rules).expect("fits");
        assert_eq!(wiring.nodes[4].pool_bytes, 32_000_000 - 4 * (10_000 + 200));
        assert_eq!(wiring.port_names[7], "switch0/p3");
        rules.buffer_bytes = 40_800;
        assert!(crate::fabric::wire(&graph, &rules).expect_err("nothing left").message.contains("nothing is left"));
    }

    fn rules(frame_bytes: u64) -> PortRules {
        PortRules {
            phy_ps: 0,
            switch_latency_ps: 0,
            nic_latency_ps: 0,
            pfc_response_ps: None,
            frame_bytes,
            gap_bytes: 0,
            pfc_bytes: 64,
            reserve_bytes: 0,
            headroom: Headroom::Auto,
            xon_gap_bytes: 0,
            alpha_q7: 16,
            alpha_lossy_q7: 128,
            alpha_by_rate: false,
            ecn_by_rate: Vec::new(),
            ecn: Marking { kmin_bytes: 0, kmax_bytes: 0, pmax: 0, at_rate_kbps: None },
            buffer_bytes: 32_000_000,
            n_classes: 1,
            n_lossless: 1,
            cut_through: false,
            hash_seed: 0,
        }
    }

    #[test]
    fn headroom_of_hpcc() {
        assert_eq!(three_delays_bytes(100_000_000, 1_000_000), 37_500);
        assert_eq!(three_delays_bytes(400_000_000, 1_000_000), 150_000);
    }

    #[test]
    fn alpha_of_hpcc() {
        assert_eq!(alpha_by_rate(16, 100_000_000, 100_000_000), 16);
        assert_eq!(alpha_by_rate(16, 400_000_000, 100_000_000), 64);
        assert_eq!(alpha_by_rate(16, 3_200_000_000, 100_000_000), 128);
    }
}
