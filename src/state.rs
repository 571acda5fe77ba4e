//! Whether we act at all: between the first call and `MPI_Finalize`, in the process that called, unless switched off.

use crate::{config, cuda, pool, report};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

static PHASE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether calls may be accelerated. The first call reads the configuration.
#[inline]
pub fn active() -> bool {
    match PHASE.load(Relaxed) {
        ON => true,
        OFF => false,
        _ => wake(),
    }
}

#[cold]
fn wake() -> bool {
    let on = !config::get().disable;
    report::start();
    pool::set_limit(config::get().pool_limit);
    cuda::lane::ignore_default_stream(config::get().unordered_stream);
    if report::on() {
        extern "C" fn exit() {
            // A program that never came to MPI_Finalize: a session, or an exit on the way.
            if PHASE.swap(OFF, Relaxed) == ON {
                report::write(config::get().rank.unwrap_or(0));
            }
        }
        // SAFETY: the handler needs nothing that may be gone at exit.
        unsafe { libc::atexit(exit) };
    }
    if on {
        unsafe extern "C" fn child() {
            stop();
        }
        // SAFETY: the handler only stores an atomic. In a forked child neither the MPI nor the driver may be used.
        unsafe { libc::pthread_atfork(None, None, Some(child)) };
    }
    PHASE.store(if on { ON } else { OFF }, Relaxed);
    on
}

/// Forward everything from now on: after `MPI_Finalize`, and in a forked child.
pub fn stop() {
    PHASE.store(OFF, Relaxed);
}
