//! The canonical form of the second tier: a table of runs, repeated.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::strided::{Dim, Strided, add_dim};
use super::table::{Run, Runs, Table};

/// A layout of runs at the places of a table, in any number of repetitions.
///
/// The runs are equal or not, which the table says.
///
/// *Equal:* byte `b` (0 ≤ b < `block`) of the repetition `(i_0, …)` of run `r` lies in memory at
/// `offset + table[r] + b + Σ i_k · dims[k].stride` from the buffer argument and in the packed form at
/// `b + r · packed + Σ i_k · dims[k].packed`. Dimensions may lie within a run's step (what every entry repeats, their
/// `packed` below this `packed`) or around the whole table.
///
/// *Mixed:* `block` and `packed` are 0, and all dimensions are around the whole table, whose runs follow each other
/// in the packed form.
///
/// `dims` are sorted as those of a [`Strided`]. A table has two runs or more, and never runs that a
/// [`Strided`] describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Bytes from the buffer argument to where the table's offsets count.
    pub offset: i64,
    /// The runs.
    pub table: Arc<Table>,
    /// Bytes of a run, if all are equal.
    pub block: i64,
    /// Bytes from a run to the next in the packed form, if all are equal.
    pub packed: i64,
    /// Repetitions.
    pub dims: Vec<Dim>,
    /// Packed bytes in all.
    pub size: i64,
}

impl Blocks {
    /// Runs of different length, once; the table's offsets count from `offset`.
    pub(super) fn mixed(offset: i64, runs: Vec<Run>) -> Option<Self> {
        let table = Table::mixed_from(offset, runs)?;
        let size = table.bytes();
        Some(Self { offset, table: Arc::new(table), block: 0, packed: 0, dims: Vec::new(), size })
    }

    /// `entry` at each of `offsets`.
    pub(super) fn equal(offsets: Vec<i64>, entry: Strided) -> Option<Self> {
        let size = entry.size.checked_mul(i64::try_from(offsets.len()).ok()?)?;
        let Strided { offset, block, dims, size: packed } = entry;
        Some(Self { offset, table: Arc::new(Table::equal(offsets)), block, packed, dims, size })
    }

    /// Whether the runs are of different length.
    pub fn is_mixed(&self) -> bool {
        matches!(self.table.runs(), Runs::Mixed(_))
    }

    /// Runs in all, every repetition counted.
    pub fn count(&self) -> i64 {
        let length = i64::try_from(self.table.len()).unwrap_or(i64::MAX);
        self.dims.iter().fold(length, |count, dim| count.saturating_mul(dim.count))
    }

    /// What lies at each offset of a table of equal runs, with the dimensions within.
    pub fn entry(&self) -> Strided {
        let dims: Vec<Dim> = self.dims.iter().filter(|dim| dim.packed < self.packed).copied().collect();
        Strided { offset: self.offset, block: self.block, dims, size: self.packed }
    }

    /// The dimensions around the table.
    pub fn around(&self) -> impl Iterator<Item = &Dim> {
        self.dims.iter().filter(|dim| dim.packed >= self.packed)
    }

    /// The bytes touched, as [`Strided::span`].
    pub fn span(&self) -> Option<(i64, i64)> {
        let (lo, hi) = self.table.reach();
        let block = if self.is_mixed() { 0 } else { self.block };
        let dims = self.dims.clone();
        let one = Strided { offset: self.offset, block, dims, size: 0 }.span()?;
        Some((one.0.checked_add(lo)?, one.1.checked_add(hi)?))
    }

    /// As [`Strided::wrap`].
    pub(super) fn wrap(&mut self, count: i64, stride: i64, packed: i64) -> Option<()> {
        let size = self.size.checked_mul(count)?;
        add_dim(&mut self.dims, Dim { count, stride, packed });
        self.size = size;
        Some(())
    }
}
