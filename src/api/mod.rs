//! The exported C ABI. Nothing here decides anything: a function looks for the cheap reasons to forward, lets `transfer` prepare
//! its buffers, and calls the system MPI's function of the same name.
//!
//! Exports are made from `mpi_table!`, each under its `MPI_` and its `PMPI_` name. A panic of ours ends at
//! [`prepare`] and [`finish`]; the system's call itself runs outside of both, and the exports are `C-unwind`, because a
//! program's error handler may leave it by a C++ exception or a `longjmp`.

mod burst;
#[cfg(feature = "check")]
mod check;
mod immediate;
mod p2p;
mod pack;
mod pack_large;
mod persistent;
mod request;
mod sendrecv;
mod setup;
mod side;
mod types;

use crate::mpi::comm::{Raise, raise};
use crate::mpi::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status, Via};
use crate::reason::Reason;
use crate::report::{self, Call};
use crate::transfer::{self, Stop};
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

macro_rules! make_exports {
    () => {};
    (hook fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty => $body:path; $($rest:tt)*) => {
        make_exports!{ @export $name ( $($a : $t),* ) -> $r => $body }
        make_exports!{ $($rest)* }
    };
    (large fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty | $fallback:path => $body:path; $($rest:tt)*) => {
        make_exports!{ @export $name ( $($a : $t),* ) -> $r => $body }
        make_exports!{ $($rest)* }
    };
    (call fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty; $($rest:tt)*) => { make_exports!{ $($rest)* } };
    (maybe fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty; $($rest:tt)*) => { make_exports!{ $($rest)* } };
    (@export $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty => $body:path) => {
        /// The MPI function of this name.
        ///
        /// # Safety
        /// As the MPI function.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(non_snake_case)]
        pub unsafe extern "C-unwind" fn $name($($a: $t),*) -> $r {
            settle_burst(stringify!($name));
            // SAFETY: the caller's duty is the body's.
            unsafe { $body(Via::Mpi, $($a),*) }
        }
        const _: () = {
            #[cfg_attr(not(test), unsafe(export_name = concat!("P", stringify!($name))))]
            #[allow(non_snake_case, dead_code)]
            unsafe extern "C-unwind" fn profiled($($a: $t),*) -> $r {
                settle_burst(stringify!($name));
                // SAFETY: the caller's duty is the body's.
                unsafe { $body(Via::Pmpi, $($a),*) }
            }
        };
    };
}

mpi_table!(make_exports);

/// Post deferred sends before a call of this `name`, unless it belongs to their burst.
#[inline(always)]
#[allow(clippy::inline_always, reason = "the name is known at compile time")]
fn settle_burst(name: &str) {
    let small = name.strip_suffix("_c").unwrap_or(name);
    if transfer::burst::open() && !matches!(small, "MPI_Isend" | "MPI_Issend" | "MPI_Irsend" | "MPI_Irecv") {
        transfer::burst::flush();
    }
}

/// Run `work`, which has no effect that the program could see, and stop a panic of ours. If the system MPI has to be asked for the
/// datatype, `work` runs again afterwards.
fn prepare<T>(work: impl Fn() -> Result<T, Stop>) -> Result<T, Stop> {
    match guarded(&work) {
        Err(Stop::Ask { datatype, comm }) => {
            transfer::ask(datatype, comm)?;
            guarded(&work)
        }
        done => done,
    }
}

fn guarded<T>(work: impl Fn() -> Result<T, Stop>) -> Result<T, Stop> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Stop::failed(Reason::Panicked)))
}

/// Run `work` after the system's call, and turn what goes wrong into an MPI error on `comm`.
fn finish(comm: MPI_Comm, work: impl FnOnce() -> Result<(), Raise>) -> c_int {
    match catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Raise::Other)) {
        Ok(()) => 0,
        Err(what) => raise(comm, what),
    }
}

/// End a call that was not accelerated: forward it, or answer as the MPI would.
fn stopped(call: Call, comm: MPI_Comm, stop: Stop, forward: impl FnOnce() -> c_int) -> c_int {
    match stop {
        Stop::Forward(reason) => {
            report::forwarded(call, reason);
            forward()
        }
        Stop::Raise(what) => raise(comm, what),
        Stop::Refused(code) => code,
        // Asked already, but the answer was not kept: a type whose death we would not hear of.
        Stop::Ask { .. } => stopped(call, comm, Stop::failed(Reason::Opaque), forward),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::Reason;

    #[test]
    fn a_panic_of_ours_forwards_the_call_or_is_an_error_after_it() {
        let stop = prepare(|| -> Result<(), Stop> { panic!("on purpose") });
        assert!(matches!(stop, Err(Stop::Forward(Reason::Panicked))));
        assert!(matches!(prepare(|| Ok(7)), Ok(7)));
    }
}
