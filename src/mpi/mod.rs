//! The system MPI: which one it is, its functions, its constants, its datatypes.
//!
//! One binary serves every MPI: handles are machine words ([`handle`]), functions are found at run time ([`next`]),
//! and what differs between the families is in one table ([`mod@family`]). Inside the crate an MPI function is only ever
//! called through [`next`]: a plain call would bind to our own export.

#[macro_use]
pub mod table;

pub mod aware;
pub mod comm;
pub mod datatype;
pub mod family;
pub mod handle;
pub mod imports;
pub mod keyval;
mod large;
pub mod library;
pub mod next;
pub mod relay;
pub mod request;
pub mod status;
pub mod threads;
pub mod wire;

pub use family::{Family, family};
pub use handle::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status};
pub use next::Via;
