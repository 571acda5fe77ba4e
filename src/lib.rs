//! `libtempi.so`: preloaded (or linked) before any MPI, it makes the derived datatypes of an unmodified
//! program fast, on GPU memory above all.
//!
//! # The way of a message
//!
//! ```text
//! application ── MPI_Send(buf, 1, face, …) ─► api/          the C symbols: guard, cheap filters, catch_unwind
//!                                             typecache     handle → plan (analysed at commit, or at first use)
//!                                             transfer/     whose buffer, which method
//!                                             pack/ ► cuda/ one kernel or a CPU loop → packed bytes
//!                                             mpi/next      the system MPI's own MPI_Send(packed, …)
//! ```
//!
//! # Layers
//!
//! Arrows point down only: `api` → `transfer` → `pack`, `typecache`, `explain`, `pool` → `ir`, `model`, `mpi`, `cuda` →
//! `config`, `error`, `log`, `reason`, `report`. `ir` and `model` are pure; `mpi` and `cuda` never import each
//! other. `scripts/ci/layers` checks it.
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!(
    "tempi passes MPI handles as machine words, which is sound on LP64 Linux on x86-64 and AArch64 only"
);

#[macro_use]
pub mod mpi;
pub mod api;
pub mod config;
pub mod cuda;
pub mod error;
pub mod explain;
pub mod ir;
mod log;
pub mod model;
pub mod pack;
pub mod pool;
pub mod reason;
pub mod report;
pub mod state;
pub mod transfer;
pub mod typecache;
