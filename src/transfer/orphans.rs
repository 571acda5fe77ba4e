//! Requests that the program freed while they were under way (MPI-4.1 section 3.7.3).
//!
//! The system would tell nobody when such an operation ends, and its packed buffer must live until then. So the system's request is
//! not freed but kept here, and asked for at later calls of ours; what a receive delivers is unpacked then. At `MPI_Finalize`
//! they get a little time, and what is still under way is left to the MPI, its buffer with it.
//!
//! Depends on `pending`. The invariant: no lock is held while the MPI is called.
#![forbid(unsafe_code)]

use super::pending::{self, Claim, Pending};
use crate::mpi::MPI_Request;
use crate::mpi::comm::Raise;
use crate::mpi::request::{Owned, Progress};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long `MPI_Finalize` waits for them.
const PATIENCE: Duration = Duration::from_millis(200);

#[derive(Debug)]
struct Orphan {
    request: Owned,
    pending: Arc<Pending>,
}

static ORPHANS: Mutex<Vec<Orphan>> = Mutex::new(Vec::new());
/// How many there are, those that a call is asking for included.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Take a request over from the program.
pub fn adopt(handle: MPI_Request, claim: &Claim) {
    pending::settle([(claim, true)]);
    COUNT.fetch_add(1, Ordering::Relaxed);
    ORPHANS.lock().push(Orphan { request: Owned::new(handle), pending: Arc::clone(&claim.pending) });
}

/// Whether there are any.
#[inline]
pub fn any() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

/// Ask for their completion.
///
/// # Errors
/// What to raise: the last failure to unpack.
#[inline]
pub fn poll() -> Result<(), Raise> {
    if any() { ask() } else { Ok(()) }
}

#[cold]
fn ask() -> Result<(), Raise> {
    let mut result = Ok(());
    let asked = std::mem::take(&mut *ORPHANS.lock());
    for mut orphan in asked {
        match orphan.request.test() {
            Progress::Pending => {
                ORPHANS.lock().push(orphan);
                continue;
            }
            Progress::Done => {
                if let Err(what) = orphan.pending.deliver(|| orphan.request.received()) {
                    result = Err(what);
                }
            }
            Progress::Failed => {}
        }
        orphan.request.free();
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
    result
}

/// Before `MPI_Finalize`: complete what can be completed soon, and leave the rest to the MPI.
pub fn finish() {
    let began = Instant::now();
    while any() && began.elapsed() < PATIENCE {
        let _ = poll(); // nobody is left to be told
        std::thread::yield_now();
    }
    for orphan in std::mem::take(&mut *ORPHANS.lock()) {
        tracing::debug!("a freed request is still under way at MPI_Finalize");
        orphan.request.free();
        // The MPI still reads or writes the buffer.
        std::mem::forget(orphan.pending);
    }
}
