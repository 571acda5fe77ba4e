//! Buffers for packed bytes, kept for the next message.
//!
//! `cuMemAlloc` costs more than a small message, and `cuMemFree` waits for the device. So buffers go back to a list of
//! their size and context, and to the driver only when the lists hold more than a limit. Sizes are rounded up to one of four
//! steps per power of two, from 64 KiB on: at most a quarter is wasted.
//!
//! Depends on `cuda`. The invariant: every allocation is either one [`Buffer`] or one entry of a list, and is freed only in
//! the context that it was made in, if that is still alive.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::cuda::context::{Context, Entered};
use crate::cuda::error::{CudaError, OUT_OF_MEMORY};
use crate::cuda::memory::{Block, Memory};

/// How many bytes of each kind of memory a context's lists may hold, unless [`set_limit`] says otherwise.
pub const DEFAULT_LIMIT: usize = 256 << 20;

static LIMIT: AtomicUsize = AtomicUsize::new(DEFAULT_LIMIT);

/// Sets how many bytes of each kind of memory are kept per context. 0: keep nothing.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The buffers of one kind of memory in one context that nobody uses.
struct Shelf {
    context: &'static Context,
    memory: Memory,
    /// How long the blocks in `lists` are, together.
    bytes: usize,
    lists: [Vec<Block>; CLASSES],
}

/// Few: two a context. A list is entered for the length of a pop or a push, never while the driver is called.
static SHELVES: Mutex<Vec<Shelf>> = Mutex::new(Vec::new());

/// log2 of the smallest size.
const SMALLEST: u32 = 16;
/// Sizes up to 2^48 bytes, more than any address space of today.
const CLASSES: usize = (48 - SMALLEST as usize) * 4 + 1;

/// The class of a size and the size that the class has; `None` beyond the largest.
fn class(bytes: usize) -> Option<(usize, usize)> {
    if bytes <= 1 << SMALLEST {
        return Some((0, 1 << SMALLEST));
    }
    // 2^exponent < bytes <= 2^(exponent + 1), in steps of a quarter of 2^exponent.
    let exponent = (bytes - 1).ilog2();
    let step = 1usize << (exponent - 2);
    let size = bytes.checked_next_multiple_of(step)?;
    let quarters = size / step - 4;
    let class = usize::try_from(exponent - SMALLEST).ok()? * 4 + quarters;
    (class < CLASSES).then_some((class, size))
}

/// Bytes that came from the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Held now, in use or kept.
    pub live: usize,
    /// The most ever held.
    pub peak: usize,
}

struct Meter {
    live: AtomicUsize,
    peak: AtomicUsize,
}

impl Meter {
    const fn new() -> Self {
        Self { live: AtomicUsize::new(0), peak: AtomicUsize::new(0) }
    }

    fn add(&self, bytes: usize) {
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(live, Ordering::Relaxed);
    }

    fn subtract(&self, bytes: usize) {
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }
}

static DEVICE: Meter = Meter::new();
static MAPPED: Meter = Meter::new();
static PAGEABLE: Meter = Meter::new();

fn meter(memory: Memory) -> &'static Meter {
    match memory {
        Memory::Device => &DEVICE,
        Memory::Mapped => &MAPPED,
        Memory::Pageable => &PAGEABLE,
    }
}

/// How much memory of this kind the pool holds, in all contexts.
pub fn usage(memory: Memory) -> Usage {
    let meter = meter(memory);
    Usage { live: meter.live.load(Ordering::Relaxed), peak: meter.peak.load(Ordering::Relaxed) }
}

/// A buffer out of the pool; it goes back when dropped. Whoever drops it must have waited for the work that uses it.
#[derive(Debug)]
pub struct Buffer {
    context: &'static Context,
    block: Block,
    class: usize,
}

impl Buffer {
    /// Where it lies: a host address for mapped memory, a device address otherwise.
    pub fn address(&self) -> u64 {
        self.block.address
    }

    /// Where the device sees it; 0 if it does not.
    pub fn device_address(&self) -> u64 {
        self.block.device_address
    }

    /// How long it is: at least what was asked for.
    pub fn bytes(&self) -> usize {
        self.block.bytes
    }
}

/// A buffer of at least `bytes` in the context that was entered, aligned to 256 bytes, its contents unspecified.
///
/// # Errors
/// The driver's, if there is no such memory even after the pool has given back what it kept in this context.
pub fn take(entered: &Entered, memory: Memory, bytes: usize) -> Result<Buffer, CudaError> {
    let context = entered.context();
    let (class, size) = class(bytes).ok_or(CudaError { call: "cuMemAlloc_v2", code: OUT_OF_MEMORY })?;
    if let Some(block) = pop(context, memory, class) {
        return Ok(Buffer { context, block, class });
    }
    // What was kept for contexts that have died since is forgotten here, off the hot path.
    empty(|shelf| shelf.context.is_gone());
    let block = entered.allocate(memory, size).or_else(|error| {
        if error.code == OUT_OF_MEMORY && empty(|shelf| is(shelf.context, context)) > 0 {
            entered.allocate(memory, size)
        } else {
            Err(error)
        }
    })?;
    meter(memory).add(size);
    Ok(Buffer { context, block, class })
}

/// A buffer as [`take`] gives it, if one is kept: no call of the driver is needed.
pub fn take_kept(context: &'static Context, memory: Memory, bytes: usize) -> Option<Buffer> {
    let (class, _) = class(bytes)?;
    let block = pop(context, memory, class)?;
    Some(Buffer { context, block, class })
}

/// As [`take`]: mapped memory, or if there is none, ordinary memory, which only copies reach.
///
/// # Errors
/// As [`take`].
pub fn take_host(entered: &Entered, bytes: usize) -> Result<Buffer, CudaError> {
    take(entered, Memory::Mapped, bytes).or_else(|_| take(entered, Memory::Pageable, bytes))
}

fn is(one: &'static Context, other: &'static Context) -> bool {
    std::ptr::eq(one, other)
}

fn pop(context: &'static Context, memory: Memory, class: usize) -> Option<Block> {
    let mut shelves = SHELVES.lock();
    let shelf = shelves.iter_mut().find(|shelf| is(shelf.context, context) && shelf.memory == memory)?;
    let block = shelf.lists.get_mut(class)?.pop()?;
    shelf.bytes -= block.bytes;
    Some(block)
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !self.keep() {
            free(self.context, self.block);
        }
    }
}

impl Buffer {
    /// Puts the block on its list, unless the lists are full or the context has died. Ordinary memory is the allocator's to keep.
    fn keep(&self) -> bool {
        if self.context.is_gone() || self.block.memory == Memory::Pageable {
            return false;
        }
        let mut shelves = SHELVES.lock();
        let memory = self.block.memory;
        let index = shelves
            .iter()
            .position(|shelf| is(shelf.context, self.context) && shelf.memory == memory)
            .unwrap_or_else(|| {
                shelves.push(Shelf {
                    context: self.context,
                    memory,
                    bytes: 0,
                    lists: [const { Vec::new() }; CLASSES],
                });
                shelves.len() - 1
            });
        let Some(shelf) = shelves.get_mut(index) else { return false };
        let bytes = shelf.bytes + self.block.bytes;
        let Some(list) = shelf.lists.get_mut(self.class) else { return false };
        if bytes > LIMIT.load(Ordering::Relaxed) {
            return false;
        }
        list.push(self.block);
        shelf.bytes = bytes;
        true
    }
}

fn free(context: &'static Context, block: Block) {
    // SAFETY: the block was allocated in this context, and it has just left its only owner.
    unsafe { context.free(block) };
    meter(block.memory).subtract(block.bytes);
}

/// Frees what is kept on the shelves that match; returns how many blocks that were.
fn empty(matches: impl Fn(&Shelf) -> bool) -> usize {
    let mut taken = Vec::new();
    {
        let mut shelves = SHELVES.lock();
        for shelf in shelves.iter_mut().filter(|shelf| matches(shelf)) {
            shelf.bytes = 0;
            for list in &mut shelf.lists {
                taken.extend(list.drain(..).map(|block| (shelf.context, block)));
            }
        }
    }
    for &(context, block) in &taken {
        free(context, block);
    }
    taken.len()
}

/// Gives everything that is kept back to the driver, at `MPI_Finalize`. Buffers still in use are not touched. Dead contexts and
/// a driver that is going down are tolerated.
pub fn drain() {
    empty(|_| true);
    SHELVES.lock().retain(|shelf| shelf.bytes > 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_close_and_dense() {
        assert_eq!(class(0), Some((0, 65536)));
        assert_eq!(class(65536), Some((0, 65536)));
        assert_eq!(class(65537), Some((1, 81920)));
        assert_eq!(class(131_072), Some((4, 131_072)));
        assert_eq!(class(131_073), Some((5, 163_840)));
        assert_eq!(class(1 << 48), Some((CLASSES - 1, 1 << 48)));
        assert_eq!(class((1 << 48) + 1), None);
        assert_eq!(class(usize::MAX), None);
        let mut size = 1;
        for expected in 0..CLASSES {
            let (index, bytes) = class(size).unwrap();
            assert_eq!(index, expected, "no class is skipped");
            assert_eq!(class(bytes), Some((index, bytes)), "a class's size is in the class");
            assert!(size <= 65536 || (bytes - size) * 4 < size, "{size} wastes {}", bytes - size);
            size = bytes + 1;
        }
    }
}
