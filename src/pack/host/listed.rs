//! Runs at the places of a table.
//!
//! Depends on `ir`, [`block`](super::block) and [`nest`](super::nest). The invariant: every run of every repetition is
//! visited exactly once.

use super::block::{Block, Fixed, Long, Pair, with_block};
use super::nest::{Direction, bytes};
use crate::ir::{Blocks, Dim, Runs, Strided};

/// Copies `blocks` between memory and its packed form.
///
/// # Safety
///
/// All bytes read from `from` and written to `to`, of which one is the buffer argument and the other the packed form, are
/// valid, and none both.
pub(super) unsafe fn copy(blocks: &Blocks, direction: Direction, from: *const u8, to: *mut u8) {
    let base = bytes(blocks.offset);
    let (from, to) = match direction {
        Direction::Pack => (from.wrapping_offset(base), to),
        Direction::Unpack => (from, to.wrapping_offset(base)),
    };
    let around: Vec<&Dim> = blocks.around().collect();
    let entry = Strided { offset: 0, ..blocks.entry() };
    let table = Listing { blocks, entry, direction };
    // SAFETY: the caller's promise.
    unsafe { table.around(&around, from, to) }
}

struct Listing<'a> {
    blocks: &'a Blocks,
    /// What lies at each place of a table of equal runs.
    entry: Strided,
    direction: Direction,
}

impl Listing<'_> {
    /// The dimensions around the table, and the table within them.
    ///
    /// # Safety
    ///
    /// As for [`copy`], said of one repetition of the dimensions that are no more in `dims`.
    unsafe fn around(&self, dims: &[&Dim], mut from: *const u8, mut to: *mut u8) {
        let Some((last, rest)) = dims.split_last() else {
            // SAFETY: the caller's promise.
            return unsafe { self.table(from, to) };
        };
        let (memory, packed) = (bytes(last.stride), bytes(last.packed));
        for _ in 0..last.count {
            // SAFETY: from and to stand at a repetition of this dimension.
            unsafe { self.around(rest, from, to) };
            (from, to) = self.step(from, to, memory, packed);
        }
    }

    /// `memory` bytes further in memory and `packed` in the packed form.
    #[inline]
    fn step(&self, from: *const u8, to: *mut u8, memory: isize, packed: isize) -> (*const u8, *mut u8) {
        match self.direction {
            Direction::Pack => (from.wrapping_offset(memory), to.wrapping_offset(packed)),
            Direction::Unpack => (from.wrapping_offset(packed), to.wrapping_offset(memory)),
        }
    }

    /// One table.
    ///
    /// # Safety
    ///
    /// As for [`copy`].
    unsafe fn table(&self, from: *const u8, to: *mut u8) {
        match self.blocks.table.runs() {
            Runs::Mixed(runs) => {
                let mut packed = 0;
                for run in runs {
                    let (from, to) = self.step(from, to, bytes(run.offset), packed);
                    // SAFETY: a run of the table.
                    unsafe { any(run.bytes, from, to) };
                    packed += bytes(run.bytes);
                }
            }
            Runs::Narrow { shift, offsets } => {
                // SAFETY: the offsets are the table's.
                unsafe { self.equal(offsets.iter().map(|offset| i64::from(*offset) << shift), from, to) };
            }
            // SAFETY: as above.
            Runs::Wide(offsets) => unsafe { self.equal(offsets.iter().copied(), from, to) },
        }
    }

    /// Equal runs, or what lies in their place.
    ///
    /// # Safety
    ///
    /// As for [`copy`]; the offsets are the table's, in order.
    unsafe fn equal(&self, offsets: impl Iterator<Item = i64>, from: *const u8, to: *mut u8) {
        if !self.entry.dims.is_empty() {
            let mut packed = 0;
            for offset in offsets {
                let (from, to) = self.step(from, to, bytes(offset), packed);
                // SAFETY: an entry of the table.
                unsafe { super::copy(&self.entry, self.direction, from, to) };
                packed += bytes(self.blocks.packed);
            }
            return;
        }
        let Ok(length) = usize::try_from(self.entry.block) else { return };
        macro_rules! run {
            ($block:ty) => {{
                // SAFETY: the block has the entry's length.
                unsafe { self.runs(<$block>::of(length), offsets, from, to) }
            }};
        }
        with_block!(length, B => run!(B));
    }

    /// Runs of the length that `block` knows.
    ///
    /// # Safety
    ///
    /// As for [`Listing::equal`].
    #[inline]
    unsafe fn runs(
        &self,
        block: impl Block,
        offsets: impl Iterator<Item = i64>,
        from: *const u8,
        to: *mut u8,
    ) {
        let step = bytes(self.blocks.packed);
        match self.direction {
            Direction::Pack => {
                let mut to = to;
                for offset in offsets {
                    // SAFETY: a run of the table.
                    unsafe { block.copy(from.wrapping_offset(bytes(offset)), to) };
                    to = to.wrapping_offset(step);
                }
            }
            Direction::Unpack => {
                let mut from = from;
                for offset in offsets {
                    // SAFETY: a run of the table.
                    unsafe { block.copy(from, to.wrapping_offset(bytes(offset))) };
                    from = from.wrapping_offset(step);
                }
            }
        }
    }
}

/// Copies a run of any length.
///
/// # Safety
///
/// `length` bytes valid for reads at `from` and for writes at `to`, not overlapping.
#[inline]
unsafe fn any(length: i64, from: *const u8, to: *mut u8) {
    let Ok(length) = usize::try_from(length) else { return };
    match length {
        // SAFETY: the caller's promise.
        1 => unsafe { Fixed::<1>.copy(from, to) },
        // SAFETY: the caller's promise.
        2..=3 => unsafe { Pair::<2>::of(length).copy(from, to) },
        // SAFETY: the caller's promise.
        4..=7 => unsafe { Pair::<4>::of(length).copy(from, to) },
        // SAFETY: the caller's promise.
        8..=15 => unsafe { Pair::<8>::of(length).copy(from, to) },
        // SAFETY: the caller's promise.
        16..=31 => unsafe { Pair::<16>::of(length).copy(from, to) },
        // SAFETY: the caller's promise.
        _ => unsafe { Long::of(length).copy(from, to) },
    }
}
