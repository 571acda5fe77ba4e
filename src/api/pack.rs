//! `MPI_Pack` and `MPI_Unpack` (MPI-4.1 section 5.2). `MPI_Pack_size` is the system's: its bound holds for our bytes, which are the
//! type map's.

use super::{prepare, stopped};
use crate::mpi::{MPI_Comm, MPI_Datatype, Via, next};
use crate::reason::Reason;
use crate::report::{self, Call};
use crate::transfer::{Stop, packing};
use crate::{config, state};
use std::ffi::{c_int, c_void};

pub(super) unsafe fn pack(
    via: Via,
    inbuf: *const c_void,
    incount: c_int,
    datatype: MPI_Datatype,
    outbuf: *mut c_void,
    outsize: c_int,
    position: *mut c_int,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller's duty.
    let forward =
        || unsafe { next::MPI_Pack(via, inbuf, incount, datatype, outbuf, outsize, position, comm) };
    let side = packing::Packed { buffer: outbuf as usize, bytes: outsize, position };
    // SAFETY: the caller's duty.
    let work = || unsafe { packing::pack(inbuf as usize, incount, datatype, &side, comm) };
    serve(Call::Pack, comm, work, forward)
}

pub(super) unsafe fn unpack(
    via: Via,
    inbuf: *const c_void,
    insize: c_int,
    position: *mut c_int,
    outbuf: *mut c_void,
    outcount: c_int,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    // SAFETY: the caller's duty.
    let forward =
        || unsafe { next::MPI_Unpack(via, inbuf, insize, position, outbuf, outcount, datatype, comm) };
    let side = packing::Packed { buffer: inbuf as usize, bytes: insize, position };
    // SAFETY: the caller's duty.
    let work = || unsafe { packing::unpack(&side, outbuf as usize, outcount, datatype, comm) };
    serve(Call::Unpack, comm, work, forward)
}

fn serve(
    call: Call,
    comm: MPI_Comm,
    work: impl FnOnce() -> Result<packing::Done, Stop>,
    forward: impl FnOnce() -> c_int,
) -> c_int {
    if !state::active() {
        return forward();
    }
    if config::get().no_pack {
        return stopped(call, comm, Stop::Forward(Reason::SwitchedOff), forward);
    }
    let since = report::clock();
    match prepare(work) {
        Ok(done) => {
            report::done(call, done.means, done.bytes, since);
            0
        }
        Err(stop) => stopped(call, comm, stop, forward),
    }
}
