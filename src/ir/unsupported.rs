//! Why a datatype has no layout of ours.
#![forbid(unsafe_code)]

use std::error::Error;
use std::fmt;

/// Why a datatype cannot be brought into a canonical form. Such a type is left to the MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsupported {
    /// A constructor that is not known, or a distributed array with a short last block in very many dimensions.
    Irregular,
    /// More runs than a table may hold: [`MAX_RUNS`](super::MAX_RUNS).
    TooManyBlocks,
    /// A predefined type with padding whose layout nobody told.
    Holes,
    /// Nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    TooDeep,
    /// A size, stride or offset exceeds 64 bits.
    Overflow,
    /// A description that MPI does not allow.
    Malformed,
    /// The MPI's own size or true bounds speak of another layout.
    Contradiction,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Irregular => "constructor without a form of ours",
            Self::TooManyBlocks => "more blocks than a table may hold",
            Self::Holes => "predefined type with padding of unknown place",
            Self::TooDeep => "nested too deep",
            Self::Overflow => "size or offset beyond 64 bits",
            Self::Malformed => "description that MPI does not allow",
            Self::Contradiction => "size or true bounds that contradict the description",
        })
    }
}

impl Error for Unsupported {}

/// Why an analysis ended without a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure<E> {
    /// The type is not for us.
    Unsupported(Unsupported),
    /// The MPI (or whoever implements [`Describe`](super::Describe)) failed.
    Describe(E),
}

impl<E> From<Unsupported> for Failure<E> {
    fn from(reason: Unsupported) -> Self {
        Self::Unsupported(reason)
    }
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(reason) => reason.fmt(f),
            Self::Describe(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> Error for Failure<E> {}
