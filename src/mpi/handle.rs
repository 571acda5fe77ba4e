//! Handles as machine words.
//!
//! By value a handle is one integer register or one 8-byte stack slot in every C ABI that this crate builds for, whether `mpi.h`
//! makes it an `int` (MPICH's family, whose upper half is then unspecified) or a pointer (Open MPI, the MPI-5 ABI).
//! A word that came in is forwarded untouched; it is masked only to be compared or hashed ([`MPI_Datatype::key`]).
//! In memory, behind a pointer or in an array, a handle has its family's width ([`MPI_Datatype::read`]).
#![allow(non_camel_case_types)] // the names are the standard's

use super::family::{Family, family};

macro_rules! words {
    ($($(#[doc = $doc:literal])* $name:ident)*) => { $(
        $(#[doc = $doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name(pub usize);

        impl $name {
            /// The handle as a value to compare and to hash.
            pub fn key(self) -> usize {
                match family() {
                    Family::Mpich => self.0 & 0xffff_ffff,
                    Family::OpenMpi | Family::Standard => self.0,
                }
            }

            /// The handle at `index` of a C array.
            ///
            /// # Safety
            /// `array` holds a handle of this family's width there.
            pub unsafe fn read(array: *const Self, index: usize) -> Self {
                Self(match family() {
                    // SAFETY: the caller's duty.
                    Family::Mpich => unsafe { array.cast::<u32>().wrapping_add(index).read() as usize },
                    // SAFETY: the caller's duty.
                    Family::OpenMpi | Family::Standard => unsafe {
                        array.cast::<usize>().wrapping_add(index).read()
                    },
                })
            }

            /// Where the handle at `index` of a C array lies.
            pub fn place(array: *mut Self, index: usize) -> *mut Self {
                match family() {
                    Family::Mpich => array.cast::<u32>().wrapping_add(index).cast(),
                    Family::OpenMpi | Family::Standard => array.cast::<usize>().wrapping_add(index).cast(),
                }
            }

            /// Store the handle in a program's variable.
            ///
            /// # Safety
            /// `variable` is a place for a handle of this family's width.
            pub unsafe fn write(self, variable: *mut Self) {
                match family() {
                    Family::Mpich => {
                        let narrow = u32::try_from(self.key()).unwrap_or(0);
                        // SAFETY: the caller's duty.
                        unsafe { variable.cast::<u32>().write(narrow) };
                    }
                    // SAFETY: the caller's duty.
                    Family::OpenMpi | Family::Standard => unsafe { variable.cast::<usize>().write(self.0) },
                }
            }
        }
    )* };
}

words! {
    /// A datatype handle.
    MPI_Datatype
    /// A communicator handle.
    MPI_Comm
    /// A matched message's handle.
    MPI_Message
    /// A request's handle.
    MPI_Request
}

/// `MPI_Aint`: 64 bits on every platform of this crate.
pub type MPI_Aint = isize;

/// `MPI_Count`: 64 bits in every family.
pub type MPI_Count = i64;

/// A status, seen only through a pointer: its layout is the family's.
#[repr(C)]
#[derive(Debug)]
pub struct MPI_Status {
    _opaque: [u8; 0],
}
