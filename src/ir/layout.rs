//! Any layout: one of either tier, or a few of them in sequence.
#![forbid(unsafe_code)]

use std::borrow::Cow;

use super::blocks::Blocks;
use super::strided::Strided;

/// What bytes a type names, in which order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Equal blocks at regular distances.
    Strided(Strided),
    /// Runs of a table.
    Blocks(Blocks),
    /// Several of these in sequence, and maybe again and again.
    Parts(Parts),
}

/// A few layouts that have no common form: two at least, [`MAX_PARTS`] at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The parts, by the place of their first byte in the packed form.
    pub parts: Vec<Part>,
    /// Packed bytes in all.
    pub size: i64,
}

/// A part of a layout: its packed bytes are those from `packed` on.
///
/// A part that is repeated with others has packed strides in which the others find their place, so that its own
/// packed positions do not follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where its first byte lies in the packed form of the whole.
    pub packed: i64,
    /// The part, relative to the same buffer argument as the whole.
    pub layout: Leaf,
}

/// A layout that is no sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// Equal blocks at regular distances.
    Strided(Strided),
    /// Runs of a table.
    Blocks(Blocks),
}

/// A [`Leaf`] that belongs to somebody else.
#[derive(Clone, Copy, Debug)]
pub enum LeafRef<'a> {
    /// Equal blocks at regular distances.
    Strided(&'a Strided),
    /// Runs of a table.
    Blocks(&'a Blocks),
}

/// The most parts that a layout keeps apart: each is an item of its own in a launch.
pub const MAX_PARTS: usize = 16;

impl Leaf {
    /// The same, lent.
    pub fn as_ref(&self) -> LeafRef<'_> {
        match self {
            Self::Strided(strided) => LeafRef::Strided(strided),
            Self::Blocks(blocks) => LeafRef::Blocks(blocks),
        }
    }

    /// Packed bytes.
    pub fn size(&self) -> i64 {
        self.as_ref().size()
    }

    /// Runs in all.
    pub(super) fn count(&self) -> i64 {
        match self {
            Self::Strided(strided) => strided.size.checked_div(strided.block).unwrap_or(0),
            Self::Blocks(blocks) => blocks.count(),
        }
    }

    /// Moves the layout by `by` bytes.
    pub(super) fn shift(&mut self, by: i64) -> Option<()> {
        let offset = match self {
            Self::Strided(strided) => &mut strided.offset,
            Self::Blocks(blocks) => &mut blocks.offset,
        };
        *offset = offset.checked_add(by)?;
        Some(())
    }

    fn wrap(&mut self, count: i64, stride: i64, packed: i64) -> Option<()> {
        match self {
            Self::Strided(strided) => strided.wrap(count, stride, packed),
            Self::Blocks(blocks) => blocks.wrap(count, stride, packed),
        }
    }
}

impl LeafRef<'_> {
    /// Packed bytes.
    pub fn size(self) -> i64 {
        match self {
            Self::Strided(strided) => strided.size,
            Self::Blocks(blocks) => blocks.size,
        }
    }

    fn span(self) -> Option<(i64, i64)> {
        match self {
            Self::Strided(strided) => strided.span(),
            Self::Blocks(blocks) => blocks.span(),
        }
    }

    /// Where the first byte in packed order lies.
    fn first(self) -> i64 {
        match self {
            Self::Strided(strided) => strided.offset,
            Self::Blocks(blocks) => blocks.offset.saturating_add(blocks.table.offset(0).unwrap_or(0)),
        }
    }
}

impl From<Leaf> for Layout {
    fn from(leaf: Leaf) -> Self {
        match leaf {
            Leaf::Strided(strided) => Self::Strided(strided),
            Leaf::Blocks(blocks) => Self::Blocks(blocks),
        }
    }
}

impl Layout {
    /// The layout of a type without bytes.
    pub const EMPTY: Self = Self::Strided(Strided::EMPTY);

    /// Packed bytes in all.
    pub fn size(&self) -> i64 {
        match self {
            Self::Strided(strided) => strided.size,
            Self::Blocks(blocks) => blocks.size,
            Self::Parts(parts) => parts.size,
        }
    }

    /// No bytes at all.
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// One block: the packed bytes lie in memory as they are, from [`Layout::first`] on.
    pub fn is_contiguous(&self) -> bool {
        matches!(self, Self::Strided(strided) if strided.is_contiguous())
    }

    /// Bytes from the buffer argument to the first byte in packed order.
    pub fn first(&self) -> i64 {
        self.leaves().next().map_or(0, |(_, leaf)| leaf.first())
    }

    /// The bytes touched, from the buffer argument: the first one and the one behind the last. `None` if either
    /// exceeds 64 bits, which no layout made by this module does.
    pub fn span(&self) -> Option<(i64, i64)> {
        let mut leaves = self.leaves().map(|(_, leaf)| leaf.span());
        let first = leaves.next()??;
        leaves.try_fold(first, |(lo, hi), span| span.map(|span| (lo.min(span.0), hi.max(span.1))))
    }

    /// Bytes of host memory that hold the layout, its tables included.
    pub fn held(&self) -> usize {
        let dims = |leaf| match leaf {
            LeafRef::Strided(strided) => size_of_val(strided.dims.as_slice()),
            LeafRef::Blocks(blocks) => size_of_val(blocks.dims.as_slice()) + blocks.table.held(),
        };
        let parts = match self {
            Self::Parts(parts) => size_of_val(parts.parts.as_slice()),
            _ => 0,
        };
        size_of::<Self>() + parts + self.leaves().map(|(_, leaf)| dims(leaf)).sum::<usize>()
    }

    /// The layouts that this one consists of, each with the place of its first byte in the packed form.
    pub fn leaves(&self) -> Leaves<'_> {
        Leaves(match self {
            Self::Strided(strided) => Inner::One(Some(LeafRef::Strided(strided))),
            Self::Blocks(blocks) => Inner::One(Some(LeafRef::Blocks(blocks))),
            Self::Parts(parts) => Inner::Some(parts.parts.iter()),
        })
    }

    /// `count` of these, the next `extent` bytes behind the last: what a call with that count moves.
    ///
    /// Allocates only for a count above one. `None` if the count is negative, or if the size or any byte's offset
    /// exceeds 64 bits.
    pub fn repeat(&self, count: i64, extent: i64) -> Option<Cow<'_, Self>> {
        match count {
            1 => Some(Cow::Borrowed(self)),
            0 => Some(Cow::Owned(Self::EMPTY)),
            2.. => {
                let mut repeated = self.clone();
                repeated.wrap(count, extent)?;
                repeated.span()?;
                Some(Cow::Owned(repeated))
            }
            _ => None,
        }
    }

    /// Makes this `count` repetitions of itself, `stride` bytes apart. `count` is at least one. `None` if the size overflows.
    pub(super) fn wrap(&mut self, count: i64, stride: i64) -> Option<()> {
        let packed = self.size();
        if count == 1 || packed == 0 {
            return Some(());
        }
        match self {
            Self::Strided(strided) => strided.wrap(count, stride, packed),
            Self::Blocks(blocks) => blocks.wrap(count, stride, packed),
            Self::Parts(parts) => {
                parts.size = packed.checked_mul(count)?;
                parts.parts.iter_mut().try_for_each(|part| part.layout.wrap(count, stride, packed))
            }
        }
    }

    /// Moves the layout by `by` bytes. `None` if that overflows.
    pub(super) fn shift(&mut self, by: i64) -> Option<()> {
        let offset = match self {
            Self::Strided(strided) if strided.is_empty() => return Some(()),
            Self::Strided(strided) => &mut strided.offset,
            Self::Blocks(blocks) => &mut blocks.offset,
            Self::Parts(parts) => return parts.parts.iter_mut().try_for_each(|part| part.layout.shift(by)),
        };
        *offset = offset.checked_add(by)?;
        Some(())
    }
}

/// See [`Layout::leaves`].
#[derive(Clone, Debug)]
pub struct Leaves<'a>(Inner<'a>);

#[derive(Clone, Debug)]
enum Inner<'a> {
    One(Option<LeafRef<'a>>),
    Some(std::slice::Iter<'a, Part>),
}

impl<'a> Iterator for Leaves<'a> {
    type Item = (i64, LeafRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Inner::One(leaf) => leaf.take().map(|leaf| (0, leaf)),
            Inner::Some(parts) => parts.next().map(|part| (part.packed, part.layout.as_ref())),
        }
    }
}
