//! Statuses: the program's own where it gave one, a spare where it did not.

use super::family::family;
use super::handle::MPI_Status;
use super::next;
use std::ffi::c_int;

/// Room for a status of any family, for programs that pass `MPI_STATUS_IGNORE`.
#[repr(C, align(8))]
#[derive(Debug, Default)]
pub struct Spare([u8; 64]);

impl Spare {
    /// The status to hand to the system MPI in place of `given`.
    pub fn or(&mut self, given: *mut MPI_Status) -> *mut MPI_Status {
        if given as usize == family().constants().status_ignore { self.0.as_mut_ptr().cast() } else { given }
    }
}

/// The bytes that a receive of `MPI_PACKED` data delivered, or `None` when the MPI cannot tell.
///
/// # Safety
/// `status` is a status that the system MPI filled.
pub unsafe fn received_bytes(status: *const MPI_Status) -> Option<i64> {
    let packed = family().packed();
    let mut count: c_int = 0;
    // SAFETY: the caller's duty; `count` is a valid place.
    let rc = unsafe { next::MPI_Get_count(status, packed, &raw mut count) };
    if rc == 0 && count != family().constants().undefined {
        return Some(i64::from(count));
    }
    let mut large: i64 = 0;
    // SAFETY: as above.
    let rc = unsafe { next::MPI_Get_elements_x(status, packed, &raw mut large) };
    (rc == 0 && large >= 0).then_some(large)
}
