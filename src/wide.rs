//! 64-bit arithmetic that the shaders build from 32-bit words and hardware has: called by the translated kernels in its place.

use crate::state::layout::{join, pair};

#[inline(always)]
pub fn add64(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    pair(join(a).wrapping_add(join(b)))
}

#[inline(always)]
pub fn add64u(a: [u32; 2], b: u32) -> [u32; 2] {
    pair(join(a).wrapping_add(u64::from(b)))
}

#[inline(always)]
pub fn sub64(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    pair(join(a).wrapping_sub(join(b)))
}

#[inline(always)]
pub fn lt64(a: [u32; 2], b: [u32; 2]) -> bool {
    join(a) < join(b)
}

#[inline(always)]
pub fn mul64(a: u32, b: u32) -> [u32; 2] {
    pair(u64::from(a) * u64::from(b))
}

#[inline(always)]
pub fn byte_time_of(rate: u32) -> [u32; 2] {
    pair(8 * 65_536 * 1_000_000_000 / u64::from(rate))
}

#[inline(always)]
pub fn ratio_q16(a: u32, b: u32) -> u32 {
    pair((u64::from(a) << 16) / u64::from(b))[0]
}

#[inline(always)]
pub fn duration(byte_time: u32, n: u32, grain: u32) -> u32 {
    let d = pair((u64::from(n) * u64::from(byte_time)) >> 16)[0];
    if grain <= 1 { d } else { d - d % grain }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernels::{self, Cx, Turn};
    use crate::state::buffers::Buffers;

    fn nothing() -> Cx {
        Buffers::default().context(Turn::default())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn agrees_with_the_shaders(a: [u32; 2], b: [u32; 2], rate in 1000_u32..1 << 31, part: u32, n in 1_u32..16_384,
                                   time in 0_u32..=1 << 31, grain in 0_u32..=1000) {
            let cx = nothing();
            // SAFETY: none of these functions touches a buffer.
            unsafe {
                prop_assert_eq!(add64(a, b), kernels::add64(&cx, a, b));
                prop_assert_eq!(add64u(a, b[0]), kernels::add64u(&cx, a, b[0]));
                prop_assert_eq!(sub64(a, b), kernels::sub64(&cx, a, b));
                prop_assert_eq!(lt64(a, b), kernels::lt64(&cx, a, b));
                prop_assert_eq!(lt64(a, [b[0], a[1]]), kernels::lt64(&cx, a, [b[0], a[1]]));
                prop_assert_eq!(mul64(a[0], b[0]), kernels::mul64(&cx, a[0], b[0]));
                prop_assert_eq!(byte_time_of(rate), kernels::byte_time_of(&cx, rate));
                prop_assert_eq!(ratio_q16(part % rate, rate), kernels::ratio_q16(&cx, part % rate, rate));
                prop_assert_eq!(duration(time, n, grain), kernels::duration(&cx, time, n, grain));
            }
        }
    }
}
