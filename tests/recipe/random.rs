//! Random nested datatypes.

use tempi::ir::{Distribution, Order};

use super::{Darray, Lengths, List, Recipe};

/// Where choices come from.
pub enum Rng {
    /// A small generator with a seed (splitmix64), so that a failure can be repeated.
    Seeded(u64),
    /// A fuzzer's bytes, the last one first, of which each choice takes as few as it needs; then zeros.
    Bytes(Vec<u8>),
}

impl Rng {
    pub fn seeded(seed: u64) -> Self {
        Self::Seeded(seed)
    }

    pub fn bytes(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }

    /// A number below `choices`, or one of many more.
    fn next(&mut self, choices: u64) -> u64 {
        match self {
            Self::Seeded(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut x = *state;
                x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                (x ^ (x >> 31)) >> 1
            }
            Self::Bytes(bytes) => {
                let (mut number, mut reach) = (0, 1_u64);
                while reach < choices {
                    number = number << 8 | u64::from(bytes.pop().unwrap_or(0));
                    reach = reach.saturating_mul(256);
                }
                number
            }
        }
    }

    /// A number in `lo..=hi`.
    pub fn within(&mut self, lo: i64, hi: i64) -> i64 {
        let choices = hi - lo + 1;
        lo + i64::try_from(self.next(choices.cast_unsigned())).unwrap() % choices
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let choice = self.within(0, i64::try_from(choices.len()).unwrap() - 1);
        choices[usize::try_from(choice).unwrap()]
    }

    pub fn odds(&mut self, one_in: i64) -> bool {
        self.within(1, one_in) == 1
    }

    fn order(&mut self) -> Order {
        self.pick(&[Order::C, Order::Fortran])
    }
}

/// A datatype of at most `depth` constructors and about `limit` bytes of data, whose bounds every MPI agrees on.
pub fn recipe(rng: &mut Rng, depth: i64, limit: i64) -> Recipe {
    let mut recipe = leaf(rng);
    for _ in 0..rng.within(0, depth) {
        let next = wrap(rng, recipe.clone());
        if next.bytes() > limit || next.footprint().extent().abs() > 1 << 40 {
            continue; // Another constructor may fit.
        }
        recipe = settle(next);
    }
    recipe
}

/// Fixes the extent where implementations could disagree about it.
fn settle(recipe: Recipe) -> Recipe {
    let footprint = recipe.footprint();
    // Open MPI pads while it adds block after block, so that the order of misaligned ones matters.
    let padded = matches!(recipe, Recipe::Struct { .. } | Recipe::Hindexed(..));
    if footprint.ambiguous() || padded || recipe.lists_nothing() {
        Recipe::Resized { lb: footprint.lb, extent: footprint.extent(), child: Box::new(recipe) }
    } else {
        recipe
    }
}

fn leaf(rng: &mut Rng) -> Recipe {
    if rng.odds(8) {
        let (first, second_at, second) = rng.pick(&[(8, 8, 4), (4, 4, 4), (2, 4, 4), (16, 16, 4), (4, 4, 4)]);
        return Recipe::Pair { first, second_at, second };
    }
    Recipe::Named(rng.pick(&[1, 2, 4, 4, 8, 8]))
}

fn wrap(rng: &mut Rng, child: Recipe) -> Recipe {
    let extent = child.footprint().extent();
    let size = child.bytes();
    let child = Box::new(child);
    match rng.within(0, 18) {
        14 | 15 => Recipe::Indexed(list(rng, 1), child),
        16 | 17 => {
            let unit = rng.pick(&[1, 4, 4, 8, extent.abs().max(1)]);
            Recipe::Hindexed(list(rng, unit), child)
        }
        18 => structure(rng, *child),
        0 | 1 => Recipe::Contiguous { count: count(rng), child },
        2 | 3 => {
            let (count, block) = (count(rng), block(rng));
            let gap = rng.within(0, 3);
            let stride = match rng.within(0, 9) {
                0 => 0,
                1 => rng.within(-4, 8),
                2 => -block - gap,
                _ => block + gap,
            };
            Recipe::Vector { count, block, stride, child }
        }
        4..=6 => {
            let (count, block) = (count(rng), block(rng));
            let gap = rng.within(0, 17);
            let stride = match rng.within(0, 9) {
                0 => 0,
                1 => rng.within(-40, 80),
                2 => -block * extent - gap,
                3 => block * extent,
                4 => size,                 // blocks that touch although the extent says otherwise
                5 => rng.pick(&[4, 8, 1]), // neighbours of what is far apart: a transposition
                6 => rng.within(1, 1 << 22),
                _ => block * extent + gap,
            };
            Recipe::Hvector { count, block, stride, child }
        }
        7..=9 => {
            let ndims = rng.pick(&[1, 2, 2, 3, 3, 3, 4]);
            let (mut sizes, mut subsizes, mut starts) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..ndims {
                let size = rng.within(1, 6);
                let subsize = match rng.within(0, 3) {
                    0 => 1,
                    1 => size,
                    _ => rng.within(1, size),
                };
                starts.push(rng.within(0, size - subsize));
                subsizes.push(subsize);
                sizes.push(size);
            }
            Recipe::Subarray { sizes, subsizes, starts, order: rng.order(), child }
        }
        10 => Recipe::Darray(darray(rng), child),
        11 | 12 => {
            let extent = match rng.within(0, 6) {
                0 => size,
                1 => rng.pick(&[4, 8, 1]),
                2 => -extent,
                3 => rng.within(-64, 64),
                4 => 0,
                _ => extent + rng.within(0, 24),
            };
            Recipe::Resized { lb: rng.pick(&[0, 0, -8, -3, 5, 16]), extent, child }
        }
        _ => Recipe::Dup(child),
    }
}

/// Blocks at displacements in units of `unit`: in any order, touching, on top of each other, or regular.
fn list(rng: &mut Rng, unit: i64) -> List {
    let n = rng.within(1, 9);
    let mut at = rng.within(-6, 6);
    let kind = rng.within(0, 3);
    let gap = rng.within(0, 3);
    let equal = rng.odds(2);
    let same = block(rng);
    let (mut counts, mut displacements) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let count = if equal { same } else { block(rng) };
        counts.push(count);
        displacements.push(at * unit);
        at += match kind {
            0 => count + gap,
            1 => count + rng.within(0, 2),
            2 => rng.within(-9, 12),
            _ => count + rng.pick(&[0, 0, 4]),
        };
    }
    let counts = if equal { Lengths::Equal(same) } else { Lengths::Each(counts) };
    List { counts, displacements }
}

/// A structure with `first` as one of its members.
fn structure(rng: &mut Rng, first: Recipe) -> Recipe {
    let mut children = vec![first];
    for _ in 0..rng.within(0, 3) {
        let mut child = leaf(rng);
        for _ in 0..rng.within(0, 2) {
            let next = wrap(rng, child.clone());
            if next.bytes() <= 200 && next.footprint().extent().abs() <= 1 << 20 {
                child = settle(next);
            }
        }
        let place = rng.within(0, i64::try_from(children.len()).unwrap());
        children.insert(usize::try_from(place).unwrap(), child);
    }
    let (mut counts, mut displacements, mut at) = (Vec::new(), Vec::new(), rng.within(-20, 40));
    for child in &children {
        let count = block(rng);
        counts.push(count);
        displacements.push(at);
        at += if rng.odds(4) { rng.within(-100, 300) } else { count * child.footprint().extent() };
    }
    Recipe::Struct { counts, displacements, children }
}

fn count(rng: &mut Rng) -> i64 {
    if rng.odds(40) { 0 } else { rng.within(1, 6) }
}

fn block(rng: &mut Rng) -> i64 {
    if rng.odds(40) { 0 } else { rng.pick(&[1, 1, 2, 3, 5]) }
}

fn darray(rng: &mut Rng) -> Darray {
    let (mut gsizes, mut distribs, mut dargs, mut psizes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rng.pick(&[1, 2, 2, 3]) {
        let gsize = rng.within(1, 9);
        let distribution = rng.pick(&[Distribution::Block, Distribution::Cyclic, Distribution::None]);
        let psize = if distribution == Distribution::None { 1 } else { rng.within(1, 3) };
        let least = (gsize + psize - 1) / psize;
        dargs.push(match distribution {
            Distribution::None => None,
            _ if rng.odds(3) => None,
            Distribution::Block => Some(rng.within(least, least + 2)),
            Distribution::Cyclic => Some(rng.within(1, 3)),
        });
        gsizes.push(gsize);
        distribs.push(distribution);
        psizes.push(psize);
    }
    let size = psizes.iter().product();
    Darray { size, rank: rng.within(0, size - 1), gsizes, distribs, dargs, psizes, order: rng.order() }
}
