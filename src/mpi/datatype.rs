//! How the MPI describes a datatype: envelope and contents (MPI-4.1 section 5.1.13), as [`Describe`].
//!
//! Types made by large-count constructors only answer the `_c` questions; the plain ones would call the program's error handler.
//! So the `_c` questions are asked wherever the MPI has them.

use super::family::{Constants, Family, family};
use super::handle::{MPI_Aint, MPI_Count, MPI_Datatype};
use super::next;
use crate::error::Error;
use crate::ir::{Block, Bounds, Describe, Distribution, List, Node, Order};
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

/// The first `count` handles of a C array.
fn unpack(list: &[u64], count: usize) -> Vec<MPI_Datatype> {
    let words = || list.iter().map(|word| word.to_ne_bytes());
    let all: Vec<usize> = match family() {
        Family::OpenMpi | Family::Standard => words().map(usize::from_ne_bytes).collect(),
        Family::Mpich => words()
            .flat_map(|[a, b, c, d, e, f, g, h]| [[a, b, c, d], [e, f, g, h]])
            .map(|half| u32::from_ne_bytes(half) as usize)
            .collect(),
    };
    all.into_iter().take(count).map(MPI_Datatype).collect()
}

/// `check(name, code)`: the one place that knows MPI's convention.
fn check(call: &'static str, code: c_int) -> Result<(), Error> {
    if code == 0 { Ok(()) } else { Err(Error { call, code }) }
}

/// The arguments of a constructor. Counts are the integers' and the large counts', in the constructor's order: a type
/// has either.
struct Contents {
    combiner: c_int,
    integers: Vec<c_int>,
    addresses: Vec<i64>,
    children: Vec<MPI_Datatype>,
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

/// The contents of a type made from others.
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
        integers,
        // A large-count constructor gives its strides, displacements and extents among the large counts.
        addresses: if large.is_empty() { addresses.into_iter().map(|a| a as i64).collect() } else { large },
        children: unpack(&datatypes, room(e.datatypes)),
    })
}

/// Some numbers of the contents: integers, or what is wider. They may be millions, and stay where they are.
#[derive(Clone, Copy)]
enum Few<'a> {
    Ints(&'a [c_int]),
    Wide(&'a [i64]),
}

impl<'a> Few<'a> {
    fn iter(self) -> impl Iterator<Item = i64> + use<'a> {
        let (ints, wide): (&[c_int], &[i64]) = match self {
            Self::Ints(ints) => (ints, &[]),
            Self::Wide(wide) => (&[], wide),
        };
        ints.iter().copied().map(i64::from).chain(wide.iter().copied())
    }

    fn list(self) -> Vec<i64> {
        self.iter().collect()
    }
}

/// Numbers of the contents in order.
struct Numbers<'a> {
    integers: &'a [c_int],
    wide: &'a [i64],
    /// Made by a large-count constructor: all counts are wide.
    large: bool,
}

impl<'a> Numbers<'a> {
    /// An argument that is an integer in every constructor.
    fn int(&mut self) -> Option<i64> {
        self.ints(1)?.iter().next()
    }

    fn ints(&mut self, n: usize) -> Option<Few<'a>> {
        let (some, rest) = self.integers.split_at_checked(n)?;
        self.integers = rest;
        Some(Few::Ints(some))
    }

    /// An address.
    fn address(&mut self) -> Option<i64> {
        self.addresses(1)?.iter().next()
    }

    fn addresses(&mut self, n: usize) -> Option<Few<'a>> {
        let (some, rest) = self.wide.split_at_checked(n)?;
        self.wide = rest;
        Some(Few::Wide(some))
    }

    /// An argument that is an integer, or a large count in a large-count constructor.
    fn count(&mut self) -> Option<i64> {
        if self.large { self.address() } else { self.int() }
    }

    fn counts(&mut self, n: usize) -> Option<Few<'a>> {
        if self.large { self.addresses(n) } else { self.ints(n) }
    }

    /// Addresses, or the integers of a deprecated Fortran constructor, which some MPIs give among the addresses.
    fn displacements(&mut self, n: usize, fortran: bool) -> Option<Few<'a>> {
        if fortran && !self.integers.is_empty() { self.ints(n) } else { self.addresses(n) }
    }

    /// How many blocks or dimensions.
    fn length(number: Option<i64>) -> Option<usize> {
        usize::try_from(number?).ok()
    }
}

/// Blocks of their own lengths.
fn each(counts: Few<'_>, displacements: Few<'_>) -> List {
    let blocks = counts.iter().zip(displacements.iter());
    List::Each(blocks.map(|(count, displacement)| Block { displacement, count }).collect())
}

impl Contents {
    /// The node, or `None` for what this reading does not fit.
    fn node(&self, c: &Constants, large: bool) -> Option<Node<MPI_Datatype>> {
        let combiner = self.combiner;
        let mut n = Numbers { integers: &self.integers, wide: &self.addresses, large };
        if combiner == c.combiner_struct || combiner == c.combiner_struct_integer {
            let blocks = Numbers::length(n.count())?;
            let counts = n.counts(blocks)?.list();
            let displacements = n.displacements(blocks, combiner == c.combiner_struct_integer)?.list();
            let children = self.children.clone();
            return (children.len() == blocks).then_some(Node::Struct { counts, displacements, children });
        }
        let &[child] = self.children.as_slice() else { return None };
        // With a large-count constructor all counts and strides are large counts (MPI-4.1 section 5.1.13, the tables), in argument order.
        Some(if combiner == c.combiner_dup {
            Node::Dup(child)
        } else if combiner == c.combiner_resized {
            Node::Resized(child)
        } else if combiner == c.combiner_contiguous {
            Node::Contiguous { count: n.count()?, child }
        } else if combiner == c.combiner_vector {
            Node::Vector { count: n.count()?, block: n.count()?, stride: n.count()?, child }
        } else if combiner == c.combiner_hvector || combiner == c.combiner_hvector_integer {
            let (count, block) = (n.count()?, n.count()?);
            let stride = if combiner == c.combiner_hvector {
                n.address()?
            } else {
                n.int().or_else(|| n.address())?
            };
            Node::Hvector { count, block, stride, child }
        } else if combiner == c.combiner_indexed {
            let blocks = Numbers::length(n.count())?;
            let counts = n.counts(blocks)?;
            Node::Indexed { list: each(counts, n.counts(blocks)?), child }
        } else if combiner == c.combiner_hindexed || combiner == c.combiner_hindexed_integer {
            let blocks = Numbers::length(n.count())?;
            let counts = n.counts(blocks)?;
            let displacements = n.displacements(blocks, combiner == c.combiner_hindexed_integer)?;
            Node::Hindexed { list: each(counts, displacements), child }
        } else if combiner == c.combiner_indexed_block {
            let blocks = Numbers::length(n.count())?;
            let (count, displacements) = (n.count()?, n.counts(blocks)?.list());
            Node::Indexed { list: List::Equal { count, displacements }, child }
        } else if combiner == c.combiner_hindexed_block {
            let blocks = Numbers::length(n.count())?;
            let (count, displacements) = (n.count()?, n.addresses(blocks)?.list());
            Node::Hindexed { list: List::Equal { count, displacements }, child }
        } else if combiner == c.combiner_subarray {
            let dims = Numbers::length(n.int())?;
            let mut counts = || n.counts(dims).map(Few::list);
            let (sizes, subsizes, starts) = (counts()?, counts()?, counts()?);
            Node::Subarray { sizes, subsizes, starts, order: order(n.int()?, c)?, child }
        } else if combiner == c.combiner_darray {
            let (size, rank) = (n.int()?, n.int()?);
            let dims = Numbers::length(n.int())?;
            let gsizes = n.counts(dims)?.list();
            let distribs: Option<Vec<_>> = n.ints(dims)?.iter().map(|d| distribution(d, c)).collect();
            let default = i64::from(c.distribute_dflt_darg);
            let dargs = n.ints(dims)?.iter().map(|d| (d != default).then_some(d)).collect();
            let psizes = n.ints(dims)?.list();
            let order = order(n.int()?, c)?;
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
        let contents = contents(datatype, &envelope)?;
        Ok(contents.node(c, envelope.large_counts > 0).unwrap_or_else(|| {
            for child in &contents.children {
                self.release(*child);
            }
            Node::Irregular
        }))
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

    fn name(&self, datatype: MPI_Datatype) -> Option<String> {
        // No MPI's MPI_MAX_OBJECT_NAME is larger.
        let (mut name, mut length) = ([0_u8; 1024], 0);
        // SAFETY: the outputs are valid places, and there is room for any name.
        let rc = unsafe { next::MPI_Type_get_name(datatype, name.as_mut_ptr().cast(), &raw mut length) };
        check("MPI_Type_get_name", rc).ok()?;
        let name = String::from_utf8_lossy(name.get(..usize::try_from(length).ok()?)?);
        // Open MPI says so of its copies, those of types without a name too; and a type that it resizes keeps its name.
        let name = name.trim_start_matches("Dup ");
        let inherited = name.starts_with("MPI_") && !matches!(is_predefined(datatype), Ok(true));
        (!name.is_empty() && !inherited).then(|| name.to_owned())
    }

    fn release(&self, datatype: MPI_Datatype) {
        if matches!(is_predefined(datatype), Ok(false)) {
            let mut datatype = datatype;
            // SAFETY: get_contents gave us this reference of a derived type, and it is given back once.
            unsafe { next::MPI_Type_free(&raw mut datatype) };
        }
    }
}
