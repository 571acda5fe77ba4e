//! Blocking point-to-point messages (MPI-4.1 chapter 3).
#![allow(clippy::inline_always, reason = "a call that passes keeps its arguments in their registers")]

use super::side::{cheap, passes, sending};
use super::{finish, prepare, stopped};
use crate::mpi::status::{Received, Spare};
use crate::mpi::{MPI_Comm, MPI_Datatype, MPI_Message, MPI_Status, Via, family, next};
use crate::reason::Reason;
use crate::report::Call;
use crate::state;
use crate::transfer::{self, Incoming, Reach, Stop};
use std::ffi::{c_int, c_void};

macro_rules! sends {
    ($($(#[doc = $doc:literal])* $body:ident, $name:ident, $call:expr, $reach:expr;)*) => { $(
        $(#[doc = $doc])*
        #[inline(always)]
        pub(super) unsafe fn $body(via: Via, buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int {
            #[inline(never)]
            unsafe fn serve(via: Via, buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int {
                // SAFETY: the caller's duty, or the packed bytes that `sending` holds until after the call.
                let system = |buf, count, datatype| unsafe { next::$name(via, buf, count, datatype, dest, tag, comm) };
                let make = || transfer::outgoing(buf as usize, count, datatype, comm, $reach);
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
    send, MPI_Send, Call::Send, Reach::Any;
    ssend, MPI_Ssend, Call::Ssend, Reach::Any;
    rsend, MPI_Rsend, Call::Rsend, Reach::Any;
    /// The system copies the packed bytes into the program's attached buffer, whose accounting (MPI-4.1 section 3.6) is the same for
    /// them as for the typed message. The copy is the CPU's, so the bytes lie in host memory.
    bsend, MPI_Bsend, Call::Bsend, Reach::Host;
}

#[inline(always)]
pub(super) unsafe fn recv(
    via: Via,
    buf: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    if passes(Call::Recv, Some(source), count) {
        // SAFETY: the caller's duty.
        return unsafe { next::MPI_Recv(via, buf, count, datatype, source, tag, comm, status) };
    }
    // SAFETY: the caller's duty.
    unsafe { recv_ours(via, buf, count, datatype, source, tag, comm, status) }
}

#[inline(never)]
unsafe fn recv_ours(
    via: Via,
    buf: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's duty.
    let forward = || unsafe { next::MPI_Recv(via, buf, count, datatype, source, tag, comm, status) };
    match prepare(|| transfer::incoming(buf as usize, count, datatype, comm)) {
        Ok(incoming) => {
            let mut spare = Spare::default();
            let status = spare.or(status);
            // SAFETY: `incoming` holds the buffer that it describes until after the call; the status is valid.
            let rc = unsafe {
                next::MPI_Recv(
                    via,
                    incoming.address(),
                    incoming.count(),
                    incoming.datatype(),
                    source,
                    tag,
                    comm,
                    status,
                )
            };
            received(Call::Recv, comm, rc, &incoming, status)
        }
        Err(stop) => stopped(Call::Recv, comm, stop, forward),
    }
}

pub(super) unsafe fn mrecv(
    via: Via,
    buf: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's duty.
    let forward = || unsafe { next::MPI_Mrecv(via, buf, count, datatype, message, status) };
    if !state::active() {
        return forward();
    }
    // The call names no communicator; errors are raised where the MPI raises those of calls without one.
    let comm = family().comm_self();
    if let Some(reason) = cheap(None, count) {
        return stopped(Call::Mrecv, comm, Stop::Forward(reason), forward);
    }
    match prepare(|| transfer::incoming(buf as usize, count, datatype, comm)) {
        Ok(incoming) => {
            let mut spare = Spare::default();
            let status = spare.or(status);
            // SAFETY: as in `recv`; `message` is the caller's.
            let rc = unsafe {
                next::MPI_Mrecv(
                    via,
                    incoming.address(),
                    incoming.count(),
                    incoming.datatype(),
                    message,
                    status,
                )
            };
            received(Call::Mrecv, comm, rc, &incoming, status)
        }
        Err(stop) => stopped(Call::Mrecv, comm, stop, forward),
    }
}

/// Unpack what a receive delivered. A failed receive (a truncated one, say) leaves the program's buffer alone.
fn received(call: Call, comm: MPI_Comm, rc: c_int, incoming: &Incoming, status: *const MPI_Status) -> c_int {
    if rc != 0 {
        return rc;
    }
    // SAFETY: the receive succeeded, so the status is filled.
    let received = unsafe { Received::read(status) };
    finish(comm, || incoming.finish(call, received, incoming.since()))
}

pub(super) unsafe fn sendrecv(
    via: Via,
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's duty.
    let forward = || unsafe {
        next::MPI_Sendrecv(
            via, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
            comm, status,
        )
    };
    if !state::active() {
        return forward();
    }
    // Each half is ours or not; only a half that is ours is replaced.
    let out = half(cheap(Some(dest), sendcount), || {
        transfer::outgoing_in_company(sendbuf as usize, sendcount, sendtype, comm, Reach::Any)
    });
    let incoming = half(cheap(Some(source), recvcount), || {
        transfer::incoming_in_company(recvbuf as usize, recvcount, recvtype, comm)
    });
    let (out, incoming) = match (out, incoming) {
        (Err(Stop::Forward(reason)), Err(Stop::Forward(_))) => {
            return stopped(Call::Sendrecv, comm, Stop::Forward(reason), forward);
        }
        (Err(stop @ (Stop::Raise(_) | Stop::Refused(_) | Stop::Ask { .. })), _)
        | (_, Err(stop @ (Stop::Raise(_) | Stop::Refused(_) | Stop::Ask { .. }))) => {
            return stopped(Call::Sendrecv, comm, stop, forward);
        }
        (out, incoming) => (out.ok(), incoming.ok()),
    };
    let (sendbuf, sendcount, sendtype) =
        out.as_ref().map_or((sendbuf, sendcount, sendtype), |o| (o.address(), o.count(), o.datatype()));
    let (recvbuf, recvcount, recvtype) =
        incoming.as_ref().map_or((recvbuf, recvcount, recvtype), |i| (i.address(), i.count(), i.datatype()));
    let mut spare = Spare::default();
    let status = if incoming.is_some() { spare.or(status) } else { status };
    // SAFETY: each half is the caller's or holds its buffer until after the call.
    let rc = unsafe {
        next::MPI_Sendrecv(
            via, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
            comm, status,
        )
    };
    if let Some(out) = out {
        out.sent(Call::Sendrecv, out.since());
    }
    match incoming {
        Some(incoming) => received(Call::Sendrecv, comm, rc, &incoming, status),
        None => rc,
    }
}

fn half<T>(cheap: Option<Reason>, work: impl Fn() -> Result<T, Stop>) -> Result<T, Stop> {
    match cheap {
        Some(reason) => Err(Stop::Forward(reason)),
        None => prepare(work),
    }
}

pub(super) unsafe fn sendrecv_replace(
    via: Via,
    buf: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's duty.
    let forward = || unsafe {
        next::MPI_Sendrecv_replace(via, buf, count, datatype, dest, sendtag, source, recvtag, comm, status)
    };
    if !state::active() {
        return forward();
    }
    let null = family().constants().proc_null;
    // With one real peer there still are bytes to move; with none the buffer is not touched.
    let peer = if source == null { dest } else { source };
    if let Some(reason) = cheap(Some(peer), count) {
        return stopped(Call::SendrecvReplace, comm, Stop::Forward(reason), forward);
    }
    // The MPI moves the buffer aside by means of its own; in host memory any of them will do.
    match prepare(|| transfer::outgoing(buf as usize, count, datatype, comm, Reach::Host)) {
        Ok(out) => {
            let mut spare = Spare::default();
            let status = spare.or(status);
            // SAFETY: the packed buffer is ours to be replaced; `out` holds it until after the call.
            let rc = unsafe {
                next::MPI_Sendrecv_replace(
                    via,
                    out.address().cast_mut(),
                    out.count(),
                    out.datatype(),
                    dest,
                    sendtag,
                    source,
                    recvtag,
                    comm,
                    status,
                )
            };
            if source == null {
                out.sent(Call::SendrecvReplace, out.since());
                return rc;
            }
            received(Call::SendrecvReplace, comm, rc, &out.into_incoming(), status)
        }
        Err(stop) => stopped(Call::SendrecvReplace, comm, stop, forward),
    }
}
