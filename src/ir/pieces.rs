//! The part of a layout that a short message fills.
#![forbid(unsafe_code)]

use super::blocks::Blocks;
use super::gather;
use super::layout::{Layout, Leaf, LeafRef, Part, Parts};
use super::strided::{Dim, Strided};
use super::table::{Run, Runs};

impl Layout {
    /// The layout of the first `bytes` packed bytes; of all of them, if there are no more.
    ///
    /// Usually a sequence, and one of more parts than [`MAX_PARTS`](super::MAX_PARTS) maybe.
    #[must_use]
    pub fn prefix(&self, bytes: i64) -> Self {
        if bytes >= self.size() {
            return self.clone();
        }
        let mut parts = Vec::new();
        for (packed, leaf) in self.leaves() {
            match leaf {
                LeafRef::Strided(strided) => strided.prefix(packed, bytes, &mut parts),
                LeafRef::Blocks(blocks) => blocks.prefix(packed, bytes, &mut parts),
            }
        }
        match parts.pop() {
            None => Self::EMPTY,
            Some(part) if parts.is_empty() && part.packed == 0 => part.layout.into(),
            Some(part) => {
                parts.push(part);
                Self::Parts(Parts { parts, size: bytes })
            }
        }
    }
}

/// Takes the outermost of `dims`, by packed stride, that lies around `within` packed bytes; and the packed bytes from
/// the first to the last that all others together reach over.
fn outermost(dims: &mut Vec<Dim>, within: i64, run: i64) -> Option<(usize, Dim, i64)> {
    let place = (0..dims.len())
        .filter(|place| dims.get(*place).is_some_and(|dim| dim.packed >= within))
        .max_by_key(|place| dims.get(*place).map(|dim| dim.packed))?;
    let dim = dims.remove(place);
    Some((place, dim, dims.iter().fold(run, |reach, dim| reach + (dim.count - 1) * dim.packed)))
}

/// How many repetitions, `step` packed bytes apart and each reaching over `reach`, lie within the first `bytes` altogether.
fn whole(bytes: i64, reach: i64, step: i64, count: i64) -> i64 {
    if bytes < reach { 0 } else { ((bytes - reach) / step + 1).min(count) }
}

impl Strided {
    /// Appends what of this, placed at `packed`, lies within the first `end` packed bytes: at most one part for each
    /// dimension and one for the block.
    fn prefix(&self, mut packed: i64, end: i64, parts: &mut Vec<Part>) {
        let mut rest = self.clone();
        // `rest` is one repetition of all dimensions above.
        while packed < end {
            let left = end - packed;
            let Some((place, dim, reach)) = outermost(&mut rest.dims, 0, rest.block) else {
                let block = rest.block.min(left);
                let layout = Strided { block, size: block, ..rest };
                parts.push(Part { packed, layout: Leaf::Strided(layout) });
                return;
            };
            rest.size /= dim.count;
            let whole = whole(left, reach, dim.packed, dim.count);
            if whole > 0 {
                let mut layout = Strided { size: rest.size * whole, ..rest.clone() };
                if whole > 1 {
                    layout.dims.insert(place, Dim { count: whole, ..dim });
                }
                parts.push(Part { packed, layout: Leaf::Strided(layout) });
            }
            if whole == dim.count {
                return;
            }
            packed += whole * dim.packed;
            rest.offset = rest.offset.saturating_add(dim.stride.saturating_mul(whole));
        }
    }
}

impl Blocks {
    /// As [`Strided::prefix`]; the table that is reached into is made anew, as long as it is filled.
    fn prefix(&self, mut packed: i64, end: i64, parts: &mut Vec<Part>) {
        let mut rest = self.clone();
        let table = if self.is_mixed() {
            self.table.bytes()
        } else {
            i64::try_from(self.table.len()).unwrap_or(i64::MAX).saturating_mul(self.packed)
        };
        while packed < end {
            let left = end - packed;
            let within: i64 = rest
                .dims
                .iter()
                .filter(|dim| dim.packed < self.packed)
                .map(|dim| (dim.count - 1) * dim.packed)
                .sum();
            let Some((place, dim, reach)) = outermost(&mut rest.dims, self.packed, table - within) else {
                return rest.within(packed, left, parts);
            };
            rest.size /= dim.count;
            let whole = whole(left, reach, dim.packed, dim.count);
            if whole > 0 {
                let mut layout = Blocks { size: rest.size * whole, ..rest.clone() };
                if whole > 1 {
                    layout.dims.insert(place, Dim { count: whole, ..dim });
                }
                parts.push(Part { packed, layout: Leaf::Blocks(layout) });
            }
            if whole == dim.count {
                return;
            }
            packed += whole * dim.packed;
            rest.offset = rest.offset.saturating_add(dim.stride.saturating_mul(whole));
        }
    }

    /// The first `left` bytes of one table, which is all that this is.
    fn within(self, packed: i64, left: i64, parts: &mut Vec<Part>) {
        if left >= self.size {
            parts.push(Part { packed, layout: Leaf::Blocks(self) });
            return;
        }
        let mut add = |packed, layout: Layout, by: i64| {
            let mut layout = match layout {
                Layout::Strided(strided) if strided.is_empty() => return,
                Layout::Strided(strided) => Leaf::Strided(strided),
                Layout::Blocks(blocks) => Leaf::Blocks(blocks),
                Layout::Parts(_) => return, // neither function below makes one
            };
            // The bytes are some of this layout's, so that no offset overflows.
            let _ = layout.shift(by);
            parts.push(Part { packed, layout });
        };
        if let Runs::Mixed(runs) = self.table.runs() {
            let mut rest = left;
            let cut = |run: &Run| {
                let bytes = run.bytes.min(rest);
                rest -= bytes;
                (bytes > 0).then_some(Run { bytes, ..*run })
            };
            if let Ok(layout) = gather::of_runs(runs.iter().map_while(cut).collect()) {
                add(packed, layout, self.offset);
            }
            return;
        }
        let entries = left.checked_div(self.packed).unwrap_or(0);
        let count = usize::try_from(entries).unwrap_or(0);
        let entry = self.entry();
        let offsets: Vec<i64> = (0..count).filter_map(|index| self.table.offset(index)).collect();
        if !offsets.is_empty()
            && let Ok(layout) = gather::equal(offsets, entry.clone())
        {
            add(packed, layout, 0);
        }
        let rest = left - entries * self.packed;
        if rest > 0
            && let Some(at) = self.table.offset(count)
        {
            let entry = Strided { offset: entry.offset.saturating_add(at), ..entry };
            let packed = packed + entries * self.packed;
            entry.prefix(packed, packed + rest, parts);
        }
    }
}
