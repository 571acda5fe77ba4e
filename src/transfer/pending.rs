//! Messages of ours whose request the program holds: the packed buffer of a send or a receive, kept until the request is complete.
//!
//! The request is the system's own, so the table is keyed by the handle's value, and four facts make that right.
//!
//! *A handle value comes back.* As soon as the system's completion call has freed a request, another thread may be given the same
//! value for a request that is not ours, and complete that. So an entry is [claimed](claim) before the system is asked, and a
//! claimed entry is invisible to every other call: whoever finds it under the new request's value forwards. MPI forbids two calls
//! to complete one request at once (MPI-4.1 section 3.7.5), so nobody is kept from an entry of his own. A claim that finds its request still
//! under way lets go of it; one that is settled takes the entry out of the table, but only if the table still holds that very entry:
//! a new request of ours may have [replaced](post) it, and the claim's [`Arc`] keeps the old one alive as long as it is needed.
//!
//! *A call may never return.* A program's error handler can leave it by `longjmp`, and its claims are never dropped. So a claim is known
//! by its thread, and a new call of that thread takes the entry over: a thread is in one call at a time. Only as `PMPI_X` may it come
//! from inside the call that holds the claim, by way of a tool behind us.
//!
//! *A handle value can be shared.* Both MPICH and Open MPI answer a send that is complete at once with one request that they keep
//! for the purpose. The entry of the second such send replaces the first one's, whose buffer is free to go since its send is
//! complete. The same rule serves a request that was completed by a function that we do not export: late, never wrong.
//!
//! *A receive is unpacked once.* `MPI_Request_get_status` may see it complete before the call that frees it; the entry remembers.
//!
//! A persistent request's entry stays until the request is freed and is only seen by completion calls while it is active.
//!
//! Depends on `message`. The invariant: an entry's buffer lives at least as long as its request is under way. No lock is held while
//! the MPI or the driver is called.
#![forbid(unsafe_code)]

use super::{Arrived, Incoming, Outgoing};
use crate::mpi::Via;
use crate::mpi::comm::Raise;
use crate::mpi::status::Received;
use crate::report::{self, Call};
use crate::typecache::ByHandle;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A message behind a request.
#[derive(Debug)]
pub enum Message {
    /// A send.
    Out(Outgoing),
    /// A receive.
    In(Incoming),
    /// What the system sends from where it lies; or nothing, to test the table without a device.
    Nothing,
}

/// How long a request lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Until the operation is complete.
    Once,
    /// Until the program frees it.
    Persistent,
    /// The program knows it as [`Once`](Self::Once), but it is one of the system's persistent requests, whose start was deferred
    /// ([`burst`](super::burst)): whoever completes it frees it.
    Deferred,
}

impl From<Outgoing> for Message {
    fn from(out: Outgoing) -> Self {
        Self::Out(out)
    }
}

impl From<Incoming> for Message {
    fn from(incoming: Incoming) -> Self {
        Self::In(incoming)
    }
}

/// An entry of the table.
#[derive(Debug)]
pub struct Pending {
    /// The function that made the request.
    call: Call,
    message: Message,
    life: Life,
    /// Whether an operation is under way, or complete and not yet told to the program.
    active: AtomicBool,
    /// Whether the operation's data was unpacked before its completion was told.
    delivered: AtomicBool,
    /// The thread in which a call is completing the request; 0: none.
    claimed: AtomicUsize,
    /// What went wrong when a deferred send was to be started. Its completion raises it.
    failure: OnceCell<Raise>,
}

/// A number of the calling thread, which is not 0.
pub(super) fn thread() -> usize {
    thread_local!(static OWN: u8 = const { 0 });
    OWN.with(|own| std::ptr::from_ref(own).addr())
}

impl Pending {
    fn new(call: Call, message: Message, life: Life) -> Arc<Self> {
        let [active, delivered] = [life != Life::Persistent, false].map(AtomicBool::new);
        let (claimed, failure) = (AtomicUsize::new(0), OnceCell::new());
        Arc::new(Self { call, message, life, active, delivered, claimed, failure })
    }

    /// Whether it is a receive, which needs a status to be unpacked.
    pub fn receives(&self) -> bool {
        matches!(self.message, Message::In(_))
    }

    /// How long the request lives.
    pub fn life(&self) -> Life {
        self.life
    }

    /// What to unpack now that the receive is complete, unless that was done already.
    pub fn arrived(&self, received: impl FnOnce() -> Option<Received>) -> Option<Arrived<'_>> {
        let Message::In(incoming) = &self.message else { return None };
        if self.delivered.swap(true, Ordering::AcqRel) {
            return None;
        }
        // A cancelled receive delivers nothing.
        received().map(|received| Arrived { incoming, call: self.call, received })
    }

    /// Unpack what was received, unless that was done already.
    ///
    /// # Errors
    /// What to raise.
    pub fn deliver(&self, received: impl FnOnce() -> Option<Received>) -> Result<(), Raise> {
        let since = report::clock();
        self.arrived(received).map_or(Ok(()), |arrived| Incoming::finish_all(&[arrived], since))
    }

    /// Pack what starts of these requests send.
    ///
    /// # Errors
    /// What to raise, for each request.
    pub fn pack_all(list: &[Arc<Self>]) -> Vec<Result<(), Raise>> {
        let mut since = report::clock();
        let messages: Vec<&Outgoing> = list.iter().filter_map(|pending| pending.outgoing()).collect();
        let mut packed = Outgoing::pack_all(&messages).into_iter();
        list.iter()
            .map(|pending| {
                let Some(out) = pending.outgoing() else { return Ok(()) };
                packed.next().unwrap_or(Ok(()))?;
                // The time is that of all of them.
                out.sent(pending.call, since.take().or_else(report::clock));
                Ok(())
            })
            .collect()
    }

    fn outgoing(&self) -> Option<&Outgoing> {
        if let Message::Out(out) = &self.message { Some(out) } else { None }
    }

    /// A deferred send could not be started.
    pub fn fail(&self, what: Raise) {
        let _ = self.failure.set(what); // the first one is told
    }

    /// Whether it could be started.
    ///
    /// # Errors
    /// What to raise.
    pub fn failure(&self) -> Result<(), Raise> {
        self.failure.get().map_or(Ok(()), |what| Err(*what))
    }

    /// The system has started this persistent request.
    pub fn started(&self) {
        self.delivered.store(false, Ordering::Relaxed);
        self.active.store(true, Ordering::Release);
    }
}

static TABLE: Mutex<ByHandle<Arc<Pending>>> = Mutex::new(ByHandle::with_hasher(BuildHasherDefault::new()));

/// How many entries [`TABLE`] has. A thread that was given a request by another one sees at least its entry counted.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Whether any request is ours. Otherwise a call has nothing for us.
#[inline]
pub fn any() -> bool {
    LIVE.load(Ordering::Relaxed) > 0
}

/// Entries at the moment, for tests of leaks.
pub fn len() -> usize {
    TABLE.lock().len()
}

/// Keep the message behind a request that is under way.
pub fn post(key: usize, call: Call, message: impl Into<Message>) {
    insert(key, Pending::new(call, message.into(), Life::Once));
}

/// Keep the message behind a persistent request, which is not active yet.
pub fn init(key: usize, call: Call, message: impl Into<Message>) {
    insert(key, Pending::new(call, message.into(), Life::Persistent));
}

/// Keep the message behind a request whose start is deferred.
pub fn defer(key: usize, call: Call, message: Message) -> Arc<Pending> {
    let pending = Pending::new(call, message, Life::Deferred);
    insert(key, Arc::clone(&pending));
    pending
}

fn insert(key: usize, pending: Arc<Pending>) {
    let mut table = TABLE.lock();
    let old = table.insert(key, pending);
    LIVE.store(table.len(), Ordering::Relaxed);
    drop(table);
    if let Some(old) = old {
        replaced(&old);
    }
}

/// The system has made a request of this value that is not ours: an entry under it is over.
#[inline]
pub fn forget(key: usize) {
    if any() {
        let mut table = TABLE.lock();
        let old = table.remove(&key);
        LIVE.store(table.len(), Ordering::Relaxed);
        drop(table);
        if let Some(old) = old {
            replaced(&old);
        }
    }
}

fn replaced(old: &Pending) {
    let seen = old.claimed.load(Ordering::Relaxed) != 0 || old.delivered.load(Ordering::Relaxed);
    if old.receives() && old.life == Life::Once && !seen {
        tracing::warn!("a receive was completed by a function that is not known here: its data is lost");
    }
}

/// The right to complete one request of ours. Dropped, it leaves the request as it was.
#[derive(Debug)]
pub struct Claim {
    /// The place of the request in the call's array.
    pub index: usize,
    /// The request's handle, as a key.
    pub key: usize,
    /// The entry.
    pub pending: Arc<Pending>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.pending.claimed.store(0, Ordering::Release);
    }
}

impl Pending {
    /// Whether a call of this thread may claim the entry. Asked with the table locked.
    fn claimable(&self, via: Via, thread: usize) -> bool {
        let claimed = self.claimed.load(Ordering::Acquire);
        claimed == 0 || claimed == thread && via == Via::Mpi
    }
}

/// Claim those requests of a call that are ours and under way. `keys` are the call's handles, in order.
pub fn claim(via: Via, keys: impl IntoIterator<Item = usize>) -> Vec<Claim> {
    let mut claims = Vec::new();
    let thread = thread();
    let table = TABLE.lock();
    for (index, key) in keys.into_iter().enumerate() {
        if let Some(pending) = table.get(&key)
            && pending.active.load(Ordering::Acquire)
            && pending.claimable(via, thread)
        {
            pending.claimed.store(thread, Ordering::Relaxed);
            claims.push(Claim { index, key, pending: Arc::clone(pending) });
        }
    }
    claims
}

/// The operations are over, and with `freed` the request is gone too.
pub fn settle<'a>(claims: impl IntoIterator<Item = (&'a Claim, bool)>) {
    let mut gone = Vec::new(); // to be dropped outside the lock
    let mut table = TABLE.lock();
    for (claim, freed) in claims {
        if !freed {
            claim.pending.active.store(false, Ordering::Release);
        } else if table.get(&claim.key).is_some_and(|held| Arc::ptr_eq(held, &claim.pending)) {
            gone.extend(table.remove(&claim.key));
        }
    }
    LIVE.store(table.len(), Ordering::Relaxed);
    drop(table);
}

/// The entries of those requests of a call that are persistent and ours.
pub fn persistent(keys: impl IntoIterator<Item = usize>) -> Vec<Arc<Pending>> {
    let table = TABLE.lock();
    let ours = keys.into_iter().filter_map(|key| table.get(&key));
    ours.filter(|pending| pending.life == Life::Persistent).map(Arc::clone).collect()
}

/// Take the entry of an inactive persistent request that is about to be freed.
pub fn take_inactive(key: usize) -> Option<Arc<Pending>> {
    let mut table = TABLE.lock();
    let idle =
        |pending: &Arc<Pending>| pending.life == Life::Persistent && !pending.active.load(Ordering::Acquire);
    let taken = if table.get(&key).is_some_and(idle) { table.remove(&key) } else { None };
    LIVE.store(table.len(), Ordering::Relaxed);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because the table is the process's.
    #[test]
    fn handles_may_come_back_at_any_moment() {
        let indices = |claims: &[Claim]| claims.iter().map(|claim| claim.index).collect::<Vec<_>>();
        assert!(!any());

        // Claimed: nobody else sees it, not even the same call under a second index. Let go of: as before.
        post(1, Call::Isend, Message::Nothing);
        post(2, Call::Isend, Message::Nothing);
        let old = claim(Via::Pmpi, [7, 1, 1]);
        assert_eq!(indices(&old), [1]);
        assert_eq!(indices(&claim(Via::Pmpi, [1, 2])), [1], "a request that has the old one's value");
        drop(old);
        let old = claim(Via::Pmpi, [1]);
        assert_eq!(indices(&old), [0]);

        // A new request of ours gets the value before the old one's call has finished with it.
        post(1, Call::Isend, Message::Nothing);
        settle(old.iter().map(|claim| (claim, true)));
        drop(old);
        assert_eq!(len(), 2, "the new one stays");
        let new = claim(Via::Pmpi, [1, 2]);
        assert_eq!(indices(&new), [0, 1]);
        settle(new.iter().map(|claim| (claim, true)));
        assert!(!any());
        drop(new);

        // A request of somebody else's gets it.
        post(1, Call::Isend, Message::Nothing);
        forget(1);
        assert!(claim(Via::Pmpi, [1]).is_empty() && !any());

        // Persistent: seen while active, kept when complete.
        init(3, Call::SendInit, Message::Nothing);
        assert!(claim(Via::Pmpi, [3]).is_empty(), "not active yet");
        let list = persistent([2, 3]);
        assert_eq!(list.len(), 1);
        for pending in list {
            pending.started();
        }
        assert!(take_inactive(3).is_none());
        let done = claim(Via::Pmpi, [3]);
        assert_eq!(indices(&done), [0]);
        settle(done.iter().map(|claim| (claim, false)));
        drop(done);
        assert!(claim(Via::Pmpi, [3]).is_empty() && any());
        assert!(take_inactive(3).is_some() && !any());
    }
}
