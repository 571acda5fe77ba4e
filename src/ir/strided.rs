//! The canonical form of the strided tier.

/// One dimension of a [`Strided`] block: `count` repetitions, `stride` bytes apart in memory and `packed` bytes
/// apart in the packed buffer. Strides may be negative or zero in memory; `packed` is never negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim {
    /// Repetitions, at least 2 in canonical form.
    pub count: i64,
    /// Bytes from one repetition to the next in memory.
    pub stride: i64,
    /// Bytes from one repetition to the next in the packed buffer.
    pub packed: i64,
}

/// A layout of equal contiguous blocks at regular distances, in any number of dimensions.
///
/// The byte `b` (0 ≤ b < `block`) of the repetition `(i_0, …, i_{n-1})` lies in memory at
/// `offset + b + Σ i_k · dims[k].stride` from the buffer argument, and in the packed form at
/// `b + Σ i_k · dims[k].packed`. The packed positions cover `0 .. size` exactly once.
///
/// Canonical: `dims` are sorted by |memory stride| ascending (ties: by packed stride), every count is at least 2, and no
/// two dimensions can be folded into one, nor the first into the block. A type without bytes is `block == 0` with no dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Strided {
    /// Bytes from the buffer argument to the first byte of the repetition (0, …, 0).
    pub offset: i64,
    /// Bytes that are contiguous both in memory and in the packed buffer.
    pub block: i64,
    /// Dimensions, innermost in memory first.
    pub dims: Vec<Dim>,
    /// Packed bytes in all: `block · Π count`.
    pub size: i64,
}
