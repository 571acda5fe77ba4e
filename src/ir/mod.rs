//! Datatypes as layouts: what bytes a type names, in which order.
//!
//! A datatype comes in as the MPI describes it (envelope and contents, through [`Describe`]), becomes a tree
//! ([`build`](fn@build) → [`Type`]), is rewritten to a canonical form without changing its type map ([`canon`](fn@canon)), and ends as
//! a [`Layout`] that a kernel or a CPU loop can walk: a [`Strided`] block wherever the type is regular, a table of
//! runs ([`Blocks`]) otherwise, or a few of them in sequence. The invariant of the whole module: the packed bytes are
//! the type map's bytes in type-map order (MPI-4.1 section 5.1). Sorting dimensions is a matter of *iteration* only;
//! therefore every dimension carries two strides, one in memory and one in the packed buffer.
//!
//! A type that has no such form is an [`Unsupported`] error with its reason, never a guess.
//!
//! [`walk`] is the oracle: the type map enumerated naively, for tests.
//!
//! Pure: no MPI, no CUDA, no `unsafe`. All numbers are bytes or counts in `i64`, with checked arithmetic while
//! a type is analysed.
#![forbid(unsafe_code)]

mod blocks;
mod build;
mod canon;
mod darray;
mod describe;
mod gather;
mod layout;
mod outline;
mod pieces;
mod strided;
mod table;
mod tree;
mod unsupported;
pub mod walk;

pub use blocks::Blocks;
pub use build::{MAX_DEPTH, build};
pub use canon::canon;
pub use describe::{Block, Bounds, Describe, Distribution, List, Node, Order};
pub use layout::{Layout, Leaf, LeafRef, Leaves, MAX_PARTS, Part, Parts};
pub use outline::outline;
pub use strided::{Dim, Strided};
pub use table::{MAX_RUNS, Run, Runs, Table};
pub use tree::{Part as TypePart, Type};
pub use unsupported::{Failure, Unsupported};

/// The canonical layout of `datatype`: [`build`](fn@build), then [`canon`](fn@canon).
///
/// Of a type without bytes only the size is asked. Any other layout has to be one that the MPI can share: of the
/// size that it reports, and within its true bounds. (Open MPI 4.1 takes a byte stride of -1 for "unset", for one.)
///
/// # Errors
/// [`Failure::Unsupported`] with the reason why the type has no strided form, or the error of `describe`.
pub fn layout<D: Describe>(describe: &D, datatype: D::Type) -> Result<Layout, Failure<D::Error>> {
    let size = describe.size(datatype).map_err(Failure::Describe)?;
    if size == 0 {
        return Ok(Layout::EMPTY);
    }
    let layout = canon(build(describe, datatype)?)?;
    let bounds = describe.true_bounds(datatype).map_err(Failure::Describe)?;
    let within = |(lo, hi)| match bounds {
        Some(Bounds { lb, extent }) => lo >= lb && lb.checked_add(extent).is_some_and(|ub| hi <= ub),
        None => true,
    };
    if layout.size() == size && layout.span().is_some_and(within) {
        Ok(layout)
    } else {
        Err(Unsupported::Contradiction.into())
    }
}
