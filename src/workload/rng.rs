//! Reproducible random numbers: SplitMix64 by counter, so a draw depends on its seed and number only.

/// The `n`-th word of the stream `seed`.
#[must_use]
pub fn mix(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A stream of draws.
#[derive(Debug, Clone)]
pub struct Rng {
    seed: u64,
    next: u64,
}

impl Rng {
    /// The stream of a seed and a purpose.
    #[must_use]
    pub fn new(seed: u64, purpose: u64) -> Self {
        Self { seed: mix(seed, purpose ^ 0xFAB5_1C00), next: 0 }
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.next += 1;
        mix(self.seed, self.next)
    }

    /// A number below `n` (0 if `n` is 0), by multiplication.
    pub fn below(&mut self, n: u64) -> u64 {
        u64::try_from((u128::from(self.word()) * u128::from(n)) >> 64).unwrap_or(0)
    }

    /// Puts items in random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(u64::try_from(i).unwrap_or(0) + 1);
            items.swap(i, usize::try_from(j).unwrap_or(0));
        }
    }

    /// An exponentially distributed number of mean 1 (2^-32), by von Neumann's comparison of uniform draws, which needs
    /// no logarithm and so no floating point. At most 64 means.
    pub fn exponential_q32(&mut self) -> u64 {
        for whole in 0..64_u64 {
            let first = self.word() >> 32;
            let (mut last, mut run) = (first, 1_u32);
            loop {
                let next = self.word() >> 32;
                if next >= last {
                    break;
                }
                last = next;
                run += 1;
            }
            if run % 2 == 1 {
                return (whole << 32) + first;
            }
        }
        64 << 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_has_mean_and_variance_one() {
        let mut rng = Rng::new(1, 2);
        let n = 200_000_u64;
        let draws: Vec<u64> = (0..n).map(|_| rng.exponential_q32()).collect();
        let mean = draws.iter().map(|d| u128::from(*d)).sum::<u128>() / u128::from(n);
        let square = draws.iter().map(|d| (u128::from(*d) * u128::from(*d)) >> 32).sum::<u128>() / u128::from(n);
        assert!(mean.abs_diff(1 << 32) < 1 << 26, "mean {mean}");
        assert!(square.abs_diff(2 << 32) < 1 << 28, "square {square}");
        let above_two = draws.iter().filter(|d| **d > 2 << 32).count();
        assert!((26_000..28_200).contains(&above_two), "{above_two} of 200000, e^-2 is 27067");
    }

    #[test]
    fn shuffles_are_permutations_and_repeat() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..100).collect();
            Rng::new(seed, 0).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        let mut sorted = shuffled(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }
}
