//! Blocks in one dimension, the commonest layout: its loop is chosen once and kept, so that a call starts at its first block.
//!
//! Depends on `ir`, [`block`](super::block) and [`nest`](super::nest). The invariant: a loop is only ever run with the block length that it
//! was chosen for, and those that need an instruction set only where the processor has it.

use super::block::{Block, with_block};
use super::nest::{Steps, bytes, stepped};
use crate::ir::{Dim, Strided};

/// A loop over the blocks of a vector: reads from the first pointer, writes to the second.
type Loop = unsafe fn(&Vector, *const u8, *mut u8);

/// A one-dimensional layout with its loops.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    gather: Loop,
    scatter: Loop,
    count: i64,
    length: usize,
    memory: Steps,
    packed: Steps,
}

impl Vector {
    /// `layout`, if it is a vector: one dimension.
    pub fn new(layout: &Strided) -> Option<Self> {
        Self::with(layout, wide())
    }

    /// The same with moves of 32 bytes, or without.
    pub(super) fn with(layout: &Strided, wide: bool) -> Option<Self> {
        let [dim] = layout.dims.as_slice() else { return None };
        let length = usize::try_from(layout.block).ok().filter(|_| dim.packed == layout.block)?;
        let (gather, scatter) = with_block!(length, B => loops::<B>(layout, *dim, wide));
        let (memory, packed) = (Steps::new(bytes(dim.stride)), Steps::new(bytes(dim.packed)));
        Some(Self { gather, scatter, count: dim.count, length, memory, packed })
    }

    /// Copies the blocks, the first of which lies at `first`, to `packed`, one behind the other.
    ///
    /// # Safety
    ///
    /// All blocks must be valid for reads, as many bytes at `packed` for writes, and the two must not overlap.
    #[inline]
    pub unsafe fn pack(&self, first: *const u8, packed: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { (self.gather)(self, first, packed) }
    }

    /// Copies what lies at `packed` to the blocks, the first of which lies at `first`.
    ///
    /// # Safety
    ///
    /// All blocks must be valid for writes, as many bytes at `packed` for reads, and the two must not overlap.
    #[inline]
    pub unsafe fn unpack(&self, packed: *const u8, first: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { (self.scatter)(self, packed, first) }
    }

    /// The steps in the packed form: constants where the block's length is one.
    #[inline(always)]
    fn dense<B: Block>(&self) -> Steps {
        if B::SHORT { Steps::new(B::of(self.length).length().cast_signed()) } else { self.packed }
    }
}

/// Whether to fetch what is written ahead, where the next block is written `step` bytes further: where the lines of both sides together
/// about fill the nearest cache, a store would wait for its line. Not if a line holds many blocks; and if the blocks lie further apart,
/// the processor's own guesses are as good for what fills more than that cache. Measured.
fn ahead<B: Block>(layout: &Strided, step: i64) -> bool {
    let sizes = match step.unsigned_abs() {
        32..=64 => 8 << 10..i64::MAX,
        65..=256 => 8 << 10..48 << 10,
        _ => 0..0,
    };
    B::SHORT && sizes.contains(&layout.size)
}

/// Whether this processor moves 32 bytes at once.
fn wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// From memory to the packed form and back, by the widest moves that this processor has.
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "there are no wider moves"))]
fn loops<B: Block>(layout: &Strided, dim: Dim, wide: bool) -> (Loop, Loop) {
    let ahead = (ahead::<B>(layout, dim.packed), ahead::<B>(layout, dim.stride));
    #[cfg(target_arch = "x86_64")]
    if wide {
        return (
            if ahead.0 { wide::gather::<B, true> } else { wide::gather::<B, false> },
            if ahead.1 { wide::scatter::<B, true> } else { wide::scatter::<B, false> },
        );
    }
    (
        if ahead.0 { gather::<B, true> } else { gather::<B, false> },
        if ahead.1 { scatter::<B, true> } else { scatter::<B, false> },
    )
}

/// # Safety
///
/// As for [`Vector::pack`].
#[inline(always)]
unsafe fn gather<B: Block, const AHEAD: bool>(vector: &Vector, from: *const u8, to: *mut u8) {
    let block = B::of(vector.length);
    // SAFETY: the caller's promise.
    unsafe { stepped::<_, AHEAD>(block, vector.count, vector.memory, vector.dense::<B>(), from, to) }
}

/// # Safety
///
/// As for [`Vector::unpack`].
#[inline(always)]
unsafe fn scatter<B: Block, const AHEAD: bool>(vector: &Vector, from: *const u8, to: *mut u8) {
    let block = B::of(vector.length);
    // SAFETY: the caller's promise.
    unsafe { stepped::<_, AHEAD>(block, vector.count, vector.dense::<B>(), vector.memory, from, to) }
}

/// The same loops with moves of 32 bytes.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Block, Vector};

    /// # Safety
    ///
    /// As for [`Vector::pack`]; the processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn gather<B: Block, const AHEAD: bool>(vector: &Vector, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { super::gather::<B, AHEAD>(vector, from, to) }
    }

    /// # Safety
    ///
    /// As for [`Vector::unpack`]; the processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn scatter<B: Block, const AHEAD: bool>(vector: &Vector, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { super::scatter::<B, AHEAD>(vector, from, to) }
    }
}
