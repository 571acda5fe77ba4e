//! Packed bytes as arguments of an MPI call.
//!
//! Up to 2 GiB that is `(bytes, MPI_PACKED)`, which matches every type signature (MPI-4.1 section 5.2). Beyond, one element of a
//! contiguous type of that many bytes: still one message of the same bytes.

use super::family::family;
use super::handle::{MPI_Comm, MPI_Datatype};
use super::next;
use std::ffi::c_int;

/// Bytes of one chunk of the large type.
const CHUNK: i64 = 1 << 24;

/// Count and datatype for a message of packed bytes. The type is freed with it: MPI keeps it while a call uses it.
#[derive(Debug)]
pub struct Wire {
    /// The count argument.
    pub count: c_int,
    /// The datatype argument.
    pub datatype: MPI_Datatype,
    own: bool,
}

impl Wire {
    /// Describe `bytes` packed bytes; `None` if the MPI cannot.
    pub fn new(bytes: i64) -> Option<Self> {
        let packed = family().packed();
        if let Ok(count) = c_int::try_from(bytes) {
            return Some(Self { count, datatype: packed, own: false });
        }
        let chunk = Owned::contiguous(CHUNK, packed)?;
        let body = Owned::contiguous(bytes / CHUNK, chunk.0)?;
        let tail = Owned::contiguous(bytes % CHUNK, packed)?;
        let whole = Owned::pair([body.0, tail.0], bytes - bytes % CHUNK)?;
        let mut datatype = whole.0;
        // SAFETY: `datatype` is a fresh type of ours.
        (unsafe { next::MPI_Type_commit(super::Via::Pmpi, &raw mut datatype) } == 0).then_some(())?;
        std::mem::forget(whole);
        Some(Self { count: 1, datatype, own: true })
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.own {
            drop(Owned(self.datatype));
        }
    }
}

/// A datatype of ours, freed when dropped.
struct Owned(MPI_Datatype);

impl Owned {
    fn contiguous(count: i64, child: MPI_Datatype) -> Option<Self> {
        let mut made = MPI_Datatype(0);
        let count = c_int::try_from(count).ok()?;
        // SAFETY: `child` is a valid type and `made` a valid place (wider than an `int` handle needs).
        (unsafe { next::MPI_Type_contiguous(count, child, &raw mut made) } == 0).then_some(Self(made))
    }

    fn pair(parts: [MPI_Datatype; 2], second_at: i64) -> Option<Self> {
        let mut made = MPI_Datatype(0);
        let lengths: [c_int; 2] = [1, 1];
        let places = [0, isize::try_from(second_at).ok()?];
        let list = super::datatype::handles(&parts);
        // SAFETY: all arrays hold two elements of the family's handle width.
        (unsafe {
            next::MPI_Type_create_struct(
                2,
                lengths.as_ptr(),
                places.as_ptr(),
                list.as_ptr().cast(),
                &raw mut made,
            )
        } == 0)
            .then_some(Self(made))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and live.
        unsafe { next::MPI_Type_free(&raw mut self.0) };
    }
}

/// What the system MPI says of `datatype` in a message to `MPI_PROC_NULL` on `comm`: 0, or the code of the error that it has raised
/// there. An uncommitted type is refused so. One element, because MPICH does not look at the type of none.
pub fn try_type(datatype: MPI_Datatype, comm: MPI_Comm) -> c_int {
    let nobody = family().constants().proc_null;
    // Not null, which some refuse, and never read.
    let somewhere = std::ptr::NonNull::<c_int>::dangling().as_ptr().cast_const();
    // SAFETY: a message to nobody reads no byte; the handles are the program's.
    unsafe { next::MPI_Send(super::Via::Pmpi, somewhere.cast(), 1, datatype, nobody, 0, comm) }
}
