//! Errors through the communicator's error handler.

use super::family::family;
use super::handle::MPI_Comm;
use super::next;
use std::ffi::c_int;

/// Errors that we raise ourselves, after a side effect or where the system MPI must not see the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raise {
    /// `MPI_ERR_OTHER`: a call of the CUDA driver failed.
    Other,
    /// `MPI_ERR_NO_MEM`: no memory for a packed buffer.
    NoMemory,
    /// `MPI_ERR_TRUNCATE`: the packed buffer has no room.
    Truncate,
}

/// Call the error handler of `comm` (MPI-4.1 section 9.3) and return the error class, as a failing MPI function does.
pub fn raise(comm: MPI_Comm, what: Raise) -> c_int {
    let constants = family().constants();
    let code = match what {
        Raise::Other => constants.err_other,
        Raise::NoMemory => constants.err_no_mem,
        Raise::Truncate => constants.err_truncate,
    };
    // SAFETY: `comm` is the communicator that the program passed to the failing call.
    unsafe { next::MPI_Comm_call_errhandler(comm, code) };
    code
}
