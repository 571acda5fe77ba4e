//! Starting persistent requests (MPI-4.1 section 3.9), which `immediate` makes over a packed buffer of ours: packed at each start, all that
//! one call starts together, and unpacked at each completion (`request`).

use super::{finish, request};
use crate::mpi::{MPI_Request, Via, family, next};
use crate::transfer::pending::{self, Pending};
use std::ffi::c_int;
use std::sync::Arc;

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
        Pending::pack_all(&list).into_iter().collect()
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
