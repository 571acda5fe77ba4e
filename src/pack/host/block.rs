//! Copying one block: a few loads and stores of constant size where the block is short, `memcpy` where it is
//! long.
//!
//! Depends on nothing. The invariant: exactly the block's bytes are read and written, at any alignment, and
//! they may be uninitialised (a structure's padding is the application's business).

use core::mem::MaybeUninit;
use core::ptr;

/// A way to copy one block whose length is known to the implementation.
pub(super) trait Block: Copy {
    /// Copies the block.
    ///
    /// # Safety
    ///
    /// The block's bytes must be valid for reads at `from` and for writes at `to`, and not overlap.
    unsafe fn copy(self, from: *const u8, to: *mut u8);
}

/// A block of `N` bytes.
#[derive(Clone, Copy)]
pub(super) struct Fixed<const N: usize>;

impl<const N: usize> Block for Fixed<N> {
    #[inline]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise for N bytes.
        unsafe { ptr::copy_nonoverlapping(from, to, N) }
    }
}

/// A block of more than `H` and at most `2 H` bytes: its first `H` and its last `H`, which may overlap.
#[derive(Clone, Copy)]
pub(super) struct Pair<const H: usize>(pub(super) usize);

impl<const H: usize> Block for Pair<H> {
    #[inline]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        let last = self.0.wrapping_sub(H);
        // SAFETY: the block is longer than H bytes and valid for reads.
        let head = unsafe { from.cast::<[MaybeUninit<u8>; H]>().read_unaligned() };
        // SAFETY: last + H is the block's length.
        let tail = unsafe { from.wrapping_add(last).cast::<[MaybeUninit<u8>; H]>().read_unaligned() };
        // SAFETY: the block is longer than H bytes and valid for writes.
        unsafe { to.cast::<[MaybeUninit<u8>; H]>().write_unaligned(head) };
        // SAFETY: last + H is the block's length.
        unsafe { to.wrapping_add(last).cast::<[MaybeUninit<u8>; H]>().write_unaligned(tail) };
    }
}

/// A block of any length, by `memcpy`.
#[derive(Clone, Copy)]
pub(super) struct Long(pub(super) usize);

impl Block for Long {
    #[inline]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise for the whole block.
        unsafe { ptr::copy_nonoverlapping(from, to, self.0) }
    }
}
