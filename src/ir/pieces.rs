//! The part of a layout that a short message fills.
#![forbid(unsafe_code)]

use super::strided::Strided;

/// A part of a layout: `layout` holds the packed bytes from `packed` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Position of the part's first byte in the packed buffer of the whole.
    pub packed: i64,
    /// The part, relative to the same buffer argument as the whole.
    pub layout: Strided,
}

impl Strided {
    /// The first `bytes` packed bytes, in packed order. At most one piece for each dimension and one for the block.
    ///
    /// `bytes` beyond the size mean all of them. The layout is canonical, and so are the pieces.
    pub fn pieces(&self, bytes: i64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut rest = self.clone();
        let mut left = bytes.min(self.size);
        // `rest` is one repetition of all dimensions above; its first `left` bytes are wanted.
        while left > 0 {
            let packed = bytes.min(self.size) - left;
            let top = rest.dims.iter().enumerate().max_by_key(|(_, dim)| dim.packed).map(|(place, _)| place);
            let Some(top) = top else {
                rest.block = left;
                rest.size = left;
                pieces.push(Piece { packed, layout: rest });
                break;
            };
            let dim = rest.dims.remove(top);
            rest.size = dim.packed;
            let whole = left / dim.packed;
            if whole > 0 {
                let mut layout = rest.clone();
                layout.size = whole * dim.packed;
                if whole > 1 {
                    layout.dims.insert(top, super::Dim { count: whole, ..dim });
                }
                pieces.push(Piece { packed, layout });
                rest.offset = rest.offset.saturating_add(dim.stride.saturating_mul(whole));
            }
            left %= dim.packed;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dim;
    use super::*;

    #[test]
    fn a_prefix_is_whole_repetitions_and_a_remainder() {
        // Three columns of five: packed column by column, stored row by row.
        let dims = vec![Dim { count: 3, stride: 4, packed: 20 }, Dim { count: 5, stride: 12, packed: 4 }];
        let matrix = Strided { offset: 100, block: 4, dims, size: 60 };
        let piece = |packed, offset, block, dims, size| Piece {
            packed,
            layout: Strided { offset, block, dims, size },
        };
        assert_eq!(matrix.pieces(0), []);
        assert_eq!(matrix.pieces(-5), []);
        assert_eq!(matrix.pieces(60), [Piece { packed: 0, layout: matrix.clone() }]);
        assert_eq!(matrix.pieces(99), matrix.pieces(60));
        assert_eq!(matrix.pieces(3), [piece(0, 100, 3, vec![], 3)]);
        assert_eq!(
            matrix.pieces(50),
            [
                piece(
                    0,
                    100,
                    4,
                    vec![Dim { count: 2, stride: 4, packed: 20 }, Dim { count: 5, stride: 12, packed: 4 }],
                    40
                ),
                piece(40, 108, 4, vec![Dim { count: 2, stride: 12, packed: 4 }], 8),
                piece(48, 132, 2, vec![], 2),
            ]
        );
    }
}
