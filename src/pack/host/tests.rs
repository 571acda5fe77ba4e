//! The packer against the definition of [`Strided`], byte by byte.

use super::{Vector, pack_strided as pack, unpack_strided as unpack};
use crate::ir::{Dim, Strided};

/// A generator of its own (`SplitMix64`), so that a seed means the same layouts for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included.
    fn within(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.next() % u64::try_from(high - low + 1).unwrap()).unwrap()
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = usize::try_from(self.within(0, i64::try_from(last).unwrap())).unwrap();
            items.swap(last, other);
        }
    }
}

/// A layout from extents (innermost in memory first), gaps after each dimension, signs, and the order of the
/// packed buffer (which names dimensions, fastest first).
fn layout(block: i64, counts: &[i64], gaps: &[i64], reversed: &[bool], packed: &[usize]) -> Strided {
    let mut stride = block;
    let mut dims = Vec::new();
    for ((&count, &gap), &reversed) in counts.iter().zip(gaps).zip(reversed) {
        stride += gap;
        dims.push(Dim { count, stride: if reversed { -stride } else { stride }, packed: 0 });
        stride *= count;
    }
    let mut size = block;
    for &index in packed {
        dims[index].packed = size;
        size *= dims[index].count;
    }
    Strided { offset: 0, block, dims, size }
}

/// Every (memory, packed) pair of byte positions, by the definition.
fn positions(layout: &Strided) -> Vec<(i64, i64)> {
    let mut starts = vec![(layout.offset, 0)];
    for dim in &layout.dims {
        starts = starts
            .iter()
            .flat_map(|&(memory, packed)| {
                (0..dim.count).map(move |i| (memory + i * dim.stride, packed + i * dim.packed))
            })
            .collect();
    }
    starts
        .iter()
        .flat_map(|&(memory, packed)| (0..layout.block).map(move |b| (memory + b, packed + b)))
        .collect()
}

/// Packs and unpacks in guarded buffers, `skew` bytes off alignment, and compares every byte of them.
fn check(layout: &Strided, skew: usize, random: &mut Random) {
    const GUARD: usize = 40;
    let pairs = positions(layout);
    assert_eq!(i64::try_from(pairs.len()).unwrap(), layout.size);
    let low = pairs.iter().map(|pair| pair.0).min().unwrap_or(0);
    let high = pairs.iter().map(|pair| pair.0).max().unwrap_or(0);
    let span = usize::try_from(high - low + 1).unwrap();
    let size = usize::try_from(layout.size).unwrap();
    let at = |memory: i64| GUARD + skew + usize::try_from(memory - low).unwrap();
    let packed_at = |packed: i64| GUARD + skew + usize::try_from(packed).unwrap();
    let origin = isize::try_from(GUARD + skew).unwrap() - isize::try_from(low).unwrap();

    let memory = random.bytes(span + 2 * GUARD + skew);
    let mut packed = random.bytes(size + 2 * GUARD + skew);
    let mut expected = packed.clone();
    for &(from, to) in &pairs {
        expected[packed_at(to)] = memory[at(from)];
    }
    // SAFETY: origin is where the layout's bytes are exactly low.. within the buffer; packed holds size bytes.
    unsafe { pack(layout, memory.as_ptr().wrapping_offset(origin), packed.as_mut_ptr().add(GUARD + skew)) };
    assert!(packed == expected, "pack {layout:?} skew {skew}");
    let vector = Vector::with(layout, false);
    let first = origin + isize::try_from(layout.offset).unwrap();
    if let Some(vector) = &vector {
        packed[GUARD + skew..GUARD + skew + size].fill(0);
        // SAFETY: as above.
        unsafe { vector.pack(memory.as_ptr().wrapping_offset(first), packed.as_mut_ptr().add(GUARD + skew)) };
        assert!(packed == expected, "narrow pack {layout:?} skew {skew}");
    }

    let mut memory = random.bytes(memory.len());
    let before = memory.clone();
    let mut expected = memory.clone();
    for &(to, from) in &pairs {
        expected[at(to)] = packed[packed_at(from)];
    }
    // SAFETY: as above.
    unsafe { unpack(layout, packed.as_ptr().add(GUARD + skew), memory.as_mut_ptr().wrapping_offset(origin)) };
    assert!(memory == expected, "unpack {layout:?} skew {skew}");
    if let Some(vector) = vector {
        memory.clone_from(&before);
        // SAFETY: as above.
        unsafe {
            vector.unpack(packed.as_ptr().add(GUARD + skew), memory.as_mut_ptr().wrapping_offset(first));
        }
        assert!(memory == expected, "narrow unpack {layout:?} skew {skew}");
    }
}

/// How many random layouts: few where an interpreter runs them.
const ROUNDS: usize = if cfg!(miri) { 12 } else { 3000 };

#[test]
fn every_block_length_at_every_skew() {
    let mut random = Random(1);
    let lengths: Vec<i64> = if cfg!(miri) {
        vec![1, 3, 4, 6, 8, 12, 24, 48, 64, 70]
    } else {
        (1..=80).chain([96, 127, 128, 129, 160, 200, 255, 256, 257, 511, 512, 513]).collect()
    };
    let cases: &[(usize, i64)] =
        if cfg!(miri) { &[(3, 5)] } else { &[(0, 2), (1, 3), (3, 4), (4, 5), (7, 9)] };
    for block in lengths {
        for &(skew, count) in cases {
            check(&layout(block, &[count], &[block], &[false], &[0]), skew, &mut random);
            check(&layout(block, &[count, 3], &[1, 5], &[false, false], &[0, 1]), skew, &mut random);
            check(&layout(block, &[count, 3], &[1, 5], &[false, false], &[1, 0]), skew, &mut random);
        }
    }
}

#[test]
fn random_layouts() {
    let mut random = Random(2);
    for _ in 0..ROUNDS {
        let rank = usize::try_from(random.within(0, if cfg!(miri) { 4 } else { 6 })).unwrap();
        let largest = if cfg!(miri) { 4 } else { [1, 200, 24, 9, 6, 4, 3][rank] };
        let counts: Vec<_> = (0..rank).map(|_| random.within(2, largest)).collect();
        let gaps: Vec<_> = (0..rank).map(|_| random.within(0, 20)).collect();
        let reversed: Vec<_> = (0..rank).map(|_| random.next().is_multiple_of(4)).collect();
        let mut packed: Vec<_> = (0..rank).collect();
        if random.next().is_multiple_of(2) {
            random.shuffle(&mut packed);
        }
        let mut layout = layout(random.within(1, 40), &counts, &gaps, &reversed, &packed);
        layout.offset = random.within(-50, 50);
        let skew = usize::try_from(random.within(0, 15)).unwrap();
        check(&layout, skew, &mut random);
    }
}

#[test]
fn transposes_larger_than_a_strip() {
    let mut random = Random(3);
    let n = if cfg!(miri) { 10 } else { 67 };
    for block in if cfg!(miri) { [1, 2, 3, 5, 8] } else { [1, 4, 8, 24, 130] } {
        check(&layout(block, &[n, n + 1], &[0, 0], &[false, false], &[1, 0]), 0, &mut random);
        check(&layout(block, &[2, n], &[3, 0], &[false, true], &[1, 0]), 5, &mut random);
        check(&layout(block, &[5, 3, n], &[1, 0, 2], &[true, false, false], &[2, 0, 1]), 1, &mut random);
        check(&layout(block, &[3, 17, 4], &[1, 0, 2], &[false, false, false], &[1, 2, 0]), 1, &mut random);
    }
}

#[test]
fn rows_about_as_long_as_the_two_kinds_part() {
    let mut random = Random(5);
    for count in if cfg!(miri) { 95..98 } else { 90..110 } {
        for block in [1, 4, 7, 16] {
            check(&layout(block, &[count], &[3], &[true], &[0]), 2, &mut random);
        }
        if !cfg!(miri) {
            check(&layout(8, &[count, 3, 2], &[8, 1, 2], &[false, false, true], &[0, 2, 1]), 0, &mut random);
            check(&layout(8, &[2, count], &[8, 1], &[false, true], &[1, 0]), 4, &mut random);
        }
    }
}

#[test]
fn vectors_whose_lines_are_fetched_ahead() {
    let mut random = Random(6);
    if cfg!(miri) {
        return;
    }
    for (block, gap) in
        [(32, 0), (32, 32), (33, 7), (48, 1), (64, 64), (64, 300), (8, 24), (4, 60), (16, 300)]
    {
        for size in [4 << 10, 16 << 10, 64 << 10] {
            let count = size / block + 3;
            for reversed in [false, true] {
                check(&layout(block, &[count], &[gap], &[reversed], &[0]), 5, &mut random);
            }
        }
    }
}

#[test]
fn short_rows_by_columns() {
    let mut random = Random(7);
    for inner in 2..8 {
        for second in if cfg!(miri) { [23, 24, 129] } else { [23, 130, 2100] } {
            for block in [1, 8, 12] {
                let one = layout(block, &[inner, second], &[5, 3], &[false, inner % 2 == 0], &[0, 1]);
                check(&one, 3, &mut random);
            }
            if !cfg!(miri) {
                let three = layout(8, &[inner, second, 2], &[8, 0, 9], &[true, false, false], &[0, 1, 2]);
                check(&three, 0, &mut random);
            }
        }
    }
}

#[test]
fn as_many_dimensions_as_a_size_allows() {
    let mut random = Random(4);
    let rank = if cfg!(miri) { 5 } else { 17 };
    let order: Vec<_> = (0..rank).rev().collect();
    check(&layout(1, &vec![2; rank], &vec![0; rank], &vec![false; rank], &order), 0, &mut random);
}

#[test]
fn zero_strides_repeat_on_pack_and_survive_unpack() {
    let bytes = *b"abcdefgh";
    let repeated = Strided {
        offset: 2,
        block: 3,
        dims: vec![Dim { count: 2, stride: 0, packed: 3 }, Dim { count: 2, stride: 1, packed: 6 }],
        size: 12,
    };
    let mut packed = [0; 12];
    // SAFETY: the layout names bytes 2..6 of eight.
    unsafe { pack(&repeated, bytes.as_ptr(), packed.as_mut_ptr()) };
    assert_eq!(&packed, b"cdecdedefdef");
    let mut memory = *b"........";
    // SAFETY: as above.
    unsafe { unpack(&repeated, packed.as_ptr(), memory.as_mut_ptr()) };
    assert_eq!(&memory, b"..cdef..");
}

#[test]
fn contiguous_and_empty() {
    let mut packed = *b"....";
    let line = Strided { offset: 1, block: 3, dims: vec![], size: 3 };
    // SAFETY: three bytes from the second.
    unsafe { pack(&line, b"wxyz".as_ptr(), packed.as_mut_ptr()) };
    assert_eq!(&packed, b"xyz.");
    let nothing = Strided { offset: 5, block: 0, dims: vec![], size: 0 };
    // SAFETY: a layout without bytes touches nothing.
    unsafe { pack(&nothing, core::ptr::null(), core::ptr::null_mut()) };
    // SAFETY: as above.
    unsafe { unpack(&nothing, core::ptr::null(), core::ptr::null_mut()) };
}
