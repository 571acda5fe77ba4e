//! Statuses: the program's own where it gave them, spare ones where it did not.

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
        if given as usize == family().constants().status_ignore { self.place() } else { given }
    }

    /// The spare status itself.
    pub fn place(&mut self) -> *mut MPI_Status {
        self.0.as_mut_ptr().cast()
    }
}

/// An array of statuses for one completion call.
#[derive(Debug)]
pub struct Statuses {
    first: *mut MPI_Status,
    _spare: Vec<u64>,
}

impl Statuses {
    /// The program's, or `count` spare ones if it gave `MPI_STATUSES_IGNORE` and they are `wanted`.
    pub fn new(given: *mut MPI_Status, count: usize, wanted: bool) -> Self {
        let constants = family().constants();
        if !wanted || given as usize != constants.status_ignore {
            return Self { first: given, _spare: Vec::new() };
        }
        let mut spare = vec![0_u64; (count * constants.status_bytes).div_ceil(8)];
        Self { first: spare.as_mut_ptr().cast(), _spare: spare }
    }

    /// The argument for the system's call.
    pub fn first(&self) -> *mut MPI_Status {
        self.first
    }

    /// The status at `index`.
    pub fn at(&self, index: usize) -> *const MPI_Status {
        self.first.cast::<u8>().wrapping_add(index * family().constants().status_bytes).cast()
    }
}

/// The `MPI_ERROR` field, which calls of several statuses set when they fail (MPI-4.1 section 3.7.5).
///
/// # Safety
/// `status` is a status.
pub unsafe fn error(status: *const MPI_Status) -> c_int {
    let field = status.cast::<u8>().wrapping_add(family().constants().status_error_at);
    // SAFETY: the field of a status of this family, aligned as in its `mpi.h`.
    unsafe { field.cast::<c_int>().read_unaligned() }
}

/// What a completed receive of packed data delivered; nothing if it was cancelled.
///
/// # Safety
/// `status` is a status that the system MPI filled.
pub unsafe fn received(status: *const MPI_Status) -> Option<Received> {
    let mut cancelled: c_int = 0;
    // SAFETY: the caller's duty; `cancelled` is a valid place.
    unsafe { next::MPI_Test_cancelled(status, &raw mut cancelled) };
    // SAFETY: the caller's duty.
    (cancelled == 0).then(|| unsafe { Received::read(status) })
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
