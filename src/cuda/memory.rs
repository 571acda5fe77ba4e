//! Whose memory an address is, and raw allocation.
//!
//! Depends on `driver`, `calls`, `ranges`. The invariant: [`place`] never fails and never guesses a device: an address that
//! the driver does not claim, or a driver that is absent, not initialised or refuses to answer, means host memory.

use std::ffi::c_void;
use std::ptr::{from_mut, null_mut};

use super::calls::{self, Handle};
use super::context::{Context, Entered, Pushed};
use super::error::{CudaError, DEINITIALIZED, INVALID_VALUE, NO_DEVICE, NOT_INITIALIZED, OUT_OF_MEMORY};
use super::{driver, ranges};

/// A `CUcontext`. Null when the memory belongs to no context (stream-ordered and virtual memory).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextHandle(pub(super) Handle);

impl ContextHandle {
    /// No context.
    pub const NULL: Self = Self(0);

    /// Whether this is no context.
    pub fn is_null(self) -> bool {
        self.0 == 0
    }
}

/// Kinds of memory, by who can reach it and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Host memory that the driver does not know (or that was recognised without asking it: heap, program data and stack
    /// stay `Host` even when the application has registered a part of them).
    Host,
    /// Host memory that the driver has page-locked and mapped.
    Pinned {
        /// Where the device sees it.
        device: u64,
    },
    /// Memory of a device; the host must not touch it.
    Device,
    /// Memory that migrates between host and device.
    Managed,
}

/// Where an address lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// What kind of memory.
    pub kind: Kind,
    /// The context that it belongs to; null for host memory and where the driver names none.
    pub context: ContextHandle,
    /// The ordinal of the device, -1 for host memory.
    pub device: i32,
}

impl Place {
    /// Ordinary host memory.
    pub const HOST: Self = Self { kind: Kind::Host, context: ContextHandle::NULL, device: -1 };

    /// Whether only the driver reaches it fast: device or managed memory.
    pub fn on_device(&self) -> bool {
        matches!(self.kind, Kind::Device | Kind::Managed)
    }
}

/// Whether both of these are plain host memory, as far as that can be told without asking the driver.
#[inline(always)]
pub fn are_host(one: usize, other: usize) -> bool {
    // The layout of the process first: it costs less than the clock that `present` reads.
    ranges::in_program(one) && ranges::in_program(other) || are_host_elsewhere(one, other)
}

/// [`are_host`] where one at least is neither heap nor the program's own data.
#[inline(never)]
fn are_host_elsewhere(one: usize, other: usize) -> bool {
    ranges::is_host(one) && ranges::is_host(other) || !driver::present()
}

/// Where `address` lies.
///
/// Host memory that the process's own layout proves to be such is answered without the driver, because the driver is
/// slowest for the addresses that it does not know.
#[inline]
pub fn place(address: usize) -> Place {
    if ranges::is_host(address) || !driver::present() { Place::HOST } else { ask(address) }
}

// CUpointer_attribute
const CONTEXT: i32 = 1;
const MEMORY_TYPE: i32 = 2;
const DEVICE_POINTER: i32 = 3;
const BUFFER_ID: i32 = 7;
const IS_MANAGED: i32 = 8;
const DEVICE_ORDINAL: i32 = 9;

fn ask(address: usize) -> Place {
    // The driver writes 4 or 8 bytes; zeroed words read back right in either case, the byte order being little-endian.
    let (mut context, mut memory, mut device, mut managed, mut ordinal) = (0u64, 0u64, 0u64, 0u64, 0u64);
    let attributes = [CONTEXT, MEMORY_TYPE, DEVICE_POINTER, IS_MANAGED, DEVICE_ORDINAL];
    let data: [*mut c_void; 5] = [
        from_mut(&mut context).cast(),
        from_mut(&mut memory).cast(),
        from_mut(&mut device).cast(),
        from_mut(&mut managed).cast(),
        from_mut(&mut ordinal).cast(),
    ];
    // SAFETY: as many data pointers as attributes, each to a word, which no attribute exceeds.
    let question =
        || unsafe { calls::pointer_attributes(5, attributes.as_ptr(), data.as_ptr(), address as u64) };
    if insist(question).is_err() {
        return Place::HOST;
    }
    let kind = match low(memory) {
        1 | 2 if low(managed) != 0 => Kind::Managed,
        1 if device != 0 => Kind::Pinned { device },
        2 => Kind::Device,
        _ => return Place::HOST,
    };
    let device = i32::from_ne_bytes(low(ordinal).to_ne_bytes());
    Place { kind, context: ContextHandle(usize::try_from(context).unwrap_or(0)), device }
}

/// Asks the driver, and once more if it failed without an answer: to take device memory for host memory, or a living context for a
/// dead one, costs more than a second question.
fn insist(question: impl Fn() -> Result<(), CudaError>) -> Result<(), CudaError> {
    const ANSWERS: [i32; 4] = [INVALID_VALUE, NOT_INITIALIZED, DEINITIALIZED, NO_DEVICE];
    question().or_else(|error| if ANSWERS.contains(&error.code) { Err(error) } else { question() })
}

/// The low half, where the driver writes a 4-byte attribute.
fn low(word: u64) -> u32 {
    u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0)
}

/// The driver's process-wide unique number of the allocation that `address` lies in; `None` if it is no allocation.
pub(super) fn allocation_id(address: u64) -> Option<u64> {
    let mut id = 0u64;
    let place = &raw mut id;
    // SAFETY: this attribute is a u64.
    insist(|| unsafe { calls::pointer_attribute(place.cast(), BUFFER_ID, address) }).ok().map(|()| id)
}

/// What to allocate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Device memory (`cuMemAlloc`: any MPI and any IPC can use it).
    Device,
    /// Page-locked host memory that every context can reach (`cuMemHostAlloc`, portable and mapped).
    Mapped,
    /// Ordinary host memory, which only copies reach: for when there is no page-locked memory.
    Pageable,
}

/// An allocation. Plain data: whoever holds it must hand it back to [`Context::free`] exactly once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub memory: Memory,
    /// Where it lies: a host address for mapped memory, a device address otherwise.
    pub address: u64,
    /// Where the device sees it; 0 if it does not.
    pub device_address: u64,
    /// How long it is.
    pub bytes: usize,
}

const PORTABLE_AND_MAPPED: u32 = 0x1 | 0x2;

impl Entered {
    /// Allocates `bytes` (not 0) in this context.
    ///
    /// # Errors
    /// The driver's, `OUT_OF_MEMORY` above all; nothing is left allocated then.
    pub fn allocate(&self, memory: Memory, bytes: usize) -> Result<Block, CudaError> {
        allocate(self.current(), memory, bytes)
    }
}

/// Allocates in the context that is current.
pub(super) fn allocate(current: &Pushed, memory: Memory, bytes: usize) -> Result<Block, CudaError> {
    match memory {
        Memory::Device => {
            let mut address = 0;
            // SAFETY: `address` is writable.
            unsafe { calls::mem_alloc(&raw mut address, bytes) }?;
            Ok(Block { memory, address, device_address: address, bytes })
        }
        Memory::Mapped => {
            let mut host = null_mut();
            // SAFETY: `host` is writable.
            unsafe { calls::host_alloc(&raw mut host, bytes, PORTABLE_AND_MAPPED) }?;
            let mut device_address = 0;
            // SAFETY: `host` was just allocated as mapped memory.
            let mapped = unsafe { calls::host_device_address(&raw mut device_address, host, 0) };
            let block = Block { memory, address: host as u64, device_address, bytes };
            if let Err(error) = mapped {
                // SAFETY: allocated above, and nobody else knows it.
                unsafe { release(current, block) };
                return Err(error);
            }
            Ok(block)
        }
        Memory::Pageable => {
            // SAFETY: malloc takes any size.
            let address = unsafe { libc::malloc(bytes) } as u64;
            if address == 0 {
                return Err(CudaError { call: "malloc", code: OUT_OF_MEMORY });
            }
            Ok(Block { memory, address, device_address: 0, bytes })
        }
    }
}

/// Frees a block in the context that is current. Driver errors are ignored: nobody could do anything about them.
///
/// # Safety
/// `block` was allocated in this context, nobody uses it any longer, and it is freed only once.
pub(super) unsafe fn release(_: &Pushed, block: Block) {
    let _ = match block.memory {
        // SAFETY: the caller's promise.
        Memory::Device => unsafe { calls::mem_free(block.address) },
        // SAFETY: the caller's promise.
        Memory::Mapped => unsafe { calls::host_free(block.address as *mut c_void) },
        Memory::Pageable => {
            // SAFETY: the caller's promise; it came from malloc.
            unsafe { libc::free(block.address as *mut c_void) };
            Ok(())
        }
    };
}

impl Context {
    /// Frees a block that was allocated in this context.
    ///
    /// A context that the application has destroyed took its memory along; its addresses may be someone else's by now,
    /// so nothing is done then.
    ///
    /// # Safety
    /// `block` was allocated here, nobody uses it any longer, and it is freed only once.
    pub unsafe fn free(&'static self, block: Block) {
        if block.memory == Memory::Pageable {
            // SAFETY: the caller's promise; it came from malloc.
            unsafe { libc::free(block.address as *mut c_void) };
        } else if let Some(entered) = self.reenter() {
            // SAFETY: the caller's promise, and the context lives.
            unsafe { release(entered.current(), block) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_everything_is_host_memory() {
        for address in [0, 1, 0x7f00_0000_0000, usize::MAX] {
            assert_eq!(place(address), Place::HOST);
            assert_eq!(ask(address), Place::HOST);
        }
    }
}
