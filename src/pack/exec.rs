//! Running a plan: the launches of one layout on a lane.

use super::kernel::{Args, Direction, KERNELS, PTX};
use super::plan::{self, Limits};
use crate::cuda::{Completion, CudaError, Entered, Lane, Library};
use crate::ir::Strided;
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

/// Queue the kernels that move `layout` between the object at `memory` (the buffer argument of the MPI call, as an address that the
/// device sees) and the packed buffer at `packed`. With `report` the last of them tells the lane of its end, so that
/// [`Lane::wait`] needs no synchronisation of the stream.
///
/// # Errors
/// The driver's; what was queued before is waited for when the lane is dropped.
///
/// # Safety
/// Every byte that the layout names and `packed .. packed + layout.size` may be accessed by the device until the lane was
/// waited for.
pub unsafe fn launch(
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
