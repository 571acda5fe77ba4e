//! The watchdog: a thread that posts deferred sends when the program makes no MPI call any more.
//!
//! It ticks while bursts come, and sleeps otherwise. Signals of the program go to the program's threads.
//!
//! MPI promises from `MPI_THREAD_SERIALIZED` on that threads may take turns at calling it, and the turns are kept at every level. Below it
//! the promise is not given, though no MPI that is known looks which thread it is that calls it; so there the thread is in less of a
//! hurry and leaves the program every chance to make a call of its own. To ask for the higher level in the program's place is
//! no way: under Open MPI it makes every small message slower (Irecv, Send and Wait by 0.1 to 0.4 us).
//!
//! Depends on `burst`. The invariant: a send is not deferred for more than about two ticks.
#![forbid(unsafe_code)]

use super::burst;
use crate::mpi::threads;
use once_cell::sync::OnceCell;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

/// A deferred send that is seen at two ticks is posted: where threads may call the MPI, and where that is not promised.
const TICKS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(10)];

/// Ticks without a burst before the thread sleeps.
const REST: u32 = 20;

/// Ticks left before the thread sleeps; 0: it does, or is about to.
static AWAKE: AtomicU32 = AtomicU32::new(0);

/// Whether the MPI promises that the thread may call it.
static PROMISED: AtomicBool = AtomicBool::new(false);

/// Start the thread. Whether there is one.
pub(super) fn start() -> bool {
    PROMISED.store(threads::serialized(), Ordering::Relaxed);
    thread_of().is_some()
}

fn thread_of() -> Option<&'static Thread> {
    static THREAD: OnceCell<Option<Thread>> = OnceCell::new();
    THREAD.get_or_init(|| threads::spawn("tempi", watch)).as_ref()
}

/// A send is deferred.
#[inline]
pub(super) fn wake() {
    if AWAKE.swap(REST, Ordering::AcqRel) == 0
        && let Some(thread) = thread_of()
    {
        thread.unpark();
    }
}

fn watch() {
    let [short, long] = TICKS;
    let tick = if PROMISED.load(Ordering::Relaxed) { short } else { long };
    let mut seen = None;
    loop {
        while AWAKE.load(Ordering::Acquire) == 0 {
            thread::park();
        }
        thread::sleep(tick);
        seen = catch_unwind(|| burst::flush_stale(seen)).unwrap_or(None);
        if seen.is_none() {
            // A burst that comes at this moment puts the number up again, and wakes the thread if that was 0.
            let _ = AWAKE.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        }
    }
}
