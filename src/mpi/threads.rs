//! Levels of thread support (MPI-4.1 section 11.6), and threads of our own.
//!
//! A thread of ours may call the MPI only where it provides `MPI_THREAD_SERIALIZED`. So we may ask for it in the program's place, and the
//! program is told what it asked for itself, as an MPI would that has the levels below.

use super::family::family;
use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread::{Builder, Thread};

/// What the MPI has provided; -1: it was not initialised through us.
static PROVIDED: AtomicI32 = AtomicI32::new(-1);

/// What the program is told in its place; -1: the same.
static TOLD: AtomicI32 = AtomicI32::new(-1);

/// The level to ask for where the program has `required`.
pub fn at_least_serialized(required: c_int) -> c_int {
    required.max(family().constants().thread_serialized)
}

/// The MPI was initialised; tells what the program is to be told.
pub fn initialised(required: c_int, provided: c_int) -> c_int {
    PROVIDED.store(provided, Relaxed);
    let serialized = family().constants().thread_serialized;
    if required < serialized && provided == serialized {
        TOLD.store(required, Relaxed);
        return required;
    }
    provided
}

/// What the program is to be told instead of `provided`.
pub fn told(provided: c_int) -> c_int {
    let told = TOLD.load(Relaxed);
    if told < 0 { provided } else { told }
}

/// Whether threads may take turns at calling the MPI.
pub fn serialized() -> bool {
    PROVIDED.load(Relaxed) >= family().constants().thread_serialized
}

/// Start a thread that takes none of the process's signals.
pub fn spawn(name: &str, body: fn()) -> Option<Thread> {
    // SAFETY: a sigset_t is plain data, filled in by the next call.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    let mut own = all;
    // SAFETY: the place is valid.
    unsafe { libc::sigfillset(&raw mut all) };
    // A new thread inherits the mask.
    // SAFETY: both places are valid.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut own) };
    let spawned = Builder::new().name(name.to_owned()).spawn(body);
    // SAFETY: the mask is this thread's from before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const own, std::ptr::null_mut()) };
    spawned.ok().map(|handle| handle.thread().clone())
}
