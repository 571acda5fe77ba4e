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

/// A table as the kernels see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnDevice {
    /// Address of the first entry.
    pub address: u64,
    /// How many there are: runs, or pieces of them.
    pub entries: u64,
    /// Bytes of a run of a mixed table, on average; 0 for equal ones.
    pub mean: i64,
}

/// A table as bytes for a device.
#[derive(Debug)]
pub struct Image {
    /// Its entries.
    pub bytes: Vec<u8>,
    /// As [`OnDevice::entries`].
    pub entries: u64,
    /// As [`OnDevice::mean`].
    pub mean: i64,
}

impl Image {
    /// The entries of `table`: offsets, or the pieces that the runs are cut into, so that no thread has to search and none has
    /// much more to do than others.
    pub fn new(table: &Table) -> Self {
        let (bytes, mean) = match table.runs() {
            Runs::Narrow { offsets, .. } => (offsets.iter().flat_map(|o| o.to_ne_bytes()).collect(), 0),
            Runs::Wide(offsets) => (offsets.iter().flat_map(|o| o.to_ne_bytes()).collect(), 0),
            Runs::Mixed(runs) => {
                let longest = (table.bytes() / 4096).clamp(SHORTEST, LONGEST).cast_unsigned();
                let bytes = pieces(runs, longest.next_power_of_two().cast_signed());
                let count = i64::try_from(bytes.len() / 16).unwrap_or(i64::MAX).max(1);
                (bytes, (table.bytes() / count).max(1))
            }
        };
        let entry = entry_bytes(table);
        Self { entries: bytes.len() as u64 / entry, bytes, mean }
    }
}

/// Bytes of an entry of the table on a device.
pub(super) fn entry_bytes(table: &Table) -> u64 {
    match table.runs() {
        Runs::Narrow { .. } => 4,
        Runs::Wide(_) => 8,
        Runs::Mixed(_) => 16,
    }
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
    let table = OnDevice { address: buffer.device_address(), entries: image.entries, mean: image.mean };
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

/// Device bytes that tables hold at the moment, for tests of leaks.
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
        assert_eq!((image.entries, image.mean), (4, 1103 / 4));
    }

    #[test]
    fn equal_runs_are_their_offsets() {
        let image = Image::new(&Table::equal(vec![0, 24, 8]));
        assert_eq!(image.bytes, [0_i32, 3, 1].iter().flat_map(|o| o.to_ne_bytes()).collect::<Vec<_>>());
        let image = Image::new(&Table::equal(vec![0, 1 << 40, 1]));
        assert_eq!((image.bytes.len(), image.entries, image.mean), (24, 3, 0));
    }
}
