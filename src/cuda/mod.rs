//! The CUDA driver, used as a guest.
//!
//! The application owns CUDA here: it loaded the driver, made the contexts and allocated the buffers. This module finds
//! the driver if the process has it, asks whose memory an address is, and runs kernels and copies in the buffer's own
//! context. The invariant of the whole module: what the application sees of CUDA is the same before and after every call.
//! So nothing here loads libcuda, calls `cuInit`, makes a context, or leaves another context current.
//!
//! * [`driver`]: is libcuda in this process; the table of its functions.
//! * [`memory`]: what kind of memory an address is; raw allocation. [`ranges`]: host memory told apart without the driver.
//! * [`context`]: enter a buffer's context and leave it again; what is kept per context.
//! * [`module`]: the kernels, loaded once per context.
//! * [`lane`]: a stream with a completion flag, the way to run something and to wait for it.
//!
//! May depend on: `libc`, `cust`, `parking_lot`. Nothing else in the crate names `cust` or a `cu*` function, and nothing
//! here knows what the kernels do. Of cust only what loads modules is used: its `Stream::new` cannot make a
//! non-blocking stream, and its result type is an enum that newer drivers' codes do not fit.

mod calls;
pub mod context;
pub mod driver;
pub mod error;
pub mod lane;
pub mod memory;
pub mod module;
pub mod ranges;

pub use context::{Entered, enter};
pub use error::CudaError;
pub use lane::{Completion, Lane};
pub use memory::{Kind, Memory, Place, are_host, place};
pub use module::Library;
