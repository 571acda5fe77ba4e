//! The canonical form of the strided tier.
#![forbid(unsafe_code)]

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

impl Strided {
    /// The layout of a type without bytes.
    pub const EMPTY: Self = Self { offset: 0, block: 0, dims: Vec::new(), size: 0 };

    /// No bytes at all.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// One block: the packed bytes lie in memory as they are, from `offset` on.
    pub fn is_contiguous(&self) -> bool {
        self.dims.is_empty()
    }

    /// The bytes touched, from the buffer argument: the first one and the one behind the last. `None` if either
    /// exceeds 64 bits, which no layout made by this module does.
    pub fn span(&self) -> Option<(i64, i64)> {
        // Widened, as a partial sum may leave the range in which the result lies.
        let (mut lo, mut hi) = (i128::from(self.offset), i128::from(self.offset) + i128::from(self.block));
        for dim in &self.dims {
            let reach = i128::from(dim.count - 1) * i128::from(dim.stride);
            if reach < 0 {
                lo = lo.checked_add(reach)?;
            } else {
                hi = hi.checked_add(reach)?;
            }
        }
        Some((lo.try_into().ok()?, hi.try_into().ok()?))
    }
}

/// Adds the loop `dim` above all others: its packed stride is at least what they cover. It folds into the topmost where its
/// strides meet that one's, on both sides; see [`canon`](mod@super::canon).
pub(super) fn add_dim(dims: &mut Vec<Dim>, dim: Dim) {
    // The counts' product is at most the size. A stride that does not fit is no stride of ours.
    let meets = |top: &Dim| {
        top.stride.checked_mul(top.count) == Some(dim.stride)
            && top.packed.checked_mul(top.count) == Some(dim.packed)
    };
    match dims.iter_mut().max_by_key(|top| top.packed) {
        Some(top) if meets(top) => top.count *= dim.count,
        _ => {
            let key = |dim: &Dim| (dim.stride.unsigned_abs(), dim.packed);
            let place = dims.partition_point(|other| key(other) < key(&dim));
            dims.insert(place, dim);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_covers_the_first_and_the_last_byte() {
        assert_eq!(Strided::EMPTY.span(), Some((0, 0)));
        let dims = vec![Dim { count: 3, stride: 10, packed: 4 }, Dim { count: 2, stride: -100, packed: 12 }];
        let strided = Strided { offset: 5, block: 4, dims, size: 24 };
        assert_eq!(strided.span(), Some((-95, 29)));
        let edge = Strided { offset: i64::MAX - 4, block: 4, dims: vec![], size: 4 };
        assert_eq!(edge.span(), Some((i64::MAX - 4, i64::MAX)));
        assert_eq!(Strided { offset: i64::MAX - 3, ..edge }.span(), None);
    }
}
