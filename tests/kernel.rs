//! The kernels' source, built for the host and run through the planner, against the definition of a layout.
//!
//! Every access is checked to lie in memory that exists, every byte is compared, also those that must not change,
//! and the undefined-behaviour sanitizer traps on an access that is not aligned to its word.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's helpers may fail")]

mod kernels;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};

use kernels::run;
use tempi::ir::{Blocks, Dim, Run as Place, Runs, Strided, Table};
use tempi::pack::blocks;
use tempi::pack::kernel::{Direction, KERNELS};
use tempi::pack::plan::{Completion, Launch, Limits, launches};
use tempi::pack::table::{Image, OnDevice};

const LIMITS: Limits = Limits::of_device(4);

/// A region of pretended device memory.
struct Region {
    base: u64,
    words: Vec<u128>,
    writable: bool,
}

impl Region {
    fn new(base: u64, len: usize, writable: bool) -> Self {
        assert_eq!(base % 16, 0);
        Self { base, words: vec![0; len.div_ceil(16)], writable }
    }

    fn len(&self) -> usize {
        self.words.len() * 16
    }

    fn bytes(&mut self) -> &mut [u8] {
        let len = self.len();
        // SAFETY: any bytes are valid u8, the length is the vector's, and the borrow is unique.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), len) }
    }
}

thread_local! {
    static REGIONS: RefCell<Vec<Region>> = const { RefCell::new(Vec::new()) };
}

/// Where the test holds a device address. A panic must not cross C, so a wrong access ends the program.
unsafe extern "C" fn translate(address: u64, bytes: usize, write: c_int) -> *mut c_void {
    REGIONS.with_borrow_mut(|regions| {
        for region in regions {
            if address >= region.base && address + bytes as u64 <= region.base + region.len() as u64 {
                if write != 0 && !region.writable {
                    eprintln!("write to the source at {address:#x}");
                    std::process::abort();
                }
                let offset = usize::try_from(address - region.base).unwrap();
                return region.bytes()[offset..].as_mut_ptr().cast();
            }
        }
        eprintln!("access to {address:#x}, where nothing is");
        std::process::abort();
    })
}

fn launch(launch: &Launch) {
    let name = KERNELS[launch.kernel].as_ptr();
    let run = run();
    // SAFETY: the name and the argument are valid, and every access goes through `translate`.
    let status = unsafe { run(name, launch.grid, launch.block, (&raw const launch.args).cast(), translate) };
    assert_eq!(status, 0);
}

/// Where every block lies (in memory, in the packed buffer), by the definition of a layout.
fn blocks(layout: &Strided) -> Vec<(i64, i64)> {
    let mut all = vec![(layout.offset, 0)];
    for d in &layout.dims {
        let repeat = |&(m, p): &(i64, i64)| (0..d.count).map(move |i| (m + i * d.stride, p + i * d.packed));
        all = all.iter().flat_map(repeat).collect();
    }
    all
}

const MEMORY: u64 = 0x7f00_0000_0000;
const PACKED: u64 = 0x7f80_0000_0000;
const SYNC: u64 = 0x7fc0_0000_0000;

/// Runs the plan both ways (not into blocks that overlap) and compares every byte. `memory_at` and `packed_at`: where
/// the buffers start, from 16-byte alignment. Returns the launches that one way takes, and the last kernel's name.
fn check(layout: &Strided, memory_at: u64, packed_at: u64, limits: Limits) -> (usize, &'static str) {
    let positions = blocks(layout);
    let low = positions.iter().map(|p| p.0).min().unwrap();
    let high = positions.iter().map(|p| p.0).max().unwrap() + layout.block;
    assert_eq!(layout.size, layout.block * i64::try_from(positions.len()).unwrap());
    // The buffer argument lies so that everything falls into one region that starts at MEMORY.
    let buffer = (MEMORY + 64 + memory_at).wrapping_add_signed(-(low.div_euclid(16) * 16));
    let in_memory = |m: i64| usize::try_from(buffer.wrapping_add_signed(m) - MEMORY).unwrap();
    let packed = PACKED + 16 + packed_at;
    let in_packed = |p: i64| usize::try_from(packed.wrapping_add_signed(p) - PACKED).unwrap();
    let block = usize::try_from(layout.block).unwrap();
    let mut starts = positions.iter().map(|p| p.0).collect::<Vec<_>>();
    starts.sort_unstable();
    let overlap = starts.windows(2).any(|w| w[1] - w[0] < layout.block);

    let mut made = 0;
    let mut name = "";
    for direction in [Direction::Pack, Direction::Unpack] {
        let packing = direction == Direction::Pack;
        if !packing && overlap {
            continue;
        }
        let mut memory_region = Region::new(MEMORY, in_memory(high) + 64, !packing);
        let mut packed_region = Region::new(PACKED, in_packed(layout.size) + 64, packing);
        for (i, b) in memory_region.bytes().iter_mut().enumerate() {
            *b = u8::try_from((i * 31 + i / 251 * 7) % 256).unwrap();
        }
        for (i, b) in packed_region.bytes().iter_mut().enumerate() {
            *b = u8::try_from((i * 89 + i / 241 * 5 + 3) % 256).unwrap();
        }
        let mut memory_bytes = memory_region.bytes().to_vec();
        let mut packed_bytes = packed_region.bytes().to_vec();
        for &(m, p) in &positions {
            let (m, p) = (in_memory(m), in_packed(p));
            if packing {
                packed_bytes[p..p + block].copy_from_slice(&memory_bytes[m..m + block]);
            } else {
                memory_bytes[m..m + block].copy_from_slice(&packed_bytes[p..p + block]);
            }
        }

        REGIONS.set(vec![memory_region, packed_region, Region::new(SYNC, 16, true)]);
        let sync = || REGIONS.with_borrow(|regions| regions[2].words[0]);
        let completion = Some(Completion { flag: SYNC, counter: SYNC + 4, value: 77 });
        let plan = launches(layout, buffer, packed, direction, completion, limits);
        let promised = usize::try_from(plan.remaining()).unwrap();
        made = 0;
        for l in plan {
            assert!(l.args.words <= limits.words && l.grid > 0);
            assert_eq!(sync(), 0, "told before the last launch");
            launch(&l);
            name = KERNELS[l.kernel].to_str().unwrap();
            made += 1;
        }
        assert_eq!(made, promised);
        assert_eq!(sync(), 77, "the flag is set, the counter zero again");
        let mut regions = REGIONS.take();
        assert!(regions[0].bytes() == memory_bytes, "memory after {direction:?} of {layout:?}");
        assert!(regions[1].bytes() == packed_bytes, "packed after {direction:?} of {layout:?}");
    }
    (made, name)
}

/// Xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between low and high, both included.
    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.next() % (high - low + 1).cast_unsigned()).unwrap()
    }

    fn permutation(&mut self, len: usize) -> Vec<usize> {
        let mut all = (0..len).collect::<Vec<_>>();
        for i in (1..len).rev() {
            let other = usize::try_from(self.next() % (i as u64 + 1)).unwrap();
            all.swap(i, other);
        }
        all
    }

    /// A layout of `ndims` dimensions with every position a multiple of `word`. Without `alias`, blocks do not overlap.
    fn layout(&mut self, ndims: usize, word: i64, longest: i64, alias: bool) -> Strided {
        let block = word * self.between(1, 5);
        let mut dims = vec![Dim { count: 0, stride: 0, packed: 0 }; ndims];
        let mut reach = block;
        for k in self.permutation(ndims) {
            dims[k].count = self.between(2, longest);
            dims[k].packed = reach;
            reach *= dims[k].count;
        }
        let size = reach;
        reach = block;
        for d in &mut dims {
            let stride = reach + word * self.between(0, 3);
            reach = stride * d.count;
            d.stride = if self.between(0, 3) == 0 { -stride } else { stride };
            if alias && self.between(0, 3) == 0 {
                d.stride = word * self.between(0, 1);
            }
        }
        dims.sort_by_key(|d| (d.stride.abs(), d.packed));
        Strided { offset: word * self.between(-50, 50), block, dims, size }
    }
}

#[test]
fn random_layouts_of_every_word_size() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut names = BTreeSet::new();
    for i in 0..600 {
        let ndims = usize::try_from(random.between(0, 5)).unwrap();
        let word = 1 << random.between(0, 4);
        let layout = random.layout(ndims, word, 9, i % 3 == 0);
        let (memory_at, packed_at) =
            if i % 2 == 0 { (0, 0) } else { (random.next() % 16, random.next() % 16) };
        let (made, name) = check(&layout, memory_at, packed_at, LIMITS);
        assert_eq!(made, 1);
        names.insert(name.rsplit_once("_w").unwrap().1);
    }
    let all = ["1_o32", "2_o32", "4_o32", "8_o32", "16_o32"];
    assert_eq!(names, BTreeSet::from(all));
}

#[test]
fn every_misalignment_of_the_buffers() {
    let dims = vec![Dim { count: 7, stride: 48, packed: 32 }, Dim { count: 3, stride: 480, packed: 224 }];
    let layout = Strided { offset: 0, block: 32, dims, size: 672 };
    for memory_at in 0..16 {
        for packed_at in 0..16 {
            let (_, name) = check(&layout, memory_at, packed_at, LIMITS);
            let word = 1 << (memory_at | packed_at | 16).trailing_zeros();
            assert!(name.contains(&format!("_w{word}_")), "{memory_at} {packed_at} {name}");
        }
    }
}

#[test]
fn the_offset_counts_for_alignment() {
    for offset in -20..20_i64 {
        let dims = vec![Dim { count: 5, stride: 64, packed: 16 }];
        let layout = Strided { offset, block: 16, dims, size: 80 };
        let (_, name) = check(&layout, 0, 0, LIMITS);
        let word = 1 << (offset | 16).trailing_zeros();
        assert!(name.contains(&format!("_w{word}_")), "{offset} {name}");
    }
}

#[test]
fn several_launches() {
    let mut random = Random(0xfeed_f00d_1234_5671);
    let mut several = 0;
    for i in 0..600 {
        let ndims = usize::try_from(random.between(0, 4)).unwrap();
        let word = 1 << random.between(0, 4);
        let layout = random.layout(ndims, word, 6, i % 3 == 0);
        let words = u32::try_from(random.between(1, 64)).unwrap();
        let (made, _) = check(&layout, random.next() % 2 * 8, 0, Limits { words, multiprocessors: 2 });
        several += usize::from(made > 1);
    }
    assert!(several > 300, "{several}");
}

#[test]
fn more_dimensions_than_a_launch_has() {
    let mut random = Random(0xabad_cafe_0000_0001);
    for i in 0..40 {
        let layout = random.layout(9 + i % 4, 1 << (i % 5), 2, i % 3 == 0);
        let (made, _) = check(&layout, 0, 0, LIMITS);
        assert!(made >= 1 << (layout.dims.len() - 8), "{made} {layout:?}");
    }
}

#[test]
fn many_tiles_and_blocks() {
    let dims =
        vec![Dim { count: 3001, stride: 24, packed: 12 }, Dim { count: 5, stride: 90_000, packed: 36_012 }];
    let layout = Strided { offset: -8, block: 12, dims, size: 180_060 };
    for multiprocessors in [1, 7, 1000] {
        for at in [0, 1] {
            assert_eq!(check(&layout, 0, at, Limits::of_device(multiprocessors)).0, 1);
        }
    }
}

#[test]
fn transposes() {
    for (rows, columns, element) in
        [(64, 48, 8), (37, 41, 8), (31, 32, 4), (12, 100, 1), (20, 20, 16), (64, 7, 2)]
    {
        // A row-major matrix column after column: dense in memory along a row, in the packed buffer along a column.
        let dims = vec![
            Dim { count: columns, stride: element, packed: rows * element },
            Dim { count: rows, stride: columns * element, packed: element },
        ];
        let layout = Strided { offset: 0, block: element, dims, size: rows * columns * element };
        assert_eq!(check(&layout, 0, 0, LIMITS).0, 1);
    }
}

#[test]
fn nothing_to_move_takes_no_launch() {
    let layout = Strided { offset: 8, block: 0, dims: vec![], size: 0 };
    assert_eq!(launches(&layout, 0x1000, 0x2000, Direction::Pack, None, LIMITS).count(), 0);
}

#[test]
fn wide_offsets_only_where_needed() {
    let kernel = |stride, count| {
        let layout =
            Strided { offset: 0, block: 8, dims: vec![Dim { count, stride, packed: 8 }], size: 8 * count };
        let launch = launches(&layout, 0x1000, 0x2000, Direction::Pack, None, LIMITS).next().unwrap();
        KERNELS[launch.kernel].to_str().unwrap()
    };
    assert_eq!(kernel(1 << 30, 2), "tempi_pack_w8_o32");
    assert_eq!(kernel((1 << 31) - 16, 2), "tempi_pack_w8_o32");
    assert_eq!(kernel((1 << 31) - 8, 2), "tempi_pack_w8_o64");
    assert_eq!(kernel(-(1 << 30), 3), "tempi_pack_w8_o64");
    assert_eq!(kernel(16, 1 << 27), "tempi_pack_w8_o32");
    assert_eq!(kernel(16, (1 << 27) + 1), "tempi_pack_w8_o64");
}

#[test]
fn wide_offsets_reach_the_right_bytes() {
    // Only the first and the last word of a span beyond 32 bits exist: any other access ends the program.
    let stride = 5 << 30;
    let layout = Strided { offset: 0, block: 8, dims: vec![Dim { count: 2, stride, packed: 8 }], size: 16 };
    let mut low = Region::new(MEMORY, 16, false);
    let mut high = Region::new(MEMORY + stride.cast_unsigned(), 16, false);
    low.bytes()[..8].copy_from_slice(b"abcdefgh");
    high.bytes()[..8].copy_from_slice(b"ijklmnop");
    REGIONS.set(vec![low, high, Region::new(PACKED, 16, true)]);
    for l in launches(&layout, MEMORY, PACKED, Direction::Pack, None, LIMITS) {
        assert_eq!(KERNELS[l.kernel], c"tempi_pack_w8_o64");
        launch(&l);
    }
    assert_eq!(REGIONS.take()[2].bytes(), b"abcdefghijklmnop");
}

#[test]
fn objects_beyond_the_largest_launch() {
    // 2^33 bytes that must go byte by byte.
    let layout = Strided { offset: 1, block: 1 << 33, dims: vec![], size: 1 << 33 };
    let all = launches(&layout, 0, 0, Direction::Unpack, None, LIMITS).collect::<Vec<_>>();
    let mut next = 0;
    for l in &all {
        assert_eq!((l.args.packed, l.args.memory), (next, next + 1));
        assert_eq!(KERNELS[l.kernel], c"tempi_unpack_w1_o32");
        next += u64::from(l.args.words);
    }
    assert_eq!(next, 1 << 33);
    assert_eq!(all.len(), 5);
}

#[test]
fn grids_fit_the_machine() {
    let shape = |size: i64, direction| {
        let dims = vec![Dim { count: size / 64, stride: 128, packed: 64 }];
        let layout = Strided { offset: 0, block: 64, dims, size };
        let l = launches(&layout, 0x1000, 0x2000, direction, None, Limits::of_device(132)).next().unwrap();
        (l.grid, l.block)
    };
    assert_eq!(shape(128, Direction::Pack), (1, 256));
    assert_eq!(shape(64 << 10, Direction::Pack), (8, 256));
    assert_eq!(shape(1 << 20, Direction::Unpack), (128, 256));
    assert_eq!(shape(4 << 20, Direction::Pack), (256, 512));
    assert_eq!(shape(128 << 20, Direction::Pack), (132 * 4 * 8, 512));
    assert_eq!(shape(128 << 20, Direction::Unpack), (8192, 512));
}

const TABLE: u64 = 0x7fa0_0000_0000;

/// Where every run lies (in memory, in the packed buffer, bytes), by the definition of a layout.
fn runs(layout: &Blocks) -> Vec<(i64, i64, i64)> {
    let mut places = vec![(layout.offset, 0)];
    for d in &layout.dims {
        let repeat = |&(m, p): &(i64, i64)| (0..d.count).map(move |i| (m + i * d.stride, p + i * d.packed));
        places = places.iter().flat_map(repeat).collect();
    }
    let mut all = Vec::new();
    for (m, mut p) in places {
        if let Runs::Mixed(runs) = layout.table.runs() {
            for run in runs {
                all.push((m + run.offset, p, run.bytes));
                p += run.bytes;
            }
            continue;
        }
        for index in 0..layout.table.len() {
            all.push((m + layout.table.offset(index).unwrap(), p, layout.block));
            p += layout.packed;
        }
    }
    all
}

/// As `check`, for a table of runs. Returns the launches that one way takes.
fn check_blocks(layout: &Blocks, memory_at: u64, packed_at: u64, limits: Limits) -> usize {
    let runs = runs(layout);
    let low = runs.iter().map(|run| run.0).min().unwrap();
    let high = runs.iter().map(|run| run.0 + run.2).max().unwrap();
    assert_eq!(layout.size, runs.iter().map(|run| run.2).sum::<i64>());
    let buffer = (MEMORY + 64 + memory_at).wrapping_add_signed(-(low.div_euclid(16) * 16));
    let in_memory = |m: i64| usize::try_from(buffer.wrapping_add_signed(m) - MEMORY).unwrap();
    let packed = PACKED + 16 + packed_at;
    let in_packed = |p: i64| usize::try_from(packed.wrapping_add_signed(p) - PACKED).unwrap();
    let mut sorted = runs.clone();
    sorted.sort_unstable();
    let overlap = sorted.windows(2).any(|w| w[1].0 - w[0].0 < w[0].2);
    let image = Image::new(&layout.table);
    let table = OnDevice { address: TABLE, count: image.count, entries: image.entries, run: image.run };

    let mut made = 0;
    for direction in [Direction::Pack, Direction::Unpack] {
        let packing = direction == Direction::Pack;
        if !packing && overlap {
            continue;
        }
        let mut memory_region = Region::new(MEMORY, in_memory(high) + 64, !packing);
        let mut packed_region = Region::new(PACKED, in_packed(layout.size) + 64, packing);
        let mut table_region = Region::new(TABLE, image.bytes.len(), false);
        // An entry beyond the last would lead anywhere.
        table_region.bytes().fill(0x5a);
        table_region.bytes()[..image.bytes.len()].copy_from_slice(&image.bytes);
        for (i, b) in memory_region.bytes().iter_mut().enumerate() {
            *b = u8::try_from((i * 31 + i / 251 * 7) % 256).unwrap();
        }
        for (i, b) in packed_region.bytes().iter_mut().enumerate() {
            *b = u8::try_from((i * 89 + i / 241 * 5 + 3) % 256).unwrap();
        }
        let mut memory_bytes = memory_region.bytes().to_vec();
        let mut packed_bytes = packed_region.bytes().to_vec();
        for &(m, p, bytes) in &runs {
            let (m, p, bytes) = (in_memory(m), in_packed(p), usize::try_from(bytes).unwrap());
            if packing {
                packed_bytes[p..p + bytes].copy_from_slice(&memory_bytes[m..m + bytes]);
            } else {
                memory_bytes[m..m + bytes].copy_from_slice(&packed_bytes[p..p + bytes]);
            }
        }
        REGIONS.set(vec![memory_region, packed_region, table_region, Region::new(SYNC, 16, true)]);
        made = 0;
        let mut all = blocks::launches(layout, table, buffer, packed, direction, limits);
        while let Some(mut launch) = all.next() {
            let last = all.remaining() == 0;
            if last {
                launch.args.strided.flag = SYNC;
                launch.args.strided.counter = SYNC + 4;
                launch.args.strided.value = 77;
            }
            let name = KERNELS[launch.kernel].as_ptr();
            // SAFETY: the name and the argument are valid, and every access goes through `translate`.
            let status =
                unsafe { run()(name, launch.grid, launch.block, (&raw const launch.args).cast(), translate) };
            assert_eq!(status, 0);
            made += 1;
        }
        let mut regions = REGIONS.take();
        assert_eq!(regions[0].bytes(), memory_bytes, "{direction:?} {layout:?}");
        assert_eq!(regions[1].bytes(), packed_bytes, "{direction:?} {layout:?}");
        assert_eq!(regions[3].bytes()[..8], [77, 0, 0, 0, 0, 0, 0, 0], "the flag, and the counter at rest");
    }
    made
}

impl Random {
    /// Runs at random places, every position a multiple of `word`; apart or on top of each other. Repeated in some
    /// dimensions, those of equal runs within an entry too.
    fn blocks(&mut self, word: i64, mixed: bool) -> Blocks {
        let n = self.between(2, 40);
        let apart = self.between(0, 3) > 0;
        let most = if self.between(0, 5) == 0 { 200 } else { 9 };
        let longest = self.between(1, most);
        let block = word * self.between(1, longest);
        let inner = if mixed || self.between(0, 1) == 0 {
            vec![]
        } else {
            vec![Dim { count: 3, stride: block + word * self.between(0, 2), packed: block }]
        };
        let packed = inner.iter().fold(block, |size, dim| size * dim.count);
        let room = inner.iter().fold(longest * word, |_, dim| dim.count * dim.stride).max(longest * word);
        let mut order = self.permutation(usize::try_from(n).unwrap());
        let mut places = Vec::new();
        for place in order.drain(..) {
            let place = i64::try_from(place).unwrap();
            let offset = if apart { place * (room + word) } else { word * self.between(-20, 20) };
            let bytes = if mixed { word * self.between(1, longest) } else { block };
            places.push(Place { offset, bytes });
        }
        let table = if mixed {
            Table::mixed(places).unwrap()
        } else {
            Table::equal(places.iter().map(|place| place.offset).collect())
        };
        let mut size = if mixed { table.bytes() } else { packed * n };
        let mut dims = inner;
        let mut reach = n * (room + word);
        for _ in 0..self.between(0, 2) {
            let count = self.between(2, 4);
            dims.push(Dim { count, stride: reach + word * self.between(0, 3), packed: size });
            reach = (reach + 3 * word) * count;
            size *= count;
        }
        let (block, packed) = if mixed { (0, 0) } else { (block, packed) };
        Blocks { offset: word * self.between(-50, 50), table: table.into(), block, packed, dims, size }
    }
}

#[test]
fn tables_of_every_word_size() {
    let mut random = Random(0x0bad_5eed_0000_0001);
    for i in 0..800 {
        let word = 1 << random.between(0, 4);
        let layout = random.blocks(word, i % 2 == 0);
        let (memory_at, packed_at) =
            if i % 4 < 2 { (0, 0) } else { (random.next() % 16, random.next() % 16) };
        assert_eq!(check_blocks(&layout, memory_at, packed_at, LIMITS), 1);
    }
}

#[test]
fn tables_in_several_launches() {
    let mut random = Random(0x0bad_5eed_0000_0002);
    let mut several = 0;
    for i in 0..600 {
        let word = 1 << random.between(0, 4);
        let layout = random.blocks(word, i % 2 == 0);
        let words = u32::try_from(random.between(1, 64)).unwrap();
        let limits = Limits { words, multiprocessors: 2 };
        several += usize::from(check_blocks(&layout, random.next() % 2 * 8, 0, limits) > 1);
    }
    assert!(several > 300, "{several}");
}

#[test]
fn tables_within_many_dimensions() {
    let mut random = Random(0x0bad_5eed_0000_0003);
    for i in 0..40 {
        let mut layout = random.blocks(4, false);
        layout.dims.clear();
        // Dimensions within an entry until the table has no place of its own, and around it.
        let (mut packed, mut stride) = (layout.block, layout.block);
        for _ in 0..i % 12 {
            layout.dims.push(Dim { count: 2, stride, packed });
            (packed, stride) = (2 * packed, 2 * stride + 4);
        }
        let spread = (0..i64::try_from(layout.table.len()).unwrap()).map(|k| k * k % 7 * stride + k * 8);
        layout.table = Table::equal(spread.collect()).into();
        layout.packed = packed;
        layout.size = packed * i64::try_from(layout.table.len()).unwrap();
        if i % 3 == 0 {
            layout.dims.push(Dim { count: 3, stride: 4, packed: layout.size });
            layout.size *= 3;
        }
        check_blocks(&layout, 0, 0, LIMITS);
    }
}

#[test]
fn long_runs_and_many_blocks() {
    let run = |offset, bytes| Place { offset, bytes };
    let mixed = Table::mixed(vec![run(0, 100_000), run(200_000, 7), run(150_000, 16), run(-70_000, 65_536)]);
    let mixed = mixed.unwrap();
    let size = mixed.bytes();
    for multiprocessors in [1, 7, 1000] {
        let dims = vec![Dim { count: 2, stride: 1_000_000, packed: size }];
        let table = Table::mixed(match mixed.runs() {
            Runs::Mixed(runs) => runs.to_vec(),
            _ => unreachable!(),
        });
        let layout =
            Blocks { offset: 3, table: table.unwrap().into(), block: 0, packed: 0, dims, size: 2 * size };
        assert_eq!(check_blocks(&layout, 0, 0, Limits::of_device(multiprocessors)), 1);
        let offsets = (0..3000).map(|i| (i * 7919) % 3001 * 24).collect();
        let table = Table::equal(offsets).into();
        let layout = Blocks { offset: 0, table, block: 24, packed: 24, dims: vec![], size: 72_000 };
        assert_eq!(check_blocks(&layout, 0, 8, Limits::of_device(multiprocessors)), 1);
    }
}

#[test]
fn tables_of_wide_offsets() {
    // Two islands of memory, further apart than 32 bits reach.
    let far = 5_i64 << 32;
    let table = Table::equal(vec![0, far, 16, far + 1]);
    assert!(matches!(table.runs(), Runs::Wide(_)));
    let image = Image::new(&table);
    let layout = Blocks { offset: 0, table: table.into(), block: 1, packed: 1, dims: vec![], size: 4 };
    let mut low = Region::new(MEMORY, 32, false);
    let mut high = Region::new(MEMORY + far.cast_unsigned(), 16, false);
    let mut entries = Region::new(TABLE, image.bytes.len(), false);
    low.bytes()[0] = b'a';
    low.bytes()[16] = b'c';
    high.bytes()[..2].copy_from_slice(b"bd");
    entries.bytes().copy_from_slice(&image.bytes);
    REGIONS.set(vec![low, high, entries, Region::new(PACKED, 16, true)]);
    let table = OnDevice { address: TABLE, count: image.count, entries: image.entries, run: image.run };
    for launch in blocks::launches(&layout, table, MEMORY, PACKED, Direction::Pack, LIMITS) {
        let name = KERNELS[launch.kernel].as_ptr();
        // SAFETY: as above.
        unsafe { run()(name, launch.grid, launch.block, (&raw const launch.args).cast(), translate) };
    }
    assert_eq!(REGIONS.take()[3].bytes()[..4], *b"abcd");
}
