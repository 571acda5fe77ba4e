//! The three ABIs, and everything in which they differ.
//!
//! The constants were read from `mpi.h` of Open MPI 4.1.4 and 5.0.11, MPICH 4.0.2 and 5.0.2, and of the MPI-5 ABI (MPICH 5.0.2's
//! `mpi_abi.h`); `tests/abi.rs` compares them with the headers at hand.

use super::handle::{MPI_Comm, MPI_Datatype, MPI_Message, MPI_Request};
use super::{library, next};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// An application binary interface of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Family {
    /// MPICH and its relatives (Intel MPI, MVAPICH, Cray MPICH): `int` handles.
    Mpich = 1,
    /// Open MPI: handles are addresses of objects.
    OpenMpi = 2,
    /// The standard ABI of MPI-5: pointer-sized handles with small predefined values.
    Standard = 3,
}

/// Constants of one family (names as in the standard).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // each is the MPI constant of its name
pub struct Constants {
    pub combiner_named: c_int,
    pub combiner_dup: c_int,
    pub combiner_contiguous: c_int,
    pub combiner_vector: c_int,
    pub combiner_hvector: c_int,
    /// Fortran's deprecated `MPI_TYPE_HVECTOR`; as `MPI_COMBINER_HVECTOR` with an integer stride. -1: the family has none.
    pub combiner_hvector_integer: c_int,
    pub combiner_indexed: c_int,
    pub combiner_hindexed: c_int,
    /// Fortran's deprecated `MPI_TYPE_HINDEXED`; as `MPI_COMBINER_HINDEXED` with integer displacements. -1: the family has none.
    pub combiner_hindexed_integer: c_int,
    pub combiner_indexed_block: c_int,
    pub combiner_hindexed_block: c_int,
    pub combiner_struct: c_int,
    /// Fortran's deprecated `MPI_TYPE_STRUCT`, likewise.
    pub combiner_struct_integer: c_int,
    pub combiner_subarray: c_int,
    pub combiner_darray: c_int,
    pub combiner_f90_real: c_int,
    pub combiner_f90_complex: c_int,
    pub combiner_f90_integer: c_int,
    pub combiner_resized: c_int,
    pub order_c: c_int,
    pub order_fortran: c_int,
    pub distribute_block: c_int,
    pub distribute_cyclic: c_int,
    pub distribute_none: c_int,
    pub distribute_dflt_darg: c_int,
    pub proc_null: c_int,
    pub undefined: c_int,
    pub thread_serialized: c_int,
    pub err_truncate: c_int,
    pub err_other: c_int,
    pub err_no_mem: c_int,
    pub err_intern: c_int,
    pub err_pending: c_int,
    /// `MPI_STATUS_IGNORE` as an address; `MPI_STATUSES_IGNORE` is the same in every family.
    pub status_ignore: usize,
    /// `sizeof(MPI_Status)`.
    pub status_bytes: usize,
    /// `offsetof(MPI_Status, MPI_ERROR)`.
    pub status_error_at: usize,
}

const MPICH: Constants = Constants {
    combiner_named: 1,
    combiner_dup: 2,
    combiner_contiguous: 3,
    combiner_vector: 4,
    combiner_hvector: 6,
    combiner_hvector_integer: 5,
    combiner_indexed: 7,
    combiner_hindexed: 9,
    combiner_hindexed_integer: 8,
    combiner_indexed_block: 10,
    combiner_hindexed_block: 19,
    combiner_struct: 12,
    combiner_struct_integer: 11,
    combiner_subarray: 13,
    combiner_darray: 14,
    combiner_f90_real: 15,
    combiner_f90_complex: 16,
    combiner_f90_integer: 17,
    combiner_resized: 18,
    order_c: 56,
    order_fortran: 57,
    distribute_block: 121,
    distribute_cyclic: 122,
    distribute_none: 123,
    distribute_dflt_darg: -49767,
    proc_null: -1,
    undefined: -32766,
    thread_serialized: 2,
    err_truncate: 14,
    err_other: 15,
    err_no_mem: 34,
    err_intern: 16,
    err_pending: 18,
    status_ignore: 1,
    status_bytes: 20,
    status_error_at: 16,
};

const OPEN_MPI: Constants = Constants {
    combiner_named: 0,
    combiner_dup: 1,
    combiner_contiguous: 2,
    combiner_vector: 3,
    combiner_hvector: 5,
    combiner_hvector_integer: 4,
    combiner_indexed: 6,
    combiner_hindexed: 8,
    combiner_hindexed_integer: 7,
    combiner_indexed_block: 9,
    combiner_hindexed_block: 18,
    combiner_struct: 11,
    combiner_struct_integer: 10,
    combiner_subarray: 12,
    combiner_darray: 13,
    combiner_f90_real: 14,
    combiner_f90_complex: 15,
    combiner_f90_integer: 16,
    combiner_resized: 17,
    order_c: 0,
    order_fortran: 1,
    distribute_block: 0,
    distribute_cyclic: 1,
    distribute_none: 2,
    distribute_dflt_darg: -1,
    proc_null: -2,
    undefined: -32766,
    thread_serialized: 2,
    err_truncate: 15,
    err_other: 16,
    err_no_mem: 39,
    err_intern: 17,
    err_pending: 19,
    status_ignore: 0,
    status_bytes: 24,
    status_error_at: 8,
};

const STANDARD: Constants = Constants {
    combiner_named: 101,
    combiner_dup: 102,
    combiner_contiguous: 103,
    combiner_vector: 104,
    combiner_hvector: 105,
    combiner_hvector_integer: -1,
    combiner_indexed: 106,
    combiner_hindexed: 107,
    combiner_hindexed_integer: -1,
    combiner_indexed_block: 108,
    combiner_hindexed_block: 109,
    combiner_struct: 110,
    combiner_struct_integer: -1,
    combiner_subarray: 111,
    combiner_darray: 112,
    combiner_f90_real: 113,
    combiner_f90_complex: 114,
    combiner_f90_integer: 115,
    combiner_resized: 116,
    order_c: 12,
    order_fortran: 15,
    distribute_block: 17,
    distribute_cyclic: 18,
    distribute_none: 16,
    distribute_dflt_darg: 19,
    proc_null: -3,
    undefined: -32766,
    thread_serialized: 2048,
    err_truncate: 15,
    err_other: 16,
    err_no_mem: 39,
    err_intern: 17,
    err_pending: 18,
    status_ignore: 0,
    status_bytes: 32,
    status_error_at: 8,
};

static FAMILY: AtomicU8 = AtomicU8::new(0);

/// The family of the MPI in this process. Decided once, when first asked.
#[inline]
pub fn family() -> Family {
    match FAMILY.load(Ordering::Relaxed) {
        1 => Family::Mpich,
        2 => Family::OpenMpi,
        3 => Family::Standard,
        _ => decide(),
    }
}

#[cold]
fn decide() -> Family {
    let family = if !library::find(c"ompi_mpi_comm_world").is_null() {
        Family::OpenMpi
    } else if standard_soname() {
        Family::Standard
    } else {
        Family::Mpich
    };
    FAMILY.store(family as u8, Ordering::Relaxed);
    family
}

/// Whether the MPI's file is one of the standard ABI's. `MPI_Abi_get_version` alone proves nothing: MPICH has it in both builds.
fn standard_soname() -> bool {
    let Some(file) = library::file_of(library::find(library::MARK)) else { return false };
    let name = file.to_bytes().rsplit(|b| *b == b'/').next().unwrap_or_default().to_owned();
    name.starts_with(b"libmpi_abi.so")
}

/// What the MPI says of itself (MPI-4.1 section 9.1.1).
pub fn library_version() -> String {
    // MPI_MAX_LIBRARY_VERSION_STRING is 8192 in the widest family.
    let mut text = vec![0_u8; 8193];
    let mut length: c_int = 0;
    // SAFETY: the buffer is as long as any family's maximum; the function may be called at any time.
    let rc = unsafe { next::MPI_Get_library_version(text.as_mut_ptr().cast(), &raw mut length) };
    if rc != 0 {
        return String::new();
    }
    text.truncate(usize::try_from(length).unwrap_or(0));
    String::from_utf8_lossy(&text).into_owned()
}

/// The address of one of Open MPI's predefined objects, looked up once.
macro_rules! object {
    ($name:literal) => {{
        static ADDRESS: AtomicUsize = AtomicUsize::new(0);
        match ADDRESS.load(Ordering::Relaxed) {
            0 => {
                let address = library::data($name) as usize;
                ADDRESS.store(address, Ordering::Relaxed);
                address
            }
            address => address,
        }
    }};
}

impl Family {
    /// This family's constants.
    #[inline]
    pub const fn constants(self) -> &'static Constants {
        match self {
            Self::Mpich => &MPICH,
            Self::OpenMpi => &OPEN_MPI,
            Self::Standard => &STANDARD,
        }
    }

    /// `MPI_PACKED`.
    #[inline]
    pub fn packed(self) -> MPI_Datatype {
        MPI_Datatype(match self {
            Self::Mpich => 0x4c00_010f,
            Self::Standard => 0x207,
            Self::OpenMpi => object!(c"ompi_mpi_packed"),
        })
    }

    /// `MPI_COMM_WORLD`.
    pub fn comm_world(self) -> MPI_Comm {
        MPI_Comm(match self {
            Self::Mpich => 0x4400_0000,
            Self::Standard => 0x101,
            Self::OpenMpi => object!(c"ompi_mpi_comm_world"),
        })
    }

    /// `MPI_COMM_NULL`.
    #[inline]
    pub fn comm_null(self) -> MPI_Comm {
        MPI_Comm(match self {
            Self::Mpich => 0x0400_0000,
            Self::Standard => 0x100,
            Self::OpenMpi => object!(c"ompi_mpi_comm_null"),
        })
    }

    /// `MPI_COMM_SELF`.
    pub fn comm_self(self) -> MPI_Comm {
        MPI_Comm(match self {
            Self::Mpich => 0x4400_0001,
            Self::Standard => 0x102,
            Self::OpenMpi => object!(c"ompi_mpi_comm_self"),
        })
    }

    /// The predefined types of two values whose parts do not follow one another to the end (`MPI_FLOAT_INT` and `MPI_2INT` have no
    /// padding): bytes of the first, place and bytes of the second, as C lays out `struct { T value; int index; }`.
    pub fn pairs(self) -> [(MPI_Datatype, (i64, i64, i64)); 4] {
        let [double_int, long_int, short_int, long_double_int] = match self {
            Self::Mpich => [0x8c00_0001, 0x8c00_0002, 0x8c00_0003, 0x8c00_0004],
            Self::Standard => [0x229, 0x22a, 0x22c, 0x22d],
            Self::OpenMpi => [
                object!(c"ompi_mpi_double_int"),
                object!(c"ompi_mpi_long_int"),
                object!(c"ompi_mpi_short_int"),
                object!(c"ompi_mpi_longdbl_int"),
            ],
        };
        [
            (MPI_Datatype(double_int), (8, 8, 4)),
            (MPI_Datatype(long_int), (8, 8, 4)),
            (MPI_Datatype(short_int), (2, 4, 4)),
            (MPI_Datatype(long_double_int), (16, 16, 4)),
        ]
    }

    /// `MPI_DATATYPE_NULL`.
    pub fn datatype_null(self) -> MPI_Datatype {
        MPI_Datatype(match self {
            Self::Mpich => 0x0c00_0000,
            Self::Standard => 0x200,
            Self::OpenMpi => object!(c"ompi_mpi_datatype_null"),
        })
    }

    /// `MPI_REQUEST_NULL`.
    pub fn request_null(self) -> MPI_Request {
        MPI_Request(match self {
            Self::Mpich => 0x2c00_0000,
            Self::Standard => 0x180,
            Self::OpenMpi => object!(c"ompi_request_null"),
        })
    }

    /// `MPI_MESSAGE_NO_PROC`.
    pub fn message_no_proc(self) -> MPI_Message {
        MPI_Message(match self {
            Self::Mpich => 0x6c00_0000,
            Self::Standard => 0x129,
            Self::OpenMpi => object!(c"ompi_message_no_proc"),
        })
    }
}
