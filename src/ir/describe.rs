//! The question that the analysis asks of an MPI: how was this datatype made?
//!
//! [`Describe`] is implemented over `MPI_Type_get_envelope` and `MPI_Type_get_contents` for the real thing and over
//! plain data in tests. Extents and sizes are always asked for, never computed here: implementations differ in
//! where they pad.
#![forbid(unsafe_code)]

/// How one datatype was made, from the datatype `T` (MPI-4.1 section 5.1.13).
///
/// Counts, strides and the like are the constructor's own arguments, in its own units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node<T> {
    /// A predefined type whose bytes are contiguous unless its size differs from its extent.
    Named,
    /// A predefined type of two values, such as `MPI_SHORT_INT`: `first` bytes at 0, `second` bytes at `second_at`.
    Pair {
        /// Bytes of the first value.
        first: i64,
        /// Where the second value begins.
        second_at: i64,
        /// Bytes of the second value.
        second: i64,
    },
    /// `MPI_Type_dup`.
    Dup(T),
    /// `MPI_Type_create_resized`; the new bounds are the type's [`Describe::bounds`].
    Resized(T),
    /// `MPI_Type_contiguous`.
    Contiguous {
        /// Elements.
        count: i64,
        /// Element type.
        child: T,
    },
    /// `MPI_Type_vector`.
    Vector {
        /// Blocks.
        count: i64,
        /// Elements in a block.
        block: i64,
        /// Elements from the start of a block to the next.
        stride: i64,
        /// Element type.
        child: T,
    },
    /// `MPI_Type_create_hvector`.
    Hvector {
        /// Blocks.
        count: i64,
        /// Elements in a block.
        block: i64,
        /// Bytes from the start of a block to the next.
        stride: i64,
        /// Element type.
        child: T,
    },
    /// `MPI_Type_create_subarray`.
    Subarray {
        /// Elements of the whole array in each dimension.
        sizes: Vec<i64>,
        /// Elements of the part.
        subsizes: Vec<i64>,
        /// First element of the part.
        starts: Vec<i64>,
        /// Which dimension runs fastest.
        order: Order,
        /// Element type.
        child: T,
    },
    /// `MPI_Type_create_darray`.
    Darray {
        /// Processes.
        size: i64,
        /// The process whose part this is.
        rank: i64,
        /// Elements of the global array in each dimension.
        gsizes: Vec<i64>,
        /// How each dimension is dealt out.
        distribs: Vec<Distribution>,
        /// Distribution argument; `None` is `MPI_DISTRIBUTE_DFLT_DARG`.
        dargs: Vec<Option<i64>>,
        /// Processes in each dimension.
        psizes: Vec<i64>,
        /// Which dimension runs fastest.
        order: Order,
        /// Element type.
        child: T,
    },
    /// `MPI_Type_indexed` and `MPI_Type_create_indexed_block`.
    Indexed {
        /// The blocks; displacements are elements.
        list: List,
        /// Element type.
        child: T,
    },
    /// `MPI_Type_create_hindexed` and `MPI_Type_create_hindexed_block`.
    Hindexed {
        /// The blocks; displacements are bytes.
        list: List,
        /// Element type.
        child: T,
    },
    /// `MPI_Type_create_struct`.
    Struct {
        /// Elements in each block.
        counts: Vec<i64>,
        /// Bytes from the buffer argument to each block.
        displacements: Vec<i64>,
        /// Each block's element type.
        children: Vec<T>,
    },
    /// Any other constructor: what later standards bring.
    Irregular,
}

/// The blocks of an indexed type, which may be millions: the analysis changes the list in place and copies none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum List {
    /// Blocks of one length.
    Equal {
        /// Elements in each block.
        count: i64,
        /// From the buffer argument to each block.
        displacements: Vec<i64>,
    },
    /// Each with its own length.
    Each(Vec<Block>),
}

/// One block of a [`List`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// From the buffer argument to the block.
    pub displacement: i64,
    /// Elements in it.
    pub count: i64,
}

impl Default for List {
    fn default() -> Self {
        Self::Each(Vec::new())
    }
}

impl<T: Copy> Node<T> {
    /// The datatypes that this one was made from, in order.
    pub fn children(&self) -> &[T] {
        match self {
            Self::Named | Self::Pair { .. } | Self::Irregular => &[],
            Self::Struct { children, .. } => children,
            Self::Dup(child)
            | Self::Resized(child)
            | Self::Contiguous { child, .. }
            | Self::Vector { child, .. }
            | Self::Hvector { child, .. }
            | Self::Subarray { child, .. }
            | Self::Darray { child, .. }
            | Self::Indexed { child, .. }
            | Self::Hindexed { child, .. } => std::slice::from_ref(child),
        }
    }
}

/// Storage order of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `MPI_ORDER_C`: the last dimension runs fastest.
    C,
    /// `MPI_ORDER_FORTRAN`: the first dimension runs fastest.
    Fortran,
}

/// How one dimension of a distributed array is dealt out (MPI-4.1 section 5.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// `MPI_DISTRIBUTE_BLOCK`.
    Block,
    /// `MPI_DISTRIBUTE_CYCLIC`.
    Cyclic,
    /// `MPI_DISTRIBUTE_NONE`.
    None,
}

/// Lower bound and extent in bytes (MPI-4.1 section 5.1.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Lower bound.
    pub lb: i64,
    /// Upper bound minus lower bound; may be negative.
    pub extent: i64,
}

/// Whoever can say how a datatype was made.
pub trait Describe {
    /// A datatype handle.
    type Type: Copy;
    /// What can go wrong.
    type Error;

    /// How `datatype` was made. An implementation that answers [`Node::Irregular`] keeps no child handles open.
    ///
    /// # Errors
    /// The MPI's.
    fn node(&self, datatype: Self::Type) -> Result<Node<Self::Type>, Self::Error>;

    /// `MPI_Type_get_extent`.
    ///
    /// # Errors
    /// The MPI's.
    fn bounds(&self, datatype: Self::Type) -> Result<Bounds, Self::Error>;

    /// `MPI_Type_get_true_extent`: the bytes of data lie within. Not all implementations give the tightest bounds.
    /// `None` where nothing is known; then nothing is checked.
    ///
    /// # Errors
    /// The MPI's.
    fn true_bounds(&self, _datatype: Self::Type) -> Result<Option<Bounds>, Self::Error> {
        Ok(None)
    }

    /// `MPI_Type_size`: bytes of data in `datatype`.
    ///
    /// # Errors
    /// The MPI's.
    fn size(&self, datatype: Self::Type) -> Result<i64, Self::Error>;

    /// What people call `datatype`, if anything (`MPI_Type_get_name`).
    fn name(&self, _datatype: Self::Type) -> Option<String> {
        None
    }

    /// `datatype`, which [`Describe::node`] gave as a child, is not needed any more. Called once for each child,
    /// predefined ones too, which an MPI must not free.
    fn release(&self, datatype: Self::Type);
}

/// A node whose child handles are released when it goes out of scope, whichever way that happens.
pub(super) struct Open<'a, D: Describe> {
    describe: &'a D,
    pub(super) node: Node<D::Type>,
}

impl<'a, D: Describe> Open<'a, D> {
    /// How `datatype` was made.
    pub(super) fn of(describe: &'a D, datatype: D::Type) -> Result<Self, D::Error> {
        describe.node(datatype).map(|node| Self { describe, node })
    }
}

impl<D: Describe> Drop for Open<'_, D> {
    fn drop(&mut self) {
        for child in self.node.children() {
            self.describe.release(*child);
        }
    }
}
