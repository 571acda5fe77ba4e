//! A lane: a stream to run things on, and a word in host memory by which a kernel tells that it has finished.
//!
//! Waiting for a stream costs 1 to 2 µs more than watching a word that the kernel's last block writes, so kernels are waited for by
//! their flag. The stream is asked now and then as well, because a kernel that failed writes no flag. Depends on `calls`,
//! `context`, `memory`. The invariant: a lane on the free list has nothing running and its counter is zero; one of which
//! that cannot be said is destroyed.
//!
//! A lane also brings lists of words to the device for kernels that take more than an argument holds, and keeps the last few: a
//! program that does the same again copies nothing.

use std::ffi::c_void;
use std::hint::spin_loop;
use std::ptr::{from_mut, null};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use super::calls::{self, Handle};
use super::context::{Entered, Pushed};
use super::error::{CudaError, INVALID_VALUE, NOT_READY, UNKNOWN};
use super::memory::{self, Block, Memory};

/// A kernel's parameter, which carries what the kernel needs to report its end.
pub trait Completion {
    /// Asks for a report: the last block to finish writes `value` to `flag` and leaves `counter` at zero, as it found it.
    /// Both are device addresses of 4 bytes. `flag` is 0 if no report is wanted.
    fn complete(&mut self, flag: u64, counter: u64, value: u32);
}

/// Whether new streams ignore the legacy default stream; see [`ignore_default_stream`].
static NON_BLOCKING: AtomicBool = AtomicBool::new(false);

/// Lets lanes run beside the legacy default stream. By default they wait for what the application queued there earlier,
/// as a synchronous copy would. Call it before the first lane is taken.
pub fn ignore_default_stream(ignore: bool) {
    NON_BLOCKING.store(ignore, Ordering::Relaxed);
}

/// `CU_STREAM_NON_BLOCKING`.
const STREAM_NON_BLOCKING: u32 = 1;
/// A flag has a cache line of its own.
const WORD_BYTES: usize = 64;
/// How long the flag alone is watched; kernels that take longer are rare, and failed ones rarer.
const PATIENCE: Duration = Duration::from_micros(20);
/// How long a core is kept busy waiting before it is offered to others.
const BUSY: Duration = Duration::from_millis(1);

/// Words of the longest list.
pub const LONGEST_LIST: usize = 8192;
/// Lists that a lane keeps: packing and unpacking of two exchanges that take turns.
const LISTS: usize = 4;

/// A list on the device, and in page-locked memory to be copied from and compared with. Plain data, as [`Parts`].
#[derive(Debug, Clone, Copy)]
struct List {
    host: Block,
    device: Block,
    /// Words that both hold; 0 while that is not sure.
    words: usize,
    /// Whether the copy may be under way.
    copying: bool,
}

impl List {
    fn new(current: &Pushed) -> Result<Self, CudaError> {
        let bytes = LONGEST_LIST * size_of::<u64>();
        let host = memory::allocate(current, Memory::Mapped, bytes)?;
        let device = memory::allocate(current, Memory::Device, bytes).inspect_err(|_| {
            // SAFETY: allocated above; nothing refers to it.
            unsafe { memory::release(current, host) };
        })?;
        Ok(Self { host, device, words: 0, copying: false })
    }

    fn words(&self) -> &[u64] {
        // SAFETY: the memory is aligned, lives until `destroy`, and so many words were written to it; nobody writes while the
        // slice is borrowed.
        unsafe { std::slice::from_raw_parts(self.host.address as *const u64, self.words) }
    }

    /// Gives both back to the driver.
    fn destroy(self, current: &Pushed) {
        // SAFETY: the lane's stream is idle or has failed, so nothing reads it any more.
        unsafe { memory::release(current, self.device) };
        // SAFETY: the same.
        unsafe { memory::release(current, self.host) };
    }
}

/// What a lane is made of. Plain data: owned by a [`Lane`] or by the context's free list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    stream: Handle,
    flag: Block,
    counter: Block,
    /// The value of the last report asked for; the flag's, once it has come.
    value: u32,
    lists: [Option<List>; LISTS],
    /// The list that gives way to the next one.
    oldest: usize,
}

impl Parts {
    fn new(current: &Pushed) -> Result<Self, CudaError> {
        let flag = memory::allocate(current, Memory::Mapped, WORD_BYTES)?;
        let parts = Self::with_flag(current, flag);
        if parts.is_err() {
            // SAFETY: allocated above; nothing refers to it.
            unsafe { memory::release(current, flag) };
        }
        parts
    }

    fn with_flag(current: &Pushed, flag: Block) -> Result<Self, CudaError> {
        let counter = memory::allocate(current, Memory::Device, WORD_BYTES)?;
        let parts = Self::with_words(current, flag, counter);
        if parts.is_err() {
            // SAFETY: allocated above; nothing refers to it.
            unsafe { memory::release(current, counter) };
        }
        parts
    }

    fn with_words(_: &Pushed, flag: Block, counter: Block) -> Result<Self, CudaError> {
        let flags = if NON_BLOCKING.load(Ordering::Relaxed) { STREAM_NON_BLOCKING } else { 0 };
        let mut stream = 0;
        // SAFETY: `stream` is writable.
        unsafe { calls::stream_create(&raw mut stream, flags) }?;
        let parts = Self { stream, flag, counter, value: 0, lists: [None; LISTS], oldest: 0 };
        parts.word().store(0, Ordering::Relaxed);
        // SAFETY: the counter is device memory of more than one word; the launches that use it come later on this stream.
        if let Err(error) = unsafe { calls::memset_word(counter.device_address, 0, 1, stream) } {
            // SAFETY: created above.
            let _ = unsafe { calls::stream_destroy(stream) };
            return Err(error);
        }
        Ok(parts)
    }

    /// The flag as the host sees it.
    fn word(&self) -> &AtomicU32 {
        // SAFETY: mapped host memory of 64 aligned bytes, which lives until `destroy` consumes these parts. The device
        // writes the word as a whole.
        unsafe { &*(self.flag.address as *const AtomicU32) }
    }

    /// Gives everything back to the driver.
    fn destroy(self, current: &Pushed) {
        // SAFETY: this lane's own stream; destroyed once.
        let _ = unsafe { calls::stream_destroy(self.stream) };
        // SAFETY: its stream is idle or has failed, so no kernel counts any more.
        unsafe { memory::release(current, self.counter) };
        // SAFETY: the same.
        unsafe { memory::release(current, self.flag) };
        for list in self.lists.into_iter().flatten() {
            list.destroy(current);
        }
    }
}

/// What was queued last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing that has not been waited for.
    Nothing,
    /// A kernel that reports its end.
    Report,
    /// Something that does not.
    Other,
    /// A kernel ended without the report that was asked of it: the counter cannot be trusted.
    Lost,
}

/// A stream with a completion flag, for one thread at a time. Taken from a context with [`Entered::lane`]; it goes back when
/// dropped, after whatever is still running on it has ended.
#[derive(Debug)]
pub struct Lane<'e> {
    entered: &'e Entered,
    parts: Parts,
    last: Last,
}

impl Entered {
    /// An idle lane of this context.
    ///
    /// # Errors
    /// The driver's, if none is free and none can be made; nothing is left behind then.
    pub fn lane(&self) -> Result<Lane<'_>, CudaError> {
        // A statement of its own: the lock is not held while a lane is made.
        let idle = self.lanes.lock().pop();
        let parts = idle.map_or_else(|| Parts::new(self.current()), Ok)?;
        Ok(Lane { entered: self, parts, last: Last::Nothing })
    }
}

impl Lane<'_> {
    /// Queues a kernel of one-dimensional `grid` and `block`; `report` if it is the last one that is to be waited for.
    ///
    /// # Errors
    /// The driver's; nothing was queued then.
    ///
    /// # Safety
    /// `parameter` is the kernel's one parameter, and what it points to may be accessed as the kernel does until the lane
    /// has been waited for.
    pub unsafe fn launch<P: Completion>(
        &mut self,
        kernel: usize,
        grid: u32,
        block: u32,
        parameter: &mut P,
        report: bool,
    ) -> Result<(), CudaError> {
        let function = self.entered.function(kernel)?;
        let value = if report { self.parts.value.wrapping_add(1) } else { self.parts.value };
        let flag = if report { self.parts.flag.device_address } else { 0 };
        parameter.complete(flag, self.parts.counter.device_address, value);
        let parameters: [*mut c_void; 1] = [from_mut(parameter).cast()];
        // SAFETY: the driver copies the parameter before it returns; the rest is the caller's promise.
        unsafe {
            calls::launch_kernel(
                function,
                grid,
                1,
                1,
                block,
                1,
                1,
                0,
                self.parts.stream,
                parameters.as_ptr(),
                null(),
            )
        }?;
        crate::report::launched();
        self.parts.value = value;
        self.last = if report { Last::Report } else { Last::Other };
        Ok(())
    }

    /// Queues a copy between any two addresses that the driver knows or the host can reach.
    ///
    /// # Errors
    /// The driver's; nothing was queued then.
    ///
    /// # Safety
    /// Both ranges may be accessed until the lane has been waited for.
    pub unsafe fn copy(&mut self, destination: u64, source: u64, bytes: usize) -> Result<(), CudaError> {
        // SAFETY: the caller's promise.
        unsafe { calls::copy(destination, source, bytes, self.parts.stream) }?;
        self.last = Last::Other;
        Ok(())
    }

    /// The device address of a copy of `words`, for kernels that are queued on this lane before the next list is asked for. Queues
    /// the copy, unless the lane has one from before.
    ///
    /// # Errors
    /// `INVALID_VALUE` for more than [`LONGEST_LIST`] words; the driver's otherwise, with nothing queued.
    pub fn list(&mut self, words: &[u64]) -> Result<u64, CudaError> {
        const REFUSED: CudaError = CudaError { call: "cuMemcpyAsync", code: INVALID_VALUE };
        if words.len() > LONGEST_LIST {
            return Err(REFUSED);
        }
        if let Some(list) = self.parts.lists.iter().flatten().find(|list| list.words() == words) {
            return Ok(list.device.device_address);
        }
        let place = self.parts.oldest;
        if self.parts.lists.get(place).copied().flatten().is_some_and(|list| list.copying) {
            self.wait()?;
        }
        let slot = self.parts.lists.get_mut(place).ok_or(REFUSED)?;
        let list = match slot {
            Some(list) => list,
            None => slot.insert(List::new(self.entered.current())?),
        };
        list.words = 0;
        // SAFETY: the list is as long as the longest, aligned to a page, nobody else's, and no copy from it is under way.
        unsafe { words.as_ptr().copy_to_nonoverlapping(list.host.address as *mut u64, words.len()) };
        // SAFETY: both are the lane's own, and stay until its stream is idle. Kernels that read what was there before come
        // earlier on the stream.
        unsafe {
            calls::copy(list.device.address, list.host.address, size_of_val(words), self.parts.stream)
        }?;
        (list.words, list.copying) = (words.len(), true);
        self.parts.oldest = (place + 1) % LISTS;
        self.last = Last::Other;
        Ok(list.device.device_address)
    }

    /// Waits until everything that was queued has ended and its results can be read.
    ///
    /// # Errors
    /// The driver's, if something failed while it ran.
    pub fn wait(&mut self) -> Result<(), CudaError> {
        match self.last {
            Last::Nothing => return Ok(()),
            Last::Report => self.watch()?,
            // SAFETY: this lane's own stream.
            Last::Other | Last::Lost => unsafe { calls::stream_synchronize(self.parts.stream) }?,
        }
        if self.last != Last::Lost {
            self.last = Last::Nothing;
        }
        for list in self.parts.lists.iter_mut().flatten() {
            list.copying = false;
        }
        Ok(())
    }

    /// Whether the report has come. What the kernel wrote before it can be read then.
    fn reported(&self) -> bool {
        let reported = self.parts.word().load(Ordering::Relaxed) == self.parts.value;
        if reported {
            fence(Ordering::Acquire);
        }
        reported
    }

    fn watch(&mut self) -> Result<(), CudaError> {
        let start = Instant::now();
        let mut ask_after = PATIENCE;
        loop {
            for _ in 0..16 {
                if self.reported() {
                    return Ok(());
                }
                spin_loop();
            }
            let waited = start.elapsed();
            if waited > ask_after {
                ask_after = waited + PATIENCE;
                // SAFETY: this lane's own stream.
                match unsafe { calls::stream_query(self.parts.stream) } {
                    Err(CudaError { code: NOT_READY, .. }) => {}
                    Err(error) => return Err(error),
                    // All has ended, so the report is there now or will never be.
                    Ok(()) if self.reported() => return Ok(()),
                    Ok(()) => {
                        self.last = Last::Lost;
                        return Err(CudaError { call: "cuLaunchKernel", code: UNKNOWN });
                    }
                }
                if waited > BUSY {
                    yield_now();
                }
            }
        }
    }
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        let idle = match self.last {
            Last::Nothing => true,
            // SAFETY: this lane's own stream.
            Last::Report | Last::Other => unsafe { calls::stream_synchronize(self.parts.stream) }.is_ok(),
            Last::Lost => false,
        };
        if idle {
            self.entered.lanes.lock().push(self.parts);
        } else {
            self.parts.destroy(self.entered.current());
        }
    }
}
