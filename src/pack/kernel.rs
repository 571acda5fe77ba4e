//! What the kernels take and which there are: the mirror of `kernels/strided.h`, `blocks.h` and `batch.h`.
//!
//! Pure; depends on nothing. Invariant: [`Args`], [`BlocksArgs`] and [`BatchArgs`] have the C structures' layout (asserted below), and
//! [`KERNELS`] is the headers' lists in the headers' order.
#![forbid(unsafe_code)]

use std::ffi::CStr;
use std::mem::{offset_of, size_of};

/// Dimensions of one launch, the contiguous block counted as one.
pub const MAX_DIMS: usize = 8;

/// One dimension of a launch. `x / count == ((2 * x * magic) >> 32) >> shift` for every x < 2³¹.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// Bytes from one repetition to the next in memory.
    pub stride: i64,
    /// Bytes from one repetition to the next in the packed buffer.
    pub packed: i64,
    /// Repetitions, 1 to 2³¹ - 1.
    pub count: u32,
    magic: u32,
    shift: u32,
    zero: u32,
}

impl Axis {
    /// A dimension of `count` repetitions with its reciprocal.
    ///
    /// With s = ⌈log₂ count⌉ and m = ⌈2³¹⁺ˢ / count⌉, m exceeds 2³¹⁺ˢ / count by less than 2ˢ / count, so for x < 2³¹
    /// x · m / 2³¹⁺ˢ exceeds x / count by less than 1 / count: the floor is the same. And m fits 32 bits.
    pub const fn new(count: u32, stride: i64, packed: i64) -> Self {
        let divisor = if count == 0 { 1 } else { count };
        let shift = u32::BITS - (divisor - 1).leading_zeros();
        #[expect(clippy::cast_possible_truncation, reason = "below 2^32, see above")]
        let magic = (1u64 << (31 + shift)).div_ceil(divisor as u64) as u32;
        Self { stride, packed, count, magic, shift, zero: 0 }
    }

    /// The words of the C structure, the byte order being little-endian.
    fn words(self) -> [u64; AXIS_WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [stride, packed] = [self.stride, self.packed].map(i64::cast_unsigned);
        [stride, packed, pair(self.count, self.magic), pair(self.shift, self.zero)]
    }

    /// `x / count` as the kernels compute it, for x < 2³¹.
    pub const fn divide(&self, x: u32) -> u32 {
        let high = ((x as u64 * 2 * self.magic as u64) >> 32) as u32;
        high >> self.shift
    }
}

/// The one argument of every strided kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// Address of the first byte of repetition (0, …, 0) in memory.
    pub memory: u64,
    /// Address of the same byte in the packed buffer.
    pub packed: u64,
    /// Address of a 32-bit word that the last block sets to `value` when everything is written; 0: none.
    pub flag: u64,
    /// Address of a 32-bit device word, zero before and after every launch that has a flag.
    pub counter: u64,
    /// What the flag is set to.
    pub value: u32,
    /// Words to move: the product of all counts, below 2³¹.
    pub words: u32,
    /// Dimensions in use, the outermost counted: 1 to [`MAX_DIMS`].
    pub ndims: u32,
    /// Always 0.
    pub zero: u32,
    /// The outermost dimension's stride in memory; its count is what the others leave of `words`.
    pub outer_stride: i64,
    /// The outermost dimension's stride in the packed buffer.
    pub outer_packed: i64,
    /// The other dimensions in order of iteration, the fastest first.
    pub dims: [Axis; MAX_DIMS - 1],
}

const _: () = {
    assert!(size_of::<Axis>() == 32);
    assert!(offset_of!(Axis, stride) == 0);
    assert!(offset_of!(Axis, packed) == 8);
    assert!(offset_of!(Axis, count) == 16);
    assert!(offset_of!(Axis, magic) == 20);
    assert!(offset_of!(Axis, shift) == 24);
    assert!(offset_of!(Axis, zero) == 28);
    assert!(size_of::<Args>() == 64 + 32 * (MAX_DIMS - 1));
    assert!(offset_of!(Args, memory) == 0);
    assert!(offset_of!(Args, packed) == 8);
    assert!(offset_of!(Args, flag) == 16);
    assert!(offset_of!(Args, counter) == 24);
    assert!(offset_of!(Args, value) == 32);
    assert!(offset_of!(Args, words) == 36);
    assert!(offset_of!(Args, ndims) == 40);
    assert!(offset_of!(Args, zero) == 44);
    assert!(offset_of!(Args, outer_stride) == 48);
    assert!(offset_of!(Args, outer_packed) == 56);
    assert!(offset_of!(Args, dims) == 64);
};

/// The one argument of every kernel of irregular layouts.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlocksArgs {
    /// What it has in common with the strided kernels; one of the dimensions is the table's.
    pub strided: Args,
    /// Address of the table's first entry.
    pub table: u64,
    /// The table's dimension, the outermost being `ndims - 1`; none of them: the first entry is meant.
    pub at: u32,
    /// 1: an entry of equal runs is a byte offset in 64 bits. 0: it has 32, in units of `1 << shift` bytes.
    pub wide: u32,
    /// log2 of the unit.
    pub shift: u32,
    /// Always 0.
    pub zero: u32,
}

const _: () = {
    assert!(size_of::<BlocksArgs>() == size_of::<Args>() + 24);
    assert!(offset_of!(BlocksArgs, strided) == 0);
    assert!(offset_of!(BlocksArgs, table) == size_of::<Args>());
    assert!(offset_of!(BlocksArgs, at) == size_of::<Args>() + 8);
    assert!(offset_of!(BlocksArgs, wide) == size_of::<Args>() + 12);
    assert!(offset_of!(BlocksArgs, shift) == size_of::<Args>() + 16);
    assert!(offset_of!(BlocksArgs, zero) == size_of::<Args>() + 20);
};

impl From<Args> for BlocksArgs {
    /// The same with the table that a strided layout has: none.
    fn from(strided: Args) -> Self {
        Self { strided, at: u32::MAX, ..Self::default() }
    }
}

/// Words of a dimension in a list.
const AXIS_WORDS: usize = 4;

/// Words of an item in a list without its dimensions.
const HEAD_WORDS: usize = 7;

/// Words of the longest item.
pub const ITEM_WORDS: usize = HEAD_WORDS + AXIS_WORDS * (MAX_DIMS - 1);

/// What a list says of one layout: `tempi_item` of `kernels/batch.h`, the head and the dimensions in use.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// What the layout's own kernel would take; its flag, counter and value play no part.
    pub args: &'a BlocksArgs,
    /// The layout's own kernel, which tells the kind of words.
    pub kernel: usize,
    /// Blocks of the grid that share it.
    pub blocks: u32,
}

/// The kind of an item of different runs.
pub const MIXED: u8 = 5;

impl Item<'_> {
    /// log₂ of the bytes of a word, or [`MIXED`].
    pub fn kind(&self) -> u8 {
        let kind = match self.kernel {
            ..20 => self.kernel / 4,
            20..30 => (self.kernel - 20) / 2,
            _ => return MIXED,
        };
        u8::try_from(kind).unwrap_or(MIXED)
    }

    /// Appends the item's words to a list; returns how many.
    pub fn write(&self, list: &mut Vec<u64>) -> usize {
        let BlocksArgs { strided, table, .. } = self.args;
        // A dimension that does not exist (u32::MAX) stays one: there are no 255.
        let byte = |value: u32, place: u32| u64::from(value & 0xff) << (8 * place);
        list.extend([
            strided.memory,
            strided.packed,
            *table,
            strided.outer_stride.cast_unsigned(),
            strided.outer_packed.cast_unsigned(),
            u64::from(strided.words) | u64::from(self.blocks) << 32,
            u64::from(self.kind())
                | byte(strided.ndims, 1)
                | byte(self.args.at, 2)
                | byte(self.args.wide, 3)
                | byte(self.args.shift, 4),
        ]);
        let inner = strided.dims.iter().take((strided.ndims as usize).saturating_sub(1));
        let dims = inner.len();
        list.extend(inner.flat_map(|axis| axis.words()));
        HEAD_WORDS + AXIS_WORDS * dims
    }
}

/// Words of a list that the argument has room for.
pub const HERE: usize = 507;

/// The one argument of the kernel of many layouts.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchArgs {
    /// As in [`Args`].
    pub flag: u64,
    /// As in [`Args`].
    pub counter: u64,
    /// As in [`Args`].
    pub value: u32,
    /// 0: pack; 1: unpack.
    pub unpack: u32,
    /// Items of the list, at least one.
    pub items: u32,
    /// The word of the list at which its index begins.
    pub index: u32,
    /// Device address of the list; 0: it is here.
    pub list: u64,
    /// The list.
    pub here: [u64; HERE],
}

const _: () = {
    assert!(size_of::<BatchArgs>() == 4096);
    assert!(offset_of!(BatchArgs, flag) == 0);
    assert!(offset_of!(BatchArgs, counter) == 8);
    assert!(offset_of!(BatchArgs, value) == 16);
    assert!(offset_of!(BatchArgs, unpack) == 20);
    assert!(offset_of!(BatchArgs, items) == 24);
    assert!(offset_of!(BatchArgs, index) == 28);
    assert!(offset_of!(BatchArgs, list) == 32);
    assert!(offset_of!(BatchArgs, here) == 40);
    assert!(size_of::<Axis>() == 8 * AXIS_WORDS);
};

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From memory into the packed buffer.
    Pack,
    /// From the packed buffer into memory.
    Unpack,
}

/// The entry points of the module, in the order of [`index`], [`index_equal`] and [`index_mixed`]; then [`BATCH`].
pub const KERNELS: [&CStr; 33] = [
    c"tempi_pack_w1_o32",
    c"tempi_pack_w1_o64",
    c"tempi_unpack_w1_o32",
    c"tempi_unpack_w1_o64",
    c"tempi_pack_w2_o32",
    c"tempi_pack_w2_o64",
    c"tempi_unpack_w2_o32",
    c"tempi_unpack_w2_o64",
    c"tempi_pack_w4_o32",
    c"tempi_pack_w4_o64",
    c"tempi_unpack_w4_o32",
    c"tempi_unpack_w4_o64",
    c"tempi_pack_w8_o32",
    c"tempi_pack_w8_o64",
    c"tempi_unpack_w8_o32",
    c"tempi_unpack_w8_o64",
    c"tempi_pack_w16_o32",
    c"tempi_pack_w16_o64",
    c"tempi_unpack_w16_o32",
    c"tempi_unpack_w16_o64",
    c"tempi_pack_equal_w1",
    c"tempi_unpack_equal_w1",
    c"tempi_pack_equal_w2",
    c"tempi_unpack_equal_w2",
    c"tempi_pack_equal_w4",
    c"tempi_unpack_equal_w4",
    c"tempi_pack_equal_w8",
    c"tempi_unpack_equal_w8",
    c"tempi_pack_equal_w16",
    c"tempi_unpack_equal_w16",
    c"tempi_pack_mixed",
    c"tempi_unpack_mixed",
    c"tempi_move",
];

/// The module that holds [`KERNELS`]: PTX 5.0 for `sm_60`, which any driver since CUDA 8 compiles for any GPU
/// since Pascal.
pub const PTX: &CStr = {
    match CStr::from_bytes_with_nul(concat!(include_str!("../../kernels/strided.ptx"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the PTX holds a NUL"),
    }
};

/// The place in [`KERNELS`] of the kernel with words of 2^`log2` ≤ 16 bytes; `wide`: some byte offset of the launch
/// does not fit a signed 32-bit integer.
pub const fn index(log2: u32, direction: Direction, wide: bool) -> usize {
    let log2 = if log2 < 4 { log2 as usize } else { 4 };
    log2 * 4 + 2 * (matches!(direction, Direction::Unpack) as usize) + wide as usize
}

/// The place in [`KERNELS`] of the kernel of equal runs with words of 2^`log2` ≤ 16 bytes.
pub const fn index_equal(log2: u32, direction: Direction) -> usize {
    let log2 = if log2 < 4 { log2 as usize } else { 4 };
    20 + 2 * log2 + matches!(direction, Direction::Unpack) as usize
}

/// The place in [`KERNELS`] of the kernel of different runs.
pub const fn index_mixed(direction: Direction) -> usize {
    30 + matches!(direction, Direction::Unpack) as usize
}

/// The place in [`KERNELS`] of the kernel of many layouts.
pub const BATCH: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_finds_the_name() {
        for log2 in 0..5 {
            for (direction, verb) in [(Direction::Pack, "pack"), (Direction::Unpack, "unpack")] {
                for (wide, offsets) in [(false, "o32"), (true, "o64")] {
                    let name = format!("tempi_{verb}_w{}_{offsets}", 1 << log2);
                    assert_eq!(KERNELS[index(log2, direction, wide)].to_str(), Ok(name.as_str()));
                }
                let name = format!("tempi_{verb}_equal_w{}", 1 << log2);
                assert_eq!(KERNELS[index_equal(log2, direction)].to_str(), Ok(name.as_str()));
            }
        }
    }

    #[test]
    fn kinds_are_the_kernels_words() {
        let args = BlocksArgs::default();
        for (kernel, name) in KERNELS[..BATCH].iter().enumerate() {
            let name = name.to_str().unwrap();
            let kind = Item { args: &args, kernel, blocks: 1 }.kind();
            let expected = match name.split_once("_w") {
                Some((_, rest)) => {
                    let bytes: u32 = rest.split('_').next().unwrap().parse().unwrap();
                    u8::try_from(bytes.ilog2()).unwrap()
                }
                None => MIXED,
            };
            assert_eq!(kind, expected, "{name}");
        }
    }

    #[test]
    fn the_last_kernels_are_the_mixed_ones_and_the_batch() {
        assert_eq!(KERNELS[BATCH], c"tempi_move");
        assert_eq!(KERNELS[index_mixed(Direction::Pack)], c"tempi_pack_mixed");
        assert_eq!(KERNELS[index_mixed(Direction::Unpack)], c"tempi_unpack_mixed");
    }

    #[test]
    fn the_module_holds_every_kernel() {
        let ptx = PTX.to_str().unwrap();
        for name in KERNELS {
            assert!(ptx.contains(&format!(".entry {}(", name.to_str().unwrap())), "{name:?}");
        }
        assert_eq!(ptx.matches(".entry").count(), KERNELS.len());
    }

    #[test]
    fn division_by_reciprocal_is_exact() {
        const LAST: u32 = (1 << 31) - 1;
        let check = |count: u32, x: u32| {
            let axis = Axis::new(count, 0, 0);
            assert_eq!(axis.divide(x), x / count, "{x} / {count}");
        };
        for count in 1..=2048 {
            for x in 0..=4096 {
                check(count, x);
            }
        }
        // A reciprocal fails first just below a multiple: try the multiples' neighbours, small and large.
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            u32::try_from(seed >> 33).unwrap()
        };
        let powers = (0..31).flat_map(|p| [(1u32 << p).saturating_sub(1), 1 << p, (1 << p) + 1]);
        let counts = powers.chain([LAST]).filter(|&c| (1..=LAST).contains(&c)).collect::<Vec<_>>();
        for i in 0..200_000 {
            let count = if i < 20_000 { counts[i % counts.len()] } else { (random() >> (i % 31)).max(1) };
            let multiple = random() / count * count;
            for x in [
                multiple,
                multiple.saturating_sub(1),
                random(),
                LAST,
                LAST / count * count,
                LAST - LAST % count,
            ] {
                check(count, x);
            }
            check(count, (LAST / count * count).saturating_sub(1));
        }
    }
}
