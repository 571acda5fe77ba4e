//! `MPI_Pack` and `MPI_Unpack` (MPI-4.1 section 5.2). `MPI_Pack_size` is the system's: its bound holds for our bytes, which are the
//! type map's.

use super::{prepare, stopped};
use crate::mpi::{MPI_Comm, MPI_Datatype, Via, family, next};
use crate::pack::kernel::Direction;
use crate::reason::Reason;
use crate::report::{self, Call, Means};
use crate::transfer::Stop;
use crate::transfer::packing::{self, Packed};
use crate::{config, state};
use std::ffi::{c_int, c_void};
use std::time::Instant;

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
    let side = Packed { buffer: outbuf as usize, bytes: outsize, position };
    let call = Side {
        call: Call::Pack,
        direction: Direction::Pack,
        buffer: inbuf as usize,
        count: incount,
        datatype,
    };
    // SAFETY: the caller's duty.
    unsafe {
        serve(&call, &side, comm, || {
            next::MPI_Pack(via, inbuf, incount, datatype, outbuf, outsize, position, comm)
        })
    }
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
    let side = Packed { buffer: inbuf as usize, bytes: insize, position };
    let call = Side {
        call: Call::Unpack,
        direction: Direction::Unpack,
        buffer: outbuf as usize,
        count: outcount,
        datatype,
    };
    // SAFETY: the caller's duty.
    unsafe {
        serve(&call, &side, comm, || {
            next::MPI_Unpack(via, inbuf, insize, position, outbuf, outcount, datatype, comm)
        })
    }
}

/// The side of the call that has a datatype.
struct Side {
    call: Call,
    direction: Direction,
    buffer: usize,
    count: c_int,
    datatype: MPI_Datatype,
}

/// # Safety
/// The arguments are those of a call of `MPI_Pack` or `MPI_Unpack`.
#[inline]
unsafe fn serve(side: &Side, packed: &Packed, comm: MPI_Comm, forward: impl FnOnce() -> c_int) -> c_int {
    let Side { call, direction, buffer, count, datatype } = *side;
    if !state::active() {
        return forward();
    }
    if config::get().no_pack {
        return stopped(call, comm, Stop::Forward(Reason::SwitchedOff), forward);
    }
    if comm.key() == family().comm_null().key() {
        return stopped(call, comm, Stop::Forward(Reason::BadArgument), forward);
    }
    let since = report::clock();
    // SAFETY: the caller's duty. Nothing in there can panic.
    match unsafe { packing::quick(buffer, count, datatype, packed, direction) } {
        Some(Ok(bytes)) => {
            report::done(call, Means::Host, bytes.into(), since);
            return 0;
        }
        Some(Err(reason)) => {
            report::forwarded(call, reason);
            return forward();
        }
        None => {}
    }
    // SAFETY: the caller's duty.
    unsafe { serve_any(side, packed, comm, since, forward) }
}

/// What [`packing::quick`] left: apart, so that the quick calls need not make room for it.
///
/// # Safety
/// As [`serve`].
#[inline(never)]
unsafe fn serve_any(
    side: &Side,
    packed: &Packed,
    comm: MPI_Comm,
    since: Option<Instant>,
    forward: impl FnOnce() -> c_int,
) -> c_int {
    let Side { call, direction, buffer, count, datatype } = *side;
    // SAFETY: the caller's duty.
    match prepare(|| unsafe { packing::serve(buffer, count.into(), datatype, packed, comm, direction) }) {
        Ok(done) => {
            report::done(call, done.means, done.bytes, since);
            0
        }
        Err(stop) => stopped(call, comm, stop, forward),
    }
}
