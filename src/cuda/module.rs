//! The kernels in one context.
//!
//! A PTX module belongs to the context that it was loaded into. It is loaded at first use and never unloaded by us: at the
//! process's end the driver may be gone before we are, and a destroyed context takes its modules along. Depends on cust.
#![forbid(unsafe_code)]

use std::ffi::CStr;

use cust::function::Function;
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
    functions: Vec<Function<'static>>,
}

impl Kernels {
    /// Compiles and loads `library` into the current context. Takes milliseconds, or seconds when the driver's
    /// compilation cache is cold.
    pub(super) fn load(library: &Library) -> Result<Self, CudaError> {
        let invalid = CudaError { call: "cuModuleLoadDataEx", code: 200 };
        let module = Module::from_ptx_cstr(library.ptx, &[])
            .map_err(|error| CudaError { code: error as i32, ..invalid })?;
        let mut functions = Vec::with_capacity(library.names.len());
        // Leaked, so that functions can live as long as the process; on failure below that is a module too many, once.
        let module: &'static Module = Box::leak(Box::new(module));
        for name in library.names {
            let missing = CudaError { call: "cuModuleGetFunction", code: NOT_FOUND };
            let name = name.to_str().map_err(|_| missing)?;
            functions.push(
                module.get_function(name).map_err(|error| CudaError { code: error as i32, ..missing })?,
            );
        }
        Ok(Self { functions })
    }

    /// The function of kernel `index`.
    pub(super) fn function(&self, index: usize) -> Result<Handle, CudaError> {
        let missing = CudaError { call: "cuModuleGetFunction", code: NOT_FOUND };
        self.functions.get(index).map(|function| function.to_raw() as Handle).ok_or(missing)
    }
}
