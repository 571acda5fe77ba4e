//! When the CPU packer is faster than the system MPI's own.
//!
//! Pure; depends on `ir` only. The invariant: `true` only where `benches/host-compare` shows a gain in one direction at least and
//! no loss in the other. The price of being called at all (10 ns) does not count: it is paid whether the call is forwarded or
//! not.
#![forbid(unsafe_code)]

use crate::ir::{Blocks, Layout, Strided};

/// The system's MPI, as far as its own packing in host memory is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Open MPI before version 5: 2 ns a block whatever its length, in any shape.
    OpenMpi4,
    /// Open MPI 5 and later: as fast as memory for one dimension of short blocks, slow for short rows.
    OpenMpi5,
    /// MPICH and what descends from it: a start of 90 ns, then close to what a loop can do.
    Mpich,
}

/// Whether [`pack`](super::pack) and [`unpack`](super::unpack) are worth their call for `layout` under that
/// MPI.
pub fn worthwhile(layout: &Layout, system: System) -> bool {
    match layout {
        Layout::Strided(strided) => worthwhile_strided(strided, system),
        Layout::Blocks(blocks) => worthwhile_blocks(blocks, system),
        Layout::Parts(parts) => parts.size <= SMALL,
    }
}

/// Up to here the start of an MPI's own engine takes it longer than a loop takes for all.
const SMALL: i64 = 16 << 10;

/// Up to here the start of Open MPI 4's engine shows beside a loop that is no slower than its own.
const MEDIUM: i64 = 64 << 10;

/// Up to here a copy of one block takes less than an MPI's engine needs to start.
pub const DENSE: i64 = 64 << 10;

/// [`worthwhile`] for runs of a table. Open MPI takes 4 ns a run whatever its length, MPICH as long as a loop does but for
/// its start.
fn worthwhile_blocks(blocks: &Blocks, system: System) -> bool {
    let runs = blocks.count().max(1);
    let short = blocks.size / runs <= 64;
    match system {
        System::OpenMpi4 | System::OpenMpi5 => blocks.size <= if short { LARGE } else { SMALL },
        System::Mpich => runs <= 32 || !short && blocks.size <= SMALL,
    }
}

/// Beyond this, memory is all that counts for short runs.
const LARGE: i64 = 4 << 20;

/// [`worthwhile`] for a regular layout.
pub fn worthwhile_strided(layout: &Strided, system: System) -> bool {
    if layout.is_contiguous() {
        return layout.size <= DENSE;
    }
    let (short, size) = (layout.block <= 64, layout.size);
    // MPICH transposes what the nearer caches hold as fast as the strips do, but for a few fields.
    let square = is_transpose(layout) && layout.dims.first().is_some_and(|dim| dim.count > 8);
    if system == System::Mpich && square && (8 << 10 < size && size < 256 << 10) {
        return false;
    }
    if size <= SMALL {
        return true;
    }
    match system {
        System::OpenMpi4 => short || size <= MEDIUM,
        System::OpenMpi5 => {
            short && (is_transpose(layout) || !scattered(layout) && touched(layout) < 2 << 20)
        }
        System::Mpich => {
            is_transpose(layout) || !long_rows(layout) && !scattered(layout) && touched(layout) <= 1 << 20
        }
    }
}

/// Whether short blocks lie in another order in memory than in the packed buffer: MPIs walk in packed order,
/// and we need not.
fn is_transpose(layout: &Strided) -> bool {
    let first = layout.dims.first().map_or(0, |dim| dim.packed);
    layout.block <= 64 && layout.dims.iter().any(|dim| dim.packed < first)
}

/// Whether a row of many blocks is repeated: then the starts of rows, at which we are faster, do not count.
fn long_rows(layout: &Strided) -> bool {
    matches!(layout.dims.as_slice(), [first, _, ..] if first.count >= 48)
}

/// Whether many short blocks lie so far apart that each costs a cache line and every few a page: then memory
/// is all that counts.
fn scattered(layout: &Strided) -> bool {
    layout.dims.first().is_some_and(|dim| {
        layout.block < 64 && dim.stride.unsigned_abs() >= 256 && layout.size / layout.block >= 1024
    })
}

/// Bytes of the cache lines that are read or written, both sides together; beyond a cache's size memory is
/// all that counts.
fn touched(layout: &Strided) -> i64 {
    let apart = layout.dims.first().map_or(0, |dim| dim.stride.saturating_abs().min(64));
    let line = layout.block.max(apart);
    let blocks = layout.size.checked_div(layout.block).unwrap_or(0);
    blocks.saturating_mul(line).saturating_add(layout.size)
}

#[cfg(test)]
mod tests {
    use super::{System, worthwhile, worthwhile_strided};
    use crate::ir::{Blocks, Dim, Layout, Run, Strided, Table};

    const ALL: [System; 3] = [System::OpenMpi4, System::OpenMpi5, System::Mpich];

    fn vector(count: i64, block: i64, stride: i64) -> Strided {
        Strided { offset: 0, block, dims: vec![Dim { count, stride, packed: block }], size: block * count }
    }

    fn under(layout: &Strided) -> [bool; 3] {
        ALL.map(|system| worthwhile_strided(layout, system))
    }

    #[test]
    fn one_block_as_long_as_the_start_counts() {
        assert_eq!(under(&Strided { offset: 0, block: 4096, dims: vec![], size: 4096 }), [true; 3]);
        assert_eq!(under(&Strided { offset: 0, block: 1 << 20, dims: vec![], size: 1 << 20 }), [false; 3]);
    }

    #[test]
    fn vectors_as_measured() {
        assert_eq!(under(&vector(16, 4, 8)), [true; 3], "64 bytes");
        assert_eq!(under(&vector(512, 256, 512)), [false, false, true], "128 KiB in long blocks");
        assert_eq!(under(&vector(2, 512, 1024)), [true; 3], "1 KiB in long blocks");
        assert_eq!(under(&vector(4, 4096, 8192)), [true; 3], "16 KiB in long blocks");
        assert_eq!(under(&vector(512, 8, 16)), [true, true, true], "4 KiB");
        assert_eq!(under(&vector(1024, 64, 128)), [true, true, true], "64 KiB");
        assert_eq!(under(&vector(256, 256, 512)), [true, false, true], "64 KiB in long blocks");
        assert_eq!(under(&vector(1 << 15, 32, 64)), [true, false, false], "1 MiB");
        assert_eq!(under(&vector(1 << 12, 4096, 8192)), [false; 3], "16 MiB in long blocks");
    }

    #[test]
    fn faces_and_transposes_as_measured() {
        assert_eq!(under(&vector(4096, 8, 512)), [true, false, false], "a double of every row of a 64 cube");
        let square = |n: i64| Strided {
            offset: 0,
            block: 8,
            dims: vec![
                Dim { count: n, stride: 8, packed: 8 * n },
                Dim { count: n, stride: 8 * n, packed: 8 },
            ],
            size: 8 * n * n,
        };
        assert_eq!(under(&square(8)), [true; 3]);
        assert_eq!(under(&square(32)), [true, true, true]);
        assert_eq!(under(&square(100)), [true, true, false]);
        assert_eq!(under(&square(1024)), [true, true, true]);
    }

    #[test]
    fn extremes_do_not_overflow() {
        let far = vector(1 << 40, 1 << 20, i64::MIN);
        assert_eq!(under(&far), [false; 3]);
        let short = vector(i64::MAX, 1, i64::MIN);
        assert_eq!(under(&short), [true, false, false]);
    }

    #[test]
    fn tables_as_measured() {
        let doubles = |n: i64| {
            let offsets = (0..n).map(|i| i * 7_368_787 % n * 24).collect();
            let table = Table::equal(offsets).into();
            Layout::Blocks(Blocks { offset: 0, table, block: 8, packed: 8, dims: vec![], size: 8 * n })
        };
        let under = |layout: &Layout| ALL.map(|system| worthwhile(layout, system));
        assert_eq!(under(&doubles(16)), [true, true, true]);
        assert_eq!(under(&doubles(4096)), [true, true, false]);
        assert_eq!(under(&doubles(1 << 15)), [true, true, false]);
        assert_eq!(under(&doubles(1 << 20)), [false, false, false]);
        let long = |n: i64| {
            let runs = (0..n).map(|i| Run { offset: 1000 * i, bytes: 200 + i % 2 * 100 }).collect();
            let table = Table::mixed(runs).unwrap();
            let size = table.bytes();
            Layout::Blocks(Blocks { offset: 0, table: table.into(), block: 0, packed: 0, dims: vec![], size })
        };
        assert_eq!(under(&long(60)), [true, true, true]);
        assert_eq!(under(&long(6000)), [false, false, false]);
    }
}
