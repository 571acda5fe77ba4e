//! Datatypes as layouts: what bytes a type names, in which order.
//!
//! A datatype comes in as the MPI describes it (envelope and contents, through [`Decode`]), becomes a tree
//! ([`Type`]), is rewritten to a canonical form without changing its type map, and ends as a [`Strided`] block that
//! a kernel or a CPU loop can walk. The invariant of the whole module: the packed bytes are the type map's bytes in
//! type-map order (MPI-4.1 section 5.1). Sorting dimensions is a matter of *iteration* only; therefore every dimension
//! carries two strides, one in memory and one in the packed buffer.
//!
//! Pure: no MPI, no CUDA, no `unsafe`. All numbers are bytes or counts in `i64`, with checked arithmetic while
//! a type is analysed.
#![forbid(unsafe_code)]

mod strided;

pub use strided::{Dim, Strided};
