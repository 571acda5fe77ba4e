//! The kernels in one context.
//!
//! A PTX module belongs to the context that it was loaded into. It is loaded at first use and never unloaded by us: at the
//! process's end the driver may be gone before we are, and a destroyed context takes its modules along. Depends on cust.
#![forbid(unsafe_code)]

use std::ffi::CStr;

use cust::module::Module;

use super::calls::Handle;
use super::error::{CudaError, NOT_FOUND};

/// Kernels to load: PTX and the entry points wanted from it. A process has one.
#[derive(Debug)]
pub struct Library {
    /// The PTX text.
    pub ptx: &'static CStr,
    /// The entry points; a kernel is named by its index here.
    pub names: &'static [&'static CStr],
}

/// A library's functions in one context.
#[derive(Debug)]
pub(super) struct Kernels {
    functions: Vec<Handle>,
}

impl Kernels {
    /// Compiles and loads `library` into the current context. Takes milliseconds, or seconds when the driver's
    /// compilation cache is cold.
    ///
    /// # Errors
    /// The driver's; nothing stays loaded then.
    pub(super) fn load(library: &Library) -> Result<Self, CudaError> {
        let missing = CudaError { call: "cuModuleGetFunction", code: NOT_FOUND };
        let module = Module::from_ptx_cstr(library.ptx, &[])
            .map_err(|error| CudaError { call: "cuModuleLoadDataEx", code: error as i32 })?;
        let mut functions = Vec::with_capacity(library.names.len());
        for name in library.names {
            let name = name.to_str().map_err(|_| missing)?;
            let function =
                module.get_function(name).map_err(|error| CudaError { code: error as i32, ..missing })?;
            functions.push(function.to_raw() as Handle);
        }
        // Its destructor would unload it, and the functions with it.
        std::mem::forget(module);
        Ok(Self { functions })
    }

    /// The function of kernel `index`.
    pub(super) fn function(&self, index: usize) -> Result<Handle, CudaError> {
        let missing = CudaError { call: "cuModuleGetFunction", code: NOT_FOUND };
        self.functions.get(index).copied().ok_or(missing)
    }
}
