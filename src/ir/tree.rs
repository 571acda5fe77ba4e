//! The datatype as a tree, before any rewriting.
#![forbid(unsafe_code)]

use super::describe::List;

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
    /// Blocks of repetitions of `child`, in order: repetition j of a block at the block's displacement + j · `stride`.
    Indexed {
        /// The blocks; displacements are bytes from the parent's position.
        list: List,
        /// Bytes from one repetition to the next within a block.
        stride: i64,
        /// What is repeated.
        child: Box<Type>,
    },
    /// Different parts in order.
    Sequence(Vec<Part>),
}

/// One part of a [`Type::Sequence`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes from the parent's position.
    pub offset: i64,
    /// What lies there.
    pub child: Type,
}

impl Type {
    /// A type without bytes.
    pub const EMPTY: Self = Self::Dense { bytes: 0 };
}

/// Something around a child that is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// One loop.
    Loop { count: i64, stride: i64, offset: i64 },
    /// A loop of `count` repetitions of `block` children, `round` bytes apart, and `rest` more children behind it: what a
    /// block-cyclic distribution leaves when the last block is short. Children are `stride` bytes apart.
    Ragged { count: i64, block: i64, rest: i64, stride: i64, round: i64, offset: i64 },
}

impl Level {
    /// The repetitions of the child in all, or so many that nobody needs to know how many more.
    pub(super) fn count(&self) -> i64 {
        match *self {
            Self::Loop { count, .. } => count,
            Self::Ragged { count, block, rest, .. } => count.saturating_mul(block).saturating_add(rest),
        }
    }

    /// `None` if an offset exceeds 64 bits.
    pub(super) fn around(self, child: Type) -> Option<Type> {
        let stream =
            |count, stride, offset, child| Type::Stream { count, stride, offset, child: Box::new(child) };
        match self {
            Self::Loop { count, stride, offset } => Some(stream(count, stride, offset, child)),
            Self::Ragged { count, block, rest, stride, round, offset } => {
                let behind = offset.checked_add(count.checked_mul(round)?)?;
                let whole = stream(count, round, 0, stream(block, stride, 0, child.clone()));
                let short = stream(rest, stride, 0, child);
                Some(Type::Sequence(vec![
                    Part { offset, child: whole },
                    Part { offset: behind, child: short },
                ]))
            }
        }
    }
}
