//! A datatype and a count as input for `tests/apps/pack_random.c`, and the right answer to it.

use std::collections::HashSet;
use std::convert::Infallible;

use tempi::ir::{Failure, walk};

use super::{Model, Recipe};

/// Bytes on either side of the touched ones that nobody may touch.
const MARGIN: i64 = 64;

/// `count` elements of `recipe` packed, and unpacked where no byte is named twice.
pub struct Case {
    pub recipe: Recipe,
    pub count: i64,
    /// The memory offset of every packed byte.
    pub offsets: Vec<i64>,
    /// The touched bytes: first, and behind the last.
    pub span: (i64, i64),
}

impl Case {
    /// The case, with the oracle's answer to where the bytes lie.
    pub fn new(recipe: Recipe, count: i64) -> Self {
        let offsets = offsets(&recipe, count);
        let span = span(&offsets);
        Self { recipe, count, offsets, span }
    }

    /// The line that the program reads: `COUNT LO HI UNPACK RECIPE`.
    pub fn line(&self) -> String {
        let (lo, hi) = self.span;
        format!("{} {lo} {hi} {} {}", self.count, i32::from(self.unpacks()), self.recipe)
    }

    /// The line that it has to answer: `LB EXTENT SIZE PACKED_HASH TARGET_HASH`.
    pub fn answer(&self) -> String {
        let footprint = self.recipe.footprint();
        let packed: Vec<u8> = self.offsets.iter().map(|offset| pattern(*offset, 0)).collect();
        let target = if self.unpacks() {
            let lo = self.span.0 - MARGIN;
            let mut target: Vec<u8> = (lo..self.span.1 + MARGIN).map(|offset| pattern(offset, 1)).collect();
            for (offset, byte) in self.offsets.iter().zip(&packed) {
                target[usize::try_from(offset - lo).unwrap()] = *byte;
            }
            hash(&target)
        } else {
            0
        };
        let (lb, extent, size) = (footprint.lb, footprint.extent(), self.recipe.bytes());
        format!("{lb} {extent} {size} {:016x} {target:016x}", hash(&packed))
    }

    /// Whether every MPI at hand gets this right. Not all do where a part has no bytes (bounds differ, and Open MPI refuses
    /// a distributed array of it), where a byte stride is -1 (Open MPI takes it for "unset") and where elements of
    /// negative extent are repeated twice over (MPICH folds the two counts).
    pub fn is_trusted(&self) -> bool {
        fn trusted(recipe: &Recipe) -> bool {
            let odd = recipe.bytes() == 0 || recipe.footprint().extent() < 0;
            !odd && recipe.children().iter().all(trusted)
        }
        trusted(&self.recipe) && !self.is_misread()
    }

    /// Whether there is a byte stride of -1, with which Open MPI makes a type that reaches somewhere else.
    pub fn is_misread(&self) -> bool {
        fn misread(recipe: &Recipe) -> bool {
            let step = match recipe {
                Recipe::Vector { stride, child, .. } => stride * child.footprint().extent(),
                Recipe::Hvector { stride, .. } => *stride,
                _ => 0,
            };
            step == -1 || recipe.children().iter().any(misread)
        }
        misread(&self.recipe)
    }

    /// Whether every MPI at hand gets over this, right or wrong: MPICH 4.0.2 divides by zero where parts of a list are empty.
    pub fn is_survived(&self) -> bool {
        fn survived(recipe: &Recipe) -> bool {
            !recipe.lists_nothing() && recipe.children().iter().all(survived)
        }
        survived(&self.recipe)
    }

    /// Whether all elements together are one block, or none.
    pub fn is_contiguous(&self) -> bool {
        self.offsets.windows(2).all(|pair| pair[1] == pair[0] + 1)
    }

    /// MPI forbids to receive into a type that names a byte twice.
    pub fn unpacks(&self) -> bool {
        let mut seen = HashSet::new();
        self.offsets.iter().all(|offset| seen.insert(offset))
    }
}

/// The memory offset of every packed byte of `count` elements, from the oracle.
pub fn offsets(recipe: &Recipe, count: i64) -> Vec<i64> {
    let runs = walk::walk(&Model::default(), recipe).unwrap_or_else(|error: Failure<Infallible>| {
        panic!("{recipe}: {error}");
    });
    let one: Vec<i64> = walk::offsets(&runs).collect();
    let extent = recipe.footprint().extent();
    (0..count).flat_map(|i| one.iter().map(move |offset| offset + i * extent)).collect()
}

/// The first offset, and the one behind the last.
pub fn span(offsets: &[i64]) -> (i64, i64) {
    let (lo, hi) = (offsets.iter().min(), offsets.iter().max());
    (lo.copied().unwrap_or(0), hi.map_or(0, |last| last + 1))
}

/// The byte at `offset` from the buffer argument of pattern number `salt`.
#[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]
fn pattern(offset: i64, salt: u64) -> u8 {
    let mut x = (offset as u64).wrapping_add(1).wrapping_add(salt.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x ^= x >> 29;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 32;
    x as u8
}

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
