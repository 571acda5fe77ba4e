//! The driver functions of the message path, with their C signatures.
//!
//! They go through the same table as the trampolines, but with a plain integer for the result: cust's enum of results
//! is older than today's drivers, and a code that it lacks would be undefined behaviour. Handles are words and addresses
//! are `u64`, as the driver API has them. Depends on `driver` and `error` only.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::transmute;

use super::driver;
use super::error::{CudaError, check};

/// A `CUcontext`, `CUstream`, `CUfunction`, …: an opaque pointer that only the driver looks into.
pub(super) type Handle = usize;

macro_rules! calls {
    ($($name:ident = $symbol:ident($($arg:ident: $type:ty),*);)*) => {$(
        #[inline]
        #[allow(clippy::too_many_arguments, reason = "the driver's signature")]
        pub(super) unsafe fn $name($($arg: $type),*) -> Result<(), CudaError> {
            let function = driver::slot::<{ driver::symbols::$symbol }>();
            // SAFETY: the slot holds the driver's function of this name, whose signature cuda.h declares so, or
            // `absent`, which reads no argument.
            let function = unsafe { transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> c_int>(function) };
            // SAFETY: the caller vouches for the arguments.
            check(stringify!($symbol), unsafe { function($($arg),*) })
        }
    )*};
}

calls! {
    pointer_attributes = cuPointerGetAttributes(count: c_uint, attributes: *const c_int, data: *const *mut c_void, address: u64);
    pointer_attribute = cuPointerGetAttribute(data: *mut c_void, attribute: c_int, address: u64);
    context_push = cuCtxPushCurrent_v2(context: Handle);
    context_pop = cuCtxPopCurrent_v2(context: *mut Handle);
    capture_mode_exchange = cuThreadExchangeStreamCaptureMode(mode: *mut c_int);
    primary_state = cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int);
    primary_retain = cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int);
    primary_release = cuDevicePrimaryCtxRelease_v2(device: c_int);
    context_device = cuCtxGetDevice(device: *mut c_int);
    device_count = cuDeviceGetCount(count: *mut c_int);
    device_attribute = cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int);
    mem_alloc = cuMemAlloc_v2(address: *mut u64, bytes: usize);
    mem_free = cuMemFree_v2(address: u64);
    host_alloc = cuMemHostAlloc(address: *mut *mut c_void, bytes: usize, flags: c_uint);
    host_free = cuMemFreeHost(address: *mut c_void);
    host_device_address = cuMemHostGetDevicePointer_v2(device: *mut u64, host: *mut c_void, flags: c_uint);
    memset_word = cuMemsetD32Async(address: u64, value: c_uint, words: usize, stream: Handle);
    copy = cuMemcpyAsync(destination: u64, source: u64, bytes: usize, stream: Handle);
    stream_create = cuStreamCreate(stream: *mut Handle, flags: c_uint);
    stream_destroy = cuStreamDestroy_v2(stream: Handle);
    stream_query = cuStreamQuery(stream: Handle);
    stream_synchronize = cuStreamSynchronize(stream: Handle);
    launch_kernel = cuLaunchKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared: c_uint, stream: Handle, parameters: *const *mut c_void, extra: *const *mut c_void
    );
}
