//! The next definition of each MPI function, bound at its first call.
//!
//! A slot holds the address once it is known: afterwards a call is one load and one indirect call. What a program calls as
//! `MPI_X` goes on as `MPI_X`, what it calls as `PMPI_X` goes on as `PMPI_X`, so that tools before and after us see
//! each call once; our own questions (`call` rows) go to `PMPI_X`, which no tool counts.
//!
//! Any call may end in a program's error handler, which may leave it by an exception of C++: so the functions are `C-unwind`.

use super::handle::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status};
use super::{large, library};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// By which name a program called a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// `MPI_X`.
    Mpi,
    /// `PMPI_X`.
    Pmpi,
}

/// A lazily bound pair of names.
struct Slot {
    first: &'static CStr,
    second: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Slot {
    const fn new(first: &'static CStr, second: &'static CStr) -> Self {
        Self { first, second, address: AtomicPtr::new(ptr::null_mut()) }
    }

    #[inline]
    fn get(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Acquire);
        if address.is_null() { self.bind() } else { address }
    }

    #[cold]
    #[inline(never)]
    fn bind(&self) -> *mut c_void {
        let mut address = library::find(self.first);
        if address.is_null() {
            address = library::find(self.second);
        }
        if !address.is_null() {
            self.address.store(address, Ordering::Release);
        }
        address
    }
}

/// The address of a function that the MPI lacks.
const ABSENT: *mut c_void = ptr::without_provenance_mut(1);

impl Slot {
    /// The address, if the MPI has the function. What it lacks is looked for once: the MPI of a process stays the same.
    #[inline]
    fn find(&self) -> Option<*mut c_void> {
        let address = self.get();
        if address > ABSENT { Some(address) } else { self.lacks(address) }
    }

    #[cold]
    fn lacks(&self, address: *mut c_void) -> Option<*mut c_void> {
        if address.is_null() && library::known() {
            self.address.store(ABSENT, Ordering::Release);
        }
        None
    }
}

/// What a function returns when no MPI in the process has it: `MPI_ERR_UNSUPPORTED_OPERATION` differs by family, so `MPI_ERR_OTHER`.
#[cold]
fn missing(name: &str) -> c_int {
    tracing::warn!(name, "no MPI library in this process provides this function");
    super::family::family().constants().err_other
}

/// A C string out of a literal.
macro_rules! c_name {
    ($($part:expr),*) => {
        match CStr::from_bytes_with_nul(concat!($($part,)* "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => c"",
        }
    };
}

macro_rules! make_next {
    () => {};
    (hook fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty => $body:path; $($rest:tt)*) => {
        /// The system's function, by the name that the program used.
        ///
        /// # Safety
        /// As the MPI function.
        #[inline]
        #[allow(non_snake_case)]
        pub unsafe fn $name(via: Via, $($a: $t),*) -> $r {
            static MPI: Slot = Slot::new(c_name!(stringify!($name)), c_name!("P", stringify!($name)));
            static PMPI: Slot = Slot::new(c_name!("P", stringify!($name)), c_name!(stringify!($name)));
            let address = match via { Via::Mpi => MPI.get(), Via::Pmpi => PMPI.get() };
            if address.is_null() { return missing(stringify!($name)); }
            // SAFETY: the address is that of the C function of this name, whose type the table states (and `api::check` proves).
            let function: unsafe extern "C-unwind" fn($($t),*) -> $r = unsafe { std::mem::transmute(address) };
            // SAFETY: the caller's duty.
            unsafe { function($($a),*) }
        }
        make_next!{ $($rest)* }
    };
    (large fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty | $fallback:path => $body:path; $($rest:tt)*) => {
        /// The system's function, by the name that the program used; where the MPI lacks it, the same by means of what it has.
        ///
        /// # Safety
        /// As the MPI function.
        #[inline]
        #[allow(non_snake_case)]
        pub unsafe fn $name(via: Via, $($a: $t),*) -> $r {
            static MPI: Slot = Slot::new(c_name!(stringify!($name)), c_name!("P", stringify!($name)));
            static PMPI: Slot = Slot::new(c_name!("P", stringify!($name)), c_name!(stringify!($name)));
            let found = match via { Via::Mpi => MPI.find(), Via::Pmpi => PMPI.find() };
            let Some(address) = found else {
                // SAFETY: the caller's duty.
                return unsafe { $fallback(via, $($a),*) };
            };
            // SAFETY: the address is that of the C function of this name, whose type the table states (and `api::check` proves).
            let function: unsafe extern "C-unwind" fn($($t),*) -> $r = unsafe { std::mem::transmute(address) };
            // SAFETY: the caller's duty.
            unsafe { function($($a),*) }
        }
        make_next!{ $($rest)* }
    };
    (call fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty; $($rest:tt)*) => {
        make_next!{ @plain $name ( $($a : $t),* ) -> $r }
        make_next!{ $($rest)* }
    };
    (maybe fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty; $($rest:tt)*) => {
        make_next!{ @plain $name ( $($a : $t),* ) -> $r }
        make_next!{ $($rest)* }
    };
    (@plain $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty) => {
        /// The system's function, for our own questions.
        ///
        /// # Safety
        /// As the MPI function.
        #[allow(non_snake_case)]
        pub unsafe fn $name($($a: $t),*) -> $r {
            static SLOT: Slot = Slot::new(c_name!("P", stringify!($name)), c_name!(stringify!($name)));
            let address = SLOT.get();
            if address.is_null() { return missing(stringify!($name)); }
            // SAFETY: the address is that of the C function of this name, whose type the table states (and `api::check` proves).
            let function: unsafe extern "C-unwind" fn($($t),*) -> $r = unsafe { std::mem::transmute(address) };
            // SAFETY: the caller's duty.
            unsafe { function($($a),*) }
        }
    };
}

mpi_table!(make_next);

/// Whether this MPI has `name` (or its profiling twin `P…`).
pub fn available(name: &CStr) -> bool {
    !library::find(name).is_null()
}
