//! Finding the MPI that this process uses.
//!
//! An MPI is usually the next object that defines a symbol; but Python and Julia open theirs `RTLD_LOCAL`, where
//! `RTLD_NEXT` finds nothing. Then the loaded objects are searched for the one that defines `MPI_Init` and is
//! neither us nor the program. Nothing is ever loaded, but for a file that the user names (`TEMPI_LIBMPI`).

use crate::config;
use once_cell::sync::OnceCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The object that supplied the last symbol, so that two MPIs in one process are never mixed.
static SUPPLIER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The address of the next definition of `name`, or null.
pub fn find(name: &CStr) -> *mut c_void {
    if let Some(library) = named_by_user() {
        return symbol(library, name);
    }
    let next = symbol(libc::RTLD_NEXT, name);
    if !next.is_null() {
        remember(next);
        return next;
    }
    let supplier = SUPPLIER.load(Ordering::Acquire);
    if !supplier.is_null() {
        let found = symbol(supplier, name);
        if !found.is_null() {
            return found;
        }
    }
    let scanned = scan();
    if scanned.is_null() {
        return ptr::null_mut();
    }
    let found = symbol(scanned, name);
    if !found.is_null() && !is_ours(found) {
        SUPPLIER.store(scanned, Ordering::Release);
        return found;
    }
    ptr::null_mut()
}

/// The address of an object of the MPI's (such as `ompi_mpi_byte`), or null. A program that names the object may hold it itself, by a copy
/// relocation, and then everybody uses that copy: the global scope is asked first, in which the program comes first.
pub fn data(name: &CStr) -> *mut c_void {
    if named_by_user().is_none() {
        let shared = symbol(libc::RTLD_DEFAULT, name);
        if !shared.is_null() {
            return shared;
        }
    }
    find(name)
}

/// The file name of the object that defines `address`.
pub fn file_of(address: *const c_void) -> Option<CString> {
    let info = describe(address)?;
    // SAFETY: dladdr succeeded, so the name is null or a C string of the loader's.
    (!info.dli_fname.is_null()).then(|| unsafe { CStr::from_ptr(info.dli_fname) }.to_owned())
}

fn named_by_user() -> Option<*mut c_void> {
    static NAMED: OnceCell<Option<usize>> = OnceCell::new();
    NAMED
        .get_or_init(|| {
            let path = CString::new(config::get().libmpi.as_deref()?).ok()?;
            // SAFETY: `path` is a C string; the flags are valid.
            let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
            if library.is_null() {
                tracing::warn!(path = ?path, "TEMPI_LIBMPI cannot be opened and is ignored");
            }
            (!library.is_null()).then_some(library as usize)
        })
        .map(|library| library as *mut c_void)
}

fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: `library` is a handle of the loader's or RTLD_NEXT, and `name` a C string.
    unsafe { libc::dlsym(library, name.as_ptr()) }
}

fn describe(address: *const c_void) -> Option<libc::Dl_info> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: dladdr takes any address and fills `info` when it returns nonzero.
    (unsafe { libc::dladdr(address, &raw mut info) } != 0).then_some(info)
}

fn is_ours(address: *const c_void) -> bool {
    let base = |a| describe(a).map(|info| info.dli_fbase);
    base(address) == base(find as *const c_void)
}

/// Keep the object that defines `address` as the supplier of further symbols.
fn remember(address: *mut c_void) {
    if !SUPPLIER.load(Ordering::Relaxed).is_null() {
        return;
    }
    if let Some(library) = file_of(address).map(|file| reopen(&file))
        && !library.is_null()
    {
        SUPPLIER.store(library, Ordering::Release);
    }
}

/// A handle of an object that is loaded already, or null.
fn reopen(file: &CStr) -> *mut c_void {
    // SAFETY: `file` is a C string; RTLD_NOLOAD loads nothing.
    unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
}

/// A handle of the loaded object that defines `MPI_Init` itself, or null.
fn scan() -> *mut c_void {
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description.
        let name: *const c_char = unsafe { (*info).dlpi_name };
        if !name.is_null() {
            // SAFETY: `scan` passes its vector, and the loader's name is a C string that lives as long as the object.
            let names = unsafe { &mut *names.cast::<Vec<CString>>() };
            // SAFETY: as above.
            names.push(unsafe { CStr::from_ptr(name) }.to_owned());
        }
        0
    }
    let mut names: Vec<CString> = Vec::new();
    // SAFETY: `visit` matches the callback's type and gets the vector it expects; the symbols are asked for afterwards, without the loader's lock.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut names).cast()) };
    for name in names.iter().filter(|name| !name.is_empty()) {
        let library = reopen(name);
        if library.is_null() {
            continue;
        }
        let init = symbol(library, c"MPI_Init");
        // A library that merely depends on the MPI finds MPI_Init too; what counts is where the symbol lies.
        if !init.is_null() && !is_ours(init) && file_of(init).as_deref() == Some(name) {
            return library;
        }
        // SAFETY: the handle came from dlopen above and is not used again.
        unsafe { libc::dlclose(library) };
    }
    ptr::null_mut()
}
