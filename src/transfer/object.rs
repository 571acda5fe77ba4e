//! The program's data in one call: a buffer argument, a count, a datatype, and where it lies.
#![forbid(unsafe_code)]

use super::Stop;
use crate::cuda::{self, Kind, Place};
use crate::ir::Layout;
use crate::mpi::aware::cuda_aware;
use crate::mpi::{MPI_Comm, MPI_Datatype};
use crate::reason::Reason;
use crate::typecache::{self, Entry};
use std::sync::Arc;

/// `count` elements of a datatype at a buffer argument.
#[derive(Debug)]
pub(super) struct Object {
    entry: Arc<Entry>,
    /// The layout of all elements, where that is not the type's own (count 1).
    repeated: Option<Layout>,
    /// The buffer argument.
    pub(super) buffer: usize,
    /// Where the first byte lies.
    pub(super) place: Place,
    datatype: MPI_Datatype,
}

impl Object {
    /// Find the data of a call.
    pub(super) fn find(buffer: usize, count: i64, datatype: MPI_Datatype) -> Result<Self, Stop> {
        if count < 0 {
            return Err(Reason::BadArgument.into());
        }
        let entry = typecache::entry(datatype)?;
        let one = entry.layout.as_ref().map_err(|reason| *reason)?;
        if count == 0 || one.is_empty() {
            return Err(Reason::Empty.into());
        }
        let first = i64::try_from(buffer).ok().and_then(|b| b.checked_add(one.first()));
        let Some(first) = first.and_then(|first| usize::try_from(first).ok()).filter(|first| *first != 0)
        else {
            return Err(Reason::BadArgument.into());
        };
        let place = cuda::place(first);
        Ok(Self { entry, repeated: None, buffer, place, datatype }.repeat(count)?)
    }

    /// Fold the call's count into the layout, as one more dimension.
    fn repeat(mut self, count: i64) -> Result<Self, Reason> {
        if count > 1 {
            let one = self.entry.layout.as_ref().map_err(|reason| *reason)?;
            let all = one.repeat(count, self.entry.extent).ok_or(Reason::Overflow)?;
            self.repeated = Some(all.into_owned());
        }
        Ok(self)
    }

    /// The layout of all elements, relative to the buffer argument.
    pub(super) fn layout(&self) -> &Layout {
        const NONE: &Layout = &Layout::EMPTY;
        match (&self.repeated, &self.entry.layout) {
            (Some(layout), _) | (None, Ok(layout)) => layout,
            // `find` made sure of the layout.
            (None, Err(_)) => NONE,
        }
    }

    /// Packed bytes.
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.layout().size()).unwrap_or(0)
    }

    /// The address of the first packed byte's place in memory.
    pub(super) fn first(&self) -> u64 {
        (self.buffer as u64).wrapping_add_signed(self.layout().first())
    }

    /// Whether only the driver reaches the data fast: device or managed memory.
    pub(super) fn on_device(&self) -> bool {
        self.place.on_device()
    }

    /// Whether the system MPI can serve the buffer itself.
    pub(super) fn reachable(&self) -> bool {
        self.place.kind != Kind::Device || cuda_aware()
    }

    /// Whether the type may be used for communication, as far as is known: the system MPI has to be asked once. Types that were
    /// committed through us need no question.
    pub(super) fn check_usable(&self, comm: MPI_Comm) -> Result<(), Stop> {
        if self.entry.usable() {
            return Ok(());
        }
        Err(Stop::Ask { datatype: self.datatype, comm })
    }
}
