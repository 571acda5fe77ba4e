//! Running a plan: the launches of one layout on a lane.

use super::batch::{self, Item};
use super::kernel::{Args, BatchArgs, BlocksArgs, Direction, KERNELS, PTX};
use super::plan::{Launch, Limits};
use super::table::{self, Copied};
use super::{blocks, plan};
use crate::cuda::{Completion, CudaError, Entered, Lane, Library};
use crate::ir::{Layout, LeafRef, Table};
use std::ffi::CStr;

/// The kernels of this crate.
pub static LIBRARY: Library = Library { ptx: PTX, names: &KERNELS as &[&CStr] };

impl Completion for Args {
    fn complete(&mut self, flag: u64, counter: u64, value: u32) {
        self.flag = flag;
        self.counter = counter;
        self.value = value;
    }
}

impl Completion for BlocksArgs {
    fn complete(&mut self, flag: u64, counter: u64, value: u32) {
        self.strided.complete(flag, counter, value);
    }
}

impl Completion for BatchArgs {
    fn complete(&mut self, flag: u64, counter: u64, value: u32) {
        self.flag = flag;
        self.counter = counter;
        self.value = value;
    }
}

/// Queue the kernels that move `layout` between the object at `memory` (the buffer argument of the MPI call, as an address that the
/// device sees) and the packed buffer at `packed`. With `report` the last of them tells the lane of its end, so that
/// [`Lane::wait`] needs no synchronisation of the stream.
///
/// # Errors
/// The driver's; what was queued before is waited for when the lane is dropped.
///
/// # Safety
/// Every byte that the layout names and `packed .. packed + layout.size()` may be accessed by the device until the lane was
/// waited for, and until then the layout lives.
pub unsafe fn launch(
    entered: &Entered,
    lane: &mut Lane<'_>,
    layout: &Layout,
    memory: u64,
    packed: u64,
    direction: Direction,
    report: bool,
) -> Result<(), CudaError> {
    if matches!(layout, Layout::Parts(_)) {
        // SAFETY: the caller's duty.
        unsafe { batch::launch(entered, lane, &[Item { layout, memory, packed }], direction, report) }?;
    } else {
        for (at, leaf) in layout.leaves() {
            let packed = packed.wrapping_add_signed(at);
            // SAFETY: the caller's duty.
            unsafe { launch_leaf(entered, lane, leaf, memory, packed, direction, report) }?;
        }
    }
    Ok(())
}

/// As [`launch`], for what is no sequence; returns how many launches were queued.
pub(super) unsafe fn launch_leaf(
    entered: &Entered,
    lane: &mut Lane<'_>,
    leaf: LeafRef<'_>,
    memory: u64,
    packed: u64,
    direction: Direction,
    report: bool,
) -> Result<u32, CudaError> {
    let limits = Limits::of_device(entered.multiprocessors());
    match leaf {
        LeafRef::Strided(one) => {
            let launches = plan::launches(one, memory, packed, direction, None, limits);
            let last = launches.remaining();
            // SAFETY: the addresses are the caller's duty.
            unsafe { queue(lane, launches, last, report) }
        }
        LeafRef::Blocks(one) => {
            let copied = on_device(entered, &one.table)?;
            let launches = blocks::launches(one, copied.table, memory, packed, direction, limits);
            // SAFETY: the addresses are the caller's duty, and the table is the layout's and lives as long.
            unsafe { queue_blocks(lane, launches, copied, report) }
        }
    }
}

/// Queues `launches`, of which the one numbered `last` reports if any does. Returns how many there were.
///
/// # Safety
/// As [`launch`]; the arguments are their kernels' own.
pub(super) unsafe fn queue<A: Completion>(
    lane: &mut Lane<'_>,
    launches: impl Iterator<Item = Launch<A>>,
    last: u64,
    report: bool,
) -> Result<u32, CudaError> {
    let mut queued = 0;
    for mut launch in launches {
        queued += 1;
        let report = report && u64::from(queued) == last;
        // SAFETY: the caller's duty.
        unsafe { lane.launch(launch.kernel, launch.grid, launch.block, &mut launch.args, report) }?;
    }
    Ok(queued)
}

/// As [`queue`]; waits for the lane if the table is not kept.
pub(super) unsafe fn queue_blocks(
    lane: &mut Lane<'_>,
    launches: blocks::Launches,
    copied: Copied,
    report: bool,
) -> Result<u32, CudaError> {
    let last = launches.remaining();
    // SAFETY: the caller's duty.
    let queued = unsafe { queue(lane, launches, last, report) };
    let Some(buffer) = copied.once else { return queued };
    // Nobody else keeps the table for so long, and kernels that were queued before one failed read it too.
    let waited = lane.wait();
    if waited.is_err() {
        // What may still be read is not given out again.
        std::mem::forget(buffer);
    }
    queued.and_then(|queued| waited.map(|()| queued))
}

/// `table` on the device, brought there at its first use.
pub(super) fn on_device(entered: &Entered, table: &Table) -> Result<Copied, CudaError> {
    table::copied(entered, table, |address, bytes| {
        // A lane of its own: it is waited for, and the caller's has other things to wait for.
        let mut lane = entered.lane()?;
        // SAFETY: both are valid for these bytes until the lane is waited for, here.
        unsafe { lane.copy(address, bytes.as_ptr() as u64, bytes.len()) }?;
        lane.wait()
    })
}
