//! `staged`: a kernel packs into device memory, a copy brings the bytes to pinned host memory, the MPI takes the host buffer.

use super::object::Object;
use crate::cuda::{CudaError, Entered, Memory};
use crate::ir::Layout;
use crate::pack::exec;
use crate::pack::kernel::Direction;
use crate::pool::{self, Buffer};

/// A buffer for packed bytes that the MPI takes: page-locked if there is such memory.
pub(super) fn buffer(entered: &Entered, bytes: usize) -> Result<Buffer, CudaError> {
    pool::take_host(entered, bytes)
}

/// Pack `object` and copy the packed bytes to the host address `target`.
pub(super) fn pack_to(entered: &Entered, object: &Object, target: u64) -> Result<(), CudaError> {
    let staging = pool::take(entered, Memory::Device, object.bytes())?;
    let mut lane = entered.lane()?;
    let packed = staging.device_address();
    // SAFETY: the program's buffer is valid for the call, the staging buffer is large enough, and the lane is waited for.
    unsafe {
        exec::launch(
            entered,
            &mut lane,
            object.layout(),
            object.buffer as u64,
            packed,
            Direction::Pack,
            false,
        )
    }?;
    // SAFETY: both hold the packed bytes until the lane is waited for.
    unsafe { lane.copy(target, packed, object.bytes()) }?;
    lane.wait()
}

/// Bring packed bytes from the host address `source` to the device and unpack `layout`, a part of `object`, from them.
pub(super) fn unpack(
    entered: &Entered,
    object: &Object,
    layout: &Layout,
    source: u64,
) -> Result<(), CudaError> {
    let bytes = usize::try_from(layout.size()).unwrap_or(0);
    let staging = pool::take(entered, Memory::Device, bytes)?;
    let mut lane = entered.lane()?;
    let packed = staging.device_address();
    // SAFETY: both hold the packed bytes until the lane is waited for.
    unsafe { lane.copy(packed, source, bytes) }?;
    // SAFETY: as in `pack_to`.
    unsafe {
        exec::launch(entered, &mut lane, layout, object.buffer as u64, packed, Direction::Unpack, true)
    }?;
    lane.wait()
}
