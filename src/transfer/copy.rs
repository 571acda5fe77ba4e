//! One block: no kernel, a copy through the driver.

use super::object::Object;
use crate::cuda::{CudaError, Entered};
use crate::ir::Layout;
use crate::pool::Buffer;

/// Bring the one block of `object` to `buffer`, pinned host memory.
pub(super) fn out(entered: &Entered, object: &Object, buffer: &Buffer) -> Result<(), CudaError> {
    // SAFETY: the program's block is valid for the call and the buffer large enough.
    unsafe { bytes(entered, buffer.address(), object.first(), object.bytes()) }
}

/// Bring packed bytes from the host address `source` to `layout`, a single block of `object`.
pub(super) fn back(
    entered: &Entered,
    object: &Object,
    layout: &Layout,
    source: u64,
) -> Result<(), CudaError> {
    let target = (object.buffer as u64).wrapping_add_signed(layout.first());
    // SAFETY: the program's block is valid for the call, and the source holds the layout's bytes.
    unsafe { bytes(entered, target, source, usize::try_from(layout.size()).unwrap_or(0)) }
}

/// Copy between any two addresses that the driver knows or the host can reach, and wait.
///
/// # Safety
/// Both ranges may be accessed until the function returns.
pub(super) unsafe fn bytes(
    entered: &Entered,
    target: u64,
    source: u64,
    bytes: usize,
) -> Result<(), CudaError> {
    let mut lane = entered.lane()?;
    // SAFETY: the caller's duty; the lane is waited for here.
    unsafe { lane.copy(target, source, bytes) }?;
    lane.wait()
}
