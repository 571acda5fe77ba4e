//! Persistent requests (MPI-4.1 section 3.9): made once over a packed buffer of ours, packed at each start, unpacked at each completion.

use super::side::{Peer, keep, made, receiving, sending};
use super::{finish, request};
use crate::mpi::{MPI_Comm, MPI_Datatype, MPI_Request, Via, family, next};
use crate::report::Call;
use crate::transfer::pending::{self, Pending};
use crate::transfer::{self, Reach};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

macro_rules! inits {
    ($($body:ident, $name:ident, $call:expr, $reach:expr;)*) => { $(
        pub(super) unsafe fn $body(via: Via, buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int {
            let system = move |buf, count, datatype| {
                // SAFETY: the caller's duty, or a buffer that is kept until the request is freed.
                let rc = unsafe { next::$name(via, buf, count, datatype, dest, tag, comm, request) };
                // SAFETY: the system has made the request.
                unsafe { made(request, rc) }
            };
            let to = Peer { call: $call, rank: Some(dest), comm };
            let make = move || transfer::outgoing_later(buf as usize, count, datatype, comm, $reach);
            sending(to, (buf, count, datatype), make, system, |out| {
                // SAFETY: the system has made the request.
                unsafe { keep(request, to, pending::init, out) }
            })
        }
    )* };
}

inits! {
    send_init, MPI_Send_init, Call::SendInit, Reach::Any;
    ssend_init, MPI_Ssend_init, Call::SsendInit, Reach::Any;
    rsend_init, MPI_Rsend_init, Call::RsendInit, Reach::Any;
    bsend_init, MPI_Bsend_init, Call::BsendInit, Reach::Host;
}

pub(super) unsafe fn recv_init(
    via: Via,
    buf: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    let system = move |buf, count, datatype| {
        // SAFETY: the caller's duty, or a buffer that is kept until the request is freed.
        let rc = unsafe { next::MPI_Recv_init(via, buf, count, datatype, source, tag, comm, request) };
        // SAFETY: the system has made the request.
        unsafe { made(request, rc) }
    };
    let from = Peer { call: Call::RecvInit, rank: Some(source), comm };
    let make = move || transfer::incoming(buf as usize, count, datatype, comm);
    receiving(from, (buf, count, datatype), make, system, |incoming| {
        // SAFETY: the system has made the request.
        unsafe { keep(request, from, pending::init, incoming) };
    })
}

pub(super) unsafe fn start(via: Via, request: *mut MPI_Request) -> c_int {
    // SAFETY: the caller's duty.
    let system = || unsafe { next::MPI_Start(via, request) };
    // SAFETY: the caller passes one request.
    unsafe { starting(1, request, system) }
}

pub(super) unsafe fn startall(via: Via, count: c_int, requests: *mut MPI_Request) -> c_int {
    // SAFETY: the caller's duty.
    let system = || unsafe { next::MPI_Startall(via, count, requests) };
    // SAFETY: the caller's duty.
    unsafe { starting(count, requests, system) }
}

/// Pack what the requests send, then let the system start them in their order. If a pack fails nothing is started; the communicator of
/// the request may be gone by then, so the error is raised on `MPI_COMM_SELF`.
///
/// # Safety
/// `requests` is an array of `count` requests.
unsafe fn starting(count: c_int, requests: *const MPI_Request, system: impl FnOnce() -> c_int) -> c_int {
    if !request::ours() {
        return system();
    }
    let mut list: Vec<Arc<Pending>> = Vec::new();
    let packed = finish(family().comm_self(), || {
        // SAFETY: the caller's duty.
        list = pending::persistent(unsafe { request::keys(count, requests) });
        list.iter().try_for_each(|pending| pending.pack())
    });
    if packed != 0 {
        return packed;
    }
    let rc = system();
    if rc == 0 {
        for pending in list {
            pending.started();
        }
    }
    rc
}
