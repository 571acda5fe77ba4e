//! Communicators: the rank in the world, and errors through a communicator's error handler.

use super::family::{Family, family};
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

/// The rank in `MPI_COMM_WORLD`, 0 if the MPI will not tell.
pub fn rank() -> c_int {
    let (mut up, mut rank): (c_int, c_int) = (0, 0);
    // SAFETY: `up` is a valid place; the function may be called at any time.
    unsafe { next::MPI_Initialized(&raw mut up) };
    if up != 0 {
        let world: MPI_Comm = Family::comm_world(family());
        // SAFETY: MPI is initialised, so the world exists.
        unsafe { next::MPI_Comm_rank(world, &raw mut rank) };
    }
    rank
}
