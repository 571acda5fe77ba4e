//! Planned launches as the items of a list, which one kernel moves together.
//!
//! Every item gets blocks of the grid for itself, in proportion to its work. Pure; uses [`kernel`](super::kernel) and
//! [`plan`](super::plan). Invariant: the blocks of the items, in their order, are the blocks of the grid, and each item has one at
//! least.
#![forbid(unsafe_code)]

use super::blocks::DEPTH;
use super::kernel::{BlocksArgs, Direction, ITEM_WORDS, Item};
use super::plan::{FEW_THREADS, Launch, Limits, MANY_THREADS};

/// Items with room for their words.
#[derive(Debug)]
pub struct List {
    words: Vec<u64>,
    /// How long `words` may become, the index counted.
    longest: usize,
    items: Vec<Entry>,
}

/// What is known of an item besides its words.
#[derive(Clone, Copy, Debug)]
struct Entry {
    place: usize,
    length: usize,
    words: u32,
    /// Words that a thread has in flight.
    depth: u32,
}

impl Entry {
    /// Blocks of so many threads that have something to do at once.
    fn tiles(&self, threads: u32) -> u64 {
        u64::from(self.words.div_ceil(threads * self.depth)).max(1)
    }
}

/// The word of an item that counts its blocks, in the upper half.
const BLOCKS: usize = 5;

/// How a list is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// Items.
    pub items: u32,
    /// The word at which the index begins.
    pub index: u32,
}

impl List {
    /// An empty list that will have room for `longest` words.
    pub fn new(longest: usize) -> Self {
        Self { words: Vec::with_capacity(longest.min(512)), longest, items: Vec::with_capacity(32) }
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether another item may find no room.
    pub fn is_full(&self) -> bool {
        self.words.len() + self.items.len() + ITEM_WORDS + 1 > self.longest
    }

    /// Adds what `launch` moves, unless the list is full.
    pub fn push(&mut self, launch: &Launch<BlocksArgs>) {
        if self.is_full() {
            return;
        }
        let item = Item { args: &launch.args, kernel: launch.kernel, blocks: 0 };
        let place = self.words.len();
        let length = item.write(&mut self.words);
        let depth = *DEPTH.get(usize::from(item.kind())).unwrap_or(&1);
        self.items.push(Entry { place, length, words: launch.args.strided.words, depth });
    }

    /// Shares a grid out among the items and appends the index: the list is complete then.
    pub fn finish(&mut self, direction: Direction, limits: Limits) -> Shape {
        let tiles = |threads| self.items.iter().map(|item| item.tiles(threads)).sum::<u64>();
        let few = tiles(FEW_THREADS);
        let spare = u64::from(limits.multiprocessors) + self.items.len() as u64;
        // As `Limits::shape`; an item of a single block is no reason for larger ones.
        let (threads, all, most) = if few <= spare {
            (FEW_THREADS, few, few)
        } else {
            (MANY_THREADS, tiles(MANY_THREADS), u64::from(limits.most(direction)))
        };
        let index = self.words.len();
        let mut grid = 0_u32;
        for item in &self.items {
            let tiles = item.tiles(threads);
            let share = if all <= most { tiles } else { (tiles * most / all).max(1) };
            let share = u32::try_from(share).unwrap_or(1);
            if let Some(word) = self.words.get_mut(item.place + BLOCKS) {
                *word |= u64::from(share) << 32;
            }
            self.words.push(u64::from(grid) | (item.place as u64) << 32 | (item.length as u64) << 56);
            grid += share;
        }
        Shape {
            grid,
            block: threads,
            items: u32::try_from(self.items.len()).unwrap_or(0),
            index: u32::try_from(index).unwrap_or(0),
        }
    }

    /// The words, complete after [`List::finish`].
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Makes it empty again.
    pub fn clear(&mut self) {
        self.words.clear();
        self.items.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::kernel::{Args, Axis, index, index_mixed};

    const LIMITS: Limits = Limits::of_device(132);

    fn launch(kernel: usize, words: u32) -> Launch<BlocksArgs> {
        let args = BlocksArgs::from(Args { words, ndims: 1, ..Args::default() });
        Launch { kernel, grid: 0, block: 0, args }
    }

    /// The shape and the items' blocks for so many words of 16 bytes.
    fn shared(words: &[u32]) -> (Shape, Vec<u32>) {
        let mut list = List::new(1 << 20);
        for &words in words {
            list.push(&launch(index(4, Direction::Pack, false), words));
        }
        let shape = list.finish(Direction::Pack, LIMITS);
        let blocks = list.items.iter().map(|item| u32::try_from(list.words[item.place + 5] >> 32).unwrap());
        (shape, blocks.collect())
    }

    #[test]
    fn small_items_have_their_tiles() {
        let (shape, blocks) = shared(&[1, 512, 513, 0]);
        assert_eq!((shape.grid, shape.block, shape.items, shape.index), (5, 256, 4, 28));
        assert_eq!(blocks, [1, 1, 2, 1]);
        // As many as there are, beyond the multiprocessors.
        let (shape, blocks) = shared(&[1; 300]);
        assert_eq!((shape.grid, shape.block), (300, 256));
        assert!(blocks.iter().all(|&n| n == 1));
    }

    #[test]
    fn a_huge_item_leaves_each_other_its_block() {
        let most = 132 * 4 * 8;
        let mut words = vec![i32::MAX.unsigned_abs(), 1 << 20];
        words.extend([1; 24]);
        let (shape, blocks) = shared(&words);
        assert_eq!(shape.block, 512);
        assert_eq!(blocks.iter().sum::<u32>(), shape.grid);
        // 2^21 tiles and 2^10, of which a block has 497.
        assert_eq!(blocks[..2], [4221, 2]);
        assert!(blocks[2..].iter().all(|&n| n == 1));
        assert!(shape.grid <= most + 26, "{}", shape.grid);
        // Nothing overflows.
        let (shape, _) = shared(&[i32::MAX.unsigned_abs(); 600]);
        assert!((600..=most + 600).contains(&shape.grid), "{}", shape.grid);
    }

    #[test]
    fn the_words_are_the_c_structures() {
        let mut list = List::new(512);
        list.push(&launch(index(0, Direction::Pack, false), 7));
        let mut second = launch(index_mixed(Direction::Pack), 0x7d0);
        second.args.strided.memory = 0x1111;
        second.args.strided.packed = 0x2222;
        second.args.strided.ndims = 2;
        second.args.strided.outer_stride = -3;
        second.args.strided.outer_packed = 4;
        second.args.strided.dims[0] = Axis::new(8, -16, 32);
        (second.args.table, second.args.at, second.args.wide, second.args.shift) = (0x3333, 1, 1, 3);
        list.push(&second);
        assert_eq!(
            list.finish(Direction::Unpack, LIMITS),
            Shape { grid: 9, block: 256, items: 2, index: 18 }
        );
        let words = list.words();
        assert_eq!(words[..7], [0, 0, 0, 0, 0, 7 | 1 << 32, 1 << 8 | 0xff << 16]);
        assert_eq!(
            words[7..14],
            [
                0x1111,
                0x2222,
                0x3333,
                (-3_i64).cast_unsigned(),
                4,
                0x7d0 | 8 << 32,
                5 | 2 << 8 | 1 << 16 | 1 << 24 | 3 << 32
            ]
        );
        assert_eq!(words[14..16], [(-16_i64).cast_unsigned(), 32]);
        assert_eq!(words[16] & 0xffff_ffff, 8);
        assert_eq!(words[18..], [7 << 56, 1 | 7 << 32 | 11 << 56]);
    }

    #[test]
    fn a_full_list_takes_no_more() {
        let mut list = List::new(100);
        let mut taken = 0;
        while !list.is_full() {
            list.push(&launch(index(0, Direction::Pack, false), 1));
            taken += 1;
        }
        list.push(&launch(index(0, Direction::Pack, false), 1));
        let shape = list.finish(Direction::Pack, LIMITS);
        assert_eq!(shape.items, taken);
        assert!(list.words().len() <= 100 && taken >= 8, "{taken}");
        list.clear();
        assert!(list.is_empty() && list.words().is_empty());
    }
}
