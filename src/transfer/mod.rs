//! What becomes of a call once its arguments look like ours: whose buffer it is, by which method the bytes move.
//!
//! [`object`] finds the program's data, [`choose`] picks the method, [`device`], [`oneshot`], [`staged`] and [`copy`] are
//! the methods, [`fused`] runs many messages' at once, [`message`] makes them into arguments of the system's call, [`packing`] serves `MPI_Pack` and
//! `MPI_Unpack`, the usual calls of which [`quick`] does.
//! [`pending`] keeps messages whose request the program holds, [`orphans`] those whose request it has freed. [`burst`] defers sends that are
//! packed together, [`watchdog`] sees to it that none waits for a call that never comes.
//!
//! The invariant: until the system MPI was called nothing has happened that the program could see, so whatever goes wrong is a
//! [`Stop`]; and a device pointer reaches only an MPI that takes it.

pub mod burst;
pub mod choose;
mod copy;
mod device;
mod fused;
mod message;
mod object;
mod oneshot;
pub mod orphans;
pub mod packing;
pub mod pending;
pub mod quick;
mod staged;
mod watchdog;

pub use message::{Arrived, Incoming, Outgoing, Reach};
pub use message::{incoming, incoming_in_company, outgoing, outgoing_in_company, outgoing_later};

use crate::cuda::{self, CudaError};
use crate::mpi::aware::cuda_aware;
use crate::mpi::comm::Raise;
use crate::mpi::{MPI_Comm, MPI_Datatype, wire};
use crate::reason::Reason;
use crate::typecache;
use std::ffi::c_int;

/// A host address as a pointer.
#[allow(clippy::cast_possible_truncation)] // addresses have 64 bits on every platform of this crate
fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Why a call is not accelerated, and what happens instead.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    /// The system MPI serves the call as the program made it.
    Forward(Reason),
    /// The system MPI must not see the buffer: an error through the communicator's handler.
    Raise(Raise),
    /// The system MPI has refused the datatype, by this code and through the handler already.
    Refused(c_int),
    /// The system MPI is to be [asked](ask) whether it takes the datatype; then the call is tried again. The question may end in the program's
    /// error handler, which may leave it by an exception, so it is for the caller to ask.
    Ask {
        /// The type.
        datatype: MPI_Datatype,
        /// The call's communicator.
        comm: MPI_Comm,
    },
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Self::Forward(reason)
    }
}

/// Ask the system MPI whether it takes `datatype` in a call on `comm`.
///
/// # Errors
/// Its refusal.
pub fn ask(datatype: MPI_Datatype, comm: MPI_Comm) -> Result<(), Stop> {
    match wire::try_type(datatype, comm) {
        0 => {
            typecache::entry(datatype)?.set_usable();
            Ok(())
        }
        code => Err(Stop::Refused(code)),
    }
}

impl Stop {
    /// Something of ours failed before anything happened, such as a panic that was caught.
    pub fn failed(reason: Reason) -> Self {
        if cuda::driver::present() && !cuda_aware() {
            Self::Raise(Raise::Other)
        } else {
            Self::Forward(reason)
        }
    }

    /// A driver call failed for a buffer that the MPI can serve itself, if `reachable`.
    fn cuda(error: CudaError, reachable: bool) -> Self {
        tracing::debug!(%error, reachable, "a CUDA call failed");
        let no_memory = error.code == cuda::error::OUT_OF_MEMORY;
        match (reachable, no_memory) {
            (true, true) => Self::Forward(Reason::NoMemory),
            (true, false) => Self::Forward(Reason::CudaFailed),
            (false, true) => Self::Raise(Raise::NoMemory),
            (false, false) => Self::Raise(Raise::Other),
        }
    }
}
