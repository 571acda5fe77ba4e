//! `MPI_Pack` and `MPI_Unpack` (MPI-4.1 section 5.2). `MPI_Pack_size` is the system's: its bound holds for our bytes, which are the
//! type map's.

use super::{prepare, stopped};
use crate::mpi::{MPI_Comm, MPI_Datatype, Via, family, next};
use crate::pack::kernel::Direction;
use crate::reason::Reason;
use crate::report::{self, Call};
use crate::transfer::Stop;
use crate::transfer::packing::{self, Packed};
use crate::transfer::quick::{Answer, quick};
use crate::{config, state};
use std::ffi::{c_int, c_void};

#[inline(always)]
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
    if state::quick() {
        let packed = Packed { buffer: outbuf as usize, bytes: outsize, position };
        // SAFETY: the caller's duty.
        match unsafe { quick(inbuf as usize, incount, datatype, packed, comm, Direction::Pack) } {
            Answer::Done => return 0,
            Answer::Forward => {
                // SAFETY: the caller's duty.
                return unsafe {
                    next::MPI_Pack(via, inbuf, incount, datatype, outbuf, outsize, position, comm)
                };
            }
            Answer::Unusual => {}
        }
    }
    // SAFETY: the caller's duty.
    unsafe { pack_any(via, inbuf, incount, datatype, outbuf, outsize, position, comm) }
}

#[inline(always)]
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
    if state::quick() {
        let packed = Packed { buffer: inbuf as usize, bytes: insize, position };
        // SAFETY: the caller's duty.
        match unsafe { quick(outbuf as usize, outcount, datatype, packed, comm, Direction::Unpack) } {
            Answer::Done => return 0,
            Answer::Forward => {
                // SAFETY: the caller's duty.
                return unsafe {
                    next::MPI_Unpack(via, inbuf, insize, position, outbuf, outcount, datatype, comm)
                };
            }
            Answer::Unusual => {}
        }
    }
    // SAFETY: the caller's duty.
    unsafe { unpack_any(via, inbuf, insize, position, outbuf, outcount, datatype, comm) }
}

/// What the quick calls left: apart, and with the call's own arguments, so that those need not make room for it.
#[inline(never)]
unsafe fn pack_any(
    via: Via,
    inbuf: *const c_void,
    incount: c_int,
    datatype: MPI_Datatype,
    outbuf: *mut c_void,
    outsize: c_int,
    position: *mut c_int,
    comm: MPI_Comm,
) -> c_int {
    let packed = Packed { buffer: outbuf as usize, bytes: outsize, position };
    let side = Side { direction: Direction::Pack, buffer: inbuf as usize, count: incount, datatype };
    // SAFETY: the caller's duty.
    unsafe {
        side.serve(&packed, comm, || {
            next::MPI_Pack(via, inbuf, incount, datatype, outbuf, outsize, position, comm)
        })
    }
}

/// As [`pack_any`].
#[inline(never)]
unsafe fn unpack_any(
    via: Via,
    inbuf: *const c_void,
    insize: c_int,
    position: *mut c_int,
    outbuf: *mut c_void,
    outcount: c_int,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let packed = Packed { buffer: inbuf as usize, bytes: insize, position };
    let side = Side { direction: Direction::Unpack, buffer: outbuf as usize, count: outcount, datatype };
    // SAFETY: the caller's duty.
    unsafe {
        side.serve(&packed, comm, || {
            next::MPI_Unpack(via, inbuf, insize, position, outbuf, outcount, datatype, comm)
        })
    }
}

/// The side of a call that has a datatype.
struct Side {
    direction: Direction,
    buffer: usize,
    count: c_int,
    datatype: MPI_Datatype,
}

impl Side {
    /// Serve any call, or let `system` do so.
    ///
    /// # Safety
    /// The arguments are those of a call of `MPI_Pack` or `MPI_Unpack`.
    unsafe fn serve(self, packed: &Packed, comm: MPI_Comm, system: impl FnOnce() -> c_int) -> c_int {
        let Self { direction, buffer, count, datatype } = self;
        if !state::active() {
            return system();
        }
        let call = match direction {
            Direction::Pack => Call::Pack,
            Direction::Unpack => Call::Unpack,
        };
        if config::get().no_pack {
            return stopped(call, comm, Stop::Forward(Reason::SwitchedOff), system);
        }
        if comm.key() == family().comm_null().key() {
            return stopped(call, comm, Stop::Forward(Reason::BadArgument), system);
        }
        let since = report::clock();
        // SAFETY: the caller's duty.
        match prepare(|| unsafe { packing::serve(buffer, count.into(), datatype, packed, comm, direction) }) {
            Ok(done) => {
                report::done(call, done.means, done.bytes, since);
                0
            }
            Err(stop) => stopped(call, comm, stop, system),
        }
    }
}
