//! From a canonical layout and two addresses to kernel launches.
//!
//! Pure; uses `ir` and [`kernel`](super::kernel). Invariant: the launches of one plan move every packed byte exactly
//! once, whatever the order of iteration, and each word they touch is aligned to its size.
#![forbid(unsafe_code)]

use super::kernel::{Args, Axis, Direction, MAX_DIMS, index};
use crate::ir::{Dim, Strided};

/// Words that a thread has in flight, by log₂ of their bytes: `TEMPI_DEPTH_…` of `kernels/body.h`.
const DEPTH: [u32; 5] = [4, 4, 4, 4, 2];

/// Threads of a block while the multiprocessors have at most one block each: more blocks, and so more of the machine.
pub(super) const FEW_THREADS: u32 = 256;

/// Threads of a block otherwise: fewer blocks, and so fewer completions to count.
pub(super) const MANY_THREADS: u32 = 512;

/// Blocks of [`MANY_THREADS`] that a multiprocessor runs at once.
const RESIDENT: u32 = 2048 / MANY_THREADS;

/// Bytes that the device's memory moves at least.
const SECTOR: u64 = 32;

/// What one launch may hold and use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Words of one launch, at most 2³¹ - 1.
    pub words: u32,
    /// Multiprocessors of the device.
    pub multiprocessors: u32,
}

impl Limits {
    /// The kernels' own on a device with this many multiprocessors.
    pub const fn of_device(multiprocessors: u32) -> Self {
        Self { words: i32::MAX.unsigned_abs(), multiprocessors }
    }

    /// The grid and the block for `words` words of which a thread takes `depth` at a time. A block beyond the last
    /// takes its next tile when it is done: that saves completions, but keeps neighbouring tiles less together, which
    /// matters more where memory is written in pieces. The waves are measured.
    pub(super) fn shape(self, words: u32, depth: u32, direction: Direction) -> (u32, u32) {
        let multiprocessors = self.multiprocessors.max(1);
        let few = words.div_ceil(FEW_THREADS * depth);
        if few <= multiprocessors {
            return (few, FEW_THREADS);
        }
        (words.div_ceil(MANY_THREADS * depth).min(self.most(direction)), MANY_THREADS)
    }

    /// Blocks of [`MANY_THREADS`] that a launch has at most.
    pub(super) fn most(self, direction: Direction) -> u32 {
        let waves = match direction {
            Direction::Pack => 8,
            Direction::Unpack => 16,
        };
        self.multiprocessors.max(1).saturating_mul(RESIDENT * waves)
    }
}

/// How the host learns that everything is written.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// Device address of a 32-bit word in mapped host memory.
    pub flag: u64,
    /// Device address of a 32-bit word that is zero.
    pub counter: u64,
    /// What the flag is set to.
    pub value: u32,
}

/// One kernel launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<A = Args> {
    /// Place in [`KERNELS`](super::kernel::KERNELS).
    pub kernel: usize,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// The kernel's argument.
    pub args: A,
}

/// The launches that move `layout` between the buffer at `memory` (the buffer argument of the MPI call, from which
/// offsets count) and the packed buffer at `packed`, both device addresses. The last launch tells `completion`.
/// A layout without bytes needs no launch, and then nothing tells `completion`.
pub fn launches(
    layout: &Strided,
    memory: u64,
    packed: u64,
    direction: Direction,
    completion: Option<Completion>,
    limits: Limits,
) -> Launches<'_> {
    let memory = memory.wrapping_add_signed(layout.offset);
    // What all positions have in common decides the word: the lowest bit that any of them has.
    let log2 = layout
        .dims
        .iter()
        .fold(memory | packed | layout.block.cast_unsigned() | 16, |bits, d| {
            bits | d.stride.cast_unsigned() | d.packed.cast_unsigned()
        })
        .trailing_zeros();
    let (dims, outer) = Dims::of(layout, log2, direction);

    // A launch takes the dimensions up to the one, `cut`, with which it would hold too many words; that one in pieces.
    let limit = u64::from(limits.words.clamp(1, i32::MAX.unsigned_abs()));
    let mut args = Args { memory, packed, ..Args::default() };
    let (mut cut, mut words, mut spans) = (0, 1, [1 << log2, 1 << log2]);
    let mut reach = |d: &Dim, count: u64| {
        let steps = count.saturating_sub(1);
        spans[0] = steps.saturating_mul(d.stride.unsigned_abs()).saturating_add(spans[0]);
        spans[1] = steps.saturating_mul(d.packed.unsigned_abs()).saturating_add(spans[1]);
        spans
    };
    for (d, axis) in dims.as_slice().iter().zip(&mut args.dims) {
        let count = d.count.unsigned_abs();
        match u32::try_from(count) {
            Ok(small) if cut + 1 < dims.len && words * count <= limit => {
                *axis = Axis::new(small, d.stride, d.packed);
                words *= count;
                cut += 1;
                reach(d, count);
            }
            _ => break,
        }
    }
    let last = dims.get(cut);
    let piece = (limit / words).min(last.count.unsigned_abs()).max(1);
    let wide = reach(&last, piece).iter().any(|&span| i32::try_from(span).is_err());

    args.ndims = u32::try_from(cut + 1).unwrap_or(1);
    args.outer_stride = last.stride;
    args.outer_packed = last.packed;
    let pieces = last.count.unsigned_abs().div_ceil(piece);
    let total = dims
        .as_slice()
        .iter()
        .skip(cut + 1)
        .chain(outer)
        .fold(pieces, |n, d| n.saturating_mul(d.count.unsigned_abs()));
    Launches {
        dims,
        outer,
        cut,
        piece,
        words,
        args,
        kernel: index(log2, direction, wide),
        completion,
        depth: *DEPTH.get(log2 as usize).unwrap_or(&1),
        direction,
        limits,
        next: 0,
        total: if layout.size > 0 { total } else { 0 },
    }
}

/// The launches that move one object, to be made in this order on one stream. Nothing is allocated.
#[derive(Clone, Debug)]
pub struct Launches<'a> {
    /// What launches iterate, the fastest first: those before `cut` whole, that at `cut` in pieces of `piece`.
    /// Those after it, and all of `outer`, advance from launch to launch.
    dims: Dims,
    outer: &'a [Dim],
    cut: usize,
    piece: u64,
    /// Words of the dimensions before `cut`.
    words: u64,
    /// The argument that all launches have in common.
    args: Args,
    kernel: usize,
    completion: Option<Completion>,
    depth: u32,
    direction: Direction,
    limits: Limits,
    next: u64,
    total: u64,
}

impl Launches<'_> {
    /// How many launches are still to come.
    pub fn remaining(&self) -> u64 {
        self.total - self.next
    }
}

impl Iterator for Launches<'_> {
    type Item = Launch;

    fn next(&mut self) -> Option<Launch> {
        if self.next >= self.total {
            return None;
        }
        let last = self.dims.get(self.cut);
        let pieces = last.count.unsigned_abs().div_ceil(self.piece);
        let first = self.next % pieces * self.piece;
        let mut args = self.args;
        let mut advance = |d: &Dim, i: u64| {
            args.memory = args.memory.wrapping_add(d.stride.cast_unsigned().wrapping_mul(i));
            args.packed = args.packed.wrapping_add(d.packed.cast_unsigned().wrapping_mul(i));
        };
        advance(&last, first);
        let mut rest = self.next / pieces;
        for d in self.dims.as_slice().iter().skip(self.cut + 1).chain(self.outer) {
            let count = d.count.unsigned_abs().max(1);
            advance(d, rest % count);
            rest /= count;
        }
        self.next += 1;

        let words = self.words * self.piece.min(last.count.unsigned_abs() - first);
        args.words = u32::try_from(words).ok()?;
        if let (Some(completion), true) = (self.completion, self.next == self.total) {
            args.flag = completion.flag;
            args.counter = completion.counter;
            args.value = completion.value;
        }
        let (grid, block) = self.limits.shape(args.words, self.depth, self.direction);
        Some(Launch { kernel: self.kernel, grid, block, args })
    }
}

/// The dimensions that launches iterate, the words of the block first.
#[derive(Clone, Copy, Debug)]
struct Dims {
    dims: [Dim; MAX_DIMS],
    len: usize,
}

impl Dims {
    /// Those of `layout` in words of 2^`log2` bytes, in the order of iteration; and those that find no place.
    fn of(layout: &Strided, log2: u32, direction: Direction) -> (Self, &[Dim]) {
        let mut this = Self { dims: [Dim { count: 1, stride: 0, packed: 0 }; MAX_DIMS], len: 0 };
        let word = 1 << log2;
        if layout.block > word || layout.dims.is_empty() {
            this.push(Dim { count: layout.block >> log2, stride: word, packed: word });
        }
        let taken = layout.dims.len().min(MAX_DIMS - this.len);
        let (inner, outer) = layout.dims.split_at(taken);
        for &d in inner {
            this.push(d);
        }
        if layout.block.unsigned_abs() < SECTOR {
            this.coalesce(taken, direction);
        }
        (this, outer)
    }

    /// Arranges the last `among` dimensions, which are sorted by their stride in memory, when blocks that lie together
    /// there are far apart in the packed buffer (a transpose). Either order alone would waste most of each sector on
    /// one side. What serves both: a few blocks that lie together where they are stored, then the dimension that
    /// lies together where they are loaded (a cache holds its sectors until they are used up), then the rest.
    fn coalesce(&mut self, among: usize, direction: Direction) {
        let start = self.len - among;
        let Some(dims) = self.dims.get_mut(start..self.len) else { return };
        let Some(densest) = (0..among).min_by_key(|&k| dims.get(k).map(|d| d.packed)) else { return };
        if densest == 0 {
            return;
        }
        // [packed, memory, others]: the dimension that is dense in the packed buffer, the one that is in memory.
        if let Some(front) = dims.get_mut(..=densest) {
            front.rotate_right(1);
        }
        let [packed, memory] = [self.get(start), self.get(start + 1)];
        if memory.stride.unsigned_abs() >= SECTOR {
            return;
        }
        let (stored, stride) = match direction {
            Direction::Pack => (packed, packed.packed),
            Direction::Unpack => (memory, memory.stride),
        };
        if direction == Direction::Unpack
            && let Some([a, b]) = self.dims.get_mut(start..start + 2)
        {
            std::mem::swap(a, b);
        }
        // From one sector to eight; two are best.
        let fill = |bytes: u64| bytes / stride.unsigned_abs().max(1);
        let sizes = (fill(2 * SECTOR)..=fill(8 * SECTOR)).chain((fill(SECTOR)..fill(2 * SECTOR)).rev());
        let few =
            sizes.filter_map(|few| i64::try_from(few).ok()).find(|&few| few > 1 && stored.count % few == 0);
        let Some(few) = few else { return };
        if few == stored.count || self.len == MAX_DIMS {
            return;
        }
        // [a few of the stored, the loaded, the rest of the stored, others].
        if let Some(slot) = self.dims.get_mut(start) {
            *slot = Dim { count: few, ..stored };
        }
        self.insert(
            start + 2,
            Dim { count: stored.count / few, stride: stored.stride * few, packed: stored.packed * few },
        );
    }

    fn as_slice(&self) -> &[Dim] {
        self.dims.get(..self.len).unwrap_or_default()
    }

    fn get(&self, k: usize) -> Dim {
        self.dims.get(k).copied().unwrap_or(Dim { count: 1, stride: 0, packed: 0 })
    }

    fn push(&mut self, d: Dim) {
        self.insert(self.len, d);
    }

    fn insert(&mut self, k: usize, d: Dim) {
        if let Some(tail) = self.dims.get_mut(k..=self.len) {
            tail.rotate_right(1);
            if let Some(slot) = tail.first_mut() {
                *slot = d;
            }
            self.len += 1;
        }
    }
}
