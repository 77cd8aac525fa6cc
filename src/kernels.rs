//! The shaders as Rust, translated at build time, and what their code refers to.
//!
//! The constants and the structs of device state come from here too, so the host cannot disagree with the shaders.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The shaders as one WGSL module.
pub const WGSL: &str = include_str!(concat!(env!("OUT_DIR"), "/model.wgsl"));

/// A storage buffer: `len` records of type `T`.
///
/// Kernels run on several threads and write different words of it; every word is written by one invocation of a dispatch, or
/// atomically.
#[derive(Debug)]
pub struct Slots<T> {
    first: *mut T,
    /// Number of records.
    pub len: u32,
}

// SAFETY: see the type; the kernels are written so that no word is touched by two invocations of a dispatch unless atomically.
unsafe impl<T> Sync for Slots<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Slots<T> {}

impl<T: bytemuck::Pod> Slots<T> {
    /// A view of `words`, which must outlive it and stay where they are.
    pub fn new(words: &mut [u32]) -> Self {
        let records: &mut [T] = bytemuck::cast_slice_mut(words);
        Self { first: records.as_mut_ptr(), len: u32::try_from(records.len()).unwrap_or(u32::MAX) }
    }

    /// Record `i`.
    ///
    /// # Safety
    /// `i` is below `len` and nobody writes.
    pub unsafe fn get(&self, i: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { *self.at(i) }
    }

    /// Records `from..to`.
    ///
    /// # Safety
    /// `to` is at most `len`, `from` at most `to`, and nobody writes these records meanwhile.
    pub unsafe fn range(&self, from: u32, to: u32) -> &[T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.first.add(from as usize), (to - from) as usize) }
    }

    /// # Safety
    /// `i` is below `len`.
    #[inline(always)]
    unsafe fn at(&self, i: u32) -> *mut T {
        debug_assert!(i < self.len, "record {i} of {}", self.len);
        // SAFETY: the caller's promise.
        unsafe { self.first.add(i as usize) }
    }
}

/// # Safety
/// `word` points into a buffer.
#[inline(always)]
unsafe fn atomic<'a>(word: *mut u32) -> &'a AtomicU32 {
    // SAFETY: the caller's promise; u32 words are aligned.
    unsafe { AtomicU32::from_ptr(word) }
}

#[inline(always)]
fn shift_left(a: u32, by: u32) -> u32 {
    debug_assert!(by < 32);
    a.wrapping_shl(by)
}

#[inline(always)]
fn shift_right(a: u32, by: u32) -> u32 {
    debug_assert!(by < 32);
    a.wrapping_shr(by)
}

pub use generated::*;

#[allow(unused, clippy::all, clippy::pedantic, clippy::cast_possible_truncation, reason = "generated from the shaders; read those instead")]
mod generated {
    use super::{Relaxed, Slots, atomic, shift_left, shift_right};

    include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
}
