//! The level of thread support (MPI-4.1 section 11.6), and threads of our own.

use super::family::family;
use super::next;
use std::ffi::c_int;
use std::thread::{Builder, Thread};

/// Whether the MPI promises that threads may take turns at calling it: `MPI_THREAD_SERIALIZED`.
pub fn serialized() -> bool {
    let (mut up, mut provided): (c_int, c_int) = (0, 0);
    // SAFETY: `up` is a valid place; the function may be called at any time.
    unsafe { next::MPI_Initialized(&raw mut up) };
    if up == 0 {
        return false; // a program with sessions only
    }
    // SAFETY: MPI is initialised, and the place is valid.
    let rc = unsafe { next::MPI_Query_thread(&raw mut provided) };
    rc == 0 && provided >= family().constants().thread_serialized
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
