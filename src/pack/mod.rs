//! Moving one layout's bytes between its place in memory and a packed buffer.
//!
//! [`host`] does it with CPU loops, [`exec`] with kernels on a lane; [`plan`] says which kernels, [`kernel`] mirrors what they take.
//! May use `ir` and `cuda`. The invariant: the packed bytes are the type map's bytes in type-map order.

pub mod exec;
pub mod host;
pub mod kernel;
pub mod plan;
