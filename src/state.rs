//! Whether we act at all: between the first call and `MPI_Finalize`, in the process that called, unless switched off.

use crate::mpi::relay;
use crate::{config, cuda, pool, report};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;
const QUICK: u8 = 3;

static PHASE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether calls may be accelerated. The first call reads the configuration.
#[inline]
pub fn active() -> bool {
    match PHASE.load(Relaxed) {
        ON | QUICK => true,
        OFF => false,
        _ => wake(),
    }
}

/// Whether calls that move bytes in host memory may be accelerated and nobody wants to know of them. Not before the first call.
#[inline]
pub fn quick() -> bool {
    PHASE.load(Relaxed) == QUICK
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
            if PHASE.swap(OFF, Relaxed) != OFF {
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
    let quick = !(config::get().no_pack || config::get().no_host || report::on());
    PHASE.store(
        if !on {
            OFF
        } else if quick {
            QUICK
        } else {
            ON
        },
        Relaxed,
    );
    on
}

/// Forward everything from now on: after `MPI_Finalize`, and in a forked child.
pub fn stop() {
    // Nothing is deferred any more: MPI_Finalize has posted it, or it is the parent's.
    relay::arm(false);
    PHASE.store(OFF, Relaxed);
}
