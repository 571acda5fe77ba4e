//! A buffer's context: entered for a while, and what is kept for it.
//!
//! [`enter`] makes the context of a buffer current for the lifetime of a guard; the guard pops it again on every path. It
//! gives the [`Context`], which holds the kernels, the idle lanes and a few facts.
//!
//! # Contexts that come back
//!
//! An application may destroy a context (or reset a device) and make another, and the driver may well give the new one the
//! old handle. What we kept (functions, streams, buffers) died with the old one, and its addresses may be the new
//! one's. So every `Context` holds a small device allocation as a token, with the number that the driver gave that
//! allocation (`CU_POINTER_ATTRIBUTE_BUFFER_ID`, unique in the process). The context that we know lives as long as its
//! token's address still answers to that number; this is checked on entry (some 50 ns) and before anything is freed. Every
//! driver of the last ten years can do that, unlike `cuCtxGetId` (CUDA 12).
//!
//! Depends on `calls`, `lane`, `memory`, `module`. The invariant: whatever happens between, the application's current
//! context after the guard is the one before it, as is the thread's mode of stream capture; and no capture is disturbed.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};

use super::calls::{self, Handle};
use super::error::{CudaError, INVALID_CONTEXT, OUT_OF_MEMORY, UNKNOWN};
use super::lane::Parts;
use super::memory::{self, Block, ContextHandle, Memory, Place};
use super::module::{Kernels, Library};

/// `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`.
const MULTIPROCESSOR_COUNT: i32 = 16;
/// The driver rounds every allocation up to at least this.
const TOKEN_BYTES: usize = 512;

/// What is kept for one context. Lives as long as the process, whether or not the context does.
#[derive(Debug)]
pub struct Context {
    handle: ContextHandle,
    device: i32,
    multiprocessors: u32,
    token: Block,
    token_id: u64,
    /// A module that does not load will not load next time either: the error is kept, not repeated. But a lack of memory passes:
    /// such a context is not kept at all.
    kernels: Result<Kernels, CudaError>,
    gone: AtomicBool,
    /// Lanes that nobody uses, their streams idle.
    pub(super) lanes: Mutex<Vec<Parts>>,
}

/// The contexts known to be alive when last entered. Few: one a device, as a rule.
static CONTEXTS: RwLock<Vec<&'static Context>> = RwLock::new(Vec::new());

/// Makes the context of `place` current until the guard is dropped.
///
/// Where the driver names no context (stream-ordered or virtual memory) it is the primary context of the device, if the
/// application has it active. The first entry of a context loads the kernels.
///
/// # Errors
/// `INVALID_CONTEXT` if there is no context to enter; the driver's otherwise, with nothing changed.
pub fn enter(place: &Place, library: &'static Library) -> Result<Entered, CudaError> {
    let retained = if place.context.is_null() { Some(Retained::new(place.device)?) } else { None };
    let handle = retained.as_ref().map_or(place.context, |retained| retained.context);
    let pushed = Pushed::new(handle)?;
    let context = known(handle).map_or_else(|| learn(handle, &pushed, library), Ok)?;
    context.kernels.as_ref().map_err(|error| *error)?;
    Ok(Entered { context, pushed, _retained: retained })
}

/// What is kept for the context of `place`, if it was entered before and is still the same one; nothing is made current.
pub fn entered_before(place: &Place) -> Option<&'static Context> {
    if place.context.is_null() { None } else { known(place.context) }
}

/// How many devices the driver shows to this process.
pub fn device_count() -> Option<u32> {
    let mut count = 0;
    // SAFETY: `count` is a valid place.
    unsafe { calls::device_count(&raw mut count) }.ok()?;
    u32::try_from(count).ok()
}

/// How many multiprocessors a device has, if the process has a driver that was initialised.
pub fn multiprocessors(device: i32) -> Option<u32> {
    let mut count = 0;
    // SAFETY: `count` is a valid place.
    unsafe { calls::device_attribute(&raw mut count, MULTIPROCESSOR_COUNT, device) }.ok()?;
    u32::try_from(count).ok().filter(|count| *count > 0)
}

/// The context of this handle, if it is known and still the same one.
fn known(handle: ContextHandle) -> Option<&'static Context> {
    let context = CONTEXTS.read().iter().copied().find(|context| context.handle == handle)?;
    context.is_alive().then_some(context)
}

/// Makes the current context, `handle`, known. The lock is held meanwhile, so that two threads do not compile the
/// kernels twice; this happens once a context.
fn learn(handle: ContextHandle, current: &Pushed, library: &Library) -> Result<&'static Context, CudaError> {
    let mut contexts = CONTEXTS.write();
    if let Some(index) = contexts.iter().position(|context| context.handle == handle) {
        if let Some(context) = contexts.get(index).filter(|context| context.is_alive()) {
            return Ok(context);
        }
        contexts.swap_remove(index).gone.store(true, Ordering::Relaxed);
    }
    let context: &'static Context = Box::leak(Box::new(Context::new(handle, current, library)?));
    contexts.push(context);
    Ok(context)
}

impl Context {
    fn new(handle: ContextHandle, current: &Pushed, library: &Library) -> Result<Self, CudaError> {
        let mut device = 0;
        // SAFETY: `device` is writable, and a context is current.
        unsafe { calls::context_device(&raw mut device) }?;
        let mut multiprocessors = 0;
        // SAFETY: `multiprocessors` is writable.
        unsafe { calls::device_attribute(&raw mut multiprocessors, MULTIPROCESSOR_COUNT, device) }?;
        let token = memory::allocate(current, Memory::Device, TOKEN_BYTES)?;
        let Some(token_id) = memory::allocation_id(token.address) else {
            // SAFETY: allocated above in this context; only here known.
            unsafe { memory::release(current, token) };
            return Err(CudaError { call: "cuPointerGetAttribute", code: UNKNOWN });
        };
        let kernels = Kernels::load(library);
        if let Err(error @ CudaError { code: OUT_OF_MEMORY, .. }) = kernels {
            // SAFETY: as above.
            unsafe { memory::release(current, token) };
            return Err(error);
        }
        Ok(Self {
            handle,
            device,
            multiprocessors: u32::try_from(multiprocessors).unwrap_or(1).max(1),
            token,
            token_id,
            kernels,
            gone: AtomicBool::new(false),
            lanes: Mutex::new(Vec::new()),
        })
    }

    /// The ordinal of the context's device.
    pub fn device(&self) -> i32 {
        self.device
    }

    /// How many multiprocessors the device has.
    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// The function of kernel `index` of the library.
    pub(super) fn function(&self, index: usize) -> Result<Handle, CudaError> {
        self.kernels.as_ref().map_err(|error| *error)?.function(index)
    }

    /// Whether this is still the context that it was; see the module's essay.
    pub fn is_alive(&self) -> bool {
        !self.is_gone() && memory::allocation_id(self.token.address) == Some(self.token_id)
    }

    /// Whether it was found to be dead earlier; cheaper than [`Context::is_alive`].
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Makes this context current again, if it is still alive.
    pub fn reenter(&'static self) -> Option<Entered> {
        if !self.is_alive() {
            return None;
        }
        let pushed = Pushed::new(self.handle).ok()?;
        Some(Entered { context: self, pushed, _retained: None })
    }
}

/// A context made current. Dropping it makes the previous one current again.
///
/// Bound to its thread. Dereferences to what is kept for the context.
#[derive(Debug)]
pub struct Entered {
    context: &'static Context,
    // Dropped in this order: popped before a primary context is given back.
    pushed: Pushed,
    _retained: Option<Retained>,
}

impl Entered {
    /// What is kept for the context, for longer than this guard.
    pub fn context(&self) -> &'static Context {
        self.context
    }

    /// The proof that the context is current.
    pub(super) fn current(&self) -> &Pushed {
        &self.pushed
    }
}

impl Deref for Entered {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.context
    }
}

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const CAPTURE_RELAXED: i32 = 2;

/// A context on top of this thread's stack of contexts.
///
/// The application may be capturing a stream meanwhile, here or in another thread. Allocations and the like would end that with an
/// error unless this thread declares that they have nothing to do with it, so it does.
#[derive(Debug)]
pub(super) struct Pushed {
    /// The thread's own mode of capture; `None` in drivers that know no captures.
    mode: Option<i32>,
    thread: PhantomData<*const ()>,
}

/// Sets this thread's mode of capture; returns the one before.
fn exchange_mode(mut mode: i32) -> Option<i32> {
    let place = &raw mut mode;
    // SAFETY: `mode` is writable.
    let exchange = || unsafe { calls::capture_mode_exchange(place) };
    // Once more if it failed: the thread must not be left with another mode than its own.
    exchange().or_else(|_| exchange()).ok()?;
    Some(mode)
}

impl Pushed {
    fn new(context: ContextHandle) -> Result<Self, CudaError> {
        // SAFETY: a handle that the driver has just named, or whose token has just answered.
        unsafe { calls::context_push(context.0) }?;
        Ok(Self { mode: exchange_mode(CAPTURE_RELAXED), thread: PhantomData })
    }
}

impl Drop for Pushed {
    fn drop(&mut self) {
        let _ = self.mode.map(exchange_mode);
        let mut popped = 0;
        let place = &raw mut popped;
        // SAFETY: `popped` is writable. What is popped is what `new` pushed, as guards nest.
        let pop = || unsafe { calls::context_pop(place) };
        // Once more if it failed: the application must not be left with another context than its own.
        let _ = pop().or_else(|_| pop());
    }
}

/// A primary context that was active before us, kept from going away while it is entered.
#[derive(Debug)]
struct Retained {
    context: ContextHandle,
    device: i32,
}

impl Retained {
    fn new(device: i32) -> Result<Self, CudaError> {
        let (mut flags, mut active) = (0, 0);
        // SAFETY: both are writable.
        unsafe { calls::primary_state(device, &raw mut flags, &raw mut active) }?;
        if active == 0 {
            // To retain it would make it, and that is the application's to do.
            return Err(CudaError { call: "cuDevicePrimaryCtxGetState", code: INVALID_CONTEXT });
        }
        let mut context = 0;
        // SAFETY: `context` is writable.
        unsafe { calls::primary_retain(&raw mut context, device) }?;
        Ok(Self { context: ContextHandle(context), device })
    }
}

impl Drop for Retained {
    fn drop(&mut self) {
        // SAFETY: retained in `new`.
        let _ = unsafe { calls::primary_release(self.device) };
    }
}
