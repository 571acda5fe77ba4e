//! `MPI_Pack_c` and `MPI_Unpack_c` (MPI-4.1 section 5.2): as `MPI_Pack` and `MPI_Unpack`, with numbers of 64 bits.

use super::{prepare, stopped};
use crate::mpi::{MPI_Comm, MPI_Count, MPI_Datatype, Via, family, next};
use crate::pack::kernel::Direction;
use crate::reason::Reason;
use crate::report::{self, Call};
use crate::transfer::Stop;
use crate::transfer::packing::{self, Packed};
use crate::{config, state};
use std::ffi::{c_int, c_void};

pub(super) unsafe fn pack_c(
    via: Via,
    inbuf: *const c_void,
    incount: MPI_Count,
    datatype: MPI_Datatype,
    outbuf: *mut c_void,
    outsize: MPI_Count,
    position: *mut MPI_Count,
    comm: MPI_Comm,
) -> c_int {
    let packed = Packed { buffer: outbuf as usize, bytes: outsize, position };
    // SAFETY: the caller's duty.
    let system =
        || unsafe { next::MPI_Pack_c(via, inbuf, incount, datatype, outbuf, outsize, position, comm) };
    // SAFETY: the caller's duty.
    unsafe { serve(Direction::Pack, (inbuf as usize, incount, datatype), &packed, comm, system) }
}

pub(super) unsafe fn unpack_c(
    via: Via,
    inbuf: *const c_void,
    insize: MPI_Count,
    position: *mut MPI_Count,
    outbuf: *mut c_void,
    outcount: MPI_Count,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let packed = Packed { buffer: inbuf as usize, bytes: insize, position };
    let system =
        // SAFETY: the caller's duty.
        || unsafe { next::MPI_Unpack_c(via, inbuf, insize, position, outbuf, outcount, datatype, comm) };
    // SAFETY: the caller's duty.
    unsafe { serve(Direction::Unpack, (outbuf as usize, outcount, datatype), &packed, comm, system) }
}

/// # Safety
/// The arguments are those of a call of `MPI_Pack_c` or `MPI_Unpack_c`.
unsafe fn serve(
    direction: Direction,
    (buffer, count, datatype): (usize, MPI_Count, MPI_Datatype),
    packed: &Packed<MPI_Count>,
    comm: MPI_Comm,
    system: impl FnOnce() -> c_int,
) -> c_int {
    if !state::active() {
        return system();
    }
    let call = match direction {
        Direction::Pack => Call::PackC,
        Direction::Unpack => Call::UnpackC,
    };
    if config::get().no_pack {
        return stopped(call, comm, Stop::Forward(Reason::SwitchedOff), system);
    }
    if comm.key() == family().comm_null().key() {
        return stopped(call, comm, Stop::Forward(Reason::BadArgument), system);
    }
    let since = report::clock();
    // SAFETY: the caller's duty.
    match prepare(|| unsafe { packing::serve(buffer, count, datatype, packed, comm, direction) }) {
        Ok(done) => {
            report::done(call, done.means, done.bytes, since);
            0
        }
        Err(stop) => stopped(call, comm, stop, system),
    }
}
