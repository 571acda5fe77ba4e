//! Running a plan: the launches of one layout on a lane.

use super::kernel::{Args, BlocksArgs, Direction, KERNELS, PTX};
use super::plan::Limits;
use super::table;
use super::{blocks, plan};
use crate::cuda::{Completion, CudaError, Entered, Lane, Library};
use crate::ir::{Blocks, Layout, LeafRef, Strided};
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
    let mut leaves = layout.leaves().peekable();
    while let Some((at, leaf)) = leaves.next() {
        let report = report && leaves.peek().is_none();
        let packed = packed.wrapping_add_signed(at);
        let queued = match leaf {
            // SAFETY: the caller's duty.
            LeafRef::Strided(one) => unsafe {
                launch_strided(entered, lane, one, memory, packed, direction, report)
            },
            // SAFETY: the caller's duty.
            LeafRef::Blocks(one) => unsafe {
                launch_blocks(entered, lane, one, memory, packed, direction, report)
            },
        };
        queued?;
    }
    Ok(())
}

/// As [`launch`].
unsafe fn launch_strided(
    entered: &Entered,
    lane: &mut Lane<'_>,
    layout: &Strided,
    memory: u64,
    packed: u64,
    direction: Direction,
    report: bool,
) -> Result<(), CudaError> {
    let limits = Limits::of_device(entered.multiprocessors());
    let mut launches = plan::launches(layout, memory, packed, direction, None, limits);
    while let Some(mut launch) = launches.next() {
        let last = launches.remaining() == 0;
        // SAFETY: the arguments are the kernel's own type, and the addresses the caller's duty.
        unsafe { lane.launch(launch.kernel, launch.grid, launch.block, &mut launch.args, report && last) }?;
    }
    Ok(())
}

/// As [`launch`]; brings the table to the device at its first use.
unsafe fn launch_blocks(
    entered: &Entered,
    lane: &mut Lane<'_>,
    layout: &Blocks,
    memory: u64,
    packed: u64,
    direction: Direction,
    report: bool,
) -> Result<(), CudaError> {
    let limits = Limits::of_device(entered.multiprocessors());
    let table = table::copied(entered, &layout.table, |address, bytes| {
        // A lane of its own: it is waited for, and the caller's has other things to wait for.
        let mut lane = entered.lane()?;
        // SAFETY: both are valid for these bytes until the lane is waited for, here.
        unsafe { lane.copy(address, bytes.as_ptr() as u64, bytes.len()) }?;
        lane.wait()
    })?;
    let mut launches = blocks::launches(layout, table.table, memory, packed, direction, limits);
    while let Some(mut launch) = launches.next() {
        let last = launches.remaining() == 0;
        // SAFETY: the arguments are the kernel's own type, the table is its layout's and lives as long, and the addresses
        // are the caller's duty.
        unsafe { lane.launch(launch.kernel, launch.grid, launch.block, &mut launch.args, report && last) }?;
    }
    // Nobody else keeps it for so long.
    if table.once.is_some() { lane.wait() } else { Ok(()) }
}
