//! Traffic generators: pairs, sizes and times from a seed.

use crate::units::SHARE_ONE;
use crate::workload::rng::Rng;

/// A flow before it gets an id: endpoint numbers (not nodes), size and start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Position of the source among the endpoints.
    pub src: u64,
    /// Position of the destination.
    pub dst: u64,
    /// Message size (bytes).
    pub size_bytes: u64,
    /// Start; with `after`, the delay behind that flow's reception (ps).
    pub start_ps: u64,
    /// Position in the list of the flow that must be received first.
    pub after: Option<usize>,
}

/// `senders` to one receiver, `repeat` times every `interval_ps`.
///
/// Senders are the endpoints behind the receiver, `stride` apart, or drawn at random if `stride` is 0.
///
/// # Errors
/// If there are not that many endpoints.
pub fn incast(
    endpoints: u64,
    receiver: u64,
    senders: u64,
    stride: u64,
    size_bytes: u64,
    start_ps: u64,
    seed: u64,
) -> Result<Vec<Pair>, String> {
    if receiver >= endpoints || senders >= endpoints {
        return Err(format!("{senders} senders to endpoint {receiver} need more than the {endpoints} endpoints there are"));
    }
    let mut others: Vec<u64> = if stride == 0 {
        let mut all: Vec<u64> = (0..endpoints).filter(|e| *e != receiver).collect();
        Rng::new(seed, 1).shuffle(&mut all);
        all
    } else {
        let mut seen = std::collections::BTreeSet::from([receiver]);
        let mut list = Vec::new();
        for round in 0..stride {
            let mut at = (receiver + stride + round) % endpoints;
            while seen.insert(at) {
                list.push(at);
                at = (at + stride) % endpoints;
            }
        }
        list.extend((0..endpoints).filter(|e| !seen.contains(e)));
        list
    };
    others.truncate(usize::try_from(senders).unwrap_or(usize::MAX));
    Ok(others.into_iter().map(|src| Pair { src, dst: receiver, size_bytes, start_ps, after: None }).collect())
}

/// Every endpoint sends to one other: `shift` places on, or a random derangement if `shift` is 0.
///
/// # Errors
/// If there are fewer than two endpoints or the shift maps endpoints to themselves.
pub fn permutation(endpoints: u64, shift: u64, size_bytes: u64, start_ps: u64, seed: u64) -> Result<Vec<Pair>, String> {
    if endpoints < 2 || (shift != 0 && shift.is_multiple_of(endpoints)) {
        return Err(format!("a permutation of {endpoints} endpoints with a shift of {shift} sends endpoints to themselves"));
    }
    let targets: Vec<u64> =
        if shift == 0 { derangement(endpoints, seed) } else { (0..endpoints).map(|e| (e + shift % endpoints) % endpoints).collect() };
    Ok((0..endpoints).zip(targets).map(|(src, dst)| Pair { src, dst, size_bytes, start_ps, after: None }).collect())
}

/// A random cyclic order turned into a derangement of one cycle (Sattolo).
fn derangement(n: u64, seed: u64) -> Vec<u64> {
    let mut rng = Rng::new(seed, 2);
    let mut items: Vec<u64> = (0..n).collect();
    for i in (1..items.len()).rev() {
        let j = usize::try_from(rng.below(u64::try_from(i).unwrap_or(1))).unwrap_or(0);
        items.swap(i, j);
    }
    items
}

/// Every endpoint of a group sends to every other of its group, groups being `group` consecutive endpoints `stride` apart.
///
/// # Errors
/// If the groups do not divide the endpoints.
pub fn all_to_all(endpoints: u64, group: u64, stride: u64, size_bytes: u64, start_ps: u64) -> Result<Vec<Pair>, String> {
    let block = group.checked_mul(stride).filter(|b| *b > 0).ok_or("group and stride must be at least 1")?;
    if group < 2 || !endpoints.is_multiple_of(block) {
        return Err(format!("groups of {group} endpoints {stride} apart do not divide {endpoints} endpoints"));
    }
    let mut pairs = Vec::new();
    for first in (0..endpoints).filter(|e| e % block < stride) {
        for i in 0..group {
            for step in 1..group {
                let to = (i + step) % group;
                pairs.push(Pair { src: first + i * stride, dst: first + to * stride, size_bytes, start_ps, after: None });
            }
        }
    }
    Ok(pairs)
}

/// All-reduce in a ring, in every group: `2 (group - 1)` steps, in each of which every member sends the next one its share of
/// the buffer, as soon as it has received that of the step before.
///
/// # Errors
/// If the groups do not divide the endpoints.
pub fn ring(endpoints: u64, group: u64, stride: u64, size_bytes: u64, start_ps: u64) -> Result<Vec<Pair>, String> {
    let block = group.checked_mul(stride).filter(|b| *b > 0).ok_or("group and stride must be at least 1")?;
    if group < 2 || !endpoints.is_multiple_of(block) {
        return Err(format!("rings of {group} endpoints {stride} apart do not divide {endpoints} endpoints"));
    }
    let share = size_bytes.div_ceil(group).max(1);
    let mut pairs: Vec<Pair> = Vec::new();
    for first in (0..endpoints).filter(|e| e % block < stride) {
        let mut last_step = 0;
        for step in 0..2 * (group - 1) {
            let base = pairs.len();
            for i in 0..group {
                let before = usize::try_from((i + group - 1) % group).unwrap_or(0);
                pairs.push(Pair {
                    src: first + i * stride,
                    dst: first + (i + 1) % group * stride,
                    size_bytes: share,
                    start_ps: if step == 0 { start_ps } else { 0 },
                    after: (step > 0).then_some(last_step + before),
                });
            }
            last_step = base;
        }
    }
    Ok(pairs)
}

/// Distribution of message sizes: points (size, cumulative share), linear in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    points: Vec<(u64, u64)>,
}

impl Sizes {
    /// From points in ascending order; the last share must be 1.
    ///
    /// # Errors
    /// What is wrong with the points.
    pub fn new(points: Vec<(u64, u64)>) -> Result<Self, String> {
        if points.is_empty() || points.windows(2).any(|w| w[0].0 > w[1].0 || w[0].1 > w[1].1) {
            return Err("sizes and shares must ascend".to_owned());
        }
        if points.last().map(|p| p.1) != Some(SHARE_ONE) {
            return Err("the last share must be 100 %".to_owned());
        }
        Ok(Self { points })
    }

    /// All messages of one size.
    #[must_use]
    pub fn fixed(size_bytes: u64) -> Self {
        Self { points: vec![(size_bytes, SHARE_ONE)] }
    }

    /// The size at a share, at least 1 byte.
    #[must_use]
    pub fn at(&self, share: u64) -> u64 {
        let (mut low_size, mut low_share) = (self.points[0].0, self.points[0].1);
        for &(size, upto) in &self.points {
            if share <= upto {
                if upto <= low_share {
                    return size.max(1);
                }
                let part = u128::from(size - low_size) * u128::from(share - low_share) / u128::from(upto - low_share);
                return (low_size + u64::try_from(part).unwrap_or(0)).max(1);
            }
            (low_size, low_share) = (size, upto);
        }
        low_size.max(1)
    }

    /// Mean size (bytes), rounded down.
    #[must_use]
    pub fn mean(&self) -> u64 {
        let (mut low_size, mut low_share) = (self.points[0].0, 0);
        let mut twice = 0_u128;
        for &(size, upto) in &self.points {
            twice += u128::from(upto - low_share) * (u128::from(size) + u128::from(low_size));
            (low_size, low_share) = (size, upto);
        }
        u64::try_from(twice / 2 / u128::from(SHARE_ONE)).unwrap_or(u64::MAX).max(1)
    }
}

/// Poisson arrivals between random pairs.
#[derive(Debug, Clone)]
pub struct Poisson {
    /// Number of endpoints.
    pub endpoints: u64,
    /// Sizes.
    pub sizes: Sizes,
    /// Offered load, a share of all endpoints' link rate, headers not counted.
    pub load: u64,
    /// Rate of an endpoint (kb/s).
    pub rate_kbps: u64,
    /// First instant (ps).
    pub start_ps: u64,
    /// Length of the arrivals (ps).
    pub duration_ps: u64,
    /// Seed.
    pub seed: u64,
}

/// Most flows that a generator makes.
pub const MOST_FLOWS: usize = 20_000_000;

impl Poisson {
    /// The flows, in order of arrival.
    ///
    /// # Errors
    /// If there are fewer than two endpoints or far too many flows.
    pub fn flows(&self) -> Result<Vec<Pair>, String> {
        if self.endpoints < 2 {
            return Err("random pairs need at least two endpoints".to_owned());
        }
        // Mean time between arrivals in the whole fabric, 2^-16 ps: mean bits / (load * rate * endpoints).
        let bits = u128::from(self.sizes.mean()) * 8 * u128::from(SHARE_ONE);
        let rate = u128::from(self.rate_kbps) * u128::from(self.endpoints) * u128::from(self.load);
        let mean_q16 = (bits << 16).saturating_mul(1_000_000) / rate.max(1) * 1000;
        let mut rng = Rng::new(self.seed, 3);
        let (mut at_q16, mut flows) = (0_u128, Vec::new());
        loop {
            at_q16 += (mean_q16 * u128::from(rng.exponential_q32())) >> 32;
            let Some(after) = u64::try_from(at_q16 >> 16).ok().filter(|t| *t < self.duration_ps) else { break };
            let src = rng.below(self.endpoints);
            let dst = (src + 1 + rng.below(self.endpoints - 1)) % self.endpoints;
            let size_bytes = self.sizes.at(rng.below(SHARE_ONE) + 1);
            flows.push(Pair { src, dst, size_bytes, start_ps: self.start_ps.saturating_add(after), after: None });
            if flows.len() > MOST_FLOWS {
                return Err(format!("makes more than {MOST_FLOWS} flows; shorten `duration` or lower `load`"));
            }
        }
        Ok(flows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incasts_have_distinct_senders() {
        for stride in [0, 1, 3, 4, 8] {
            let pairs = incast(12, 5, 11, stride, 10, 0, 1).expect("fits");
            let mut sources: Vec<u64> = pairs.iter().map(|p| p.src).collect();
            sources.sort_unstable();
            assert_eq!(sources, (0..12).filter(|e| *e != 5).collect::<Vec<_>>(), "stride {stride}");
        }
        assert!(incast(4, 0, 4, 1, 1, 0, 0).is_err());
    }

    #[test]
    fn permutations_have_no_fixed_point() {
        for seed in 0..20 {
            let pairs = permutation(9, 0, 1, 0, seed).expect("fits");
            assert!(pairs.iter().all(|p| p.src != p.dst));
            let mut to: Vec<u64> = pairs.iter().map(|p| p.dst).collect();
            to.sort_unstable();
            assert_eq!(to, (0..9).collect::<Vec<_>>());
        }
        assert!(permutation(8, 8, 1, 0, 0).is_err());
    }

    #[test]
    fn all_to_all_within_groups() {
        let pairs = all_to_all(16, 2, 8, 1, 0).expect("fits");
        assert_eq!(pairs.len(), 16);
        assert!(pairs.iter().all(|p| p.src.abs_diff(p.dst) == 8));
        assert!(all_to_all(16, 3, 1, 1, 0).is_err());
    }

    #[test]
    fn ring_steps_wait_for_the_neighbour() {
        let pairs = ring(8, 4, 2, 4000, 7).expect("divides");
        assert_eq!(pairs.len(), 2 * 4 * 6);
        for pair in &pairs {
            assert_eq!(pair.size_bytes, 1000);
            match pair.after {
                Some(before) => assert_eq!((pairs[before].dst, pair.start_ps), (pair.src, 0)),
                None => assert_eq!(pair.start_ps, 7),
            }
        }
        // The dependencies of the last flow lead through all steps.
        let mut depth = 0;
        let mut at = pairs.last().and_then(|p| p.after);
        while let Some(before) = at {
            depth += 1;
            at = pairs[before].after;
        }
        assert_eq!(depth, 5);
    }

    #[test]
    fn poisson_offers_its_load() {
        let sizes = Sizes::new(vec![(1000, 0), (10_000, SHARE_ONE / 2), (1_000_000, SHARE_ONE)]).expect("ascends");
        assert_eq!(sizes.mean(), 255_250);
        assert_eq!((sizes.at(1), sizes.at(SHARE_ONE / 2), sizes.at(SHARE_ONE)), (1000, 10_000, 1_000_000));
        let poisson = Poisson {
            endpoints: 16,
            sizes,
            load: SHARE_ONE / 2,
            rate_kbps: 100_000_000,
            start_ps: 5,
            duration_ps: 100_000_000_000,
            seed: 1,
        };
        let flows = poisson.flows().expect("few");
        let bytes: u64 = flows.iter().map(|f| f.size_bytes).sum();
        // 16 endpoints at half of 12.5 GB/s for 0.1 s.
        assert!(bytes.abs_diff(10_000_000_000) < 200_000_000, "{bytes}");
        assert!(flows.is_sorted_by_key(|f| f.start_ps));
    }
}
