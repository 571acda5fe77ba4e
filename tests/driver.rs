//! The CUDA layer and the pool against a driver: the simulated one (`scripts/simcuda` builds it), or the one that
//! `TEMPI_TEST_LIBCUDA` names, for instance `libcuda.so.1` on a machine with a GPU.
//!
//! One driver for all tests and one test at a time: what they check (current contexts, faults, memory in use) belongs to
//! the process.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::env;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::process::Command;
use std::ptr::null_mut;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tempi::cuda::error::{CudaError, INVALID_CONTEXT, OUT_OF_MEMORY};
use tempi::cuda::memory::ContextHandle;
use tempi::cuda::{Entered, Kind, Memory, Place, driver, enter, place, ranges};
use tempi::pack::exec::LIBRARY;
use tempi::pack::kernel::{self, Args, Direction};
use tempi::pool;

/// The driver as an application has it: loaded by itself, called by name.
struct Driver {
    handle: usize,
}

type Live = unsafe extern "C" fn(*const c_char, *mut usize) -> usize;

macro_rules! driver_calls {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {
        #[allow(non_snake_case, clippy::too_many_arguments)]
        impl Driver {$(
            fn $name(&self, $($arg: $type),*) -> c_int {
                let symbol = self.symbol(stringify!($name)).expect(stringify!($name));
                // SAFETY: cuda.h declares the function so, and the tests pass valid arguments.
                unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> c_int>(symbol)($($arg),*) }
            }
        )*}
    };
}

driver_calls! {
    cuInit(flags: c_uint);
    cuCtxCreate_v2(context: *mut usize, flags: c_uint, device: c_int);
    cuCtxDestroy_v2(context: usize);
    cuCtxGetCurrent(context: *mut usize);
    cuCtxSetCurrent(context: usize);
    cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int);
    cuDevicePrimaryCtxRelease_v2(device: c_int);
    cuDevicePrimaryCtxReset_v2(device: c_int);
    cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int);
    cuMemAlloc_v2(address: *mut u64, bytes: usize);
    cuMemFree_v2(address: u64);
    cuMemHostAlloc(address: *mut *mut c_void, bytes: usize, flags: c_uint);
    cuMemFreeHost(address: *mut c_void);
    cuMemAllocManaged(address: *mut u64, bytes: usize, flags: c_uint);
    cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize);
    cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize);
    cuStreamCreate(stream: *mut usize, flags: c_uint);
    cuStreamDestroy_v2(stream: usize);
    cuStreamBeginCapture_v2(stream: usize, mode: c_int);
    cuStreamEndCapture(stream: usize, graph: *mut usize);
    cuThreadExchangeStreamCaptureMode(mode: *mut c_int);
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
}

impl Driver {
    fn symbol(&self, name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).unwrap();
        // SAFETY: the handle is dlopen's.
        let symbol = unsafe { libc::dlsym(self.handle as *mut c_void, name.as_ptr()) };
        (!symbol.is_null()).then_some(symbol)
    }

    /// The simulator's `simcuda_arm`: makes a call fail. `None` on a real driver.
    fn arm(&self, rule: &str) -> Option<()> {
        let symbol = self.symbol("simcuda_arm")?;
        let rule = CString::new(rule).unwrap();
        // SAFETY: int simcuda_arm(const char *).
        let arm = unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char) -> c_int>(symbol)
        };
        // SAFETY: a terminated string.
        assert_eq!(unsafe { arm(rule.as_ptr()) }, 0, "{rule:?}");
        Some(())
    }

    /// The simulator's `simcuda_fired`: whether a rule has made a call fail since it was set.
    fn fired(&self) -> bool {
        let symbol = self.symbol("simcuda_fired").unwrap();
        // SAFETY: int simcuda_fired(void).
        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(symbol)() != 0 }
    }

    /// The simulator's `simcuda_live`: how many things of each kind exist.
    fn live(&self) -> Vec<usize> {
        let symbol = self.symbol("simcuda_live").unwrap();
        // SAFETY: size_t simcuda_live(const char *, size_t *).
        let live = unsafe { std::mem::transmute::<*mut c_void, Live>(symbol) };
        let kinds = [c"device", c"pinned", c"context", c"stream", c"module"];
        // SAFETY: a terminated string, and no place for the bytes.
        kinds.iter().map(|kind| unsafe { live(kind.as_ptr(), null_mut()) }).collect()
    }

    fn current(&self) -> usize {
        let mut context = 0;
        assert_eq!(self.cuCtxGetCurrent(&raw mut context), 0);
        context
    }

    /// Makes no context current (null only takes the topmost off this thread's stack).
    fn leave_all(&self) {
        while self.current() != 0 {
            assert_eq!(self.cuCtxSetCurrent(0), 0);
        }
    }

    fn free_memory(&self) -> usize {
        let (mut free, mut total) = (0, 0);
        assert_eq!(self.cuMemGetInfo_v2(&raw mut free, &raw mut total), 0);
        free
    }

    /// Device memory that holds `bytes`, in the current context.
    fn device(&self, bytes: &[u8]) -> u64 {
        let mut address = 0;
        assert_eq!(self.cuMemAlloc_v2(&raw mut address, bytes.len()), 0);
        assert_eq!(self.cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()), 0);
        address
    }

    fn read(&self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        assert_eq!(self.cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, length), 0);
        bytes
    }
}

static DRIVER: LazyLock<Driver> = LazyLock::new(|| {
    assert!(!driver::present(), "no driver yet");
    let path = env::var("TEMPI_TEST_LIBCUDA").unwrap_or_else(|_| {
        let built = Command::new("scripts/simcuda").arg("target/simcuda").status();
        assert!(built.expect("scripts/simcuda").success(), "scripts/simcuda failed");
        String::from("target/simcuda/libcuda.so.1")
    });
    let name = CString::new(path.clone()).unwrap();
    // SAFETY: loads the driver, as an application would.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    assert!(!handle.is_null(), "{path} cannot be loaded");
    let driver = Driver { handle: handle as usize };

    // Loaded but not initialised: found, and everything is host memory.
    assert!(driver::present());
    let map = page();
    assert_eq!(place(map), Place::HOST);
    assert_eq!(driver.cuInit(0), 0);
    driver
});

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The driver, for one test, with no context current.
fn alone() -> (MutexGuard<'static, ()>, &'static Driver) {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    DRIVER.leave_all();
    (guard, &DRIVER)
}

/// A context of the application's own, current while it lives.
struct Own(usize);

impl Own {
    fn new() -> Self {
        let mut context = 0;
        assert_eq!(DRIVER.cuCtxCreate_v2(&raw mut context, 0, 0), 0);
        Self(context)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = DRIVER.cuCtxDestroy_v2(self.0);
    }
}

/// An address outside heap, stack and program.
fn page() -> usize {
    // SAFETY: an anonymous mapping of our own; never unmapped.
    let map = unsafe {
        libc::mmap(
            null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(map, libc::MAP_FAILED);
    map as usize
}

/// Kernel parameters that move `words` 4-byte words from one end of `memory` to that of `packed`.
fn words(memory: u64, packed: u64, words: u32) -> Args {
    Args { memory, packed, words, ndims: 1, outer_stride: 4, outer_packed: 4, ..Args::default() }
}

/// The kernel that takes them.
const PACK: usize = kernel::index(2, Direction::Pack, false);

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| u8::try_from(i * 7 % 251).unwrap()).collect()
}

const WORDS: u32 = 25_000;
const BYTES: usize = 4 * WORDS as usize;

/// All that a message needs of this layer: `from` (device memory, `BYTES` long, the pattern) goes through a kernel into a
/// pooled device buffer and into a mapped one, and by a copy to the host.
fn message(from: u64) -> Result<(), CudaError> {
    let entered = enter(&place(usize::try_from(from).unwrap()), &LIBRARY)?;
    let device = pool::take(&entered, Memory::Device, BYTES)?;
    let mapped = pool::take(&entered, Memory::Mapped, BYTES)?;
    let mut host = vec![0u8; BYTES];
    let mut lane = entered.lane()?;
    // SAFETY: all buffers outlive the lane's last wait, and are long enough.
    unsafe {
        lane.launch(PACK, 32, 128, &mut words(from, device.device_address(), WORDS), true)?;
        lane.wait()?;
        lane.launch(PACK, 32, 128, &mut words(from, mapped.device_address(), WORDS), true)?;
        lane.wait()?;
        lane.copy(host.as_mut_ptr() as u64, device.address(), BYTES)?;
        lane.wait()?;
    }
    assert!(host == pattern(BYTES), "through device memory");
    // SAFETY: mapped host memory of at least that length, and the kernel has ended.
    let shot = unsafe { std::slice::from_raw_parts(mapped.address() as *const u8, BYTES) };
    assert!(shot == pattern(BYTES), "through mapped memory");
    Ok(())
}

#[test]
fn places() {
    let (_guard, driver) = alone();
    let own = Own::new();
    let device = driver.device(&[1, 2, 3, 4]);
    let at = |address: u64| place(usize::try_from(address).unwrap());
    let expected = Place { kind: Kind::Device, context: at(device).context, device: 0 };
    assert_eq!(at(device), expected);
    assert!(!expected.context.is_null());
    assert_eq!(at(device + 3), expected, "inside the buffer");

    let mut pinned = null_mut();
    assert_eq!(driver.cuMemHostAlloc(&raw mut pinned, 64, 2), 0);
    let Kind::Pinned { device: seen } = place(pinned as usize + 8).kind else { panic!("pinned memory") };
    assert_ne!(seen, 0);
    assert_eq!(place(pinned as usize).context, expected.context);

    let mut managed = 0;
    assert_eq!(driver.cuMemAllocManaged(&raw mut managed, 64, 1), 0);
    assert_eq!(at(managed).kind, Kind::Managed);

    let heap = Box::new([0u8; 64]);
    let stack = [0u8; 64];
    for address in [heap.as_ptr() as usize, stack.as_ptr() as usize, page(), 0, usize::MAX] {
        assert_eq!(place(address), Place::HOST);
    }
    // The context that is current does not matter.
    driver.leave_all();
    assert_eq!(at(device), expected);

    assert_eq!(driver.cuCtxSetCurrent(own.0), 0);
    assert_eq!(driver.cuMemFreeHost(pinned), 0);
    assert_eq!(driver.cuMemFree_v2(managed), 0);
    assert_eq!(driver.cuMemFree_v2(device), 0);
    assert_eq!(at(device), Place::HOST, "freed");
}

#[test]
fn messages_leave_the_current_context_alone() {
    let (_guard, driver) = alone();
    let buffers = Own::new();
    let from = driver.device(&pattern(BYTES));
    let other = Own::new();
    assert_eq!(driver.current(), other.0);
    message(from).unwrap();
    assert_eq!(driver.current(), other.0, "another context");
    driver.leave_all();
    message(from).unwrap();
    assert_eq!(driver.current(), 0, "no context");
    assert_eq!(driver.cuCtxSetCurrent(buffers.0), 0);
    message(from).unwrap();
    assert_eq!(driver.current(), buffers.0, "the buffer's context");
    pool::drain();
}

/// The first message allocates and loads the kernels, all of which a capture forbids.
#[test]
fn a_capture_is_not_disturbed() {
    let (_guard, driver) = alone();
    for (mode, elsewhere) in [(0, false), (1, false), (0, true)] {
        let own = Own::new();
        let from = driver.device(&pattern(BYTES));
        let (mut stream, mut graph) = (0, 0);
        assert_eq!(driver.cuStreamCreate(&raw mut stream, 1), 0);
        assert_eq!(driver.cuStreamBeginCapture_v2(stream, mode), 0);
        if elsewhere {
            std::thread::scope(|scope| scope.spawn(|| message(from)).join().unwrap()).unwrap();
        } else {
            message(from).unwrap();
            let mut own_mode = mode;
            assert_eq!(driver.cuThreadExchangeStreamCaptureMode(&raw mut own_mode), 0);
            assert_eq!(own_mode, 0, "the thread's own mode is the one before");
            assert_eq!(driver.cuThreadExchangeStreamCaptureMode(&raw mut own_mode), 0);
        }
        pool::drain();
        assert_eq!(
            driver.cuStreamEndCapture(stream, &raw mut graph),
            0,
            "mode {mode}, elsewhere {elsewhere}"
        );
        assert_eq!(driver.cuStreamDestroy_v2(stream), 0);
        drop(own);
    }
}

#[test]
fn lanes_and_buffers_are_used_again() {
    let (_guard, driver) = alone();
    let _own = Own::new();
    let from = driver.device(&pattern(BYTES));
    message(from).unwrap();
    let before = driver.free_memory();
    let (device, mapped) = (pool::usage(Memory::Device), pool::usage(Memory::Mapped));
    assert!(device.live >= BYTES && mapped.live >= BYTES);
    for _ in 0..50 {
        message(from).unwrap();
    }
    assert_eq!(pool::usage(Memory::Device), device);
    assert_eq!(pool::usage(Memory::Mapped), mapped);
    assert_eq!(driver.free_memory(), before);

    // Two at once are two.
    let entered = enter(&place(usize::try_from(from).unwrap()), &LIBRARY).unwrap();
    let one = pool::take(&entered, Memory::Device, BYTES).unwrap();
    let two = pool::take(&entered, Memory::Device, BYTES).unwrap();
    assert_ne!(one.address(), two.address());
    assert_eq!(pool::usage(Memory::Device).live, 2 * device.live);
    assert_eq!(pool::usage(Memory::Device).peak, device.peak.max(2 * device.live));
    drop((one, two));
    drop(entered);

    pool::drain();
    assert_eq!(pool::usage(Memory::Device).live, 0);
    assert_eq!(pool::usage(Memory::Mapped).live, 0);
}

#[test]
fn the_pool_keeps_no_more_than_its_limit() {
    let (_guard, driver) = alone();
    let _own = Own::new();
    let from = driver.device(&[0; 4]);
    let entered = enter(&place(usize::try_from(from).unwrap()), &LIBRARY).unwrap();
    pool::set_limit(200_000);
    let buffers: Vec<_> = (0..4).map(|_| pool::take(&entered, Memory::Device, 65536).unwrap()).collect();
    assert_eq!(pool::usage(Memory::Device).live, 4 * 65536);
    drop(buffers);
    assert_eq!(pool::usage(Memory::Device).live, 3 * 65536, "3 × 65536 < 200000 < 4 × 65536");
    pool::set_limit(pool::DEFAULT_LIMIT);
    pool::drain();
    assert_eq!(pool::usage(Memory::Device).live, 0);
}

#[test]
fn a_context_that_died_is_not_mistaken_for_its_successor() {
    let (_guard, driver) = alone();
    for _ in 0..3 {
        let own = Own::new();
        let from = driver.device(&pattern(BYTES));
        message(from).unwrap();
        let entered = enter(&place(usize::try_from(from).unwrap()), &LIBRARY).unwrap();
        let context = entered.context();
        let buffer = pool::take(&entered, Memory::Device, BYTES).unwrap();
        drop(entered);
        assert!(context.is_alive());
        drop(own);
        assert!(!context.is_alive());
        assert!(context.reenter().is_none());

        let _next = Own::new();
        let theirs = driver.device(&pattern(BYTES));
        // Dropped too late: nothing of the new context is freed for it.
        drop(buffer);
        message(theirs).unwrap();
        pool::drain();
        assert!(driver.read(theirs, BYTES) == pattern(BYTES));
    }
    assert_eq!(pool::usage(Memory::Device).live, 0);
}

#[test]
fn a_primary_context_is_not_brought_to_life() {
    let (_guard, driver) = alone();
    let nameless = Place { kind: Kind::Device, context: ContextHandle::NULL, device: 0 };
    let active = || {
        let (mut flags, mut active) = (0, 0);
        assert_eq!(driver.cuDevicePrimaryCtxGetState(0, &raw mut flags, &raw mut active), 0);
        active != 0
    };
    assert!(!active());
    assert_eq!(enter(&nameless, &LIBRARY).unwrap_err().code, INVALID_CONTEXT);
    assert!(!active());
    assert!(enter(&Place { device: -1, ..nameless }, &LIBRARY).is_err());
    assert!(enter(&Place { device: 1000, ..nameless }, &LIBRARY).is_err());

    let mut primary = 0;
    assert_eq!(driver.cuDevicePrimaryCtxRetain(&raw mut primary, 0), 0);
    drop(enter(&nameless, &LIBRARY).unwrap());
    assert_eq!(driver.current(), 0);
    assert!(active());

    // What cudaDeviceReset does: the same device's next primary context is another one.
    assert_eq!(driver.cuCtxSetCurrent(primary), 0);
    let from = driver.device(&pattern(BYTES));
    message(from).unwrap();
    assert_eq!(driver.cuDevicePrimaryCtxReset_v2(0), 0);
    assert_eq!(driver.cuDevicePrimaryCtxRetain(&raw mut primary, 0), 0);
    assert_eq!(driver.cuCtxSetCurrent(primary), 0);
    let from = driver.device(&pattern(BYTES));
    message(from).unwrap();
    pool::drain();
    driver.leave_all();
    while active() {
        assert_eq!(driver.cuDevicePrimaryCtxRelease_v2(0), 0);
    }
}

#[test]
fn an_unfinished_lane_ends_before_it_is_used_again() {
    let (_guard, driver) = alone();
    let _own = Own::new();
    let from = driver.device(&pattern(BYTES));
    let entered = enter(&place(usize::try_from(from).unwrap()), &LIBRARY).unwrap();
    let to = pool::take(&entered, Memory::Mapped, BYTES).unwrap();
    let mut lane = entered.lane().unwrap();
    // SAFETY: both buffers outlive the lane.
    unsafe { lane.launch(PACK, 32, 128, &mut words(from, to.device_address(), WORDS), true) }.unwrap();
    drop(lane);
    // SAFETY: mapped memory of that length.
    let bytes = unsafe { std::slice::from_raw_parts(to.address() as *const u8, BYTES) };
    assert!(bytes == pattern(BYTES));
    drop(to);
    drop(entered);
    pool::drain();
}

#[test]
fn every_call_may_fail() {
    let (_guard, driver) = alone();
    if driver.arm("").is_none() {
        return;
    }
    let mut failures = 0;
    for n in 1.. {
        let own = Own::new();
        let from = driver.device(&pattern(BYTES));
        driver.arm(&format!("any:{n}:999")).unwrap();
        let result = message(from);
        let fired = driver.fired();
        driver.arm("").unwrap();
        assert_eq!(driver.current(), own.0, "call {n}: the context is restored");
        let mut mode = 0;
        assert_eq!(driver.cuThreadExchangeStreamCaptureMode(&raw mut mode), 0);
        assert_eq!(mode, 0, "call {n}: the mode of capture is restored");
        if !fired {
            result.unwrap();
            break;
        }
        failures += usize::from(result.is_err());

        // It leaves nothing half made: the next message may complete what is kept, and from then on nothing is added,
        // whether it fails or not.
        let again = message(from);
        pool::drain();
        let before = driver.live();
        for rule in [format!("any:{n}:999"), String::new()] {
            driver.arm(&rule).unwrap();
            let _ = message(from);
            driver.arm("").unwrap();
            pool::drain();
            assert_eq!(driver.live(), before, "call {n} leaks");
        }
        assert!(again.is_ok() || module_failed(again), "call {n}: {again:?}");
    }
    assert!(failures > 10, "{failures}");
    pool::drain();
    assert_eq!(pool::usage(Memory::Device).live, 0);
    assert_eq!(pool::usage(Memory::Mapped).live, 0);
}

/// A module that did not load is not tried again in that context.
fn module_failed(result: Result<(), CudaError>) -> bool {
    result.is_err_and(|error| error.call.starts_with("cuModule"))
}

#[test]
fn out_of_memory_empties_the_pool_first() {
    let (_guard, driver) = alone();
    if driver.arm("").is_none() {
        return;
    }
    let _own = Own::new();
    let from = driver.device(&pattern(BYTES));
    message(from).unwrap();
    let entered = enter(&place(usize::try_from(from).unwrap()), &LIBRARY).unwrap();
    let kept = pool::usage(Memory::Device).live;
    assert!(kept > 0);
    driver.arm("cuMemAlloc:1:2").unwrap();
    let buffer = pool::take(&entered, Memory::Device, 4 * BYTES).unwrap();
    assert!(driver.fired());
    assert_eq!(pool::usage(Memory::Device).live, buffer.bytes(), "what was kept has gone");
    driver.arm("cuMemAlloc:1*:2").unwrap();
    assert_eq!(pool::take(&entered, Memory::Device, 8 * BYTES).unwrap_err().code, OUT_OF_MEMORY);
    driver.arm("").unwrap();
    drop(buffer);
    drop(entered);
    pool::drain();
}

#[test]
fn a_kernel_that_crashes_is_noticed() {
    let (_guard, driver) = alone();
    if driver.arm("").is_none() {
        return;
    }
    let own = Own::new();
    let from = driver.device(&pattern(BYTES));
    message(from).unwrap();
    driver.arm("launch-fault:1").unwrap();
    let error = message(from).unwrap_err();
    driver.arm("").unwrap();
    assert_ne!(error.code, 0);
    assert_eq!(driver.current(), own.0);
    assert!(message(from).is_err(), "the context is lost");
    assert_eq!(driver.current(), own.0);
    drop(own);
    let _next = Own::new();
    message(driver.device(&pattern(BYTES))).unwrap();
    pool::drain();
}

/// Not a check: prints what the calls of the message path cost. Worth reading on a release build only.
#[test]
#[ignore = "prints costs; run it alone, in release mode"]
fn costs() {
    fn nanoseconds(what: &str, mut f: impl FnMut()) {
        const TIMES: u32 = 2000;
        let mut samples: Vec<f64> = (0..21)
            .map(|_| {
                let start = Instant::now();
                for _ in 0..TIMES {
                    f();
                }
                start.elapsed().as_secs_f64() * 1e9 / f64::from(TIMES)
            })
            .collect();
        samples.sort_by(f64::total_cmp);
        println!("{what:<40} {:>9.1} ns", samples[10]);
    }
    use std::hint::black_box;
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: changes nothing.
    let heap = unsafe { libc::sbrk(0) } as usize - 1;
    let arena = Box::new([0u8; 64]);
    let stack = [0u8; 64];
    let map = page();
    if !driver::present() {
        nanoseconds("present(), no driver", || _ = black_box(driver::present()));
        nanoseconds("place(mmap), no driver", || _ = black_box(place(black_box(map))));
    }
    drop(guard);
    let (_guard, driver) = alone();
    let _own = Own::new();
    let from = driver.device(&pattern(BYTES));
    nanoseconds("present()", || _ = black_box(driver::present()));
    nanoseconds("place(heap)", || _ = black_box(place(black_box(heap))));
    nanoseconds("place(heap of a thread)", || _ = black_box(place(black_box(arena.as_ptr() as usize))));
    nanoseconds("place(stack)", || _ = black_box(place(black_box(stack.as_ptr() as usize))));
    nanoseconds("is_host(mmap)", || _ = black_box(ranges::is_host(black_box(map))));
    nanoseconds("place(mmap)", || _ = black_box(place(black_box(map))));
    nanoseconds("place(device)", || _ = black_box(place(black_box(usize::try_from(from).unwrap()))));
    let at = place(usize::try_from(from).unwrap());
    nanoseconds("enter and leave", || drop(black_box(enter(&at, &LIBRARY).unwrap())));
    let entered: Entered = enter(&at, &LIBRARY).unwrap();
    nanoseconds("lane taken and given back", || drop(black_box(entered.lane().unwrap())));
    drop(pool::take(&entered, Memory::Device, BYTES).unwrap());
    nanoseconds("buffer taken and given back", || {
        drop(black_box(pool::take(&entered, Memory::Device, BYTES).unwrap()));
    });
    let to = pool::take(&entered, Memory::Device, BYTES).unwrap();
    let mut lane = entered.lane().unwrap();
    nanoseconds("launch and wait, 4 bytes, flag", || {
        // SAFETY: both buffers live on.
        unsafe { lane.launch(PACK, 1, 32, &mut words(from, to.device_address(), 1), true) }.unwrap();
        lane.wait().unwrap();
    });
    nanoseconds("launch and wait, 4 bytes, stream", || {
        // SAFETY: both buffers live on.
        unsafe { lane.launch(PACK, 1, 32, &mut words(from, to.device_address(), 1), false) }.unwrap();
        lane.wait().unwrap();
    });
}
