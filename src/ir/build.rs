//! From an MPI's description to a tree.
//!
//! Every constructor of this tier is a nest of loops around its child; [`levels`] says which, in the words of
//! MPI-4.1 section 5.1.2 to 5.1.4. Nothing is simplified here.
#![forbid(unsafe_code)]

use super::darray;
use super::describe::{Child, Describe, Node, Order};
use super::tree::{Level, Type};
use super::unsupported::{Failure, Unsupported};

/// The deepest tree that is built, in constructors or loops, whichever are more. Programs stay below ten; the bound
/// keeps the recursion within any thread's stack.
pub const MAX_DEPTH: usize = 128;

/// The tree of `datatype`. Child handles are released on every path.
///
/// # Errors
/// [`Failure::Unsupported`] with the reason why the type has no strided form, or the error of `describe`.
pub fn build<D: Describe>(describe: &D, datatype: D::Type) -> Result<Type, Failure<D::Error>> {
    tree(describe, datatype, 0)
}

fn tree<D: Describe>(describe: &D, datatype: D::Type, depth: usize) -> Result<Type, Failure<D::Error>> {
    let node = describe.node(datatype).map_err(Failure::Describe)?;
    let Some(child) = Child::of(describe, &node) else {
        return leaf(describe, datatype, &node);
    };
    let levels = match node {
        Node::Dup(_) | Node::Resized(_) => Vec::new(),
        _ => levels(&node, describe.bounds(child.datatype).map_err(Failure::Describe)?.extent)?,
    };
    if levels.iter().any(|level| level.count < 0) {
        return Err(Unsupported::Malformed.into());
    }
    // No repetition, no bytes: the child does not matter, not even whether it could be analysed.
    if levels.iter().any(|level| level.count == 0) {
        return Ok(Type::EMPTY);
    }
    let depth = depth + levels.len().max(1);
    if depth > MAX_DEPTH {
        return Err(Unsupported::TooDeep.into());
    }
    let inner = tree(describe, child.datatype, depth)?;
    Ok(levels.into_iter().fold(inner, |inner, level| level.around(inner)))
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
        Node::Pair { first, second_at, second } if first == second => {
            Ok(Level { count: 2, stride: second_at, offset: 0 }.around(Type::Dense { bytes: first }))
        }
        Node::Pair { first, second_at, second } if first == second_at => {
            let bytes = first.checked_add(second).ok_or(Unsupported::Overflow)?;
            Ok(Type::Dense { bytes })
        }
        _ => Err(Unsupported::Irregular.into()),
    }
}

/// The loops of `node` around its child, innermost first, where `extent` is the child's.
fn levels<T>(node: &Node<T>, extent: i64) -> Result<Vec<Level>, Unsupported> {
    let bytes = |elements: i64| elements.checked_mul(extent).ok_or(Unsupported::Overflow);
    let level = |count, stride| Level { count, stride, offset: 0 };
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
        Node::Named | Node::Pair { .. } | Node::Dup(_) | Node::Resized(_) | Node::Irregular => Ok(Vec::new()),
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
        levels.push(Level { count: subsize, stride, offset });
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
