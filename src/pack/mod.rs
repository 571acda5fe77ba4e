//! Moving one layout's bytes between its place in memory and a packed buffer.
//!
//! [`host`] does it with CPU loops, [`exec`] with kernels on a lane, [`batch`] many layouts with one kernel; [`plan`] and [`blocks`]
//! say which kernels, [`list`] joins them, [`kernel`] mirrors what they take, [`table`] brings tables of runs to devices. May
//! use `ir`, `cuda` and `pool`. The invariant: the packed bytes are the type map's bytes in type-map order.

pub mod batch;
pub mod blocks;
pub mod exec;
pub mod host;
pub mod kernel;
pub mod list;
pub mod plan;
pub mod table;
