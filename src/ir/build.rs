//! From an MPI's description to a tree.
//!
//! A constructor is a nest of loops around its child ([`levels`]), a list of blocks of it, or a list of different
//! children, in the words of MPI-4.1 section 5.1.2 to 5.1.4. Nothing is simplified here.
#![forbid(unsafe_code)]

use std::mem::take;

use super::darray;
use super::describe::{Describe, List, Node, Open, Order};
use super::tree::{Level, Part, Type};
use super::unsupported::{Failure, Unsupported};

/// The deepest tree that is built, in constructors or loops, whichever are more. Programs stay below ten; the
/// bound keeps the recursion within any thread's stack.
pub const MAX_DEPTH: usize = 128;

/// The tree of `datatype`. Child handles are released on every path.
///
/// # Errors
/// [`Failure::Unsupported`] with the reason why the type has no tree, or the error of `describe`.
pub fn build<D: Describe>(describe: &D, datatype: D::Type) -> Result<Type, Failure<D::Error>> {
    tree(describe, datatype, 0)
}

fn tree<D: Describe>(describe: &D, datatype: D::Type, depth: usize) -> Result<Type, Failure<D::Error>> {
    let mut open = Open::of(describe, datatype).map_err(Failure::Describe)?;
    if let Node::Struct { counts, displacements, children } = &open.node {
        return structure(describe, counts, displacements, children, depth);
    }
    let &[child] = open.node.children() else {
        return leaf(describe, datatype, &open.node);
    };
    let extent = || describe.bounds(child).map_err(Failure::Describe).map(|bounds| bounds.extent);
    match &mut open.node {
        Node::Indexed { list, .. } => {
            let extent = extent()?;
            blocks(describe, take(list), extent, extent, child, depth)
        }
        Node::Hindexed { list, .. } => blocks(describe, take(list), 1, extent()?, child, depth),
        Node::Dup(_) | Node::Resized(_) => loops(describe, Vec::new(), child, depth),
        node => loops(describe, levels(node, extent()?)?, child, depth),
    }
}

/// Loops around a child, innermost first.
fn loops<D: Describe>(
    describe: &D,
    levels: Vec<Level>,
    child: D::Type,
    depth: usize,
) -> Result<Type, Failure<D::Error>> {
    if levels.iter().any(|level| level.count() < 0) {
        return Err(Unsupported::Malformed.into());
    }
    // No repetition, no bytes: the child does not matter, not even whether it could be analysed.
    if levels.iter().any(|level| level.count() == 0) {
        return Ok(Type::EMPTY);
    }
    let inner = tree(describe, child, deeper(depth, levels.len().max(1))?)?;
    let around = |inner, level: Level| level.around(inner).ok_or(Unsupported::Overflow);
    Ok(levels.into_iter().try_fold(inner, around)?)
}

fn deeper(depth: usize, by: usize) -> Result<usize, Unsupported> {
    let depth = depth + by;
    if depth > MAX_DEPTH { Err(Unsupported::TooDeep) } else { Ok(depth) }
}

/// Blocks of one child, their displacements in units of `unit` bytes.
fn blocks<D: Describe>(
    describe: &D,
    mut list: List,
    unit: i64,
    extent: i64,
    child: D::Type,
    depth: usize,
) -> Result<Type, Failure<D::Error>> {
    let scale = |displacement: &mut i64| {
        *displacement = displacement.checked_mul(unit).ok_or(Unsupported::Overflow)?;
        Ok::<_, Unsupported>(())
    };
    let mut bytes = false;
    match &mut list {
        List::Equal { count: ..0, .. } => return Err(Unsupported::Malformed.into()),
        List::Equal { count: 0, .. } => {}
        List::Equal { displacements, .. } => {
            bytes = !displacements.is_empty();
            displacements.iter_mut().try_for_each(scale)?;
        }
        List::Each(blocks) => {
            for block in blocks {
                match block.count {
                    ..0 => return Err(Unsupported::Malformed.into()),
                    // A block without elements is no block, wherever it is said to be.
                    0 => block.displacement = 0,
                    1.. => {
                        bytes = true;
                        scale(&mut block.displacement)?;
                    }
                }
            }
        }
    }
    // As in `loops`.
    if !bytes {
        return Ok(Type::EMPTY);
    }
    let child = Box::new(tree(describe, child, deeper(depth, 1)?)?);
    Ok(Type::Indexed { list, stride: extent, child })
}

fn structure<D: Describe>(
    describe: &D,
    counts: &[i64],
    displacements: &[i64],
    children: &[D::Type],
    depth: usize,
) -> Result<Type, Failure<D::Error>> {
    if counts.len() != displacements.len() || counts.len() != children.len() {
        return Err(Unsupported::Malformed.into());
    }
    let depth = deeper(depth, 2)?;
    let mut parts = Vec::with_capacity(counts.len());
    for ((&count, &offset), &child) in counts.iter().zip(displacements).zip(children) {
        match count {
            0 => {}
            1.. => {
                let stride = describe.bounds(child).map_err(Failure::Describe)?.extent;
                let child = Box::new(tree(describe, child, depth)?);
                parts.push(Part { offset, child: Type::Stream { count, stride, offset: 0, child } });
            }
            _ => return Err(Unsupported::Malformed.into()),
        }
    }
    Ok(Type::Sequence(parts))
}

fn leaf<D: Describe>(
    describe: &D,
    datatype: D::Type,
    node: &Node<D::Type>,
) -> Result<Type, Failure<D::Error>> {
    match *node {
        Node::Named => {
            let bytes = describe.size(datatype).map_err(Failure::Describe)?;
            let bounds = describe.bounds(datatype).map_err(Failure::Describe)?;
            // Equal size and extent leave no room for a hole. Without bytes there is nothing to misplace.
            if bytes != 0 && (bounds.lb != 0 || bounds.extent != bytes) {
                return Err(Unsupported::Holes.into());
            }
            Ok(Type::Dense { bytes })
        }
        Node::Pair { first, second_at, second } => {
            let part = |offset, bytes| Part { offset, child: Type::Dense { bytes } };
            Ok(Type::Sequence(vec![part(0, first), part(second_at, second)]))
        }
        _ => Err(Unsupported::Irregular.into()),
    }
}

/// The loops of `node` around its child, innermost first, where `extent` is the child's.
fn levels<T>(node: &Node<T>, extent: i64) -> Result<Vec<Level>, Unsupported> {
    let bytes = |elements: i64| elements.checked_mul(extent).ok_or(Unsupported::Overflow);
    let level = |count, stride| Level::Loop { count, stride, offset: 0 };
    match node {
        Node::Contiguous { count, .. } => Ok(vec![level(*count, extent)]),
        Node::Vector { count, block, stride, .. } => {
            Ok(vec![level(*block, extent), level(*count, bytes(*stride)?)])
        }
        Node::Hvector { count, block, stride, .. } => Ok(vec![level(*block, extent), level(*count, *stride)]),
        Node::Subarray { sizes, subsizes, starts, order, .. } => {
            subarray(sizes, subsizes, starts, *order, extent)
        }
        Node::Darray { size, rank, gsizes, distribs, dargs, psizes, order, .. } => {
            let axes = darray::axes(*size, *rank, gsizes, distribs, dargs, psizes)?;
            darray::levels(&axes, *order, extent)
        }
        _ => Ok(Vec::new()),
    }
}

/// One loop for each dimension, the fastest innermost: the stride is the extent of the slice below it.
fn subarray(
    sizes: &[i64],
    subsizes: &[i64],
    starts: &[i64],
    order: Order,
    extent: i64,
) -> Result<Vec<Level>, Unsupported> {
    if sizes.len() != subsizes.len() || sizes.len() != starts.len() {
        return Err(Unsupported::Malformed);
    }
    let mut levels = Vec::with_capacity(sizes.len());
    let mut stride = extent;
    let mut add = |((&size, &subsize), &start): ((&i64, &i64), &i64)| {
        if subsize < 0 || start < 0 || size.checked_sub(subsize).is_none_or(|last| start > last) {
            return Err(Unsupported::Malformed);
        }
        let offset = start.checked_mul(stride).ok_or(Unsupported::Overflow)?;
        levels.push(Level::Loop { count: subsize, stride, offset });
        stride = stride.checked_mul(size).ok_or(Unsupported::Overflow)?;
        Ok(())
    };
    let mut dims = sizes.iter().zip(subsizes).zip(starts);
    match order {
        Order::C => dims.rev().try_for_each(&mut add)?,
        Order::Fortran => dims.try_for_each(&mut add)?,
    }
    Ok(levels)
}
