//! Moving one layout's bytes between its place in memory and a packed buffer.

pub mod host;
