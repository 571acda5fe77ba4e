//! From a layout of the second tier, its table on a device and two addresses to kernel launches.
//!
//! The table is one dimension among others; what is said of launches in [`plan`](super::plan) holds here too. Pure; uses
//! `ir` and [`kernel`](super::kernel).
#![forbid(unsafe_code)]

use super::kernel::{Args, Axis, BlocksArgs, Direction, MAX_DIMS, index_equal, index_mixed};
use super::plan::Limits;
use super::table::{Entries, OnDevice};
use crate::ir::{Blocks, Dim};

/// Words that a thread has in flight, by log₂ of their bytes: `TEMPI_EQUAL_DEPTH_…` of `kernels/blocks_body.h`.
pub(super) const DEPTH: [u32; 5] = [4, 4, 4, 4, 2];

/// Threads that share a run at most.
const WARP: i64 = 32;

/// One kernel launch.
pub type Launch = super::plan::Launch<BlocksArgs>;

/// A dimension of the iteration.
#[derive(Clone, Copy, Debug)]
struct Step {
    count: u64,
    stride: i64,
    packed: i64,
    /// Bytes from an entry of the table to the next; 0 for what is not the table's dimension.
    entry: u64,
}

impl From<&Dim> for Step {
    fn from(dim: &Dim) -> Self {
        Self { count: dim.count.unsigned_abs(), stride: dim.stride, packed: dim.packed, entry: 0 }
    }
}

/// The launches that move `blocks`, whose table lies at `table`, between the buffer at `memory` (the buffer argument of the
/// MPI call) and the packed buffer at `packed`, all of them device addresses.
pub fn launches(
    blocks: &Blocks,
    table: OnDevice,
    memory: u64,
    packed: u64,
    direction: Direction,
    limits: Limits,
) -> Launches {
    let memory = memory.wrapping_add_signed(blocks.offset);
    let mixed = table.entries == Entries::Mixed;
    // Runs of different length that were cut into equal pieces have a length that the layout does not know.
    let (block, pitch) = if table.run > 0 { (table.run, table.run) } else { (blocks.block, blocks.packed) };
    let positions = memory | packed | blocks.table.bits() | 16;
    let bits = blocks
        .dims
        .iter()
        .fold(positions, |bits, dim| bits | dim.stride.cast_unsigned() | dim.packed.cast_unsigned())
        | if mixed { 0 } else { block.cast_unsigned() | pitch.cast_unsigned() };
    let log2 = bits.trailing_zeros();
    let word = 1_i64 << log2;

    let first = if mixed {
        // Lanes that share a run: enough that each has a word, if all runs were as wide as the alignment lets them be.
        let lanes = (table.run / word).clamp(1, WARP).cast_unsigned().next_power_of_two();
        Step { count: lanes, stride: 0, packed: 0, entry: 0 }
    } else {
        Step { count: (block >> log2).unsigned_abs(), stride: word, packed: word, entry: 0 }
    };
    let entries = Step {
        count: table.count,
        stride: 0,
        packed: if mixed { blocks.packed } else { pitch },
        entry: table.entries.bytes(),
    };
    let within = blocks.dims.iter().filter(|dim| dim.packed < blocks.packed).map(Step::from);
    let mut steps: Vec<Step> = Vec::with_capacity(blocks.dims.len() + 2);
    if mixed || first.count > 1 {
        steps.push(first);
    }
    steps.extend(within);
    steps.push(entries);
    steps.extend(blocks.around().map(Step::from));
    // What finds no place in a launch goes behind all others, the last ones first; the table stays.
    while let Some(place) = (steps.len() > MAX_DIMS)
        .then(|| (0..MAX_DIMS).rev().find(|place| steps.get(*place).is_some_and(|step| step.entry == 0)))
        .flatten()
    {
        if !steps.get(MAX_DIMS..).unwrap_or_default().iter().any(|step| step.entry != 0) {
            break;
        }
        let step = steps.remove(place);
        steps.push(step);
    }

    // As in `plan::launches`: dimensions up to `cut`, and that one in pieces.
    let least = if mixed { first.count } else { 1 };
    let limit = u64::from(limits.words.clamp(1, i32::MAX.unsigned_abs())).max(least);
    let mut strided = Args { memory, packed, ..Args::default() };
    let (mut cut, mut words) = (0, 1);
    for (step, axis) in steps.iter().zip(&mut strided.dims) {
        match u32::try_from(step.count) {
            Ok(small) if cut + 1 < steps.len() && words * step.count <= limit => {
                *axis = Axis::new(small, step.stride, step.packed);
                words *= step.count;
                cut += 1;
            }
            _ => break,
        }
    }
    let last = steps.get(cut).copied().unwrap_or(entries);
    let piece = (limit / words).min(last.count).max(1);
    strided.ndims = u32::try_from(cut + 1).unwrap_or(1);
    strided.outer_stride = last.stride;
    strided.outer_packed = last.packed;
    let at = steps.iter().take(cut + 1).position(|step| step.entry != 0);
    let at = at.and_then(|at| u32::try_from(at).ok()).unwrap_or(u32::MAX);
    let (wide, shift) = match table.entries {
        Entries::Narrow { shift } => (0, shift),
        Entries::Wide | Entries::Mixed => (1, 0),
    };
    let pieces = last.count.div_ceil(piece);
    let total = steps.iter().skip(cut + 1).fold(pieces, |n, step| n.saturating_mul(step.count));
    Launches {
        steps,
        cut,
        piece,
        words,
        args: BlocksArgs { strided, table: table.address, at, wide, shift, zero: 0 },
        kernel: if mixed { index_mixed(direction) } else { index_equal(log2, direction) },
        depth: if mixed { 1 } else { *DEPTH.get(log2 as usize).unwrap_or(&1) },
        direction,
        limits,
        next: 0,
        total,
    }
}

/// The launches that move one object, to be made in this order on one stream.
#[derive(Clone, Debug)]
pub struct Launches {
    /// What launches iterate, the fastest first: those before `cut` whole, that at `cut` in pieces of `piece`.
    /// Those after it advance from launch to launch.
    steps: Vec<Step>,
    cut: usize,
    piece: u64,
    /// Words of the dimensions before `cut`.
    words: u64,
    /// The argument that all launches have in common.
    args: BlocksArgs,
    kernel: usize,
    depth: u32,
    direction: Direction,
    limits: Limits,
    next: u64,
    total: u64,
}

impl Launches {
    /// How many launches are still to come.
    pub fn remaining(&self) -> u64 {
        self.total - self.next
    }
}

impl Iterator for Launches {
    type Item = Launch;

    fn next(&mut self) -> Option<Launch> {
        if self.next >= self.total {
            return None;
        }
        let last = *self.steps.get(self.cut)?;
        let pieces = last.count.div_ceil(self.piece);
        let first = self.next % pieces * self.piece;
        let mut args = self.args;
        let mut advance = |step: &Step, i: u64| {
            let by = |distance: i64| distance.cast_unsigned().wrapping_mul(i);
            args.strided.memory = args.strided.memory.wrapping_add(by(step.stride));
            args.strided.packed = args.strided.packed.wrapping_add(by(step.packed));
            args.table = args.table.wrapping_add(step.entry.wrapping_mul(i));
        };
        advance(&last, first);
        let mut rest = self.next / pieces;
        for step in self.steps.iter().skip(self.cut + 1) {
            let count = step.count.max(1);
            advance(step, rest % count);
            rest /= count;
        }
        self.next += 1;
        let words = self.words * self.piece.min(last.count - first);
        args.strided.words = u32::try_from(words).ok()?;
        let (grid, block) = self.limits.shape(args.strided.words, self.depth, self.direction);
        Some(Launch { kernel: self.kernel, grid, block, args })
    }
}
