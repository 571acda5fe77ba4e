//! Is the CUDA driver in this process, and where are its functions.
//!
//! `build.rs` defines every `cu*` name that cust refers to as a hidden jump through a slot of [`TABLE`]. The slots start
//! at a function that answers `CUDA_ERROR_NO_DEVICE`; [`present`] fills them when the process turns out to have
//! `libcuda.so.1`. So the library needs no driver to link or to load, and it cannot bring one in.
//!
//! Depends on `libc` only. The invariant: a slot holds either [`absent`] or the driver's function of that slot's name,
//! and libcuda is never loaded by us (`RTLD_NOLOAD`); once found it is held, so the slots stay valid.

use std::ffi::{c_int, c_void};
use std::ptr::from_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use super::error::NO_DEVICE;

/// The names in slot order, and each name's slot as a constant.
#[allow(non_upper_case_globals, dead_code)]
pub(super) mod symbols {
    include!(concat!(env!("OUT_DIR"), "/symbols.rs"));
}

use symbols::NAMES;

include!(concat!(env!("OUT_DIR"), "/trampolines.rs"));

/// What stands in for every driver function until the driver is found. Whatever arguments a caller passes are its own to
/// clean up in both C calling conventions, so one function serves every signature.
extern "C" fn absent() -> c_int {
    NO_DEVICE
}

/// One slot a symbol, in the order of `symbols.txt`. The trampolines read it.
static TABLE: [AtomicPtr<c_void>; NAMES.len()] =
    [const { AtomicPtr::new(absent as extern "C" fn() -> c_int as *mut c_void) }; NAMES.len()];

static FOUND: AtomicBool = AtomicBool::new(false);
/// `dlpi_adds` when libcuda was last looked for in vain.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// The tick of the coarse clock in which libcuda was last looked for in vain.
static LOOKED: AtomicU64 = AtomicU64::new(u64::MAX);

/// The kernel's coarse clock, in nanoseconds: it advances every 1 to 10 ms, and reading it costs some 8 ns on every machine, while the
/// processor's own counter traps in some virtual ones.
#[inline]
fn tick() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place. A failure leaves it 0, which is a tick like any other.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    now.tv_sec.cast_unsigned().wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec.cast_unsigned())
}

/// Whether the process has `libcuda.so.1`. If not, no address can be device memory.
///
/// Once it is there: one atomic load. Until then: a read of the coarse clock, once a tick the dynamic linker's count of loaded objects
/// (some 30 ns), and the question itself (some 10 µs) only if that count has changed since it was last asked. A vain look
/// holds for its tick: from there to a device pointer a program has to load libcuda, to initialise it and to make a
/// context, which takes many ticks.
#[inline]
pub fn present() -> bool {
    FOUND.load(Ordering::Acquire) || look_again()
}

#[inline]
fn look_again() -> bool {
    let now = tick();
    if now == LOOKED.load(Ordering::Relaxed) {
        return false;
    }
    let found = look();
    LOOKED.store(now, Ordering::Relaxed);
    found
}

#[cold]
fn look() -> bool {
    let adds = objects_added();
    if adds != 0 && adds == ASKED.load(Ordering::Relaxed) {
        return false;
    }
    // SAFETY: dlopen has no preconditions beyond a terminated name; RTLD_NOLOAD loads nothing and runs no constructor.
    let driver = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_NOW) };
    if driver.is_null() {
        // The count from before the question: whatever was loaded meanwhile makes the next call ask again.
        ASKED.store(adds, Ordering::Relaxed);
        return false;
    }
    for (slot, name) in TABLE.iter().zip(NAMES) {
        // SAFETY: `driver` is a handle that dlopen returned and that nobody closes.
        let function = unsafe { libc::dlsym(driver, name.as_ptr()) };
        if !function.is_null() {
            slot.store(function, Ordering::Relaxed);
        }
    }
    FOUND.store(true, Ordering::Release);
    true
}

/// How many objects the dynamic linker has ever loaded into this process.
fn objects_added() -> u64 {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, adds: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr passes a valid info, and glibc's and musl's both end with dlpi_adds or later fields.
        let count = unsafe { (*info).dlpi_adds };
        // SAFETY: `adds` is the u64 below, which outlives the iteration.
        unsafe { *adds.cast::<u64>() = count };
        1
    }
    let mut adds = 0u64;
    // SAFETY: the callback matches the declared type and does not unwind.
    unsafe { libc::dl_iterate_phdr(Some(first), from_mut(&mut adds).cast()) };
    adds
}

/// The function in slot `index`.
#[inline]
pub(super) fn slot<const INDEX: usize>() -> *mut c_void {
    const { assert!(INDEX < NAMES.len()) };
    #[allow(clippy::indexing_slicing, reason = "asserted at compile time")]
    let slot = &TABLE[INDEX];
    slot.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Unit tests run in a process without a driver; tests/driver.rs has one with a simulated driver.

    #[test]
    fn without_a_driver_every_trampoline_answers_no_device() {
        assert!(!present());
        assert!(!present(), "the cached answer is the same");
        // Through cust, that is, through a trampoline.
        assert_eq!(cust::device::Device::num_devices(), Err(cust::error::CudaError::NoDevice));
        // Through the table.
        let mut address = 0;
        // SAFETY: no driver is there, so nothing is done.
        let answer = unsafe { crate::cuda::calls::mem_alloc(&raw mut address, 1) };
        assert_eq!(answer.unwrap_err().code, NO_DEVICE);
    }

    #[test]
    fn every_slot_has_its_own_name() {
        let mut names = NAMES.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
        assert_eq!(NAMES[symbols::cuLaunchKernel], c"cuLaunchKernel");
    }

    #[test]
    fn the_linker_counts_objects() {
        let before = objects_added();
        assert!(before > 0);
        assert_eq!(before, objects_added());
    }
}
