//! Moving one block: from a canonical layout to the kernel launches or the loops that move its bytes.
//!
//! May use `ir` and `cuda`. Invariant: the packed bytes are the type map's bytes in type-map order.

pub mod kernel;
pub mod plan;
