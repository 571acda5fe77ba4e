//! Copying one block: a few loads and stores of constant size where the block is short, a loop over lines or `memcpy` where it
//! is long.
//!
//! Depends on nothing. The invariant: exactly the block's bytes are read and written, at any alignment, and
//! they may be uninitialised (a structure's padding is the application's business).

use core::mem::MaybeUninit;
use core::ptr;

/// A way to copy one block whose length is known to the implementation.
pub(super) trait Block: Copy {
    /// Whether a block is so short that the loop around it is worth unrolling.
    const SHORT: bool = true;

    /// The way for blocks of `length` bytes, which must be one that it is for.
    fn of(length: usize) -> Self;

    /// Bytes of a block.
    fn length(self) -> usize;

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
    #[inline(always)]
    fn of(_: usize) -> Self {
        Self
    }

    #[inline(always)]
    fn length(self) -> usize {
        N
    }

    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise for N bytes.
        unsafe { ptr::copy_nonoverlapping(from, to, N) }
    }
}

/// A block of at least `H` and at most `2 H` bytes: its first `H` and its last `H`, which may overlap.
#[derive(Clone, Copy)]
pub(super) struct Pair<const H: usize>(usize);

impl<const H: usize> Block for Pair<H> {
    #[inline(always)]
    fn of(length: usize) -> Self {
        Self(length)
    }

    #[inline(always)]
    fn length(self) -> usize {
        self.0
    }

    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        let last = self.0.wrapping_sub(H);
        // SAFETY: the block has H bytes or more and is valid for reads.
        let head = unsafe { from.cast::<[MaybeUninit<u8>; H]>().read_unaligned() };
        // SAFETY: last + H is the block's length.
        let tail = unsafe { from.wrapping_add(last).cast::<[MaybeUninit<u8>; H]>().read_unaligned() };
        // SAFETY: the block has H bytes or more and is valid for writes.
        unsafe { to.cast::<[MaybeUninit<u8>; H]>().write_unaligned(head) };
        // SAFETY: last + H is the block's length.
        unsafe { to.wrapping_add(last).cast::<[MaybeUninit<u8>; H]>().write_unaligned(tail) };
    }
}

/// A block of more than a line, line by line: its last line is its last 64 bytes, which may overlap the one before.
#[derive(Clone, Copy)]
pub(super) struct Lines(usize);

impl Block for Lines {
    const SHORT: bool = false;

    #[inline(always)]
    fn of(length: usize) -> Self {
        Self(length)
    }

    #[inline(always)]
    fn length(self) -> usize {
        self.0
    }

    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        let last = self.0.wrapping_sub(64);
        let mut at = 0;
        while at < last {
            // SAFETY: 64 bytes of the block follow, the last 64 behind them.
            unsafe { ptr::copy_nonoverlapping(from.wrapping_add(at), to.wrapping_add(at), 64) };
            at += 64;
        }
        // SAFETY: the block has 64 bytes or more.
        unsafe { ptr::copy_nonoverlapping(from.wrapping_add(last), to.wrapping_add(last), 64) };
    }
}

/// A block of any length, by `memcpy`.
#[derive(Clone, Copy)]
pub(super) struct Long(usize);

impl Block for Long {
    const SHORT: bool = false;

    #[inline(always)]
    fn of(length: usize) -> Self {
        Self(length)
    }

    #[inline(always)]
    fn length(self) -> usize {
        self.0
    }

    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise for the whole block.
        unsafe { ptr::copy_nonoverlapping(from, to, self.0) }
    }
}

/// `$run` with `$block` as the name of the kind of block that suits `$length`, a number of bytes.
macro_rules! with_block {
    ($length:expr, $block:ident => $run:expr) => {{
        use $crate::pack::host::block::{Fixed, Lines, Long, Pair};
        macro_rules! of {
            ($kind:ty) => {{
                type $block = $kind;
                $run
            }};
        }
        let length: usize = $length;
        match length {
            0 => of!(Fixed<0>),
            1 => of!(Fixed<1>),
            2 => of!(Fixed<2>),
            3 => of!(Pair<2>),
            4 => of!(Fixed<4>),
            5..=7 => of!(Pair<4>),
            8 => of!(Fixed<8>),
            9..=15 => of!(Pair<8>),
            16 => of!(Fixed<16>),
            17..=31 => of!(Pair<16>),
            32 => of!(Fixed<32>),
            33..=63 => of!(Pair<32>),
            64 => of!(Fixed<64>),
            65..=256 => of!(Lines),
            _ => of!(Long),
        }
    }};
}
pub(super) use with_block;
