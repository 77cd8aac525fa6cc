//! Order statistics and ratios on integers.

use crate::metrics::MILLION;

/// The value at a rank of a sorted list, by the nearest-rank method: the smallest value that at least
/// `per_mille` thousandths of all values do not exceed. `None` of an empty list.
#[must_use]
pub fn nearest_rank(sorted: &[u64], per_mille: usize) -> Option<u64> {
    let rank = (sorted.len() * per_mille).div_ceil(1000).max(1);
    sorted.get(rank.min(sorted.len()).checked_sub(1)?).copied()
}

/// `numerator * scale / denominator`, rounded half up; `None` of a zero denominator or if it needs over 64 bits.
#[must_use]
pub fn scaled_ratio(numerator: u128, denominator: u128, scale: u64) -> Option<u64> {
    let scaled = numerator.checked_mul(u128::from(scale))?.checked_add(denominator / 2)?;
    u64::try_from(scaled.checked_div(denominator)?).ok()
}

/// Jain's fairness index in millionths, `(sum x)^2 / (n sum x^2)`; `None` if all values are zero or there are none.
#[must_use]
pub fn jain_millionths(values: &[u64]) -> Option<u64> {
    // Their sum keeps 53 bits, so that its square, scaled by a million, stays within 128.
    let largest = *values.iter().max()?;
    let bits = 64 - largest.leading_zeros();
    let count_bits = usize::BITS - values.len().leading_zeros();
    let shift = (bits + count_bits).saturating_sub(53);
    let sum: u128 = values.iter().map(|v| u128::from(v >> shift)).sum();
    let squares: u128 = values.iter().map(|v| u128::from(v >> shift).pow(2)).sum();
    let n = u128::try_from(values.len()).ok()?;
    scaled_ratio(sum * sum, n * squares, MILLION)
}

/// Order statistics of a set of integers; the unit is that of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Mean, rounded half up.
    pub mean: u64,
    /// Smallest.
    pub min: u64,
    /// 0.1th percentile.
    pub p001: u64,
    /// 1st percentile.
    pub p01: u64,
    /// 5th percentile.
    pub p05: u64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p999: u64,
    /// Largest.
    pub max: u64,
}

impl Distribution {
    /// Statistics of these values in any order; `None` if there are none.
    #[must_use]
    pub fn of(mut values: Vec<u64>) -> Option<Self> {
        values.sort_unstable();
        let rank = |per_mille| nearest_rank(&values, per_mille);
        let sum: u128 = values.iter().map(|v| u128::from(*v)).sum();
        let count = u64::try_from(values.len()).ok()?;
        Some(Self {
            count,
            mean: scaled_ratio(sum, u128::from(count), 1)?,
            min: *values.first()?,
            p001: rank(1)?,
            p01: rank(10)?,
            p05: rank(50)?,
            p50: rank(500)?,
            p90: rank(900)?,
            p95: rank(950)?,
            p99: rank(990)?,
            p999: rank(999)?,
            max: *values.last()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank_takes_the_smallest_value_that_covers_the_share() {
        let hundred: Vec<u64> = (1..=100).collect();
        let expected = [(0, 1), (1, 1), (10, 1), (11, 2), (500, 50), (501, 51), (950, 95), (990, 99), (991, 100), (999, 100)];
        for (per_mille, value) in expected {
            assert_eq!(nearest_rank(&hundred, per_mille), Some(value), "{per_mille} per mille");
        }
        assert_eq!(nearest_rank(&[7], 1), Some(7));
        assert_eq!(nearest_rank(&[7], 1000), Some(7));
        assert_eq!(nearest_rank(&[], 500), None);
    }

    #[test]
    fn the_tail_of_a_thousand_values_is_not_the_maximum() {
        let d = Distribution::of((1..=1000).rev().collect()).expect("not empty");
        assert_eq!((d.p001, d.p50, d.p99, d.p999, d.max), (1, 500, 990, 999, 1000));
        assert_eq!((d.count, d.min, d.mean), (1000, 1, 501));
    }

    #[test]
    fn no_values_have_no_distribution() {
        assert_eq!(Distribution::of(Vec::new()), None);
    }

    #[test]
    fn ratios_round_half_up() {
        assert_eq!(scaled_ratio(1, 3, 10), Some(3));
        assert_eq!(scaled_ratio(1, 2, 1), Some(1));
        assert_eq!(scaled_ratio(2, 3, 1_000_000), Some(666_667));
        assert_eq!(scaled_ratio(1, 0, 1), None);
        assert_eq!(scaled_ratio(u128::MAX, 1, 2), None);
    }

    #[test]
    fn jain_is_one_for_equals_and_one_over_n_for_one_taker() {
        assert_eq!(jain_millionths(&[5, 5, 5]), Some(1_000_000));
        assert_eq!(jain_millionths(&[400_000_000, 0, 0, 0]), Some(250_000));
        assert_eq!(jain_millionths(&[u64::MAX, u64::MAX]), Some(1_000_000));
        assert_eq!(jain_millionths(&[0, 0]), None);
        assert_eq!(jain_millionths(&[]), None);
    }
}
