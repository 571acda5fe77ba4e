//! How the MPI describes a datatype: envelope and contents (MPI-4.1 section 5.1.13), as [`ir::Describe`].
//!
//! Types made by large-count constructors only answer the `_c` questions; the plain ones would call the program's error handler.
//! So the `_c` questions are asked wherever the MPI has them.

use super::family::{Constants, Family, family};
use super::handle::{MPI_Aint, MPI_Count, MPI_Datatype};
use super::next;
use crate::error::Error;
use crate::ir::{Bounds, Describe, Distribution, Node, Order};
use once_cell::sync::OnceCell;
use std::ffi::c_int;

/// The system MPI as the one who describes datatypes.
#[derive(Clone, Copy, Debug)]
pub struct System;

/// Handles as a C array of this family's handle width.
pub fn handles(list: &[MPI_Datatype]) -> Vec<u64> {
    match family() {
        Family::OpenMpi | Family::Standard => list.iter().map(|h| h.0 as u64).collect(),
        Family::Mpich => list
            .chunks(2)
            .map(|pair| {
                let half = |i: usize| pair.get(i).map_or(0, |h| h.key() as u64);
                if cfg!(target_endian = "little") { half(0) | half(1) << 32 } else { half(0) << 32 | half(1) }
            })
            .collect(),
    }
}

/// The first handle of a C array.
fn first(list: &[u64]) -> MPI_Datatype {
    let word = list.first().copied().unwrap_or(0).to_ne_bytes();
    MPI_Datatype(match family() {
        Family::OpenMpi | Family::Standard => usize::from_ne_bytes(word),
        Family::Mpich => {
            let [a, b, c, d, ..] = word;
            u32::from_ne_bytes([a, b, c, d]) as usize
        }
    })
}

/// `check(name, code)`: the one place that knows MPI's convention.
fn check(call: &'static str, code: c_int) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error { call, code }) }
}

/// The arguments of a constructor. Counts are the integers' and the large counts', in the constructor's order: a type
/// has either.
struct Contents {
    combiner: c_int,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    child: MPI_Datatype,
}

struct Envelope {
    integers: MPI_Count,
    addresses: MPI_Count,
    large_counts: MPI_Count,
    datatypes: MPI_Count,
    combiner: c_int,
}

fn has_large() -> bool {
    static HAS: OnceCell<bool> = OnceCell::new();
    *HAS.get_or_init(|| {
        next::available(c"MPI_Type_get_envelope_c") && next::available(c"MPI_Type_get_contents_c")
    })
}

fn envelope(datatype: MPI_Datatype) -> Result<Envelope, Error> {
    let mut combiner: c_int = 0;
    if has_large() {
        let (mut i, mut a, mut l, mut d): (MPI_Count, MPI_Count, MPI_Count, MPI_Count) = (0, 0, 0, 0);
        // SAFETY: all outputs are valid places; `datatype` is a live handle.
        let rc = unsafe {
            next::MPI_Type_get_envelope_c(
                datatype,
                &raw mut i,
                &raw mut a,
                &raw mut l,
                &raw mut d,
                &raw mut combiner,
            )
        };
        check("MPI_Type_get_envelope_c", rc)?;
        return Ok(Envelope { integers: i, addresses: a, large_counts: l, datatypes: d, combiner });
    }
    let (mut i, mut a, mut d): (c_int, c_int, c_int) = (0, 0, 0);
    // SAFETY: as above.
    let rc = unsafe {
        next::MPI_Type_get_envelope(datatype, &raw mut i, &raw mut a, &raw mut d, &raw mut combiner)
    };
    check("MPI_Type_get_envelope", rc)?;
    Ok(Envelope { integers: i.into(), addresses: a.into(), large_counts: 0, datatypes: d.into(), combiner })
}

/// The contents of a type made from exactly one other type.
fn contents(datatype: MPI_Datatype, e: &Envelope) -> Result<Contents, Error> {
    let room = |n: MPI_Count| usize::try_from(n).unwrap_or(0);
    let mut integers: Vec<c_int> = vec![0; room(e.integers)];
    let mut addresses: Vec<MPI_Aint> = vec![0; room(e.addresses)];
    let mut large: Vec<MPI_Count> = vec![0; room(e.large_counts)];
    let mut datatypes: Vec<u64> = vec![0; room(e.datatypes)];
    let rc = if has_large() {
        // SAFETY: the arrays have the lengths that the envelope states, handles with room for the widest.
        unsafe {
            next::MPI_Type_get_contents_c(
                datatype,
                e.integers,
                e.addresses,
                e.large_counts,
                e.datatypes,
                integers.as_mut_ptr(),
                addresses.as_mut_ptr(),
                large.as_mut_ptr(),
                datatypes.as_mut_ptr().cast(),
            )
        }
    } else {
        let int = |n: MPI_Count| c_int::try_from(n).unwrap_or(0);
        // SAFETY: as above.
        unsafe {
            next::MPI_Type_get_contents(
                datatype,
                int(e.integers),
                int(e.addresses),
                int(e.datatypes),
                integers.as_mut_ptr(),
                addresses.as_mut_ptr(),
                datatypes.as_mut_ptr().cast(),
            )
        }
    };
    check("MPI_Type_get_contents", rc)?;
    Ok(Contents {
        combiner: e.combiner,
        integers: integers.into_iter().map(i64::from).collect(),
        // A large-count constructor gives its strides and extents among the large counts.
        addresses: addresses.into_iter().map(|a| a as i64).chain(large).collect(),
        child: first(&datatypes),
    })
}

impl Contents {
    /// The node, or `None` for what this reading does not fit.
    fn node(self, c: &Constants, large: bool) -> Option<Node<MPI_Datatype>> {
        let Self { combiner, integers, addresses, child } = self;
        // With a large-count constructor all counts and strides are large counts (MPI-4.1 section 5.1.13, the tables), in argument order.
        let mut int = integers.into_iter();
        let mut wide = addresses.into_iter();
        Some(if combiner == c.combiner_dup {
            Node::Dup(child)
        } else if combiner == c.combiner_resized {
            Node::Resized(child)
        } else if combiner == c.combiner_contiguous {
            Node::Contiguous { count: if large { wide.next()? } else { int.next()? }, child }
        } else if combiner == c.combiner_vector {
            let from: &mut dyn Iterator<Item = i64> = if large { &mut wide } else { &mut int };
            Node::Vector { count: from.next()?, block: from.next()?, stride: from.next()?, child }
        } else if combiner == c.combiner_hvector || combiner == c.combiner_hvector_integer {
            let (count, block) =
                if large { (wide.next()?, wide.next()?) } else { (int.next()?, int.next()?) };
            let stride = if combiner == c.combiner_hvector {
                wide.next()?
            } else {
                int.next().or_else(|| wide.next())?
            };
            Node::Hvector { count, block, stride, child }
        } else if combiner == c.combiner_subarray {
            let dims = usize::try_from(int.next()?).ok()?;
            let mut take = |n| -> Option<Vec<i64>> {
                let list: Vec<i64> =
                    if large { wide.by_ref().take(n).collect() } else { int.by_ref().take(n).collect() };
                (list.len() == n).then_some(list)
            };
            let (sizes, subsizes, starts) = (take(dims)?, take(dims)?, take(dims)?);
            Node::Subarray { sizes, subsizes, starts, order: order(int.next()?, c)?, child }
        } else if combiner == c.combiner_darray {
            let (size, rank) = (int.next()?, int.next()?);
            let dims = usize::try_from(int.next()?).ok()?;
            let gsizes: Vec<i64> =
                if large { wide.by_ref().take(dims).collect() } else { int.by_ref().take(dims).collect() };
            let distribs: Option<Vec<_>> = int.by_ref().take(dims).map(|d| distribution(d, c)).collect();
            let default = i64::from(c.distribute_dflt_darg);
            let dargs: Vec<Option<i64>> =
                int.by_ref().take(dims).map(|d| (d != default).then_some(d)).collect();
            let psizes: Vec<i64> = int.by_ref().take(dims).collect();
            let order = order(int.next()?, c)?;
            Node::Darray { size, rank, gsizes, distribs: distribs?, dargs, psizes, order, child }
        } else {
            return None;
        })
    }
}

fn order(value: i64, c: &Constants) -> Option<Order> {
    if value == i64::from(c.order_c) {
        Some(Order::C)
    } else if value == i64::from(c.order_fortran) {
        Some(Order::Fortran)
    } else {
        None
    }
}

fn distribution(value: i64, c: &Constants) -> Option<Distribution> {
    if value == i64::from(c.distribute_block) {
        Some(Distribution::Block)
    } else if value == i64::from(c.distribute_cyclic) {
        Some(Distribution::Cyclic)
    } else if value == i64::from(c.distribute_none) {
        Some(Distribution::None)
    } else {
        None
    }
}

/// Whether a combiner is that of a predefined type, whose handle is not ours to free.
fn predefined(combiner: c_int, c: &Constants) -> bool {
    [c.combiner_named, c.combiner_f90_real, c.combiner_f90_complex, c.combiner_f90_integer]
        .contains(&combiner)
}

/// Whether `datatype` is predefined: such a type never dies.
///
/// # Errors
/// The MPI's.
pub fn is_predefined(datatype: MPI_Datatype) -> Result<bool, Error> {
    Ok(predefined(envelope(datatype)?.combiner, family().constants()))
}

impl Describe for System {
    type Type = MPI_Datatype;
    type Error = Error;

    fn node(&self, datatype: MPI_Datatype) -> Result<Node<MPI_Datatype>, Error> {
        let c = family().constants();
        let envelope = envelope(datatype)?;
        if predefined(envelope.combiner, c) {
            let pair = family().pairs().into_iter().find(|(handle, _)| handle.key() == datatype.key());
            return Ok(pair.map_or(Node::Named, |(_, (first, second_at, second))| Node::Pair {
                first,
                second_at,
                second,
            }));
        }
        // Several parts: indexed types of many blocks and structs. Their contents are not asked for.
        let known = [
            c.combiner_dup,
            c.combiner_resized,
            c.combiner_contiguous,
            c.combiner_vector,
            c.combiner_hvector,
            c.combiner_hvector_integer,
            c.combiner_subarray,
            c.combiner_darray,
        ];
        if envelope.datatypes != 1 || !known.contains(&envelope.combiner) {
            return Ok(Node::Irregular);
        }
        let contents = contents(datatype, &envelope)?;
        let child = contents.child;
        contents.node(c, envelope.large_counts > 0).map_or_else(
            || {
                self.release(child);
                Ok(Node::Irregular)
            },
            Ok,
        )
    }

    fn bounds(&self, datatype: MPI_Datatype) -> Result<Bounds, Error> {
        let (mut lb, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
        // SAFETY: outputs are valid places; `datatype` is a live handle.
        let rc = unsafe { next::MPI_Type_get_extent(datatype, &raw mut lb, &raw mut extent) };
        check("MPI_Type_get_extent", rc)?;
        Ok(Bounds { lb: lb as i64, extent: extent as i64 })
    }

    fn true_bounds(&self, datatype: MPI_Datatype) -> Result<Option<Bounds>, Error> {
        let (mut lb, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
        // SAFETY: as above.
        let rc = unsafe { next::MPI_Type_get_true_extent(datatype, &raw mut lb, &raw mut extent) };
        check("MPI_Type_get_true_extent", rc)?;
        Ok(Some(Bounds { lb: lb as i64, extent: extent as i64 }))
    }

    fn size(&self, datatype: MPI_Datatype) -> Result<i64, Error> {
        let mut size: c_int = 0;
        // SAFETY: as above.
        check("MPI_Type_size", unsafe { next::MPI_Type_size(datatype, &raw mut size) })?;
        if size >= 0 {
            return Ok(size.into());
        }
        // MPI_UNDEFINED: more than an int holds.
        let mut large: MPI_Count = 0;
        if next::available(c"MPI_Type_size_x") {
            // SAFETY: as above.
            check("MPI_Type_size_x", unsafe { next::MPI_Type_size_x(datatype, &raw mut large) })?;
        } else if next::available(c"MPI_Type_size_c") {
            // SAFETY: as above.
            check("MPI_Type_size_c", unsafe { next::MPI_Type_size_c(datatype, &raw mut large) })?;
        } else {
            return Err(Error { call: "MPI_Type_size", code: size });
        }
        Ok(large)
    }

    fn release(&self, datatype: MPI_Datatype) {
        if matches!(is_predefined(datatype), Ok(false)) {
            let mut datatype = datatype;
            // SAFETY: get_contents gave us this reference of a derived type, and it is given back once.
            unsafe { next::MPI_Type_free(&raw mut datatype) };
        }
    }
}
