//! Statuses: the program's own where it gave one, a spare where it did not.

use super::family::family;
use super::handle::MPI_Status;
use super::next;
use std::ffi::c_int;

/// Room for a status of any family, for programs that pass `MPI_STATUS_IGNORE`.
#[repr(C, align(8))]
#[derive(Debug, Default)]
pub struct Spare([u64; 8]);

impl Spare {
    /// The status to hand to the system MPI in place of `given`.
    pub fn or(&mut self, given: *mut MPI_Status) -> *mut MPI_Status {
        if given as usize == family().constants().status_ignore { self.0.as_mut_ptr().cast() } else { given }
    }
}

/// What a receive of packed bytes delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes.
    pub bytes: i64,
}

impl Received {
    /// Read a status of a successful receive of packed data. A count that the MPI cannot tell reads as no bytes.
    ///
    /// # Safety
    /// `status` is a status that the system MPI filled.
    pub unsafe fn read(status: *const MPI_Status) -> Self {
        let packed = family().packed();
        let mut count: c_int = 0;
        // SAFETY: the caller's duty; `count` is a valid place.
        let rc = unsafe { next::MPI_Get_count(status, packed, &raw mut count) };
        if rc == 0 && count != family().constants().undefined {
            return Self { bytes: count.into() };
        }
        let mut large: i64 = 0;
        if next::available(c"MPI_Get_elements_x") {
            // SAFETY: as above.
            unsafe { next::MPI_Get_elements_x(status, packed, &raw mut large) };
        } else if next::available(c"MPI_Get_elements_c") {
            // SAFETY: as above.
            unsafe { next::MPI_Get_elements_c(status, packed, &raw mut large) };
        }
        Self { bytes: large.max(0) }
    }
}
