//! Many layouts in one launch: what a burst of sends packs, and what a completion call unpacks.
//!
//! Each leaf of a layout is an item of a [`List`]. What a list cannot hold is launched by itself before: a leaf that takes several
//! launches, or one whose table is not kept. The invariant: whatever was queued, the launch that reports is the last one.

use super::blocks;
use super::exec::{launch_leaf, on_device, queue, queue_blocks};
use super::kernel::{BATCH, BatchArgs, BlocksArgs, Direction, HERE};
use super::list::List;
use super::plan::{self, Launch, Limits};
use crate::cuda::lane::LONGEST_LIST;
use crate::cuda::{CudaError, Entered, Lane};
use crate::ir::{Layout, LeafRef};

/// One object to move.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// What bytes.
    pub layout: &'a Layout,
    /// The buffer argument of the MPI call, as an address that the device sees.
    pub memory: u64,
    /// Where the packed bytes lie, as an address that the device sees.
    pub packed: u64,
}

impl<'a> Item<'a> {
    /// What of it has bytes and is no sequence.
    fn leaves(&self) -> impl Iterator<Item = Object<'a>> + use<'a> {
        let Self { layout, memory, packed } = *self;
        let object = move |(at, leaf)| Object { leaf, memory, packed: packed.wrapping_add_signed(at) };
        layout.leaves().map(object).filter(|object| object.leaf.size() > 0)
    }
}

#[derive(Clone, Copy)]
struct Object<'a> {
    leaf: LeafRef<'a>,
    memory: u64,
    packed: u64,
}

/// Queues kernels that move all `items`, one launch as a rule; with `report` the last of them tells the lane of its end. Returns
/// how many launches were queued: 0 if no item has a byte, and then nothing reports and there is nothing to wait for.
///
/// # Errors
/// The driver's; what was queued before is waited for when the lane is dropped.
///
/// # Safety
/// As [`exec::launch`](super::exec::launch), for every item; and no two items write the same byte.
pub unsafe fn launch(
    entered: &Entered,
    lane: &mut Lane<'_>,
    items: &[Item<'_>],
    direction: Direction,
    report: bool,
) -> Result<u32, CudaError> {
    let limits = Limits::of_device(entered.multiprocessors());
    let mut list = List::new(LONGEST_LIST);
    let mut launches = 0;
    let mut objects = items.iter().flat_map(Item::leaves).peekable();
    while let Some(one) = objects.next() {
        if list.is_empty() && objects.peek().is_none() {
            // Alone: its own kernel is the quickest.
            let Object { leaf, memory, packed } = one;
            // SAFETY: the caller's duty.
            let queued = unsafe { launch_leaf(entered, lane, leaf, memory, packed, direction, report) }?;
            return Ok(launches + queued);
        }
        if list.is_full() {
            // SAFETY: the caller's duty, for what the list holds.
            launches += unsafe { flush(lane, &mut list, direction, limits, false) }?;
        }
        // SAFETY: the caller's duty.
        launches += unsafe { add(entered, lane, &mut list, one, direction, limits) }?;
    }
    if !list.is_empty() {
        // SAFETY: the caller's duty, for what the list holds.
        launches += unsafe { flush(lane, &mut list, direction, limits, report) }?;
    }
    Ok(launches)
}

/// Puts `one` on the list, which is not full, or launches what cannot be there. Returns how many launches that were.
///
/// # Safety
/// As [`launch`].
unsafe fn add(
    entered: &Entered,
    lane: &mut Lane<'_>,
    list: &mut List,
    one: Object<'_>,
    direction: Direction,
    limits: Limits,
) -> Result<u32, CudaError> {
    match one.leaf {
        LeafRef::Strided(layout) => {
            let mut launches = plan::launches(layout, one.memory, one.packed, direction, None, limits);
            if launches.remaining() != 1 {
                // SAFETY: the caller's duty.
                return unsafe { queue(lane, launches, 0, false) };
            }
            if let Some(Launch { kernel, grid, block, args }) = launches.next() {
                list.push(&Launch { kernel, grid, block, args: BlocksArgs::from(args) });
            }
        }
        LeafRef::Blocks(layout) => {
            let copied = on_device(entered, &layout.table)?;
            let mut launches =
                blocks::launches(layout, copied.table, one.memory, one.packed, direction, limits);
            if launches.remaining() != 1 || copied.once.is_some() {
                // SAFETY: the caller's duty.
                return unsafe { queue_blocks(lane, launches, copied, false) };
            }
            if let Some(launch) = launches.next() {
                list.push(&launch);
            }
        }
    }
    Ok(0)
}

/// Launches what is on the list, which is empty afterwards.
///
/// # Safety
/// As [`launch`].
unsafe fn flush(
    lane: &mut Lane<'_>,
    list: &mut List,
    direction: Direction,
    limits: Limits,
    report: bool,
) -> Result<u32, CudaError> {
    let shape = list.finish(direction, limits);
    let mut args = BatchArgs {
        flag: 0,
        counter: 0,
        value: 0,
        unpack: u32::from(direction == Direction::Unpack),
        items: shape.items,
        index: shape.index,
        list: 0,
        here: [0; HERE],
    };
    let words = list.words();
    match args.here.get_mut(..words.len()) {
        Some(here) => here.copy_from_slice(words),
        None => args.list = lane.list(words)?,
    }
    // SAFETY: the argument is the kernel's own type, the list is complete and stays where it is until the lane gets others, and
    // the addresses in it are the caller's duty.
    unsafe { lane.launch(BATCH, shape.grid, shape.block, &mut args, report) }?;
    list.clear();
    Ok(1)
}
