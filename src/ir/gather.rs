//! The second tier: blocks and parts at listed places become a layout.
//!
//! Whatever is regular is found and leaves as [`Strided`]: then the result is the very one that loops give. What is
//! left becomes a table ([`Blocks`]) or, where its regular parts are few and would make a large one, [`Parts`].
//! The rules, each linear in the runs:
//!
//! * **Empty.** Blocks without elements, and children without bytes, name no bytes.
//! * **Merge.** A run that begins in memory where the one before it in packed order ends is its continuation.
//!   Nothing else is: the order of listing is the order of packing.
//! * **Factor.** If every n entries of a table lie at one distance from each other, they are a dimension of one entry, and
//!   the table has n times fewer. Down to a single entry, this is the regular case.
//! * **Equal.** Runs of one length, or strided children of one shape, need no lengths in the table.
#![forbid(unsafe_code)]

use super::blocks::Blocks;
use super::describe::{Block, List};
use super::layout::{Layout, Leaf, MAX_PARTS, Part, Parts};
use super::strided::{Dim, Strided};
use super::table::{MAX_RUNS, Run, Runs};
use super::unsupported::Unsupported::{self, Malformed, Overflow, TooManyBlocks};

/// Up to here runs of different parts become one table, which is one item of a launch.
const SMALL: i64 = 1024;

/// Packed bytes of runs of different length, at most: what the kernel's table can name.
const MAX_MIXED: i64 = 1 << 43;

/// Blocks of repetitions of `child`, `stride` bytes apart within a block.
pub(super) fn indexed(list: List, stride: i64, mut child: Layout) -> Result<Layout, Unsupported> {
    if child.is_empty() {
        return Ok(Layout::EMPTY);
    }
    let mut blocks = match list {
        List::Equal { count: ..0, .. } => return Err(Malformed),
        List::Equal { count: 0, .. } => return Ok(Layout::EMPTY),
        List::Equal { count, displacements } => {
            let reach = count.checked_mul(stride).ok_or(Overflow)?;
            if !touch(&displacements, reach) {
                child.wrap(count, stride).ok_or(Overflow)?;
                return place(child, displacements);
            }
            displacements.into_iter().map(|displacement| Block { displacement, count }).collect()
        }
        List::Each(blocks) => blocks,
    };
    join(&mut blocks, stride)?;
    let Some(&Block { count: first, .. }) = blocks.first() else { return Ok(Layout::EMPTY) };
    if let Layout::Strided(one) = &child
        && one.is_contiguous()
        && one.size == stride
    {
        let run = |block: Block| {
            let offset = block.displacement.checked_add(one.offset)?;
            Some(Run { offset, bytes: block.count.checked_mul(one.size)? })
        };
        // A block is as large as a run, so that the list becomes the table where it lies.
        return of_runs(blocks.into_iter().map(run).collect::<Option<_>>().ok_or(Overflow)?);
    }
    if blocks.iter().all(|block| block.count == first) {
        child.wrap(first, stride).ok_or(Overflow)?;
        return place(child, blocks.into_iter().map(|block| block.displacement).collect());
    }
    let elements = blocks.iter().fold(0, |sum: i64, block| sum.saturating_add(block.count));
    bound(elements)?;
    let mut offsets = Vec::with_capacity(usize::try_from(elements).unwrap_or(0));
    for block in &blocks {
        let mut offset = block.displacement;
        for i in 0..block.count {
            offsets.push(offset);
            if i + 1 < block.count {
                offset = offset.checked_add(stride).ok_or(Overflow)?;
            }
        }
    }
    place(child, offsets)
}

/// Whether something of `reach` bytes at any of `offsets` ends where the next begins.
fn touch(offsets: &[i64], reach: i64) -> bool {
    offsets.windows(2).any(|pair| matches!(pair, [a, b] if a.checked_add(reach) == Some(*b)))
}

fn bound(runs: i64) -> Result<(), Unsupported> {
    if runs > MAX_RUNS { Err(TooManyBlocks) } else { Ok(()) }
}

/// Drops the blocks without elements, and joins to its predecessor what continues it.
fn join(blocks: &mut Vec<Block>, stride: i64) -> Result<(), Unsupported> {
    let mut fault = None;
    blocks.retain(|block| {
        if block.count < 0 {
            fault = Some(Malformed);
        }
        block.count != 0
    });
    blocks.dedup_by(|next, last| {
        let reach = last.count.checked_mul(stride);
        let continues =
            reach.and_then(|reach| last.displacement.checked_add(reach)) == Some(next.displacement);
        if continues {
            match last.count.checked_add(next.count) {
                Some(count) => last.count = count,
                None => fault = fault.or(Some(Overflow)),
            }
        }
        continues
    });
    fault.map_or(Ok(()), Err)
}

/// `entry` at each of `offsets`.
fn place(mut entry: Layout, offsets: Vec<i64>) -> Result<Layout, Unsupported> {
    match entry {
        Layout::Strided(one) if one.is_contiguous() && touch(&offsets, one.size) => {
            let mut runs = Merged::with_room(offsets.len());
            for offset in offsets {
                let offset = offset.checked_add(one.offset).ok_or(Overflow)?;
                runs.push(Run { offset, bytes: one.size })?;
            }
            of_runs(runs.0)
        }
        Layout::Strided(one) => equal(offsets, one),
        _ => {
            let count = i64::try_from(offsets.len()).map_err(|_| Overflow)?;
            let first = offsets.first().copied().unwrap_or(0);
            let stride = offsets.get(1).map_or(Some(0), |next| next.checked_sub(first)).ok_or(Overflow)?;
            if is_progression(&offsets, stride) {
                entry.wrap(count, stride).ok_or(Overflow)?;
                entry.shift(first).ok_or(Overflow)?;
                return Ok(entry);
            }
            bound(count)?;
            let mut items = Vec::with_capacity(offsets.len());
            for offset in offsets {
                let mut item = entry.clone();
                item.shift(offset).ok_or(Overflow)?;
                items.push(item);
            }
            sequence(items)
        }
    }
}

fn is_progression(offsets: &[i64], stride: i64) -> bool {
    offsets.windows(2).all(|pair| match pair {
        [a, b] => a.checked_add(stride) == Some(*b),
        _ => true,
    })
}

/// Different layouts one after the other.
pub(super) fn sequence(mut items: Vec<Layout>) -> Result<Layout, Unsupported> {
    items.retain(|item| !item.is_empty());
    if items.len() <= 1 {
        return Ok(items.pop().unwrap_or(Layout::EMPTY));
    }
    if let Some((entry, offsets)) = same(&items) {
        return place(Layout::Strided(entry), offsets);
    }
    let mut parts: Vec<Part> = Vec::with_capacity(items.len());
    let mut size = 0_i64;
    for item in items {
        let bytes = item.size();
        match item {
            Layout::Strided(strided) => parts.push(Part { packed: size, layout: Leaf::Strided(strided) }),
            Layout::Blocks(blocks) => parts.push(Part { packed: size, layout: Leaf::Blocks(blocks) }),
            Layout::Parts(inner) => {
                parts.extend(inner.parts.into_iter().map(|part| Part { packed: size + part.packed, ..part }));
            }
        }
        size = size.checked_add(bytes).ok_or(Overflow)?;
    }
    let runs = parts.iter().fold(0, |sum: i64, part| sum.saturating_add(part.layout.count()));
    if runs > SMALL && parts.len() <= MAX_PARTS {
        return Ok(Layout::Parts(Parts { parts, size }));
    }
    bound(runs)?;
    of_runs(expand(&parts, runs)?)
}

/// The common shape of all items and where they lie, if they are strided and differ in nothing else.
fn same(items: &[Layout]) -> Option<(Strided, Vec<i64>)> {
    let strided = |item: &Layout| match item {
        Layout::Strided(strided) => Some(strided.offset),
        _ => None,
    };
    let Some(Layout::Strided(first)) = items.first() else { return None };
    let alike = |item: &Layout| matches!(item, Layout::Strided(other) if other.block == first.block && other.dims == first.dims);
    if !items.iter().all(alike) {
        return None;
    }
    Some((Strided { offset: 0, ..first.clone() }, items.iter().filter_map(strided).collect()))
}

/// `entry` at each of `offsets`, of which there is one at least.
pub(super) fn equal(mut offsets: Vec<i64>, mut entry: Strided) -> Result<Layout, Unsupported> {
    while let [first, second, ..] = offsets.as_slice() {
        let Some(step) = second.checked_sub(*first) else { break };
        let longest = offsets.windows(2).take_while(|pair| is_progression(pair, step)).count() + 1;
        if !offsets.len().is_multiple_of(longest)
            || !offsets.chunks(longest).all(|run| is_progression(run, step))
        {
            break;
        }
        let count = i64::try_from(longest).map_err(|_| Overflow)?;
        let packed = entry.size;
        entry.wrap(count, step, packed).ok_or(Overflow)?;
        offsets = offsets.into_iter().step_by(longest).collect();
    }
    bound(i64::try_from(offsets.len()).map_err(|_| Overflow)?)?;
    // Offsets count from the first, so that absolute addresses need not be wide.
    let base = offsets.first().copied().unwrap_or(0);
    entry.offset = entry.offset.checked_add(base).ok_or(Overflow)?;
    if offsets.len() <= 1 {
        return Ok(Layout::Strided(entry));
    }
    for offset in &mut offsets {
        *offset = offset.checked_sub(base).ok_or(Overflow)?;
    }
    Blocks::equal(offsets, entry).map(Layout::Blocks).ok_or(Overflow)
}

/// Runs in packed order, none empty, none the continuation of the one before it.
pub(super) fn of_runs(runs: Vec<Run>) -> Result<Layout, Unsupported> {
    let Some(first) = runs.first().copied() else { return Ok(Layout::EMPTY) };
    let block = |bytes| Strided { offset: 0, block: bytes, dims: Vec::new(), size: bytes };
    if runs.iter().all(|run| run.bytes == first.bytes) {
        return equal(runs.into_iter().map(|run| run.offset).collect(), block(first.bytes));
    }
    if let Some(offsets) = cut(&runs, first.bytes) {
        let whole = equal(offsets, block(first.bytes))?;
        if matches!(whole, Layout::Strided(_)) {
            return Ok(whole);
        }
    }
    bound(i64::try_from(runs.len()).map_err(|_| Overflow)?)?;
    let blocks = Blocks::mixed(first.offset, runs).filter(|blocks| blocks.size < MAX_MIXED);
    blocks.map(Layout::Blocks).ok_or(Overflow)
}

/// Runs that [`cut`] looks at first.
const PROBE: usize = 256;

/// Blocks at regular distances may touch now and then, and look like runs of different length: the offsets of `runs` in
/// pieces of `bytes`, the first run's length, unless the first of them show already that this is not so.
fn cut(runs: &[Run], bytes: i64) -> Option<Vec<i64>> {
    let pieces = |runs: &[Run]| {
        let count: i64 = runs.iter().map(|run| run.bytes / bytes).fold(0, i64::saturating_add);
        let few = count <= i64::try_from(runs.len()).ok()?.saturating_mul(4);
        if !few || runs.iter().any(|run| run.bytes % bytes != 0) {
            return None;
        }
        let mut offsets = Vec::with_capacity(usize::try_from(count).ok()?);
        for run in runs {
            offsets.extend((0..run.bytes / bytes).map(|i| run.offset.wrapping_add(i * bytes)));
        }
        Some(offsets)
    };
    let probe = pieces(runs.get(..PROBE).unwrap_or(runs))?;
    let (first, second) = (probe.first()?, probe.get(1)?);
    let step = second.checked_sub(*first)?;
    let longest = probe.windows(2).take_while(|pair| is_progression(pair, step)).count() + 1;
    if probe.chunks_exact(longest).all(|run| is_progression(run, step)) { pieces(runs) } else { None }
}

/// Runs that are joined where they touch.
struct Merged(Vec<Run>);

impl Merged {
    fn with_room(runs: usize) -> Self {
        Self(Vec::with_capacity(runs))
    }

    fn push(&mut self, run: Run) -> Result<(), Unsupported> {
        if run.bytes == 0 {
            return Ok(());
        }
        match self.0.last_mut() {
            Some(last) if last.offset.checked_add(last.bytes) == Some(run.offset) => {
                last.bytes = last.bytes.checked_add(run.bytes).ok_or(Overflow)?;
            }
            _ => self.0.push(run),
        }
        Ok(())
    }
}

/// All runs of `parts` in packed order, joined; `count` of them before they are.
fn expand(parts: &[Part], count: i64) -> Result<Vec<Run>, Unsupported> {
    let mut all: Vec<(i64, Run)> = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    for part in parts {
        // Within a span that fits, sums may wrap on the way.
        match &part.layout {
            Leaf::Strided(one) => {
                one.span().ok_or(Overflow)?;
                repeat(&one.dims, one.offset, part.packed, &mut |offset, packed| {
                    all.push((packed, Run { offset, bytes: one.block }));
                });
            }
            Leaf::Blocks(blocks) => {
                blocks.span().ok_or(Overflow)?;
                let around: Vec<Dim> = blocks.around().copied().collect();
                let within = blocks.entry().dims;
                repeat(&around, blocks.offset, part.packed, &mut |memory, mut packed| {
                    if let Runs::Mixed(runs) = blocks.table.runs() {
                        for run in runs {
                            let offset = memory.wrapping_add(run.offset);
                            all.push((packed, Run { offset, bytes: run.bytes }));
                            packed += run.bytes;
                        }
                        return;
                    }
                    for offset in (0..blocks.table.len()).filter_map(|index| blocks.table.offset(index)) {
                        repeat(&within, memory.wrapping_add(offset), packed, &mut |offset, packed| {
                            all.push((packed, Run { offset, bytes: blocks.block }));
                        });
                        packed += blocks.packed;
                    }
                });
            }
        }
    }
    // Repeated parts take turns. Each part is in order already, and this sort merges what is.
    if !all.is_sorted_by_key(|(packed, _)| *packed) {
        all.sort_by_key(|(packed, _)| *packed);
    }
    let mut runs = Merged::with_room(all.len());
    all.into_iter().try_for_each(|(_, run)| runs.push(run))?;
    Ok(runs.0)
}

/// Every repetition of `dims` in packed order: its place in memory and in the packed form.
fn repeat(dims: &[Dim], memory: i64, packed: i64, each: &mut impl FnMut(i64, i64)) {
    fn nest(dims: &[Dim], memory: i64, packed: i64, each: &mut impl FnMut(i64, i64)) {
        let Some((first, rest)) = dims.split_first() else { return each(memory, packed) };
        let (mut memory, mut packed) = (memory, packed);
        for _ in 0..first.count {
            nest(rest, memory, packed, each);
            memory = memory.wrapping_add(first.stride);
            packed = packed.wrapping_add(first.packed);
        }
    }
    let mut outermost_first = dims.to_vec();
    outermost_first.sort_by_key(|dim| std::cmp::Reverse(dim.packed));
    nest(&outermost_first, memory, packed, each);
}
