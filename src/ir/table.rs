//! Runs at irregular places, in packed order.
//!
//! The invariant: a table never changes, and its summary ([`Table::bits`], [`Table::reach`]) is that of its runs.
#![forbid(unsafe_code)]

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

/// The most runs that a table may hold: as many as an object of 512 MiB in single doubles has. A type with more is left
/// to the MPI, unless it consists of few regular parts.
pub const MAX_RUNS: i64 = 1 << 26;

/// Contiguous bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Bytes from where the table's offsets count.
    pub offset: i64,
    /// How many; more than 0 in a table.
    pub bytes: i64,
}

/// How the runs are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Offsets of equal runs in units of `1 << shift` bytes.
    Narrow {
        /// log2 of the unit.
        shift: u32,
        /// Offsets in units.
        offsets: Box<[i32]>,
    },
    /// Offsets of equal runs in bytes.
    Wide(Box<[i64]>),
    /// Runs of different length.
    Mixed(Box<[Run]>),
}

/// Runs in packed order. Where they are equal, their length is whoever uses the table's to know.
pub struct Table {
    runs: Runs,
    bits: u64,
    lo: i64,
    hi: i64,
    bytes: i64,
    made: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Table {
    /// Equal runs at `offsets`.
    pub fn equal(offsets: Vec<i64>) -> Self {
        let (mut bits, mut lo, mut hi) = (0, i64::MAX, i64::MIN);
        for &offset in &offsets {
            bits |= offset.cast_unsigned();
            lo = lo.min(offset);
            hi = hi.max(offset);
        }
        let (lo, hi) = if offsets.is_empty() { (0, 0) } else { (lo, hi) };
        let shift = bits.trailing_zeros().min(63);
        let narrow = |offset: i64| i32::try_from(offset >> shift);
        let runs = if narrow(lo).is_ok() && narrow(hi).is_ok() {
            let offsets = offsets.iter().map(|&offset| narrow(offset).unwrap_or(0)).collect();
            Runs::Narrow { shift, offsets }
        } else {
            Runs::Wide(offsets.into())
        };
        Self { runs, bits, lo, hi, bytes: 0, made: OnceLock::new() }
    }

    /// Runs of different length. `None` if their bytes or any end exceed 64 bits.
    pub fn mixed(runs: Vec<Run>) -> Option<Self> {
        Self::mixed_from(0, runs)
    }

    /// The same of runs whose offsets are to count from `base`.
    pub(super) fn mixed_from(base: i64, mut runs: Vec<Run>) -> Option<Self> {
        let (mut bits, mut lo, mut hi, mut bytes) = (0, i64::MAX, i64::MIN, 0_i64);
        for run in &mut runs {
            run.offset = run.offset.checked_sub(base)?;
            bits |= run.offset.cast_unsigned() | run.bytes.cast_unsigned();
            lo = lo.min(run.offset);
            hi = hi.max(run.offset.checked_add(run.bytes)?);
            bytes = bytes.checked_add(run.bytes)?;
        }
        let (lo, hi) = if runs.is_empty() { (0, 0) } else { (lo, hi) };
        Some(Self { runs: Runs::Mixed(runs.into()), bits, lo, hi, bytes, made: OnceLock::new() })
    }

    /// The runs as they are stored.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// How many runs.
    pub fn len(&self) -> usize {
        match &self.runs {
            Runs::Narrow { offsets, .. } => offsets.len(),
            Runs::Wide(offsets) => offsets.len(),
            Runs::Mixed(runs) => runs.len(),
        }
    }

    /// Bytes of host memory that hold the table.
    pub fn held(&self) -> usize {
        size_of::<Self>()
            + match &self.runs {
                Runs::Narrow { offsets, .. } => size_of_val(&**offsets),
                Runs::Wide(offsets) => size_of_val(&**offsets),
                Runs::Mixed(runs) => size_of_val(&**runs),
            }
    }

    /// Whether there are none. No layout has such a table.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All offsets, and the lengths of different runs, in one word by bitwise or: its lowest bit is their alignment.
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// The least and the greatest offset of equal runs; the first byte of different runs and the one behind the last.
    pub fn reach(&self) -> (i64, i64) {
        (self.lo, self.hi)
    }

    /// Bytes of all runs if they are of different length; 0 otherwise.
    pub fn bytes(&self) -> i64 {
        self.bytes
    }

    /// The offset of run `index`.
    pub fn offset(&self, index: usize) -> Option<i64> {
        match &self.runs {
            Runs::Narrow { shift, offsets } => offsets.get(index).map(|offset| i64::from(*offset) << shift),
            Runs::Wide(offsets) => offsets.get(index).copied(),
            Runs::Mixed(runs) => runs.get(index).map(|run| run.offset),
        }
    }

    /// A place for what others make of the table, such as a copy on a device: it dies with the table.
    pub fn made(&self) -> &OnceLock<Box<dyn Any + Send + Sync>> {
        &self.made
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.runs == other.runs
    }
}

impl Eq for Table {}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.runs {
            Runs::Narrow { .. } => "equal, 32 bits",
            Runs::Wide(_) => "equal, 64 bits",
            Runs::Mixed(_) => "mixed",
        };
        let mut f = f.debug_struct("Table");
        f.field("kind", &kind).field("runs", &self.len());
        if self.len() <= 16 {
            f.field("first", &self.runs);
        }
        f.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_narrow_where_they_fit() {
        let table = Table::equal(vec![-8, 24, 1 << 33]);
        assert_eq!(table.runs(), &Runs::Narrow { shift: 3, offsets: [-1, 3, 1 << 30].into() });
        assert_eq!(
            (table.reach(), table.bits().trailing_zeros(), table.offset(0)),
            ((-8, 1 << 33), 3, Some(-8))
        );
        assert_eq!(Table::equal(vec![0, 0]).runs(), &Runs::Narrow { shift: 63, offsets: [0, 0].into() });
        assert_eq!(Table::equal(vec![8, 1 << 34]).runs(), &Runs::Wide([8, 1 << 34].into()));
    }

    #[test]
    fn runs_end_within_64_bits() {
        let run = |offset, bytes| Run { offset, bytes };
        let table = Table::mixed(vec![run(-4, 12), run(100, 8)]).unwrap();
        assert_eq!((table.reach(), table.bytes(), table.bits().trailing_zeros()), ((-4, 108), 20, 2));
        assert!(Table::mixed(vec![run(0, 1), run(i64::MAX, 1)]).is_none());
        assert!(Table::mixed(vec![run(0, i64::MAX), run(0, 1)]).is_none());
    }
}
