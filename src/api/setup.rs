//! The life of MPI in the process.

use crate::mpi::{Via, comm, family, next, threads};
use crate::pack::table;
use crate::transfer::{burst, orphans, pending};
use crate::{pool, report, state, typecache};
use std::ffi::{c_char, c_int};

pub(super) unsafe fn init(via: Via, argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int {
    if !(state::active() && burst::wanted()) {
        // SAFETY: the caller's duty.
        return unsafe { next::MPI_Init(via, argc, argv) };
    }
    let mut provided: c_int = 0;
    let single = family().constants().thread_single;
    // SAFETY: the caller's duty; `provided` is a valid place.
    unsafe { init_thread(via, argc, argv, single, &raw mut provided) }
}

pub(super) unsafe fn init_thread(
    via: Via,
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    let wanted = state::active() && burst::wanted();
    let level = if wanted { threads::at_least_serialized(required) } else { required };
    // SAFETY: the caller's duty.
    let rc = unsafe { next::MPI_Init_thread(via, argc, argv, level, provided) };
    if rc == 0 && !provided.is_null() {
        // SAFETY: the call has set the program's variable.
        unsafe { *provided = threads::initialised(required, *provided) };
    }
    rc
}

pub(super) unsafe fn query_thread(via: Via, provided: *mut c_int) -> c_int {
    // SAFETY: the caller's duty.
    let rc = unsafe { next::MPI_Query_thread(via, provided) };
    if rc == 0 && !provided.is_null() {
        // SAFETY: the call has set the program's variable.
        unsafe { *provided = threads::told(*provided) };
    }
    rc
}

pub(super) unsafe fn finalize(via: Via) -> c_int {
    if state::active() {
        orphans::finish();
        tracing::debug!(types = typecache::len(), "MPI_Finalize");
        tracing::debug!(requests = pending::len(), "MPI_Finalize");
        tracing::debug!(tables = table::bytes(), "MPI_Finalize");
        if report::on() {
            report::write(comm::rank());
        }
        state::stop();
        pool::drain();
    }
    // SAFETY: the caller's duty.
    unsafe { next::MPI_Finalize(via) }
}
