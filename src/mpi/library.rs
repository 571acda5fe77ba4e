//! Finding the MPI that this process uses.
//!
//! An MPI is usually the next object that defines a symbol; but Python and Julia open theirs `RTLD_LOCAL`, where
//! `RTLD_NEXT` finds nothing. Then the loaded objects are searched for the one that defines `MPI_Init` and is
//! neither us nor the program. Nothing is ever loaded, but for a file that the user names (`TEMPI_LIBMPI`).
//!
//! The invariant: there may be several MPIs in a process, and all that is found belongs to one of them or to tools before it. Another MPI
//! that is loaded later, or that has a function which ours lacks, is not asked.

use crate::config;
use once_cell::sync::OnceCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

/// The MPI of this process.
#[derive(Clone, Copy)]
struct Mpi {
    /// Its object, by a handle of the loader's.
    library: usize,
    /// Whether it lies in the scope that we lie in, so that there may be tools between us and it.
    after_us: bool,
}

impl Mpi {
    fn symbol(self, name: &CStr) -> *mut c_void {
        symbol(self.library as *mut c_void, name)
    }
}

/// The address of the next definition of `name`, or null.
pub fn find(name: &CStr) -> *mut c_void {
    let Some(mpi) = mpi() else { return symbol(libc::RTLD_NEXT, name) };
    let own = mpi.symbol(name);
    // What the MPI itself lacks, no tool before it has; if there is such a function, it is another MPI's.
    if own.is_null() || !mpi.after_us {
        return own;
    }
    let next = symbol(libc::RTLD_NEXT, name);
    if next.is_null() { own } else { next }
}

/// A function that only the MPI itself has: tools define `MPI_Init`, libraries like this one `PMPI_Init` as well.
pub const MARK: &CStr = c"PMPI_Get_library_version";

/// The MPI, decided as soon as there is one.
fn mpi() -> Option<Mpi> {
    static MPI: OnceCell<Mpi> = OnceCell::new();
    MPI.get_or_try_init(|| named_by_user().or_else(after_us).or_else(scan).ok_or(())).ok().copied()
}

/// Whether the MPI of this process is decided.
pub fn known() -> bool {
    mpi().is_some()
}

fn after_us() -> Option<Mpi> {
    let mark = symbol(libc::RTLD_NEXT, MARK);
    let library = if mark.is_null() { ptr::null_mut() } else { reopen(&file_of(mark)?) };
    (!library.is_null()).then_some(Mpi { library: library as usize, after_us: true })
}

/// The address of an object of the MPI's (such as `ompi_mpi_byte`), or null. A program that names the object may hold it itself, by a copy
/// relocation, and then everybody uses that copy: the global scope is asked first, in which the program comes first.
pub fn data(name: &CStr) -> *mut c_void {
    if mpi().is_none_or(|mpi| mpi.after_us) {
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

fn named_by_user() -> Option<Mpi> {
    let path = CString::new(config::get().libmpi.as_deref()?).ok()?;
    // SAFETY: `path` is a C string; the flags are valid.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
    let init = if library.is_null() { ptr::null_mut() } else { symbol(library, c"MPI_Init") };
    let usable = !init.is_null() && !is_ours(init);
    if !usable {
        tracing::warn!(path = ?path, "TEMPI_LIBMPI is not a file of an MPI and is ignored");
    }
    usable.then_some(Mpi { library: library as usize, after_us: false })
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

/// A handle of an object that is loaded already, or null.
fn reopen(file: &CStr) -> *mut c_void {
    // SAFETY: `file` is a C string; RTLD_NOLOAD loads nothing.
    unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
}

/// The loaded object that defines `MPI_Init` itself.
fn scan() -> Option<Mpi> {
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
            return Some(Mpi { library: library as usize, after_us: false });
        }
        // SAFETY: the handle came from dlopen above and is not used again.
        unsafe { libc::dlclose(library) };
    }
    None
}
