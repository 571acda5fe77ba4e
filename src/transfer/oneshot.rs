//! `oneshot`: a kernel packs straight into mapped host memory, the MPI takes the host buffer.

use super::device;
use super::object::Object;
use crate::cuda::{CudaError, Entered, Memory};
use crate::ir::Layout;
use crate::pack::kernel::Direction;
use crate::pool::{self, Buffer};

/// A buffer for packed bytes that the MPI takes.
pub(super) fn buffer(entered: &Entered, bytes: usize) -> Result<Buffer, CudaError> {
    pool::take(entered, Memory::Mapped, bytes)
}

/// Pack `object` into mapped host memory.
pub(super) fn pack(entered: &Entered, object: &Object) -> Result<Buffer, CudaError> {
    let buffer = buffer(entered, object.bytes())?;
    device::pack(entered, object, &buffer)?;
    Ok(buffer)
}

/// Unpack `layout`, a part of `object`, from `packed`, an address that the device sees.
pub(super) fn unpack(
    entered: &Entered,
    object: &Object,
    layout: &Layout,
    packed: u64,
) -> Result<(), CudaError> {
    device::run(entered, object, layout, packed, Direction::Unpack)
}
