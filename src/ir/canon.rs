//! From a tree to the canonical form.
//!
//! Loops are this module's, lists of blocks and parts [`gather`]'s.
//!
//! A [`Strided`] is a function from packed positions to memory offsets. Listed by packed stride, its dimensions are the
//! digits of a mixed-radix number: the first has packed stride `block`, each further one the packed stride times the
//! count of the one before, so that the positions `0 .. size` are covered exactly once and in type-map order.
//! Wrapping a layout in a loop ([`Strided::wrap`]) adds a digit at the top; that is the only way in which layouts grow,
//! and every rule is applied there:
//!
//! * **Empty.** A loop of no repetitions, or around no bytes, names no bytes.
//! * **Drop.** A loop of one repetition names its child's bytes; its offset is applied by [`Layout::shift`] all the same.
//! * **Dense.** If repetitions of the bare block follow each other in memory as they do in the packed buffer, then
//!   position p lies at offset + p throughout: one larger block.
//! * **Fold.** Let the top digit have count n and stride s, and the new loop stride n·s. Repetition (i, j) of the two
//!   lies at i·s + j·n·s = (i + j·n)·s, and in the packed buffer likewise, since the new packed stride is n times
//!   the top's: one digit of count n·m.
//! * **Sort.** Dimensions are stored by memory stride. Each carries its packed stride, so the function is the same.
//!
//! The result is unique: equal functions have equal forms. The block ends at the first position where memory does not go on,
//! or Dense would have applied; the count of each digit is where its arithmetic progression breaks, or Fold would have.
//! Both conditions concern a digit and its lower neighbour, which later loops leave alone except for the upper one's count,
//! and that does not occur in them: one look at the top is a fixpoint.
#![forbid(unsafe_code)]

use super::gather;
use super::layout::Layout;
use super::strided::{Dim, Strided, add_dim};
use super::tree::Type;
use super::unsupported::Unsupported::{self, Malformed, Overflow};

/// The canonical form of `tree`.
///
/// # Errors
/// [`Unsupported::Overflow`] if the size or any byte's offset exceeds 64 bits, [`Unsupported::Malformed`] if a count
/// is negative, [`Unsupported::TooManyBlocks`] if a table would have to be larger than is sensible.
pub fn canon(tree: Type) -> Result<Layout, Unsupported> {
    let layout = rewrite(tree)?;
    layout.span().ok_or(Overflow)?;
    Ok(layout)
}

fn rewrite(tree: Type) -> Result<Layout, Unsupported> {
    match tree {
        Type::Dense { bytes } if bytes < 0 => Err(Malformed),
        Type::Dense { bytes } => {
            Ok(Layout::Strided(Strided { offset: 0, block: bytes, dims: Vec::new(), size: bytes }))
        }
        Type::Stream { count, .. } if count < 0 => Err(Malformed),
        Type::Stream { count: 0, .. } => Ok(Layout::EMPTY),
        Type::Stream { count, stride, offset, child } => {
            let mut layout = rewrite(*child)?;
            layout.wrap(count, stride).ok_or(Overflow)?;
            layout.shift(offset).ok_or(Overflow)?;
            Ok(layout)
        }
        Type::Indexed { list, stride, child } => gather::indexed(list, stride, rewrite(*child)?),
        Type::Sequence(parts) => {
            let mut layouts = Vec::with_capacity(parts.len());
            for part in parts {
                let mut layout = rewrite(part.child)?;
                layout.shift(part.offset).ok_or(Overflow)?;
                layouts.push(layout);
            }
            gather::sequence(layouts)
        }
    }
}

impl Strided {
    /// Makes this `count` repetitions of itself, `stride` bytes apart in memory and `packed` in the packed form, which is
    /// its size unless others lie between. `count` is at least one. `None` if the size overflows.
    pub(super) fn wrap(&mut self, count: i64, stride: i64, packed: i64) -> Option<()> {
        if count == 1 || self.is_empty() {
            return Some(());
        }
        let size = self.size.checked_mul(count)?;
        if self.dims.is_empty() && stride == self.block && packed == self.block {
            self.block = size;
        } else {
            add_dim(&mut self.dims, Dim { count, stride, packed });
        }
        self.size = size;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn strided(tree: &Type) -> Result<Strided, Unsupported> {
        canon(tree.clone()).map(|layout| match layout {
            Layout::Strided(strided) => strided,
            other => panic!("{other:?}"),
        })
    }

    fn dense(bytes: i64) -> Type {
        Type::Dense { bytes }
    }

    fn stream(count: i64, stride: i64, offset: i64, child: Type) -> Type {
        Type::Stream { count, stride, offset, child: Box::new(child) }
    }

    fn dim(count: i64, stride: i64, packed: i64) -> Dim {
        Dim { count, stride, packed }
    }

    #[test]
    fn contiguous_repetitions_become_one_block() {
        let tree = stream(5, 12, 7, stream(3, 4, 2, dense(4)));
        assert_eq!(strided(&tree), Ok(Strided { offset: 9, block: 60, dims: vec![], size: 60 }));
    }

    #[test]
    fn single_repetitions_keep_their_offset() {
        let tree = stream(1, 999, 40, stream(3, 10, 1, stream(1, -3, 2, dense(4))));
        assert_eq!(strided(&tree), Ok(Strided { offset: 43, block: 4, dims: vec![dim(3, 10, 4)], size: 12 }));
    }

    #[test]
    fn meeting_strides_fold() {
        let tree = stream(7, 30, 0, stream(3, 10, 0, dense(4)));
        assert_eq!(strided(&tree), Ok(Strided { offset: 0, block: 4, dims: vec![dim(21, 10, 4)], size: 84 }));
    }

    #[test]
    fn strides_that_meet_in_memory_only_stay_apart() {
        // The outer loop runs through the columns: memory strides 4 and 12 meet, packed strides 12 and 4 do not.
        let tree = stream(3, 4, 0, stream(5, 12, 0, dense(4)));
        let dims = vec![dim(3, 4, 20), dim(5, 12, 4)];
        assert_eq!(strided(&tree), Ok(Strided { offset: 0, block: 4, dims, size: 60 }));
    }

    #[test]
    fn loops_fold_over_sorted_dimensions() {
        // Outermost and middle loop meet although the innermost has the largest stride and is stored last.
        let tree = stream(2, 40, 0, stream(4, 10, 0, stream(3, 1000, 0, dense(4))));
        let dims = vec![dim(8, 10, 12), dim(3, 1000, 4)];
        assert_eq!(strided(&tree), Ok(Strided { offset: 0, block: 4, dims, size: 96 }));
    }

    #[test]
    fn zero_strides_name_the_same_bytes_again() {
        let tree = stream(3, 0, 0, stream(2, 0, 0, dense(4)));
        assert_eq!(strided(&tree), Ok(Strided { offset: 0, block: 4, dims: vec![dim(6, 0, 4)], size: 24 }));
        let tree = stream(3, 0, 0, stream(2, 4, 0, dense(4)));
        assert_eq!(strided(&tree), Ok(Strided { offset: 0, block: 8, dims: vec![dim(3, 0, 8)], size: 24 }));
    }

    #[test]
    fn negative_strides_fold_like_others() {
        let tree = stream(3, -16, 100, stream(2, -8, 0, dense(4)));
        assert_eq!(
            strided(&tree),
            Ok(Strided { offset: 100, block: 4, dims: vec![dim(6, -8, 4)], size: 24 })
        );
        let tree = stream(3, -4, 0, dense(4));
        assert_eq!(strided(&tree), Ok(Strided { offset: 0, block: 4, dims: vec![dim(3, -4, 4)], size: 12 }));
    }

    #[test]
    fn nothing_is_nothing_wherever_it_is() {
        for tree in [dense(0), stream(0, 8, 3, dense(4)), stream(5, 8, 3, stream(2, 1, 9, dense(0)))] {
            assert_eq!(strided(&tree), Ok(Strided::EMPTY));
        }
    }

    #[test]
    fn what_exceeds_64_bits_is_refused() {
        let big = 1 << 62;
        assert_eq!(strided(&stream(4, 8, 0, stream(big, 8, 0, dense(4)))), Err(Overflow), "size");
        assert_eq!(strided(&stream(3, big, 0, dense(4))), Err(Overflow), "end");
        assert_eq!(strided(&stream(4, -big, 0, dense(4))), Err(Overflow), "start");
        assert_eq!(strided(&stream(1, 0, big, stream(1, 0, big, dense(4)))), Err(Overflow), "offset");
        // The last byte decides, not the step behind it.
        assert_eq!(
            strided(&stream(2, big, 0, dense(4))),
            Ok(Strided { offset: 0, block: 4, dims: vec![dim(2, big, 4)], size: 8 })
        );
        assert_eq!(strided(&stream(-1, 8, 0, dense(4))), Err(Malformed));
        assert_eq!(strided(&dense(-1)), Err(Malformed));
    }

    #[test]
    fn a_count_is_one_more_dimension() {
        let column = canon(stream(3, 20, 8, dense(4))).unwrap();
        assert!(matches!(column.repeat(1, 77), Some(Cow::Borrowed(_))));
        assert_eq!(*column.repeat(0, 77).unwrap(), Layout::EMPTY);
        assert_eq!(column.repeat(-1, 77), None);
        assert_eq!(column.repeat(1 << 61, 4), None);
        let folded = Strided { offset: 8, block: 4, dims: vec![dim(6, 20, 4)], size: 24 };
        assert_eq!(*column.repeat(2, 60).unwrap(), Layout::Strided(folded));
        let transposed = Strided { offset: 8, block: 4, dims: vec![dim(5, 4, 12), dim(3, 20, 4)], size: 60 };
        assert_eq!(*column.repeat(5, 4).unwrap(), Layout::Strided(transposed));
        let backwards =
            Strided { offset: 8, block: 4, dims: vec![dim(3, 20, 4), dim(5, -200, 12)], size: 60 };
        assert_eq!(*column.repeat(5, -200).unwrap(), Layout::Strided(backwards));
    }
}
