//! A layout by its definition, byte by byte.

use tempi::ir::{Dim, Layout, LeafRef, Runs};

/// Where everything that `dims` repeat lies: (packed, memory).
fn places(dims: &[Dim], packed: i64, memory: i64) -> Vec<(i64, i64)> {
    let mut places = vec![(packed, memory)];
    for dim in dims {
        let repeat = |(packed, offset)| {
            (0..dim.count).map(move |i| (packed + i * dim.packed, offset + i * dim.stride))
        };
        places = places.into_iter().flat_map(repeat).collect();
    }
    places
}

/// The memory offset of every packed byte. Panics unless each has exactly one.
pub fn expand(layout: &Layout) -> Vec<i64> {
    let mut offsets = vec![None; usize::try_from(layout.size()).unwrap()];
    let mut put = |packed: i64, memory: i64, bytes: i64| {
        for byte in 0..bytes {
            let old = offsets[usize::try_from(packed + byte).unwrap()].replace(memory + byte);
            assert_eq!(old, None, "packed byte {} twice in {layout:?}", packed + byte);
        }
    };
    for (at, leaf) in layout.leaves() {
        match leaf {
            LeafRef::Strided(strided) => {
                for (packed, memory) in places(&strided.dims, at, strided.offset) {
                    put(packed, memory, strided.block);
                }
            }
            LeafRef::Blocks(blocks) => {
                for (packed, memory) in places(&blocks.dims, at, blocks.offset) {
                    if let Runs::Mixed(runs) = blocks.table.runs() {
                        let mut packed = packed;
                        for run in runs {
                            put(packed, memory + run.offset, run.bytes);
                            packed += run.bytes;
                        }
                        continue;
                    }
                    for index in 0..blocks.table.len() {
                        let packed = packed + i64::try_from(index).unwrap() * blocks.packed;
                        put(packed, memory + blocks.table.offset(index).unwrap(), blocks.block);
                    }
                }
            }
        }
    }
    offsets.into_iter().map(|offset| offset.expect("every packed byte")).collect()
}
