//! Why a call went to the system MPI unchanged.
//!
//! A closed list: each reason is counted (`report`), printable, and has a test.
#![forbid(unsafe_code)]

use std::fmt;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $name:ident => $text:literal,)*) => {
        /// Why a call was forwarded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Reason { $($(#[doc = $doc])* $name,)* }

        impl Reason {
            /// Every reason, in the order of the report.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// A few words for the report and the log.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

reasons! {
    /// The variable that switches this kind of call off is set.
    SwitchedOff => "switched off by a variable",
    /// `MPI_PROC_NULL`: no byte moves.
    ProcNull => "peer is MPI_PROC_NULL",
    /// A count of zero or a type of size zero.
    Empty => "no bytes",
    /// A count, pointer or position that the system MPI has to judge.
    BadArgument => "argument left to the MPI to judge",
    /// No CUDA driver in the process: every buffer is host memory.
    NoDriver => "no CUDA driver in the process",
    /// The buffer is host memory, where the MPI's own engine serves this call.
    HostBuffer => "buffer in host memory",
    /// Host memory, and the measured table gives the MPI's own engine the better time.
    HostSystemFaster => "host memory, the MPI packs it as fast",
    /// A contiguous buffer that the MPI takes as it is.
    Contiguous => "contiguous, the MPI takes it as it is",
    /// A constructor of later standards, or a predefined type with padding of unknown place.
    Irregular => "type has no form of ours",
    /// The type has more runs than a table may hold.
    TooManyBlocks => "type has too many blocks",
    /// The type's offsets or sizes do not fit into 64 bits.
    Overflow => "type exceeds 64 bits",
    /// The MPI would not describe the type, or it is nested beyond reason.
    Opaque => "type cannot be analysed",
    /// No memory for a packed buffer.
    NoMemory => "no memory for a packed buffer",
    /// A call of the CUDA driver failed before anything was done.
    CudaFailed => "a CUDA call failed",
    /// The packed and the unpacked buffer are memory of different devices.
    TwoDevices => "buffers on two devices",
    /// The message is too large for the calls that this MPI offers.
    TooLarge => "message too large",
    /// A message that is longer than the receive, where the MPI would write past the end of a buffer of ours.
    TooLong => "message longer than the receive",
    /// A panic was caught at the C boundary before anything was done.
    Panicked => "internal error",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
