//! Datatypes are analysed when they are committed; their death is told by an attribute (`mpi::keyval`).

use super::prepare;
use crate::mpi::{MPI_Datatype, Via, next};
use crate::{state, typecache};
use std::ffi::c_int;

pub(super) unsafe fn commit(via: Via, handle: *mut MPI_Datatype) -> c_int {
    // SAFETY: the caller's duty.
    let rc = unsafe { next::MPI_Type_commit(via, handle) };
    if rc == 0 && state::active() {
        // A type that cannot be analysed now is no failure of the commit: its calls will be forwarded, with the reason.
        let _ = prepare(|| {
            // SAFETY: the commit succeeded, so `handle` points to a live handle.
            typecache::commit(unsafe { MPI_Datatype::read(handle, 0) });
            Ok(())
        });
    }
    rc
}
