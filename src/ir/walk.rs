//! The oracle: a type map, written out naively.
//!
//! It follows the standard's definitions element by element and shares nothing with [`build`](fn@super::build) and
//! [`canon`](fn@super::canon) but the description. For tests: it takes time and memory for every single block, and its
//! arithmetic is unchecked, so that a type which cannot be enumerated must not be given to it.
#![forbid(unsafe_code)]

use super::describe::{Block, Describe, Distribution, List, Node, Open, Order};
use super::unsupported::{Failure, Unsupported};

/// Contiguous bytes of one predefined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Bytes from the buffer argument.
    pub offset: i64,
    /// How many.
    pub bytes: i64,
}

/// The type map of `datatype`, in order (MPI-4.1 section 5.1).
///
/// # Errors
/// Types that [`Node`] cannot tell the layout of, or the error of `describe`.
pub fn walk<D: Describe>(describe: &D, datatype: D::Type) -> Result<Vec<Run>, Failure<D::Error>> {
    let open = Open::of(describe, datatype).map_err(Failure::Describe)?;
    let mut runs = Vec::new();
    let mut copy = |child: D::Type, displacements: Vec<i64>| {
        let one = walk(describe, child)?;
        for displacement in displacements {
            runs.extend(one.iter().map(|run| Run { offset: run.offset + displacement, bytes: run.bytes }));
        }
        Ok::<_, Failure<D::Error>>(())
    };
    match &open.node {
        Node::Named => {
            let bytes = describe.size(datatype).map_err(Failure::Describe)?;
            runs.push(Run { offset: 0, bytes });
        }
        Node::Pair { first, second_at, second } => {
            runs.push(Run { offset: 0, bytes: *first });
            runs.push(Run { offset: *second_at, bytes: *second });
        }
        Node::Struct { counts, displacements, children } => {
            for ((count, displacement), child) in counts.iter().zip(displacements).zip(children) {
                let extent = describe.bounds(*child).map_err(Failure::Describe)?.extent;
                copy(*child, (0..*count).map(|i| displacement + i * extent).collect())?;
            }
        }
        node => {
            let &[child] = node.children() else { return Err(Unsupported::Irregular.into()) };
            let extent = describe.bounds(child).map_err(Failure::Describe)?.extent;
            copy(child, displacements(node, extent))?;
        }
    }
    Ok(runs)
}

/// The memory offset of every packed byte.
pub fn offsets(runs: &[Run]) -> impl Iterator<Item = i64> {
    runs.iter().flat_map(|run| run.offset..run.offset + run.bytes)
}

/// Where the copies of its child lie that `node` consists of, in order. `extent` is the child's.
fn displacements<T>(node: &Node<T>, extent: i64) -> Vec<i64> {
    let blocks = |count: i64, block: i64, stride: i64| {
        (0..count).flat_map(|i| (0..block).map(move |j| i * stride + j * extent)).collect()
    };
    match node {
        Node::Named | Node::Pair { .. } | Node::Struct { .. } | Node::Irregular => Vec::new(),
        Node::Dup(_) | Node::Resized(_) => vec![0],
        Node::Contiguous { count, .. } => (0..*count).map(|i| i * extent).collect(),
        Node::Vector { count, block, stride, .. } => blocks(*count, *block, *stride * extent),
        Node::Hvector { count, block, stride, .. } => blocks(*count, *block, *stride),
        Node::Indexed { list, .. } => listed(list, extent, extent),
        Node::Hindexed { list, .. } => listed(list, 1, extent),
        Node::Subarray { sizes, subsizes, starts, order, .. } => {
            let chosen =
                subsizes.iter().zip(starts).map(|(subsize, start)| (*start..start + subsize).collect());
            grid(sizes.iter().copied().zip(chosen).collect(), *order, extent)
        }
        Node::Darray { rank, gsizes, distribs, dargs, psizes, order, .. } => {
            let mut chosen = Vec::new();
            for (i, ((&gsize, &distribution), &darg)) in gsizes.iter().zip(distribs).zip(dargs).enumerate() {
                let processes = psizes.iter().skip(i).take(1).product::<i64>();
                let below = psizes.iter().skip(i + 1).product::<i64>();
                let coordinate = rank / below % processes;
                let owner = |index: i64| owner(distribution, darg, gsize, processes, index);
                chosen.push((0..gsize).filter(|index| owner(*index) == coordinate).collect());
            }
            grid(gsizes.iter().copied().zip(chosen).collect(), *order, extent)
        }
    }
}

/// Where the elements of listed blocks lie.
fn listed(list: &List, unit: i64, extent: i64) -> Vec<i64> {
    let block = |start: i64, count: i64| (0..count).map(move |i| start * unit + i * extent);
    match list {
        List::Equal { count, displacements } => {
            displacements.iter().flat_map(|start| block(*start, *count)).collect()
        }
        List::Each(blocks) => {
            blocks.iter().flat_map(|Block { displacement, count }| block(*displacement, *count)).collect()
        }
    }
}

/// The process that High Performance Fortran gives element `index` of a dimension of `size` elements to.
fn owner(distribution: Distribution, darg: Option<i64>, size: i64, processes: i64, index: i64) -> i64 {
    match distribution {
        Distribution::None => 0,
        Distribution::Block => index / darg.unwrap_or((size + processes - 1) / processes),
        Distribution::Cyclic => index / darg.unwrap_or(1) % processes,
    }
}

/// The chosen elements of an array, given for each dimension as its size and the chosen indices.
fn grid(mut axes: Vec<(i64, Vec<i64>)>, order: Order, extent: i64) -> Vec<i64> {
    if order == Order::Fortran {
        axes.reverse();
    }
    let mut elements = vec![0];
    for (size, chosen) in axes {
        elements =
            elements.iter().flat_map(|row| chosen.iter().map(move |index| row * size + index)).collect();
    }
    elements.into_iter().map(|element| element * extent).collect()
}
