//! A request that the library holds in the program's place, and what it asks of any request.

use super::family::family;
use super::handle::MPI_Request;
use super::status::{Received, Spare};
use super::{library, next, status};
use std::ffi::c_int;

/// A live request of the system's that the program has given up.
#[derive(Debug)]
pub struct Owned {
    /// As the system wants it: a variable of the family's width.
    variable: u64,
    status: Spare,
}

/// What became of an [`Owned`] request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Still under way.
    Pending,
    /// Complete; the status is filled.
    Done,
    /// The MPI has raised an error.
    Failed,
}

impl Owned {
    /// Take over a request.
    pub fn new(handle: MPI_Request) -> Self {
        let mut owned = Self { variable: 0, status: Spare::default() };
        // SAFETY: 8 bytes hold a handle of every family.
        unsafe { handle.write(owned.variable()) };
        owned
    }

    fn variable(&mut self) -> *mut MPI_Request {
        (&raw mut self.variable).cast()
    }

    /// Ask the system for completion, which frees a request that is not persistent.
    pub fn test(&mut self) -> Progress {
        let mut flag: c_int = 0;
        let (variable, status) = (self.variable(), self.status.place());
        // SAFETY: the variable holds a live request of ours; the other places are valid.
        let rc = unsafe { next::MPI_Test(super::Via::Pmpi, variable, &raw mut flag, status) };
        match (rc, flag) {
            (0, 0) => Progress::Pending,
            (0, _) => Progress::Done,
            _ => Progress::Failed,
        }
    }

    /// What a receive that is [`Progress::Done`] delivered; nothing if it was cancelled.
    pub fn received(&mut self) -> Option<Received> {
        // SAFETY: `test` handed this status to the system, and a status of zeros is a valid one before that.
        unsafe { status::received(self.status.place()) }
    }

    /// Give the request up as well, if there still is one.
    pub fn free(mut self) {
        let variable = self.variable();
        // SAFETY: the variable holds a request or the null handle.
        let handle = unsafe { MPI_Request::read(variable, 0) };
        if handle.key() != family().request_null().key() {
            // SAFETY: as above; the request is live.
            unsafe { next::MPI_Request_free(super::Via::Pmpi, variable) };
        }
    }
}

/// Start a persistent request.
pub fn start(request: MPI_Request) -> c_int {
    let mut owned = Owned::new(request);
    // SAFETY: the variable holds a live, inactive request.
    unsafe { next::MPI_Start(super::Via::Pmpi, owned.variable()) }
}

/// Whether `MPI_Isend` and `PMPI_Isend` behind us are of different libraries: a profiling tool.
pub fn tool_behind() -> bool {
    let file = |name| library::file_of(library::find(name));
    file(c"MPI_Isend") != file(c"PMPI_Isend")
}

/// Whether a live request has nothing under way: complete, or persistent and inactive.
pub fn idle(request: MPI_Request) -> bool {
    let (mut flag, mut status): (c_int, Spare) = (0, Spare::default());
    // SAFETY: the caller's request is live; the places are valid.
    let rc =
        unsafe { next::MPI_Request_get_status(super::Via::Pmpi, request, &raw mut flag, status.place()) };
    rc == 0 && flag != 0
}

/// Free a persistent request that is complete, if the program's variable still holds it; the null handle takes its place.
///
/// # Safety
/// `requests` is a program's array with a place at `index`.
pub unsafe fn free_completed(requests: *mut MPI_Request, index: usize, key: usize) {
    // SAFETY: the caller's duty.
    if unsafe { MPI_Request::read(requests, index) }.key() == key {
        let variable = MPI_Request::place(requests, index);
        // SAFETY: the variable holds a live request.
        unsafe { next::MPI_Request_free(super::Via::Pmpi, variable) };
    }
}
