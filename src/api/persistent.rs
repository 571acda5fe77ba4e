//! Persistent requests (MPI-4.1 section 3.9): made once over a packed buffer of ours, packed at each start, unpacked at each completion.

use super::side::{keep, made, passes, sending};
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
            #[inline(never)]
            unsafe fn serve(via: Via, buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int {
                let system = |buf, count, datatype| {
                    // SAFETY: the caller's duty, or the packed bytes that are kept until the request is freed.
                    let rc = unsafe { next::$name(via, buf, count, datatype, dest, tag, comm, request) };
                    // SAFETY: the system has made the request.
                    unsafe { made(request, rc) }
                };
                let make = || transfer::outgoing_later(buf as usize, count, datatype, comm, $reach);
                sending($call, comm, (buf, count, datatype), make, system, |out| {
                    // SAFETY: the system has made the request.
                    unsafe { keep(request, $call, pending::init, out) }
                })
            }
            if passes($call, Some(dest), count) {
                // SAFETY: the caller's duty.
                let rc = unsafe { next::$name(via, buf, count, datatype, dest, tag, comm, request) };
                // SAFETY: the system has made the request.
                return unsafe { made(request, rc) };
            }
            // SAFETY: the caller's duty.
            unsafe { serve(via, buf, count, datatype, dest, tag, comm, request) }
        }
    )* };
}

inits! {
    send_init, MPI_Send_init, Call::SendInit, Reach::Any;
    ssend_init, MPI_Ssend_init, Call::SsendInit, Reach::Any;
    rsend_init, MPI_Rsend_init, Call::RsendInit, Reach::Any;
    bsend_init, MPI_Bsend_init, Call::BsendInit, Reach::Host;
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
