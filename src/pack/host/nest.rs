//! The loops around the block: two dimensions in a tight pair of loops, the others by recursion around them.
//!
//! The inner loop runs along the dimension that is densest in the packed buffer, the second along the one
//! that is densest in memory. Where the two differ, the layout is a transpose, and the inner loop is cut into
//! strips: short enough that the cache lines it touches in memory are still there when the second loop comes
//! back for their next bytes. Depends on `ir` only. The invariant: every repetition is visited exactly once.

use super::block::Block;
use crate::ir::{Dim, Strided};

/// Which side is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From memory to the packed buffer.
    Pack,
    /// From the packed buffer to memory.
    Unpack,
}

/// A dimension as a copy sees it: repetitions, and bytes to the next one on either side.
#[derive(Clone, Copy)]
struct Axis {
    count: i64,
    from: isize,
    to: isize,
}

impl Axis {
    /// The axis of a nest that lacks a dimension: one repetition.
    const ONCE: Self = Self { count: 1, from: 0, to: 0 };

    fn new(dim: Dim, direction: Direction) -> Self {
        let (memory, packed) = (bytes(dim.stride), bytes(dim.packed));
        match direction {
            Direction::Pack => Self { count: dim.count, from: memory, to: packed },
            Direction::Unpack => Self { count: dim.count, from: packed, to: memory },
        }
    }
}

/// Bytes to the next four repetitions of a long row on one side.
///
/// Told that these are multiples of one stride, the compiler reaches each block by an addition to the last
/// one's address, and four additions that wait for one another are slower than four short copies. So they are
/// made outside [`long_row`], which is never inlined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    once: isize,
    twice: isize,
    thrice: isize,
    four: isize,
}

impl Steps {
    #[inline]
    pub(super) fn new(once: isize) -> Self {
        let twice = once.wrapping_mul(2);
        Self { once, twice, thrice: once.wrapping_mul(3), four: once.wrapping_mul(4) }
    }
}

/// The loops of one layout in one direction.
pub(super) struct Nest<'a> {
    direction: Direction,
    /// The dimensions outside both tight loops, around what `skip` names.
    outer: &'a [Dim],
    /// Where in `outer` the inner loop's dimension is, if it is there: the recursion passes over it.
    skip: Option<usize>,
    inner: Axis,
    second: Axis,
    /// Repetitions of the inner loop before the second one advances.
    strip: i64,
}

impl<'a> Nest<'a> {
    /// Chooses the order of the loops for `layout`.
    pub(super) fn new(layout: &'a Strided, direction: Direction) -> Self {
        let axis = |dim: &Dim| Axis::new(*dim, direction);
        match layout.dims.as_slice() {
            [] => Self { direction, outer: &[], skip: None, inner: Axis::ONCE, second: Axis::ONCE, strip: 1 },
            [only] => Self {
                direction,
                outer: &[],
                skip: None,
                inner: axis(only),
                second: Axis::ONCE,
                strip: only.count,
            },
            [first, rest @ ..] => {
                let densest = rest.iter().enumerate().min_by_key(|(_, dim)| dim.packed);
                match densest {
                    Some((index, dim)) if dim.packed < first.packed => Self {
                        direction,
                        outer: rest,
                        skip: Some(index),
                        inner: axis(dim),
                        second: axis(first),
                        strip: strip(direction, first.count),
                    },
                    _ => {
                        let outer = rest.get(1..).unwrap_or_default();
                        let (inner, second) = (axis(first), rest.first().map_or(Axis::ONCE, axis));
                        let columns = direction == Direction::Pack || layout.size <= SMALL;
                        if columns && inner.count <= FEW && second.count >= MANY {
                            let (inner, second) = (second, inner);
                            return Self { direction, outer, skip: None, inner, second, strip: STRIP };
                        }
                        Self { direction, outer, skip: None, inner, second, strip: first.count }
                    }
                }
            }
        }
    }

    /// Copies every repetition, beginning with the one at `from` and `to`.
    ///
    /// # Safety
    ///
    /// All blocks that the layout names from `from` must be valid for reads, those from `to` valid for
    /// writes, and none may overlap one of the other side.
    pub(super) unsafe fn run(&self, block: impl Block, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { self.around(self.outer, block, from, to) }
    }

    /// Runs the dimensions `dims`, the last outermost, and the tight loops within them. As deep as there are
    /// dimensions: at most 62, for each has two repetitions or more and their product is a size in `i64`.
    ///
    /// # Safety
    ///
    /// As for [`Nest::run`].
    unsafe fn around(&self, dims: &[Dim], block: impl Block, mut from: *const u8, mut to: *mut u8) {
        let Some((last, rest)) = dims.split_last() else {
            // SAFETY: the caller's promise.
            return unsafe { self.plane(block, from, to) };
        };
        if self.skip == Some(rest.len()) {
            // SAFETY: the caller's promise.
            return unsafe { self.around(rest, block, from, to) };
        }
        let axis = Axis::new(*last, self.direction);
        for _ in 0..axis.count {
            // SAFETY: from and to stand at a repetition of this dimension.
            unsafe { self.around(rest, block, from, to) };
            from = from.wrapping_offset(axis.from);
            to = to.wrapping_offset(axis.to);
        }
    }

    /// Runs the two tight loops, strip by strip.
    ///
    /// # Safety
    ///
    /// As for [`Nest::run`], for the repetitions of the two loops.
    #[inline]
    unsafe fn plane(&self, block: impl Block, mut from: *const u8, mut to: *mut u8) {
        let mut left = self.inner.count;
        while left > 0 {
            let strip = Axis { count: left.min(self.strip), ..self.inner };
            if strip.count < LONG {
                // SAFETY: every row begins at a repetition of both dimensions; the strip ends within the inner one.
                self.rows(from, to, |from, to| unsafe { row(block, strip, from, to) });
            } else {
                let (step_from, step_to) = (Steps::new(strip.from), Steps::new(strip.to));
                // SAFETY: as above.
                self.rows(from, to, |from, to| unsafe {
                    long_row(block, strip.count, step_from, step_to, from, to);
                });
            }
            let count = bytes(strip.count);
            from = from.wrapping_offset(count.wrapping_mul(strip.from));
            to = to.wrapping_offset(count.wrapping_mul(strip.to));
            left -= strip.count;
        }
    }

    /// Runs the second loop: `row` at each of its repetitions.
    #[inline]
    fn rows(&self, mut from: *const u8, mut to: *mut u8, row: impl Fn(*const u8, *mut u8)) {
        for _ in 0..self.second.count {
            row(from, to);
            from = from.wrapping_offset(self.second.from);
            to = to.wrapping_offset(self.second.to);
        }
    }
}

/// Copies `axis.count` blocks.
///
/// # Safety
///
/// As for [`Nest::run`], for the repetitions of `axis`.
#[inline]
unsafe fn row(block: impl Block, axis: Axis, mut from: *const u8, mut to: *mut u8) {
    let mut left = axis.count;
    while left >= 4 {
        let (from1, to1) = (from.wrapping_offset(axis.from), to.wrapping_offset(axis.to));
        let (from2, to2) = (from1.wrapping_offset(axis.from), to1.wrapping_offset(axis.to));
        let (from3, to3) = (from2.wrapping_offset(axis.from), to2.wrapping_offset(axis.to));
        // SAFETY: four repetitions are left, and this is the first of them.
        unsafe { block.copy(from, to) };
        // SAFETY: the second.
        unsafe { block.copy(from1, to1) };
        // SAFETY: the third.
        unsafe { block.copy(from2, to2) };
        // SAFETY: the fourth.
        unsafe { block.copy(from3, to3) };
        from = from3.wrapping_offset(axis.from);
        to = to3.wrapping_offset(axis.to);
        left -= 4;
    }
    while left > 0 {
        // SAFETY: one repetition at least is left.
        unsafe { block.copy(from, to) };
        from = from.wrapping_offset(axis.from);
        to = to.wrapping_offset(axis.to);
        left -= 1;
    }
}

/// Repetitions from which on a row is worth [`long_row`].
const LONG: i64 = 96;

/// Copies `count` blocks, for rows long enough that their own length, not the call, decides their time.
///
/// # Safety
///
/// As for [`Nest::run`], for `count` repetitions at those steps.
#[inline(never)]
unsafe fn long_row(
    block: impl Block,
    count: i64,
    step_from: Steps,
    step_to: Steps,
    from: *const u8,
    to: *mut u8,
) {
    // SAFETY: the caller's promise.
    unsafe { stepped::<_, false>(block, count, step_from, step_to, from, to) }
}

/// [`long_row`], as a part of its caller; with `AHEAD` the lines that are written are fetched four blocks before.
///
/// # Safety
///
/// As for [`long_row`].
#[inline(always)]
pub(super) unsafe fn stepped<B: Block, const AHEAD: bool>(
    block: B,
    count: i64,
    step_from: Steps,
    step_to: Steps,
    mut from: *const u8,
    mut to: *mut u8,
) {
    let mut left = count;
    while B::SHORT && left >= 4 {
        if AHEAD {
            let ahead = to.wrapping_offset(step_to.four);
            fetch(ahead);
            fetch(ahead.wrapping_offset(step_to.once));
            fetch(ahead.wrapping_offset(step_to.twice));
            fetch(ahead.wrapping_offset(step_to.thrice));
        }
        // SAFETY: four repetitions are left, and this is the first of them.
        unsafe { block.copy(from, to) };
        // SAFETY: the second.
        unsafe { block.copy(from.wrapping_offset(step_from.once), to.wrapping_offset(step_to.once)) };
        // SAFETY: the third.
        unsafe { block.copy(from.wrapping_offset(step_from.twice), to.wrapping_offset(step_to.twice)) };
        // SAFETY: the fourth.
        unsafe { block.copy(from.wrapping_offset(step_from.thrice), to.wrapping_offset(step_to.thrice)) };
        from = from.wrapping_offset(step_from.four);
        to = to.wrapping_offset(step_to.four);
        left -= 4;
    }
    while left > 0 {
        // SAFETY: one repetition at least is left.
        unsafe { block.copy(from, to) };
        from = from.wrapping_offset(step_from.once);
        to = to.wrapping_offset(step_to.once);
        left -= 1;
    }
}

/// Tells the processor that the line at `place` will be wanted, whether there is one or not.
#[inline(always)]
fn fetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which is never a fault; SSE is a part of x86-64.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Rows so short that their start would cost more than their blocks are columns, if they are [`MANY`]: the second dimension becomes the inner
/// one, in strips of [`STRIP`], so that the next column finds the lines of the last one in the cache. Where memory is written, only what
/// is [`SMALL`]: a line that is stored to once for each column costs more than the short rows. Measured.
const FEW: i64 = 6;
const MANY: i64 = 24;
const SMALL: i64 = 16 << 10;
const STRIP: i64 = 128;

/// How long a strip of a transpose is. Each of its blocks lies in a line of its own in memory, and the
/// strides of a transpose like to be powers of two, so that all those lines compete for the 8 to 12 ways of
/// one set of an L1 cache: lines that are stored to must fit there, lines that are only read may come from
/// the L2. It is longer where the second loop is so short that the loops themselves would cost more than the
/// copies.
fn strip(direction: Direction, second: i64) -> i64 {
    let fits = match direction {
        Direction::Pack => 16,
        Direction::Unpack => 8,
    };
    let worth = 128_i64.checked_div(second).unwrap_or(0);
    fits.max(worth)
}

/// A distance in bytes as pointers take it.
#[expect(clippy::cast_possible_truncation, reason = "isize is as wide as i64 wherever this crate builds")]
pub(super) const fn bytes(distance: i64) -> isize {
    distance as isize
}
