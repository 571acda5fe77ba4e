//! From a datatype handle to what is known of the type.
//!
//! A type is analysed when it is committed, or at its first use if it never passed our commit (duplicates, Fortran descriptors,
//! types of other libraries). Entries die with their type, which an attribute tells; a plan in use outlives its handle, since
//! whoever uses it holds an [`Arc`]. No lock is held while the MPI is called.
#![forbid(unsafe_code)]

use crate::config::{self, ExplainTo};
use crate::explain;
use crate::ir::{self, Describe, Layout, Unsupported};
use crate::mpi::datatype::{System, is_predefined};
use crate::mpi::{MPI_Datatype, family, keyval};
use crate::reason::Reason;
use once_cell::sync::OnceCell;
use parking_lot::RwLock;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// What is known of one datatype.
#[derive(Debug)]
pub struct Entry {
    /// The layout of one element, or why there is none.
    pub layout: Result<Layout, Reason>,
    /// Bytes from one element to the next.
    pub extent: i64,
    /// Whether the type may be used for communication: predefined, committed through us, or accepted by the MPI once.
    usable: AtomicBool,
}

impl Entry {
    /// Whether the type is known to be committed.
    pub fn usable(&self) -> bool {
        self.usable.load(Relaxed)
    }

    /// The MPI took the type in a communication call.
    pub fn set_usable(&self) {
        self.usable.store(true, Relaxed);
    }
}

/// Handles are addresses or small integers: one multiplication spreads them.
#[derive(Default)]
pub(crate) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0.rotate_left(8) ^ u64::from(*byte));
        }
    }
    fn write_u64(&mut self, word: u64) {
        let mixed = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

/// A table by handle.
pub(crate) type ByHandle<T> = HashMap<usize, T, BuildHasherDefault<WordHasher>>;

type Entries = ByHandle<Arc<Entry>>;

static ENTRIES: RwLock<Entries> = RwLock::new(HashMap::with_hasher(BuildHasherDefault::new()));

/// Counts deaths. What a thread remembers holds as long as none happened.
static DEATHS: AtomicU64 = AtomicU64::new(0);

/// Types that a thread remembers, so that the usual look-up needs no lock. It keeps none that it knows to be dead: a plan
/// may be large, and have its table on a device.
const RECENT: usize = 8;

struct Recent {
    key: usize,
    deaths: u64,
    entry: Arc<Entry>,
}

thread_local! {
    static RECENTLY: RefCell<[Option<Recent>; RECENT]> = const { RefCell::new([const { None }; RECENT]) };
}

/// Who else remembers types.
static LISTENER: OnceCell<fn()> = OnceCell::new();

/// Call `listener` on the thread where a type dies, after [`deaths`] has counted it. Every call passes the same listener.
pub fn tell_of_deaths(listener: fn()) {
    let _ = LISTENER.set(listener);
}

/// How many types have died. What was learnt of a handle holds as long as this stays the same.
#[inline]
pub fn deaths() -> u64 {
    DEATHS.load(Acquire)
}

/// The entry of `datatype`, if it was analysed.
#[inline]
pub fn get(datatype: MPI_Datatype) -> Option<Arc<Entry>> {
    with(datatype, Arc::clone).or_else(|| table(datatype.key()))
}

/// What `work` makes of the entry of `datatype`, without a lock or a count of references; `None` if the type was not analysed, or where
/// a thread remembers nothing (it is ending, or `work` came back here).
#[inline]
pub fn with<T>(datatype: MPI_Datatype, work: impl FnOnce(&Arc<Entry>) -> T) -> Option<T> {
    let key = datatype.key();
    let deaths = deaths();
    RECENTLY
        .try_with(|recent| {
            let mut recent = recent.try_borrow_mut().ok()?;
            let place = spread(key) % RECENT;
            let known = |known: &Recent| known.key == key && known.deaths == deaths;
            if !recent.get(place)?.as_ref().is_some_and(known) {
                learn(&mut recent, place, key, deaths)?;
            }
            recent.get(place)?.as_ref().map(|known| work(&known.entry))
        })
        .ok()?
}

/// Remembers `key`, and nothing that might have died since it was looked up.
#[cold]
fn learn(recent: &mut [Option<Recent>; RECENT], place: usize, key: usize, deaths: u64) -> Option<()> {
    for slot in recent.iter_mut().filter(|slot| slot.as_ref().is_some_and(|known| known.deaths != deaths)) {
        *slot = None;
    }
    *recent.get_mut(place)? = Some(Recent { key, deaths, entry: table(key)? });
    Some(())
}

fn table(key: usize) -> Option<Arc<Entry>> {
    ENTRIES.read().get(&key).cloned()
}

/// The place of a handle among the few that a thread remembers. Numbers that follow each other (MPICH's) get places of their
/// own, which a hash like the table's does not give them: it is a matter of 8 places, not of 2⁶⁴.
#[inline]
pub fn spread(key: usize) -> usize {
    key >> 4 ^ key >> 9 ^ key
}

/// The entry of `datatype`, analysed now if it was not before.
///
/// # Errors
/// Why nothing can be known of it: the null handle, or the MPI's refusal to describe it.
#[inline]
pub fn entry(datatype: MPI_Datatype) -> Result<Arc<Entry>, Reason> {
    get(datatype).map_or_else(|| analyse(datatype), Ok)
}

/// The type was committed: analyse it, whatever was known before.
pub fn commit(datatype: MPI_Datatype) {
    if config::get().no_type_commit {
        return;
    }
    if let Ok(entry) = entry(datatype) {
        entry.set_usable();
    }
}

/// The handle is dead or about to be.
pub fn forget(key: usize) {
    let dead = ENTRIES.write().remove(&key);
    // After the removal, so that nobody remembers the entry under the new count.
    DEATHS.fetch_add(1, Release);
    let mine = RECENTLY.try_with(|recent| {
        let mut recent = recent.try_borrow_mut().ok()?;
        recent.iter_mut().find(|slot| slot.as_ref().is_some_and(|known| known.key == key))?.take()
    });
    drop((dead, mine)); // outside the lock
    if let Some(listener) = LISTENER.get() {
        listener();
    }
}

/// Entries at the moment: of predefined types that were used, and of derived ones that live.
pub fn len() -> usize {
    ENTRIES.read().len()
}

#[cold]
fn analyse(datatype: MPI_Datatype) -> Result<Arc<Entry>, Reason> {
    if datatype.key() == family().datatype_null().key() || datatype.key() == 0 {
        return Err(Reason::BadArgument);
    }
    let predefined = is_predefined(datatype).map_err(|_| Reason::Opaque)?;
    if config::get().no_type_commit && !predefined {
        return Err(Reason::SwitchedOff);
    }
    let extent = System.bounds(datatype).map_err(|_| Reason::Opaque)?.extent;
    let found = ir::layout(&System, datatype);
    let reason = |failure: &ir::Failure<_>| match failure {
        ir::Failure::Unsupported(Unsupported::Irregular | Unsupported::Holes) => Reason::Irregular,
        ir::Failure::Unsupported(Unsupported::TooManyBlocks) => Reason::TooManyBlocks,
        ir::Failure::Unsupported(Unsupported::Overflow) => Reason::Overflow,
        ir::Failure::Unsupported(_) | ir::Failure::Describe(_) => Reason::Opaque,
    };
    // Of predefined types only those with holes have anything to say.
    let plain = predefined && found.as_ref().is_ok_and(Layout::is_contiguous);
    if config::get().explain != ExplainTo::Nowhere && !plain {
        let why = |failure| format!("{}: {failure}", reason(failure));
        explain::datatype(&System, datatype, found.as_ref().map_err(why));
    }
    let layout = found.map_err(|failure| reason(&failure));
    tracing::debug!(key = datatype.key(), ?layout, extent, "type analysed");
    let entry = Arc::new(Entry { layout, extent, usable: AtomicBool::new(predefined) });
    // A type whose death we would not hear of must not be remembered: its handle value may come back.
    if predefined || keyval::watch(datatype, forget) {
        ENTRIES.write().insert(datatype.key(), Arc::clone(&entry));
    }
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_spread_over_the_table() {
        let hash = |n: usize| {
            let mut h = WordHasher::default();
            h.write_usize(n);
            h.finish()
        };
        let mut low: Vec<u64> = (0..128).map(|n| hash(0x5600_0000_0000 + 64 * n) & 1023).collect();
        low.sort_unstable();
        low.dedup();
        assert!(low.len() > 64, "{} of 128", low.len());
    }
}
