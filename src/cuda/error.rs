//! What a driver call returned when it did not return success.
//!
//! Depends on nothing. The invariant: every driver call goes through [`check`], so an error always carries the name of
//! the call. Codes stay plain integers, because newer drivers return codes that no enum of ours would know.
#![forbid(unsafe_code)]

use std::fmt;

/// `CUDA_ERROR_INVALID_VALUE`: of a question about an address, that no allocation is there.
pub const INVALID_VALUE: i32 = 1;
/// `CUDA_ERROR_OUT_OF_MEMORY`.
pub const OUT_OF_MEMORY: i32 = 2;
/// `CUDA_ERROR_NOT_INITIALIZED`: nobody has called `cuInit`.
pub const NOT_INITIALIZED: i32 = 3;
/// `CUDA_ERROR_DEINITIALIZED`: the driver is going down.
pub const DEINITIALIZED: i32 = 4;
/// `CUDA_ERROR_NO_DEVICE`: what every call answers while no driver was found.
pub const NO_DEVICE: i32 = 100;
/// `CUDA_ERROR_INVALID_CONTEXT`.
pub const INVALID_CONTEXT: i32 = 201;
/// `CUDA_ERROR_NOT_FOUND`.
pub const NOT_FOUND: i32 = 500;
/// `CUDA_ERROR_NOT_READY`: work is still running; not a failure.
pub const NOT_READY: i32 = 600;
/// `CUDA_ERROR_UNKNOWN`.
pub const UNKNOWN: i32 = 999;

/// A driver call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CudaError {
    /// The driver API function, as it is called in `libcuda.so.1`.
    pub call: &'static str,
    /// Its `CUresult`.
    pub code: i32,
}

/// Turns a `CUresult` into a result that names the call.
///
/// # Errors
/// Every code but `CUDA_SUCCESS`.
#[inline]
pub fn check(call: &'static str, code: i32) -> Result<(), CudaError> {
    if code == 0 { Ok(()) } else { Err(CudaError { call, code }) }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.call, self.code)?;
        let words = match self.code {
            INVALID_VALUE => "invalid value",
            OUT_OF_MEMORY => "out of memory",
            NOT_INITIALIZED => "not initialized",
            DEINITIALIZED => "deinitialized",
            NO_DEVICE => "no device",
            101 => "invalid device",
            200 => "invalid image",
            INVALID_CONTEXT => "invalid context",
            209 => "no binary for GPU",
            214 => "uncorrectable ECC error",
            218 => "invalid PTX",
            222 => "unsupported PTX version",
            400 => "invalid handle",
            NOT_FOUND => "not found",
            NOT_READY => "not ready",
            700 => "illegal address",
            701 => "launch out of resources",
            702 => "launch timeout",
            709 => "context is destroyed",
            716 => "misaligned address",
            719 => "launch failed",
            801 => "not supported",
            UNKNOWN => "unknown error",
            _ => return Ok(()),
        };
        write!(f, " ({words})")
    }
}

impl std::error::Error for CudaError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_call() {
        assert_eq!(check("cuMemAlloc_v2", 0), Ok(()));
        let error = check("cuMemAlloc_v2", 2).unwrap_err();
        assert_eq!(error.to_string(), "cuMemAlloc_v2 2 (out of memory)");
        assert_eq!(CudaError { call: "cuLaunchKernel", code: 915 }.to_string(), "cuLaunchKernel 915");
    }
}
