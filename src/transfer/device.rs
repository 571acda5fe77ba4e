//! `device`: a kernel packs into device memory, the MPI takes the device buffer.

use super::object::Object;
use crate::cuda::{CudaError, Entered, Memory};
use crate::ir::Layout;
use crate::pack::exec;
use crate::pack::kernel::Direction;
use crate::pool::{self, Buffer};

/// A buffer for packed bytes that the MPI takes.
pub(super) fn buffer(entered: &Entered, bytes: usize) -> Result<Buffer, CudaError> {
    pool::take(entered, Memory::Device, bytes)
}

/// Pack `object` into `buffer`, where the device sees it.
pub(super) fn pack(entered: &Entered, object: &Object, buffer: &Buffer) -> Result<(), CudaError> {
    run(entered, object, object.layout(), buffer.device_address(), Direction::Pack)
}

/// Unpack `layout`, a part of `object`, from `packed`, an address that the device sees.
pub(super) fn unpack(
    entered: &Entered,
    object: &Object,
    layout: &Layout,
    packed: u64,
) -> Result<(), CudaError> {
    run(entered, object, layout, packed, Direction::Unpack)
}

/// One kernel between `object` and `packed`, waited for by its flag.
pub(super) fn run(
    entered: &Entered,
    object: &Object,
    layout: &Layout,
    packed: u64,
    direction: Direction,
) -> Result<(), CudaError> {
    let mut lane = entered.lane()?;
    // SAFETY: the program's buffer is valid for the call (MPI-4.1 section 2.5.1), `packed` holds the layout's bytes, and the
    // lane is waited for before either can go.
    unsafe { exec::launch(entered, &mut lane, layout, object.buffer as u64, packed, direction, true) }?;
    lane.wait()
}
