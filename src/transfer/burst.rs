//! A burst: sends that follow one another, packed by one launch and posted in their order.
//!
//! A code that exchanges a halo calls `MPI_Isend` once for each neighbour, and a launch for each costs more than the data. So a send that is
//! expected to be followed by another one at once is *deferred*: the system makes a persistent request of it over a packed buffer
//! that is still empty, and the program gets that request. The last send of the burst packs all of them with one launch and starts them in
//! the order in which the program made them.
//!
//! *What is expected* is what happened before: a send is known by its peer, type, count and place in the burst, and the table
//! remembers whether another one followed within [`GAP`]. What is not known is not deferred. So a program that computes, polls
//! memory or waits after its last send has lost nothing: that send went, and all before it. One delay in a burst, when the
//! process lost its core for a moment, is forgiven.
//!
//! *Where the expectation fails* nothing may be late or overtaken. While something is deferred a flag makes every other MPI call
//! [flush] first, be it one that we serve or one that only passes ([`relay`]). And if none comes, because the program
//! computes or polls, a thread ([`watchdog`]) does it. Nobody else is in an MPI call at that moment: a program that is in one has
//! flushed before, or holds its [`Turn`]. Posting receives neither flushes nor ends a burst.
//!
//! *A turn can be left by `longjmp`*, as any call of ours may: so it is known by its thread, which takes it again.
//!
//! Depends on `message`, `pending`. The invariant: the flag is up as long as anything is deferred, and deferred sends are started in
//! their order before any later call of the program reaches the MPI.
#![forbid(unsafe_code)]

use super::pending::{Pending, thread};
use super::watchdog;
use crate::config::{self, Fusion};
use crate::mpi::comm::Raise;
use crate::mpi::{MPI_Request, relay, request};
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The longest time between two sends of one burst. A program that takes longer is doing something else in between.
const GAP: Duration = Duration::from_micros(20);

/// Packed bytes and messages beyond which a burst is posted: a launch is cheap then, and the first message has waited long enough.
const MOST_BYTES: usize = 16 << 20;
const MOST: usize = 256;

/// Sends that are remembered: sets of a few, in which those are found that no other place is left for.
const SETS: usize = 128;
const WAYS: usize = 8;

/// What is remembered of a send: whether another one followed it.
#[derive(Clone, Copy)]
struct Known {
    signature: u64,
    /// 0: no. Otherwise how often in a row none may follow before that is believed.
    followed: u8,
}

/// [`Known::followed`] of a send that another one has followed.
const SURE: u8 = 2;

/// A send whose start is deferred.
struct Deferred {
    request: MPI_Request,
    pending: Arc<Pending>,
}

struct Burst {
    /// Sends so far; 0: none is open.
    place: u64,
    /// Where the last send is remembered, and when it ended.
    last: Option<((usize, usize), Instant)>,
    queue: VecDeque<Deferred>,
    bytes: usize,
    known: [[Known; WAYS]; SETS],
    /// Which of a set makes room for the next new one.
    victim: usize,
}

static BURST: Mutex<Burst> = Mutex::new(Burst {
    place: 0,
    last: None,
    queue: VecDeque::new(),
    bytes: 0,
    known: [[Known { signature: 0, followed: 0 }; WAYS]; SETS],
    victim: 0,
});

/// The thread that has its turn; 0: none.
static TURN: AtomicUsize = AtomicUsize::new(0);

/// The right to call the MPI while something is deferred.
#[derive(Debug)]
pub struct Turn(());

/// Wait for the turn. The thread that has it gets it again: it has left its last call by `longjmp`, or the MPI calls us back.
pub fn turn() -> Turn {
    let own = thread();
    let mut spins = 0_u32;
    while let Err(owner) = TURN.compare_exchange_weak(0, own, Ordering::Acquire, Ordering::Relaxed) {
        if owner == own {
            break;
        }
        spins = spins.saturating_add(1);
        if spins < 64 { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
    Turn(())
}

/// The turn, if nobody has it.
pub(super) fn try_turn() -> Option<Turn> {
    TURN.compare_exchange(0, thread(), Ordering::Acquire, Ordering::Relaxed).ok().map(|_| Turn(()))
}

impl Drop for Turn {
    fn drop(&mut self) {
        TURN.store(0, Ordering::Release);
    }
}

/// Whether sends may be deferred in this process at all.
pub fn possible() -> bool {
    static POSSIBLE: OnceCell<bool> = OnceCell::new();
    config::get().fusion != Fusion::Off && *POSSIBLE.get_or_init(prerequisites) && relay::foreign().is_empty()
}

/// What has to be true of this process.
#[cold]
fn prerequisites() -> bool {
    let obstacle = if !relay::COMPLETE {
        "calls that pass cannot be seen on this machine"
    } else if request::tool_behind() {
        "a profiling tool behind us would see other calls than the program made"
    } else if !watchdog::start() {
        "no thread can be started"
    } else {
        relay::set_flush(flush);
        return true;
    };
    tracing::debug!(obstacle, "sends are not fused");
    false
}

/// Whether a burst is open.
#[inline]
pub fn open() -> bool {
    relay::deferred()
}

/// Whether a send of this `signature` is to be deferred. Tells the table whether it follows the one before.
pub fn expects(_turn: &Turn, signature: u64) -> bool {
    let mut burst = BURST.lock();
    let burst = &mut *burst;
    if let Some((slot, ended)) = burst.last.take() {
        burst.remember(slot, ended.elapsed() < GAP);
    }
    burst.place += 1;
    let signature = (signature ^ burst.place).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let set = usize::try_from(signature >> 32).unwrap_or(0) % SETS;
    let found =
        burst.known.get(set).and_then(|set| set.iter().position(|known| known.signature == signature));
    let way = found.unwrap_or_else(|| {
        burst.victim = (burst.victim + 1) % WAYS;
        burst.victim
    });
    let Some(known) = burst.known.get_mut(set).and_then(|set| set.get_mut(way)) else { return false };
    if found.is_none() {
        *known = Known { signature, followed: 0 };
    }
    let followed = known.followed;
    burst.last = Some(((set, way), Instant::now()));
    followed > 0 || config::get().fusion == Fusion::On
}

impl Burst {
    fn remember(&mut self, (set, way): (usize, usize), followed: bool) {
        if let Some(known) = self.known.get_mut(set).and_then(|set| set.get_mut(way)) {
            known.followed = if followed { SURE } else { known.followed.saturating_sub(1) };
        }
    }
}

/// Whether nothing is deferred.
pub fn empty(_turn: &Turn) -> bool {
    BURST.lock().queue.is_empty()
}

/// Defer a send of `bytes` packed bytes behind `request`.
pub fn defer(_turn: &Turn, request: MPI_Request, pending: Arc<Pending>, bytes: usize) {
    let mut burst = BURST.lock();
    burst.queue.push_back(Deferred { request, pending });
    burst.bytes = burst.bytes.saturating_add(bytes);
    drop(burst);
    relay::arm(true);
    watchdog::wake();
}

/// A send of ours has ended: the burst is open for the next one. With `last` it is posted, or if it has grown too large.
pub fn sent(turn: &Turn, last: bool) {
    let burst = BURST.lock();
    let full = burst.bytes >= MOST_BYTES || burst.queue.len() >= MOST;
    drop(burst);
    if last || full {
        post(turn);
    }
    ended();
}

/// A call that belongs to the burst has ended: the next one may follow.
pub fn ended() {
    if let Some((_, ended)) = &mut BURST.lock().last {
        *ended = Instant::now();
        relay::arm(true);
    }
}

/// Post what is deferred before the MPI is called for something else, which ends the burst.
#[cold]
pub fn flush() {
    end(&turn());
}

/// End the burst: what is deferred goes now.
fn end(turn: &Turn) {
    close();
    post(turn);
    relay::arm(false);
}

/// The watchdog's: as [`flush`], if nobody has been in a call since `seen`, a number of this function's. Returns the number for the next time.
pub(super) fn flush_stale(seen: Option<usize>) -> Option<usize> {
    let turn = try_turn()?;
    let oldest = {
        let burst = BURST.lock();
        burst.queue.front().map(|first| Arc::as_ptr(&first.pending).addr())
    }?;
    if seen != Some(oldest) {
        return Some(oldest);
    }
    end(&turn);
    None
}

/// No send followed the last one.
fn close() {
    let mut burst = BURST.lock();
    burst.place = 0;
    if let Some((slot, _)) = burst.last.take() {
        burst.remember(slot, false);
    }
}

/// Pack what is deferred and start it. What fails is told when the program completes the request.
///
/// A start may end in the program's error handler, which may leave it, or call the MPI and so come here again: what is not started yet
/// stays in the queue until it is its turn.
fn post(_turn: &Turn) {
    let list: Vec<Arc<Pending>> =
        BURST.lock().queue.iter().map(|deferred| Arc::clone(&deferred.pending)).collect();
    if list.is_empty() {
        return;
    }
    // The caller may be a relay, which a panic of ours must not cross.
    let packed = catch_unwind(AssertUnwindSafe(|| Pending::pack_all(&list)));
    let packed = packed.unwrap_or_else(|_| vec![Err(Raise::Other); list.len()]);
    for (pending, packed) in list.iter().zip(packed) {
        if let Err(what) = packed {
            pending.fail(what);
        }
    }
    while let Some(Deferred { request, pending }) = next() {
        if pending.failure().is_ok() && request::start(request) != 0 {
            pending.fail(Raise::Other);
        }
    }
}

/// The first of what is deferred.
fn next() -> Option<Deferred> {
    let mut burst = BURST.lock();
    let first = burst.queue.pop_front();
    if first.is_none() {
        burst.bytes = 0;
    }
    first
}
