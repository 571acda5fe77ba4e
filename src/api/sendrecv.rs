//! Messages both ways in one call (MPI-4.1 section 3.10).

use super::p2p::received;
use super::side::{Count, cheap, passes};
use super::{prepare, stopped};
use crate::mpi::status::Spare;
use crate::mpi::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Status, Via, family, next};
use crate::reason::Reason;
use crate::report::Call;
use crate::state;
use crate::transfer::{self, Reach, Stop};
use std::ffi::{c_int, c_void};

macro_rules! exchanges {
    ($($body:ident, $name:ident, $count:ty, $call:expr;)*) => { $(
        pub(super) unsafe fn $body(via: Via, sendbuf: *const c_void, sendcount: $count, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: $count, recvtype: MPI_Datatype, source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int {
            // SAFETY: the caller's duty, or buffers that `exchange` holds until after the call.
            let system = |(sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), status| unsafe {
                next::$name(via, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status)
            };
            let (send, recv) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
            exchange($call, comm, (dest, send), (source, recv), status, system)
        }
    )* };
}

exchanges! {
    sendrecv, MPI_Sendrecv, c_int, Call::Sendrecv;
    sendrecv_c, MPI_Sendrecv_c, MPI_Count, Call::SendrecvC;
}

/// What is sent.
type Out<C> = (*const c_void, C, MPI_Datatype);

/// Where it is received.
type In<C> = (*mut c_void, C, MPI_Datatype);

/// Each half is ours or not; only a half that is ours is replaced.
fn exchange<C: Count>(
    call: Call,
    comm: MPI_Comm,
    (dest, send): (c_int, Out<C>),
    (source, recv): (c_int, In<C>),
    status: *mut MPI_Status,
    system: impl Fn(Out<C>, In<C>, *mut MPI_Status) -> c_int,
) -> c_int {
    let forward = || system(send, recv, status);
    if !state::active() {
        return forward();
    }
    let out = half(cheap(Some(dest), send.1), || {
        transfer::outgoing_in_company(send.0 as usize, send.1.into(), send.2, comm, Reach::Any)
    });
    let incoming = half(cheap(Some(source), recv.1), || {
        transfer::incoming_in_company(recv.0 as usize, recv.1.into(), recv.2, comm)
    });
    let (out, incoming) = match (out, incoming) {
        (Err(Stop::Forward(reason)), Err(Stop::Forward(_))) => {
            return stopped(call, comm, Stop::Forward(reason), forward);
        }
        (Err(stop @ (Stop::Raise(_) | Stop::Refused(_) | Stop::Ask { .. })), _)
        | (_, Err(stop @ (Stop::Raise(_) | Stop::Refused(_) | Stop::Ask { .. }))) => {
            return stopped(call, comm, stop, forward);
        }
        (out, incoming) => (out.ok(), incoming.ok()),
    };
    let send = out.as_ref().map_or(send, |o| (o.address(), o.count().into(), o.datatype()));
    let recv = incoming.as_ref().map_or(recv, |i| (i.address(), i.count().into(), i.datatype()));
    let mut spare = Spare::default();
    let status = if incoming.is_some() { spare.or(status) } else { status };
    let rc = system(send, recv, status);
    if let Some(out) = out {
        out.sent(call, out.since());
    }
    match incoming {
        Some(incoming) => received(call, comm, rc, &incoming, status),
        None => rc,
    }
}

fn half<T>(cheap: Option<Reason>, work: impl Fn() -> Result<T, Stop>) -> Result<T, Stop> {
    match cheap {
        Some(reason) => Err(Stop::Forward(reason)),
        None => prepare(work),
    }
}

macro_rules! replaces {
    ($($body:ident, $name:ident, $count:ty, $call:expr;)*) => { $(
        pub(super) unsafe fn $body(via: Via, buf: *mut c_void, count: $count, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int {
            // SAFETY: the caller's duty, or a buffer that `replace` holds until after the call.
            let system = |(buf, count, datatype), status| unsafe { next::$name(via, buf, count, datatype, dest, sendtag, source, recvtag, comm, status) };
            replace($call, comm, (dest, source), (buf, count, datatype), status, system)
        }
    )* };
}

replaces! {
    sendrecv_replace, MPI_Sendrecv_replace, c_int, Call::SendrecvReplace;
    sendrecv_replace_c, MPI_Sendrecv_replace_c, MPI_Count, Call::SendrecvReplaceC;
}

/// The packed buffer is sent and replaced.
fn replace<C: Count>(
    call: Call,
    comm: MPI_Comm,
    (dest, source): (c_int, c_int),
    (buf, count, datatype): In<C>,
    status: *mut MPI_Status,
    system: impl Fn(In<C>, *mut MPI_Status) -> c_int,
) -> c_int {
    let forward = || system((buf, count, datatype), status);
    let null = family().constants().proc_null;
    // With one real peer there still are bytes to move; with none the buffer is not touched.
    let peer = if source == null { dest } else { source };
    if passes(call, Some(peer), count) {
        return forward();
    }
    // The MPI moves the buffer aside by means of its own; in host memory any of them will do.
    match prepare(|| transfer::outgoing(buf as usize, count.into(), datatype, comm, Reach::Host)) {
        Ok(out) => {
            let mut spare = Spare::default();
            let status = spare.or(status);
            // The packed buffer is ours to be replaced; `out` holds it until after the call.
            let rc = system((out.address().cast_mut(), out.count().into(), out.datatype()), status);
            if source == null {
                out.sent(call, out.since());
                return rc;
            }
            received(call, comm, rc, &out.into_incoming(), status)
        }
        Err(stop) => stopped(call, comm, stop, forward),
    }
}
