//! When the CPU packer is faster than the system MPI's own.
//!
//! Pure. The invariant: `true` only where `benches/results/` shows a gain.
#![forbid(unsafe_code)]

use crate::ir::Strided;

/// The family of the system's MPI, as far as its host packing is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Open MPI.
    OpenMpi,
    /// MPICH and what descends from it.
    Mpich,
}

/// Whether [`pack`](super::pack) and [`unpack`](super::unpack) are worth their call for `layout`.
pub fn worthwhile(layout: &Strided, _system: System) -> bool {
    !layout.dims.is_empty()
}
