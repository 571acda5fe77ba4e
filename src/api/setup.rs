//! The life of MPI in the process.

use crate::mpi::{Via, comm, next};
use crate::pack::table;
use crate::transfer::{orphans, pending};
use crate::{pool, report, state, typecache};
use std::ffi::{c_char, c_int};

pub(super) unsafe fn init(via: Via, argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int {
    state::active();
    // SAFETY: the caller's duty.
    unsafe { next::MPI_Init(via, argc, argv) }
}

pub(super) unsafe fn init_thread(
    via: Via,
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    state::active();
    // SAFETY: the caller's duty.
    unsafe { next::MPI_Init_thread(via, argc, argv, required, provided) }
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
