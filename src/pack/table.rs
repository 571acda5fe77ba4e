//! A table of runs as the kernels read it, and its copies on devices.
//!
//! A copy is made at the table's first use in a context, lies in a buffer of the pool, and goes back there with the
//! table, which lives as long as any layout that uses it. Uses `ir`, `pool` and `cuda`. The invariant: what is kept
//! of all tables together stays below [`KEPT`]; a table beyond that is copied for one use.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;

use crate::cuda::context::{Context, Entered};
use crate::cuda::{CudaError, Memory};
use crate::ir::{Run, Runs, Table};
use crate::pool::{self, Buffer};

/// Bytes that the copies of all tables together may take.
const KEPT: usize = 1 << 30;

/// Bytes of the copies that are kept.
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// Bits of a [`unit`]'s length: `TEMPI_LENGTH_BITS` of `kernels/blocks.h`.
const LENGTH_BITS: u32 = 20;

/// The longest and the shortest piece that a run of a mixed table is cut into.
const LONGEST: i64 = 4096;
const SHORTEST: i64 = 512;

/// Equal pieces instead of runs of different length, where there are at most so many for each run, of at most so many bytes:
/// longer runs have work for a warp, which then takes the widest words that each run allows.
const PIECES: i64 = 8;
const LARGEST_PIECE: i64 = 1024;

/// How the entries of a table on a device are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// 32-bit offsets of equal runs, in units of `1 << shift` bytes.
    Narrow {
        /// log2 of the unit.
        shift: u32,
    },
    /// 64-bit offsets of equal runs, in bytes.
    Wide,
    /// Runs of different length: the offset, then the place in the packed form with the length.
    Mixed,
}

impl Entries {
    /// Bytes of an entry.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Narrow { .. } => 4,
            Self::Wide => 8,
            Self::Mixed => 16,
        }
    }
}

/// A table as the kernels see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDevice {
    /// Address of the first entry.
    pub address: u64,
    /// How many there are: runs, or pieces of them.
    pub count: u64,
    /// How they are read.
    pub entries: Entries,
    /// Bytes of an entry's run: of each piece that runs of different length were cut into, of all on average if they were not.
    /// 0 where the runs were equal, whose length the layout knows.
    pub run: i64,
}

/// A table as bytes for a device.
#[derive(Debug)]
pub struct Image {
    /// Its entries.
    pub bytes: Vec<u8>,
    /// As [`OnDevice::count`].
    pub count: u64,
    /// As [`OnDevice::entries`].
    pub entries: Entries,
    /// As [`OnDevice::run`].
    pub run: i64,
}

impl Image {
    /// The entries of `table`: offsets, or the pieces that the runs are cut into, so that no thread has to search and none has
    /// much more to do than others. Runs that differ only because neighbours have met are cut into equal pieces again:
    /// an index of single elements in sorted order has many such, and the kernel for equal runs is twice as fast.
    pub fn new(table: &Table) -> Self {
        match table.runs() {
            Runs::Narrow { shift, offsets } => Self::narrow(*shift, offsets, 0),
            Runs::Wide(offsets) => Self::wide(offsets, 0),
            Runs::Mixed(runs) => equal_pieces(runs, table.bytes()).unwrap_or_else(|| {
                let longest = (table.bytes() / 4096).clamp(SHORTEST, LONGEST).cast_unsigned();
                let bytes = pieces(runs, longest.next_power_of_two().cast_signed());
                let count = (bytes.len() / 16) as u64;
                let run = (table.bytes() / count.max(1).cast_signed()).max(1);
                Self { bytes, count, entries: Entries::Mixed, run }
            }),
        }
    }

    fn narrow(shift: u32, offsets: &[i32], run: i64) -> Self {
        let bytes = offsets.iter().flat_map(|o| o.to_ne_bytes()).collect();
        Self { bytes, count: offsets.len() as u64, entries: Entries::Narrow { shift }, run }
    }

    fn wide(offsets: &[i64], run: i64) -> Self {
        let bytes = offsets.iter().flat_map(|o| o.to_ne_bytes()).collect();
        Self { bytes, count: offsets.len() as u64, entries: Entries::Wide, run }
    }
}

/// The runs in pieces of their greatest common length, if those are few and not too short.
fn equal_pieces(runs: &[Run], bytes: i64) -> Option<Image> {
    let piece = runs.iter().fold(0, |common, run| gcd(common, run.bytes));
    let count = bytes.checked_div(piece)?;
    if !(4..=LARGEST_PIECE).contains(&piece) || count > i64::try_from(runs.len()).ok()?.checked_mul(PIECES)? {
        return None;
    }
    let parts = |run: &Run| {
        (0..run.bytes / piece).map({
            let offset = run.offset;
            move |i| offset + i * piece
        })
    };
    let offsets = Table::equal(runs.iter().flat_map(parts).collect());
    Some(match offsets.runs() {
        Runs::Narrow { shift, offsets } => Image::narrow(*shift, offsets, piece),
        Runs::Wide(offsets) => Image::wide(offsets, piece),
        Runs::Mixed(_) => return None,
    })
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn pieces(runs: &[Run], longest: i64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(runs.len() * 16);
    let mut packed = 0;
    for run in runs {
        let mut done = 0;
        while done < run.bytes {
            let length = (run.bytes - done).min(longest);
            // `ir` bounds the packed bytes so that this fits.
            let place = packed << LENGTH_BITS | length;
            bytes.extend_from_slice(&(run.offset + done).to_ne_bytes());
            bytes.extend_from_slice(&place.to_ne_bytes());
            done += length;
            packed += length;
        }
    }
    bytes
}

/// A table on a device, for as long as it is needed.
#[derive(Debug)]
pub(super) struct Copied {
    pub(super) table: OnDevice,
    /// Where it lies if it is not kept with the table: to be given back after use.
    pub(super) once: Option<Buffer>,
}

/// The copies of one table, one a context.
#[derive(Debug, Default)]
struct Copies(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    context: &'static Context,
    table: OnDevice,
    buffer: Buffer,
}

impl Drop for Kept {
    fn drop(&mut self) {
        BYTES.fetch_sub(self.buffer.bytes(), Relaxed);
    }
}

/// The copy of `table` in the context that was entered, made by `upload` (to an address, and done when it returns)
/// if there is none.
pub(super) fn copied(
    entered: &Entered,
    table: &Table,
    upload: impl FnOnce(u64, &[u8]) -> Result<(), CudaError>,
) -> Result<Copied, CudaError> {
    let context = entered.context();
    let copies = table.made().get_or_init(|| Box::<Copies>::default()).downcast_ref::<Copies>();
    // Held while the copy is made, so that two threads do not make two. This happens once a table and context.
    let mut copies = copies.map(|copies| copies.0.lock());
    let known = copies.iter().flat_map(|list| list.iter()).find(|kept| std::ptr::eq(kept.context, context));
    if let Some(kept) = known {
        return Ok(Copied { table: kept.table, once: None });
    }
    let image = Image::new(table);
    let buffer = pool::take(entered, Memory::Device, image.bytes.len())?;
    upload(buffer.device_address(), &image.bytes)?;
    let Image { count, entries, run, .. } = image;
    let table = OnDevice { address: buffer.device_address(), count, entries, run };
    tracing::debug!(bytes = buffer.bytes(), ?table, "table of runs copied to the device");
    match &mut copies {
        Some(list) if BYTES.load(Relaxed) + buffer.bytes() <= KEPT => {
            BYTES.fetch_add(buffer.bytes(), Relaxed);
            list.push(Kept { context, table, buffer });
            Ok(Copied { table, once: None })
        }
        _ => Ok(Copied { table, once: Some(buffer) }),
    }
}

/// Bytes that the copies of tables hold on devices at the moment.
pub fn bytes() -> usize {
    BYTES.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_cut() {
        let run = |offset, bytes| Run { offset, bytes };
        let image = Image::new(&Table::mixed(vec![run(-8, 1100), run(4000, 3)]).unwrap());
        let words: Vec<i64> =
            image.bytes.chunks(8).map(|word| i64::from_ne_bytes(word.try_into().unwrap())).collect();
        let entry = |packed: i64, length: i64| packed << 20 | length;
        assert_eq!(
            words,
            [-8, entry(0, 512), 504, entry(512, 512), 1016, entry(1024, 76), 4000, entry(1100, 3)]
        );
        assert_eq!((image.count, image.entries, image.run), (4, Entries::Mixed, 1103 / 4));
    }

    #[test]
    fn runs_that_have_met_are_taken_apart() {
        let run = |offset, bytes| Run { offset, bytes };
        let image = Image::new(&Table::mixed(vec![run(0, 8), run(24, 16), run(80, 24)]).unwrap());
        assert_eq!((image.count, image.entries, image.run), (6, Entries::Narrow { shift: 3 }, 8));
        assert_eq!(
            image.bytes,
            [0_i32, 3, 4, 10, 11, 12].iter().flat_map(|o| o.to_ne_bytes()).collect::<Vec<_>>()
        );
        // Too many pieces, and too short ones, are not worth it.
        let image = Image::new(&Table::mixed(vec![run(0, 8), run(24, 160)]).unwrap());
        assert_eq!(image.entries, Entries::Mixed);
        let image = Image::new(&Table::mixed(vec![run(0, 2), run(24, 4)]).unwrap());
        assert_eq!(image.entries, Entries::Mixed);
    }

    #[test]
    fn equal_runs_are_their_offsets() {
        let image = Image::new(&Table::equal(vec![0, 24, 8]));
        assert_eq!(image.bytes, [0_i32, 3, 1].iter().flat_map(|o| o.to_ne_bytes()).collect::<Vec<_>>());
        let image = Image::new(&Table::equal(vec![0, 1 << 40, 1]));
        assert_eq!((image.bytes.len(), image.count, image.entries, image.run), (24, 3, Entries::Wide, 0));
    }
}
