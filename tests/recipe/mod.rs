//! Datatypes as plain data: built, described, printed and read without any MPI.
//!
//! A [`Recipe`] says how a datatype is made. [`Model`] answers for it as an MPI would, by the standard's own rules.
//! As text it is a line in reverse Polish notation, which `tests/apps/recipe.h` turns into a real datatype:
//!
//! ```text
//! named BYTES                                a predefined type of 1, 2, 4 or 8 bytes
//! pair FIRST SECOND_AT SECOND                a predefined pair of values
//! dup | resized LB EXTENT | contig N
//! vec COUNT BLOCK STRIDE | hvec COUNT BLOCK STRIDE
//! sub C|F NDIMS SIZES… SUBSIZES… STARTS…
//! idx N COUNTS… DISPLACEMENTS… | hidx N COUNTS… DISPLACEMENTS…
//! idxb N COUNT DISPLACEMENTS… | hidxb N COUNT DISPLACEMENTS…
//! struct N COUNTS… DISPLACEMENTS…            of the last N types that are left
//! darray C|F SIZE RANK NDIMS GSIZES… b|c|n… DARGS… PSIZES…      a DARG of -1 is the default
//! ```
#![allow(dead_code, unreachable_pub, missing_docs)] // Every test program uses its own part.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // A test may panic.

pub mod case;
pub mod expand;
pub mod random;

use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use tempi::ir::{self, Block, Bounds, Describe, Distribution, Node, Order};

/// How many times the usual number of random types is tried: the variable `SOAK`, or once.
pub fn soak() -> u64 {
    std::env::var("SOAK").map_or(1, |factor| factor.parse().expect("SOAK is a number"))
}

/// How a datatype is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipe {
    Named(i64),
    Pair {
        first: i64,
        second_at: i64,
        second: i64,
    },
    Dup(Box<Recipe>),
    Resized {
        lb: i64,
        extent: i64,
        child: Box<Recipe>,
    },
    Contiguous {
        count: i64,
        child: Box<Recipe>,
    },
    Vector {
        count: i64,
        block: i64,
        stride: i64,
        child: Box<Recipe>,
    },
    Hvector {
        count: i64,
        block: i64,
        stride: i64,
        child: Box<Recipe>,
    },
    Subarray {
        sizes: Vec<i64>,
        subsizes: Vec<i64>,
        starts: Vec<i64>,
        order: Order,
        child: Box<Recipe>,
    },
    Darray(Darray, Box<Recipe>),
    Indexed(List, Box<Recipe>),
    Hindexed(List, Box<Recipe>),
    Struct {
        counts: Vec<i64>,
        displacements: Vec<i64>,
        children: Vec<Recipe>,
    },
    /// Stands for a constructor that is not known. It has no text.
    Irregular,
}

/// Elements in the blocks of an indexed type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// The same in all of them.
    Equal(i64),
    /// One number for each.
    Each(Vec<i64>),
}

/// The blocks of an indexed type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    pub counts: Lengths,
    pub displacements: Vec<i64>,
}

impl List {
    fn count(&self, block: usize) -> i64 {
        match &self.counts {
            Lengths::Equal(count) => *count,
            Lengths::Each(counts) => counts[block],
        }
    }

    /// As an MPI describes it.
    fn described(&self) -> ir::List {
        match &self.counts {
            Lengths::Equal(count) => {
                ir::List::Equal { count: *count, displacements: self.displacements.clone() }
            }
            Lengths::Each(counts) => {
                let blocks = counts.iter().zip(&self.displacements);
                ir::List::Each(blocks.map(|(&count, &displacement)| Block { displacement, count }).collect())
            }
        }
    }

    fn elements(&self) -> i64 {
        (0..self.displacements.len()).map(|block| self.count(block)).sum()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Darray {
    pub size: i64,
    pub rank: i64,
    pub gsizes: Vec<i64>,
    pub distribs: Vec<Distribution>,
    pub dargs: Vec<Option<i64>>,
    pub psizes: Vec<i64>,
    pub order: Order,
}

/// Bounds as the standard computes them (MPI-4.1 section 5.1.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    pub lb: i64,
    pub ub: i64,
    /// The bounds come from markers (resized, subarray, darray) and not from the data.
    pub explicit: bool,
    /// Neither data nor markers.
    pub empty: bool,
    /// The strictest alignment of the predefined types within.
    pub align: i64,
}

impl Footprint {
    /// The bounds of copies of this whose displacements range from `first` to `last`.
    fn copies(self, first: i64, last: i64) -> Self {
        if self.empty { self } else { Self { lb: self.lb + first, ub: self.ub + last, ..self } }
    }

    /// The bounds of parts one after the other. Markers win over data where there are any.
    fn union(parts: impl Iterator<Item = Self>) -> Self {
        let (mut all, mut align) = (Vec::new(), 1);
        for part in parts {
            align = align.max(part.align);
            if !part.empty {
                all.push(part);
            }
        }
        let explicit = all.iter().any(|part| part.explicit);
        all.retain(|part| part.explicit || !explicit);
        let (lb, ub) = (all.iter().map(|part| part.lb).min(), all.iter().map(|part| part.ub).max());
        match (lb, ub) {
            (Some(lb), Some(ub)) => Self { lb, ub, explicit, empty: false, align },
            _ => Self::nothing(align),
        }
    }

    fn nothing(align: i64) -> Self {
        Self { lb: 0, ub: 0, explicit: false, empty: true, align }
    }

    fn set(self, lb: i64, extent: i64) -> Self {
        Self { lb, ub: lb + extent, explicit: true, empty: false, ..self }
    }

    pub fn extent(self) -> i64 {
        self.ub - self.lb
    }

    /// Implementations round the extent up to the alignment, or do not: the standard leaves alignment to them.
    pub fn ambiguous(self) -> bool {
        !self.explicit && self.extent() % self.align != 0
    }
}

impl Recipe {
    /// The one type that this one is made from.
    pub fn child(&self) -> Option<&Recipe> {
        match self {
            Self::Named(_) | Self::Pair { .. } | Self::Struct { .. } | Self::Irregular => None,
            Self::Dup(child)
            | Self::Resized { child, .. }
            | Self::Contiguous { child, .. }
            | Self::Vector { child, .. }
            | Self::Hvector { child, .. }
            | Self::Subarray { child, .. }
            | Self::Darray(_, child)
            | Self::Indexed(_, child)
            | Self::Hindexed(_, child) => Some(child),
        }
    }

    /// The types that this one is made from.
    pub fn children(&self) -> &[Recipe] {
        match self {
            Self::Struct { children, .. } => children,
            _ => self.child().map(std::slice::from_ref).unwrap_or_default(),
        }
    }

    /// Whether blocks are listed of which some are empty.
    pub fn lists_nothing(&self) -> bool {
        match self {
            Self::Indexed(list, _) | Self::Hindexed(list, _) => {
                (0..list.displacements.len()).any(|block| list.count(block) == 0)
            }
            Self::Struct { counts, children, .. } => {
                counts.contains(&0) || children.iter().any(|child| child.bytes() == 0)
            }
            _ => false,
        }
    }

    pub fn footprint(&self) -> Footprint {
        if let Self::Struct { counts, displacements, children } = self {
            let parts = counts.iter().zip(displacements).zip(children).filter(|((count, _), _)| **count > 0);
            let parts = parts.map(|((count, displacement), child)| {
                let child = child.footprint();
                let reach = (count - 1) * child.extent();
                child.copies(displacement + reach.min(0), displacement + reach.max(0))
            });
            return Footprint::union(parts);
        }
        let Some(child) = self.child().map(Recipe::footprint) else {
            let (ub, align) = match *self {
                Self::Named(bytes) => (bytes, bytes),
                Self::Pair { first, second_at, second } => {
                    let align = first.max(second);
                    ((second_at + second + align - 1) / align * align, align)
                }
                _ => (8, 8),
            };
            return Footprint { lb: 0, ub, explicit: false, empty: false, align };
        };
        let extent = child.extent();
        let blocks = |count: i64, block: i64, stride: i64| {
            if count == 0 || block == 0 {
                return Footprint::nothing(child.align);
            }
            let (outer, inner) = ((count - 1) * stride, (block - 1) * extent);
            child.copies(outer.min(0) + inner.min(0), outer.max(0) + inner.max(0))
        };
        match self {
            Self::Contiguous { count, .. } => blocks(*count, 1, extent),
            Self::Vector { count, block, stride, .. } => blocks(*count, *block, stride * extent),
            Self::Hvector { count, block, stride, .. } => blocks(*count, *block, *stride),
            Self::Indexed(list, _) | Self::Hindexed(list, _) => {
                let unit = if matches!(self, Self::Indexed(..)) { extent } else { 1 };
                let blocks =
                    list.displacements.iter().enumerate().filter(|(block, _)| list.count(*block) > 0);
                Footprint::union(blocks.map(|(block, displacement)| {
                    let (start, reach) = (displacement * unit, (list.count(block) - 1) * extent);
                    child.copies(start + reach.min(0), start + reach.max(0))
                }))
            }
            Self::Resized { lb, extent, .. } => child.set(*lb, *extent),
            Self::Subarray { sizes, .. } => child.set(0, sizes.iter().product::<i64>() * extent),
            Self::Darray(array, _) => child.set(0, array.gsizes.iter().product::<i64>() * extent),
            _ => child,
        }
    }

    /// Bytes of data.
    pub fn bytes(&self) -> i64 {
        let child = self.child().map_or(0, Recipe::bytes);
        match self {
            Self::Named(bytes) => *bytes,
            Self::Pair { first, second, .. } => first + second,
            Self::Irregular => 8,
            Self::Dup(_) | Self::Resized { .. } => child,
            Self::Contiguous { count, .. } => count * child,
            Self::Vector { count, block, .. } | Self::Hvector { count, block, .. } => count * block * child,
            Self::Subarray { subsizes, .. } => subsizes.iter().product::<i64>() * child,
            Self::Darray(array, _) => array.elements() * child,
            Self::Indexed(list, _) | Self::Hindexed(list, _) => list.elements() * child,
            Self::Struct { counts, children, .. } => {
                counts.iter().zip(children).map(|(count, child)| count * child.bytes()).sum()
            }
        }
    }
}

impl Darray {
    /// The coordinates of the rank in the process grid (MPI-4.1 section 5.1.4).
    fn coordinates(&self) -> Vec<i64> {
        let (mut rank, mut size) = (self.rank, self.size);
        self.psizes
            .iter()
            .map(|psize| {
                size /= psize;
                let coordinate = rank / size;
                rank %= size;
                coordinate
            })
            .collect()
    }

    /// Elements of this rank's part: in each dimension the blocks dealt to it in turn.
    fn elements(&self) -> i64 {
        let mut elements = 1;
        for (dim, coordinate) in self.coordinates().into_iter().enumerate() {
            let (size, psize) = (self.gsizes[dim], self.psizes[dim]);
            let block = match self.distribs[dim] {
                Distribution::Block => self.dargs[dim].unwrap_or((size + psize - 1) / psize),
                Distribution::Cyclic => self.dargs[dim].unwrap_or(1),
                Distribution::None => size,
            };
            let (mut first, mut mine) = (coordinate * block, 0);
            while first < size {
                mine += block.min(size - first);
                first += psize * block;
            }
            elements *= mine;
        }
        elements
    }
}

/// Describes recipes as an MPI describes its datatypes.
#[derive(Default)]
pub struct Model<'a> {
    /// Child handles given out and not yet released.
    pub open: Cell<i64>,
    recipes: PhantomData<&'a Recipe>,
}

impl<'a> Describe for Model<'a> {
    type Type = &'a Recipe;
    type Error = Infallible;

    fn node(&self, recipe: &'a Recipe) -> Result<Node<&'a Recipe>, Infallible> {
        self.open.set(self.open.get() + i64::try_from(recipe.children().len()).unwrap());
        Ok(match recipe {
            Recipe::Named(_) => Node::Named,
            Recipe::Pair { first, second_at, second } => {
                Node::Pair { first: *first, second_at: *second_at, second: *second }
            }
            Recipe::Irregular => Node::Irregular,
            Recipe::Dup(child) => Node::Dup(child),
            Recipe::Resized { child, .. } => Node::Resized(child),
            Recipe::Contiguous { count, child } => Node::Contiguous { count: *count, child },
            Recipe::Vector { count, block, stride, child } => {
                Node::Vector { count: *count, block: *block, stride: *stride, child }
            }
            Recipe::Hvector { count, block, stride, child } => {
                Node::Hvector { count: *count, block: *block, stride: *stride, child }
            }
            Recipe::Subarray { sizes, subsizes, starts, order, child } => Node::Subarray {
                sizes: sizes.clone(),
                subsizes: subsizes.clone(),
                starts: starts.clone(),
                order: *order,
                child,
            },
            Recipe::Indexed(list, child) => Node::Indexed { list: list.described(), child },
            Recipe::Hindexed(list, child) => Node::Hindexed { list: list.described(), child },
            Recipe::Struct { counts, displacements, children } => Node::Struct {
                counts: counts.clone(),
                displacements: displacements.clone(),
                children: children.iter().collect(),
            },
            Recipe::Darray(array, child) => Node::Darray {
                size: array.size,
                rank: array.rank,
                gsizes: array.gsizes.clone(),
                distribs: array.distribs.clone(),
                dargs: array.dargs.clone(),
                psizes: array.psizes.clone(),
                order: array.order,
                child,
            },
        })
    }

    fn bounds(&self, recipe: &'a Recipe) -> Result<Bounds, Infallible> {
        let footprint = recipe.footprint();
        Ok(Bounds { lb: footprint.lb, extent: footprint.extent() })
    }

    fn true_bounds(&self, recipe: &'a Recipe) -> Result<Option<Bounds>, Infallible> {
        let (lo, hi) = case::span(&case::offsets(recipe, 1));
        Ok(Some(Bounds { lb: lo, extent: hi - lo }))
    }

    fn size(&self, recipe: &'a Recipe) -> Result<i64, Infallible> {
        Ok(recipe.bytes())
    }

    fn release(&self, _: &'a Recipe) {
        self.open.set(self.open.get() - 1);
    }
}

struct Numbers<'a>(&'a [i64]);

impl fmt::Display for Numbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|number| write!(f, " {number}"))
    }
}

fn letter(order: Order) -> char {
    if order == Order::C { 'C' } else { 'F' }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for child in self.children() {
            write!(f, "{child} ")?;
        }
        match self {
            Self::Named(bytes) => write!(f, "named {bytes}"),
            Self::Pair { first, second_at, second } => write!(f, "pair {first} {second_at} {second}"),
            Self::Dup(_) => write!(f, "dup"),
            Self::Resized { lb, extent, .. } => write!(f, "resized {lb} {extent}"),
            Self::Contiguous { count, .. } => write!(f, "contig {count}"),
            Self::Vector { count, block, stride, .. } => write!(f, "vec {count} {block} {stride}"),
            Self::Hvector { count, block, stride, .. } => write!(f, "hvec {count} {block} {stride}"),
            Self::Subarray { sizes, subsizes, starts, order, .. } => {
                let (order, ndims) = (letter(*order), sizes.len());
                write!(f, "sub {order} {ndims}{}{}{}", Numbers(sizes), Numbers(subsizes), Numbers(starts))
            }
            Self::Darray(array, _) => {
                let Darray { size, rank, gsizes, distribs, dargs, psizes, order } = array;
                write!(f, "darray {} {size} {rank} {}{}", letter(*order), gsizes.len(), Numbers(gsizes))?;
                for distribution in distribs {
                    f.write_str(match distribution {
                        Distribution::Block => " b",
                        Distribution::Cyclic => " c",
                        Distribution::None => " n",
                    })?;
                }
                let dargs: Vec<i64> = dargs.iter().map(|darg| darg.unwrap_or(-1)).collect();
                write!(f, "{}{}", Numbers(&dargs), Numbers(psizes))
            }
            Self::Indexed(list, _) | Self::Hindexed(list, _) => {
                let name = if matches!(self, Self::Indexed(..)) { "idx" } else { "hidx" };
                let (n, displacements) = (list.displacements.len(), Numbers(&list.displacements));
                match &list.counts {
                    Lengths::Equal(count) => write!(f, "{name}b {n} {count}{displacements}"),
                    Lengths::Each(counts) => write!(f, "{name} {n}{}{displacements}", Numbers(counts)),
                }
            }
            Self::Struct { counts, displacements, .. } => {
                write!(f, "struct {}{}{}", counts.len(), Numbers(counts), Numbers(displacements))
            }
            Self::Irregular => write!(f, "irregular"),
        }
    }
}

/// The words of a line.
struct Words<'a>(std::str::SplitWhitespace<'a>);

impl<'a> Words<'a> {
    fn word(&mut self) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| "the line ends too early".to_owned())
    }

    fn number(&mut self) -> Result<i64, String> {
        let word = self.word()?;
        word.parse().map_err(|error| format!("{word}: {error}"))
    }

    fn list(&mut self, len: i64) -> Result<Vec<i64>, String> {
        (0..len).map(|_| self.number()).collect()
    }

    fn order(&mut self) -> Result<Order, String> {
        match self.word()? {
            "C" => Ok(Order::C),
            "F" => Ok(Order::Fortran),
            word => Err(format!("{word}: no order")),
        }
    }

    fn distribution(&mut self) -> Result<Distribution, String> {
        match self.word()? {
            "b" => Ok(Distribution::Block),
            "c" => Ok(Distribution::Cyclic),
            "n" => Ok(Distribution::None),
            word => Err(format!("{word}: no distribution")),
        }
    }

    fn blocks(&mut self, equal: bool) -> Result<List, String> {
        let n = self.number()?;
        let counts = if equal { Lengths::Equal(self.number()?) } else { Lengths::Each(self.list(n)?) };
        Ok(List { counts, displacements: self.list(n)? })
    }

    fn darray(&mut self) -> Result<Darray, String> {
        let (order, size, rank, ndims) = (self.order()?, self.number()?, self.number()?, self.number()?);
        let gsizes = self.list(ndims)?;
        let distribs = (0..ndims).map(|_| self.distribution()).collect::<Result<_, _>>()?;
        let dargs = self.list(ndims)?.into_iter().map(|darg| (darg != -1).then_some(darg)).collect();
        let psizes = self.list(ndims)?;
        Ok(Darray { size, rank, gsizes, distribs, dargs, psizes, order })
    }
}

impl FromStr for Recipe {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = Words(line.split_whitespace());
        let mut recipes: Vec<Self> = Vec::new();
        while let Ok(word) = words.word() {
            let leaf = match word {
                "named" => Some(Self::Named(words.number()?)),
                "pair" => {
                    let (first, second_at, second) = (words.number()?, words.number()?, words.number()?);
                    Some(Self::Pair { first, second_at, second })
                }
                "irregular" => Some(Self::Irregular),
                "struct" => {
                    let n = words.number()?;
                    let (counts, displacements) = (words.list(n)?, words.list(n)?);
                    let first = recipes.len().checked_sub(counts.len()).ok_or("too few types are left")?;
                    let children = recipes.split_off(first);
                    Some(Self::Struct { counts, displacements, children })
                }
                _ => None,
            };
            if let Some(leaf) = leaf {
                recipes.push(leaf);
                continue;
            }
            let child = Box::new(recipes.pop().ok_or("no type is left")?);
            recipes.push(match word {
                "dup" => Self::Dup(child),
                "resized" => Self::Resized { lb: words.number()?, extent: words.number()?, child },
                "contig" => Self::Contiguous { count: words.number()?, child },
                "vec" | "hvec" => {
                    let (count, block, stride) = (words.number()?, words.number()?, words.number()?);
                    if word == "vec" {
                        Self::Vector { count, block, stride, child }
                    } else {
                        Self::Hvector { count, block, stride, child }
                    }
                }
                "sub" => {
                    let (order, ndims) = (words.order()?, words.number()?);
                    let (sizes, subsizes) = (words.list(ndims)?, words.list(ndims)?);
                    Self::Subarray { sizes, subsizes, starts: words.list(ndims)?, order, child }
                }
                "darray" => Self::Darray(words.darray()?, child),
                "idx" => Self::Indexed(words.blocks(false)?, child),
                "hidx" => Self::Hindexed(words.blocks(false)?, child),
                "idxb" => Self::Indexed(words.blocks(true)?, child),
                "hidxb" => Self::Hindexed(words.blocks(true)?, child),
                word => return Err(format!("{word}: no constructor")),
            });
        }
        match recipes.pop() {
            Some(recipe) if recipes.is_empty() => Ok(recipe),
            _ => Err("not one type in the end".to_owned()),
        }
    }
}
