//! One process's part of a distributed array, dimension by dimension (MPI-4.1 section 5.1.4).
//!
//! Every distribution is block-cyclic: `MPI_DISTRIBUTE_BLOCK` with blocks so large that one round suffices,
//! `MPI_DISTRIBUTE_NONE` with one block of everything. A process owns the blocks `r, r + p, r + 2p, …`.
#![forbid(unsafe_code)]

use super::describe::{Distribution, Order};
use super::tree::Level;
use super::unsupported::Unsupported::{self, Irregular, Malformed, Overflow};

/// Dimensions with a short last block that are taken: each doubles the tree.
const MAX_RAGGED: usize = 6;

/// One dimension as one process sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// Elements of the global array.
    size: i64,
    /// Elements in a block.
    block: i64,
    /// Processes in this dimension.
    processes: i64,
    /// This process's coordinate.
    coordinate: i64,
}

/// The dimensions as `rank` sees them, in the order of the arguments.
pub(super) fn axes(
    size: i64,
    rank: i64,
    gsizes: &[i64],
    distribs: &[Distribution],
    dargs: &[Option<i64>],
    psizes: &[i64],
) -> Result<Vec<Axis>, Unsupported> {
    let ndims = gsizes.len();
    if distribs.len() != ndims || dargs.len() != ndims || psizes.len() != ndims || !(0..size).contains(&rank)
    {
        return Err(Malformed);
    }
    // The process grid is in row-major order whatever the array's order is: the last coordinate runs fastest.
    let mut rest = rank;
    let mut axes = Vec::with_capacity(ndims);
    for (((&size, &distribution), &darg), &processes) in
        gsizes.iter().zip(distribs).zip(dargs).zip(psizes).rev()
    {
        if size < 1 || processes < 1 {
            return Err(Malformed);
        }
        let block = match (distribution, darg) {
            (Distribution::Block, None) => 1 + (size - 1) / processes,
            (Distribution::Block, Some(block)) if block.saturating_mul(processes) < size => {
                return Err(Malformed);
            }
            (Distribution::Block | Distribution::Cyclic, Some(block)) => block,
            (Distribution::Cyclic, None) => 1,
            (Distribution::None, _) if processes != 1 => return Err(Malformed),
            (Distribution::None, _) => size,
        };
        if block < 1 {
            return Err(Malformed);
        }
        axes.push(Axis { size, block, processes, coordinate: rest % processes });
        rest /= processes;
    }
    // What is left of the rank is where it lies beyond the grid.
    if rest != 0 {
        return Err(Malformed);
    }
    axes.reverse();
    Ok(axes)
}

/// The loops around an element of `extent` bytes, innermost first.
pub(super) fn levels(axes: &[Axis], order: Order, extent: i64) -> Result<Vec<Level>, Unsupported> {
    // Without a part in one dimension there is none at all, whatever the other dimensions look like.
    if axes.iter().any(|axis| axis.blocks() <= axis.coordinate) {
        return Ok(vec![Level::Loop { count: 0, stride: 0, offset: 0 }]);
    }
    let mut levels = Vec::with_capacity(2 * axes.len());
    let mut stride = extent;
    let mut add = |axis: &Axis| {
        axis.levels(stride, &mut levels)?;
        stride = stride.checked_mul(axis.size).ok_or(Overflow)?;
        Ok(())
    };
    match order {
        Order::C => axes.iter().rev().try_for_each(&mut add)?,
        Order::Fortran => axes.iter().try_for_each(&mut add)?,
    }
    if levels.iter().filter(|level| matches!(level, Level::Ragged { .. })).count() > MAX_RAGGED {
        return Err(Irregular);
    }
    Ok(levels)
}

impl Axis {
    /// Blocks of all processes, the last one maybe short.
    fn blocks(&self) -> i64 {
        1 + (self.size - 1) / self.block
    }

    /// The loops over this process's elements, `stride` bytes apart: the elements of a block, and the blocks.
    /// There is at least one.
    fn levels(&self, stride: i64, levels: &mut Vec<Level>) -> Result<(), Unsupported> {
        let bytes = |elements: i64| elements.checked_mul(stride).ok_or(Overflow);
        // Blocks of a lone process follow each other without a gap, the short last one too.
        if self.processes == 1 {
            levels.push(Level::Loop { count: self.size, stride, offset: 0 });
            return Ok(());
        }
        let mine = 1 + (self.blocks() - 1 - self.coordinate) / self.processes;
        let last = self.coordinate + (mine - 1) * self.processes;
        let short = self.block.min(self.size - last * self.block);
        let offset = bytes(self.coordinate * self.block)?;
        if mine == 1 {
            levels.push(Level::Loop { count: short, stride, offset });
        } else if short == self.block {
            levels.push(Level::Loop { count: self.block, stride, offset });
            let round = self.block.checked_mul(self.processes).ok_or(Overflow)?;
            levels.push(Level::Loop { count: mine, stride: bytes(round)?, offset: 0 });
        } else {
            let round = bytes(self.block.checked_mul(self.processes).ok_or(Overflow)?)?;
            let (count, block, rest) = (mine - 1, self.block, short);
            levels.push(Level::Ragged { count, block, rest, stride, round, offset });
        }
        Ok(())
    }
}
