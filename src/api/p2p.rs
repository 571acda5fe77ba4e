//! Blocking point-to-point messages (MPI-4.1 chapter 3).
#![allow(clippy::inline_always, reason = "a call that passes keeps its arguments in their registers")]

use super::side::{Count, passes, sending};
use super::{finish, prepare, stopped};
use crate::mpi::status::{Received, Spare};
use crate::mpi::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Message, MPI_Status, Via, family, next};
use crate::reason::Reason;
use crate::report::{self, Call};
use crate::transfer::{self, Incoming, Reach};
use std::ffi::{c_int, c_void};

macro_rules! sends {
    ($($(#[doc = $doc:literal])* $body:ident, $name:ident, $count:ty, $call:expr, $reach:expr;)*) => { $(
        $(#[doc = $doc])*
        #[inline(always)]
        pub(super) unsafe fn $body(via: Via, buf: *const c_void, count: $count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int {
            #[inline(never)]
            unsafe fn serve(via: Via, buf: *const c_void, count: $count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int {
                // SAFETY: the caller's duty, or the packed bytes that `sending` holds until after the call.
                let system = |buf, count, datatype| unsafe { next::$name(via, buf, count, datatype, dest, tag, comm) };
                let make = || transfer::outgoing(buf as usize, count.into(), datatype, comm, $reach);
                sending($call, comm, (buf, count, datatype), make, system, |out| out.sent($call, out.since()))
            }
            if passes($call, Some(dest), count) {
                // SAFETY: the caller's duty.
                return unsafe { next::$name(via, buf, count, datatype, dest, tag, comm) };
            }
            // SAFETY: the caller's duty.
            unsafe { serve(via, buf, count, datatype, dest, tag, comm) }
        }
    )* };
}

sends! {
    send, MPI_Send, c_int, Call::Send, Reach::Any;
    send_c, MPI_Send_c, MPI_Count, Call::SendC, Reach::Any;
    ssend, MPI_Ssend, c_int, Call::Ssend, Reach::Any;
    ssend_c, MPI_Ssend_c, MPI_Count, Call::SsendC, Reach::Any;
    rsend, MPI_Rsend, c_int, Call::Rsend, Reach::Any;
    rsend_c, MPI_Rsend_c, MPI_Count, Call::RsendC, Reach::Any;
    /// The system copies the packed bytes into the program's attached buffer, whose accounting (MPI-4.1 section 3.6) is the same for
    /// them as for the typed message. The copy is the CPU's, so the bytes lie in host memory.
    bsend, MPI_Bsend, c_int, Call::Bsend, Reach::Host;
    bsend_c, MPI_Bsend_c, MPI_Count, Call::BsendC, Reach::Host;
}

macro_rules! receives {
    ($($body:ident, $name:ident, $matched:ident, $count:ty, $call:expr;)*) => { $(
        #[inline(always)]
        pub(super) unsafe fn $body(via: Via, buf: *mut c_void, count: $count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int {
            #[inline(never)]
            unsafe fn serve(via: Via, buf: *mut c_void, count: $count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int {
                // SAFETY: the caller's duty, or a buffer that `receive` holds until after the call.
                let system = |buf, count, datatype, status| unsafe { next::$name(via, buf, count, datatype, source, tag, comm, status) };
                let probe = |message, status| {
                    // SAFETY: the places are valid.
                    unsafe { next::MPI_Mprobe(source, tag, comm, message, status) }
                };
                let matched = |buf, count, datatype, message, status| {
                    // SAFETY: as above; `message` holds what was probed.
                    unsafe { next::$matched(via, buf, count, datatype, message, status) }
                };
                receive($call, comm, (buf, count, datatype), status, system, |incoming, status| {
                    if incoming.overrun_by_longer() {
                        measured($call, (buf, count, datatype), incoming, status, probe, matched)
                    } else {
                        Ok(system(incoming.address(), incoming.count().into(), incoming.datatype(), status))
                    }
                })
            }
            if passes($call, Some(source), count) {
                // SAFETY: the caller's duty.
                return unsafe { next::$name(via, buf, count, datatype, source, tag, comm, status) };
            }
            // SAFETY: the caller's duty.
            unsafe { serve(via, buf, count, datatype, source, tag, comm, status) }
        }
    )* };
}

receives! {
    recv, MPI_Recv, MPI_Mrecv, c_int, Call::Recv;
    recv_c, MPI_Recv_c, MPI_Mrecv_c, MPI_Count, Call::RecvC;
}

macro_rules! matched {
    ($($body:ident, $name:ident, $count:ty, $call:expr;)*) => { $(
        pub(super) unsafe fn $body(via: Via, buf: *mut c_void, count: $count, datatype: MPI_Datatype, message: *mut MPI_Message, status: *mut MPI_Status) -> c_int {
            // SAFETY: as in `recv`; `message` is the caller's.
            let system = |buf, count, datatype, status| unsafe { next::$name(via, buf, count, datatype, message, status) };
            if passes($call, None, count) {
                return system(buf, count, datatype, status);
            }
            // The call names no communicator; errors are raised where the MPI raises those of calls without one.
            receive($call, family().comm_self(), (buf, count, datatype), status, system, |incoming, status| {
                Ok(system(incoming.address(), incoming.count().into(), incoming.datatype(), status))
            })
        }
    )* };
}

matched! {
    mrecv, MPI_Mrecv, c_int, Call::Mrecv;
    mrecv_c, MPI_Mrecv_c, MPI_Count, Call::MrecvC;
}

/// The body of both. `take` receives what is to be unpacked; an error of its is the code of a call that is over.
#[inline]
fn receive<C: Count>(
    call: Call,
    comm: MPI_Comm,
    (buf, count, datatype): (*mut c_void, C, MPI_Datatype),
    status: *mut MPI_Status,
    system: impl Fn(*mut c_void, C, MPI_Datatype, *mut MPI_Status) -> c_int,
    take: impl FnOnce(&Incoming, *mut MPI_Status) -> Result<c_int, c_int>,
) -> c_int {
    match prepare(|| transfer::incoming(buf as usize, count.into(), datatype, comm)) {
        Ok(incoming) => {
            let mut spare = Spare::default();
            let status = spare.or(status);
            match take(&incoming, status) {
                Ok(rc) => received(call, comm, rc, &incoming, status),
                Err(code) => code,
            }
        }
        Err(stop) => stopped(call, comm, stop, || system(buf, count, datatype, status)),
    }
}

/// Receive a message into our buffer if it has room there, and otherwise as the program said: that ends in the error that it would
/// end in without us.
#[inline(never)]
fn measured<C: Count>(
    call: Call,
    (buf, count, datatype): (*mut c_void, C, MPI_Datatype),
    incoming: &Incoming,
    status: *mut MPI_Status,
    probe: impl FnOnce(*mut MPI_Message, *mut MPI_Status) -> c_int,
    matched: impl FnOnce(*mut c_void, C, MPI_Datatype, *mut MPI_Message, *mut MPI_Status) -> c_int,
) -> Result<c_int, c_int> {
    let mut place = 0_u64; // holds a handle of every family
    let message = (&raw mut place).cast();
    let code = probe(message, status);
    if code != 0 {
        return Err(code);
    }
    // SAFETY: the probe succeeded, so the status is filled.
    if unsafe { Received::read(status) }.bytes > incoming.bytes() {
        report::forwarded(call, Reason::TooLong);
        return Err(matched(buf, count, datatype, message, status));
    }
    Ok(matched(incoming.address(), incoming.count().into(), incoming.datatype(), message, status))
}

/// Unpack what a receive delivered. A failed receive (a truncated one, say) leaves the program's buffer alone.
pub(super) fn received(
    call: Call,
    comm: MPI_Comm,
    rc: c_int,
    incoming: &Incoming,
    status: *const MPI_Status,
) -> c_int {
    if rc != 0 {
        return rc;
    }
    // SAFETY: the receive succeeded, so the status is filled.
    let received = unsafe { Received::read(status) };
    finish(comm, || incoming.finish(call, received, incoming.since()))
}
