//! Random layouts, and where their bytes lie by the definition of a layout.
#![allow(dead_code, reason = "each test file uses its part")]

use tempi::ir::{Blocks, Dim, Run as Place, Runs, Strided, Table};

/// Where every block lies (in memory, in the packed buffer), by the definition of a layout.
pub(crate) fn blocks(layout: &Strided) -> Vec<(i64, i64)> {
    let mut all = vec![(layout.offset, 0)];
    for d in &layout.dims {
        let repeat = |&(m, p): &(i64, i64)| (0..d.count).map(move |i| (m + i * d.stride, p + i * d.packed));
        all = all.iter().flat_map(repeat).collect();
    }
    all
}

/// Where every run lies (in memory, in the packed buffer, bytes), by the definition of a layout.
pub(crate) fn runs(layout: &Blocks) -> Vec<(i64, i64, i64)> {
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

/// Xorshift: the same numbers in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Between low and high, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.next() % (high - low + 1).cast_unsigned()).unwrap()
    }

    pub(crate) fn permutation(&mut self, len: usize) -> Vec<usize> {
        let mut all = (0..len).collect::<Vec<_>>();
        for i in (1..len).rev() {
            let other = usize::try_from(self.next() % (i as u64 + 1)).unwrap();
            all.swap(i, other);
        }
        all
    }

    /// A layout of `ndims` dimensions with every position a multiple of `word`. Without `alias`, blocks do not overlap.
    pub(crate) fn layout(&mut self, ndims: usize, word: i64, longest: i64, alias: bool) -> Strided {
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

impl Random {
    /// Runs at random places, every position a multiple of `word`; apart or on top of each other. Repeated in some
    /// dimensions, those of equal runs within an entry too.
    pub(crate) fn blocks(&mut self, word: i64, mixed: bool) -> Blocks {
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
