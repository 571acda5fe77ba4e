//! The CPU packer: copies a layout between host memory and a packed buffer.
//!
//! The loops are chosen by block length ([`block`]) and by iteration order ([`nest`]) or by table ([`listed`]), once per call, or for one
//! dimension once and for all ([`Vector`]); nothing is allocated for a regular layout and nothing can panic. When it pays is [`worthwhile`]'s to say.
//! May depend on `ir`, and on `mpi` for whose loops the others are.
//!
//! The invariant: exactly the bytes that the layout names are read or written, and the iteration order never
//! changes which byte goes where. Only a layout whose bytes overlap in memory can tell the order on
//! unpacking, and MPI forbids to receive into one (MPI-4.1 section 5.1).

mod block;
mod listed;
mod nest;
pub mod policy;
mod vector;

#[cfg(test)]
mod tests;

pub use policy::{System, worthwhile};
pub use vector::Vector;

use crate::ir::{Dim, Layout, LeafRef, Strided};
use crate::mpi::family::{Family, family, library_version};
use block::{Block, with_block};
use nest::{Direction, Nest};
use once_cell::sync::OnceCell;

/// Whose packing in host memory ours is measured against.
#[inline]
pub fn system() -> System {
    static SYSTEM: OnceCell<System> = OnceCell::new();
    *SYSTEM.get_or_init(|| match family() {
        Family::OpenMpi if library_version().starts_with("Open MPI v4") => System::OpenMpi4,
        Family::OpenMpi => System::OpenMpi5,
        Family::Mpich | Family::Standard => System::Mpich,
    })
}

/// Copies the bytes that `layout` names from `origin` to `packed[..layout.size()]`, in packed order.
///
/// Nothing is done for a layout without bytes; the pointers may then be anything.
///
/// # Safety
///
/// Every byte that the layout names from `origin` must be valid for reads, `packed[..layout.size()]` valid for
/// writes, and the two must not overlap. No alignment is asked for.
pub unsafe fn pack(layout: &Layout, origin: *const u8, packed: *mut u8) {
    for (at, leaf) in layout.leaves() {
        let to = packed.wrapping_offset(nest::bytes(at));
        match leaf {
            // SAFETY: the caller's promise.
            LeafRef::Strided(strided) => unsafe { pack_strided(strided, origin, to) },
            // SAFETY: the caller's promise.
            LeafRef::Blocks(blocks) => unsafe { listed::copy(blocks, Direction::Pack, origin, to) },
        }
    }
}

/// Copies `packed[..layout.size()]` to the bytes that `layout` names from `origin`.
///
/// Nothing is done for a layout without bytes; the pointers may then be anything. Where bytes overlap in
/// memory, any of the values packed for them may end there.
///
/// # Safety
///
/// `packed[..layout.size()]` must be valid for reads, every byte that the layout names from `origin` valid for
/// writes, and the two must not overlap. No alignment is asked for.
pub unsafe fn unpack(layout: &Layout, packed: *const u8, origin: *mut u8) {
    for (at, leaf) in layout.leaves() {
        let from = packed.wrapping_offset(nest::bytes(at));
        match leaf {
            // SAFETY: the caller's promise.
            LeafRef::Strided(strided) => unsafe { unpack_strided(strided, from, origin) },
            // SAFETY: the caller's promise.
            LeafRef::Blocks(blocks) => unsafe { listed::copy(blocks, Direction::Unpack, from, origin) },
        }
    }
}

/// [`pack`] for a regular layout.
///
/// # Safety
///
/// As for [`pack`].
#[inline]
pub unsafe fn pack_strided(layout: &Strided, origin: *const u8, packed: *mut u8) {
    let from = origin.wrapping_offset(nest::bytes(layout.offset));
    // SAFETY: the caller's promise, said of from (memory) and to (packed).
    unsafe { copy(layout, Direction::Pack, from, packed) }
}

/// [`unpack`] for a regular layout.
///
/// # Safety
///
/// As for [`unpack`].
#[inline]
pub unsafe fn unpack_strided(layout: &Strided, packed: *const u8, origin: *mut u8) {
    let to = origin.wrapping_offset(nest::bytes(layout.offset));
    // SAFETY: the caller's promise, said of from (packed) and to (memory).
    unsafe { copy(layout, Direction::Unpack, packed, to) }
}

/// The loops for blocks of `length` bytes in `dims`, in words.
pub fn in_words(dims: &[Dim], length: i64) -> String {
    let copies = match length {
        1 | 2 | 4 | 8 | 16 | 32 | 64 => format!("moves of {length} bytes"),
        3 | 5..=63 => format!("pairs of moves of {} bytes", 1_u64 << (length - 1).ilog2()),
        65..=256 => "moves of lines".to_owned(),
        _ => "memcpy".to_owned(),
    };
    let strips = match dims {
        [first, rest @ ..] if rest.iter().any(|dim| dim.packed < first.packed) => ", by strips",
        _ => "",
    };
    match dims.len() {
        0 => copies,
        1 => format!("{copies} in 1 loop"),
        loops => format!("{copies} in {loops} loops{strips}"),
    }
}

/// Runs the nest of `layout` with the copy that suits its block length.
///
/// # Safety
///
/// As for [`pack`] and [`unpack`]: all bytes read from `from` and written to `to` valid, and none both.
unsafe fn copy(layout: &Strided, direction: Direction, from: *const u8, to: *mut u8) {
    if let Some(vector) = Vector::new(layout) {
        return match direction {
            // SAFETY: the caller's promise.
            Direction::Pack => unsafe { vector.pack(from, to) },
            // SAFETY: the caller's promise.
            Direction::Unpack => unsafe { vector.unpack(from, to) },
        };
    }
    let Ok(length) = usize::try_from(layout.block) else { return };
    let nest = Nest::new(layout, direction);
    macro_rules! run {
        ($block:ty) => {{
            // SAFETY: the nest visits the repetitions of the layout, and the block has its length.
            unsafe { nest.run(<$block>::of(length), from, to) }
        }};
    }
    with_block!(length, B => run!(B));
}
