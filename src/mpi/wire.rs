//! Any number of elements as arguments of an MPI call whose counts are `int`s: packed bytes above all, `(bytes, MPI_PACKED)`, which matches
//! every type signature (MPI-4.1 section 5.2).
//!
//! Beyond 2³¹ - 1 it is one element of a type that holds them all, one behind the other: still one message of the same bytes.

use super::family::family;
use super::handle::{MPI_Comm, MPI_Datatype};
use super::next;
use std::ffi::c_int;

/// Elements of one chunk of the large type.
const CHUNK: i64 = 1 << 24;

/// Count and datatype for a message. A type of our own is freed with it: MPI keeps it while a call uses it.
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
        Self::of(bytes, family().packed())
    }

    /// Describe `count` elements of `datatype`; `None` if the MPI cannot. A negative count is for the MPI to refuse.
    pub fn of(count: i64, datatype: MPI_Datatype) -> Option<Self> {
        if count < 0 {
            return Some(Self { count: -1, datatype, own: false });
        }
        if let Ok(count) = c_int::try_from(count) {
            return Some(Self { count, datatype, own: false });
        }
        let chunk = Owned::contiguous(CHUNK, datatype)?;
        let body = Owned::contiguous(count / CHUNK, chunk.0)?;
        let tail = Owned::contiguous(count % CHUNK, datatype)?;
        let tail_at = extent(datatype)?.checked_mul(count - count % CHUNK)?;
        let whole = Owned::pair([body.0, tail.0], tail_at)?;
        let mut datatype = whole.0;
        // SAFETY: `datatype` is a fresh type of ours.
        (unsafe { next::MPI_Type_commit(super::Via::Pmpi, &raw mut datatype) } == 0).then_some(())?;
        std::mem::forget(whole);
        Some(Self { count: 1, datatype, own: true })
    }
}

/// From one element of a type to the next.
pub(super) fn extent(datatype: MPI_Datatype) -> Option<i64> {
    let (mut lb, mut extent) = (0, 0);
    // SAFETY: the places are valid, and the handle is a program's, which the MPI checks.
    let rc = unsafe { next::MPI_Type_get_extent(datatype, &raw mut lb, &raw mut extent) };
    (rc == 0).then(|| i64::try_from(extent).ok())?
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

/// What the system MPI says of `datatype` in a pack of no elements on `comm`: 0, or the code of the error that it has raised there.
/// An uncommitted type is refused so. (A message of no elements would not do: MPICH looks at no datatype then.)
pub fn try_type(datatype: MPI_Datatype, comm: MPI_Comm) -> c_int {
    let (source, mut target, mut position) = (0_u64, 0_u64, 0);
    // SAFETY: no byte is read or written, the places are valid, and the handles are the program's.
    unsafe {
        next::MPI_Pack(
            super::Via::Pmpi,
            (&raw const source).cast(),
            0,
            datatype,
            (&raw mut target).cast(),
            c_int::try_from(size_of::<u64>()).unwrap_or(0),
            &raw mut position,
            comm,
        )
    }
}
