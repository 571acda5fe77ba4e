//! The datatype as a tree, before any rewriting.
#![forbid(unsafe_code)]

/// A datatype's bytes in type-map order. Offsets and strides are bytes in memory.
///
/// What the constructors were is forgotten, and so are bounds: an extent has become a stride of whoever repeats the
/// type, so that a leaf has a size only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Contiguous bytes at the parent's position.
    Dense {
        /// How many.
        bytes: i64,
    },
    /// `count` repetitions of `child`, the i-th at `offset + i · stride`.
    Stream {
        /// Repetitions.
        count: i64,
        /// Bytes from one to the next.
        stride: i64,
        /// Bytes from the parent's position to the first.
        offset: i64,
        /// What is repeated.
        child: Box<Type>,
    },
}

impl Type {
    /// A type without bytes.
    pub const EMPTY: Self = Self::Dense { bytes: 0 };
}

/// One loop around a child: a [`Type::Stream`] that has no child yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) count: i64,
    pub(super) stride: i64,
    pub(super) offset: i64,
}

impl Level {
    pub(super) fn around(self, child: Type) -> Type {
        Type::Stream { count: self.count, stride: self.stride, offset: self.offset, child: Box::new(child) }
    }
}
