//! Hearing of a datatype's death: an attribute with a delete callback (MPI-4.1 section 7.7.3).
//!
//! `MPI_Type_free` alone does not tell: Fortran layers and the MPI itself free types below us, and a handle value is given out
//! again once its type is dead.

use super::handle::MPI_Datatype;
use super::next;
use once_cell::sync::OnceCell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What is told the key of each watched datatype that dies.
static LISTENER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// A duplicate does not inherit our attribute.
unsafe extern "C" fn copy(
    _old: MPI_Datatype,
    _keyval: c_int,
    _extra: *mut c_void,
    _value: *mut c_void,
    _out: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI passes a valid place for the flag.
    unsafe { *flag = 0 };
    0
}

unsafe extern "C" fn delete(
    datatype: MPI_Datatype,
    _keyval: c_int,
    _value: *mut c_void,
    _extra: *mut c_void,
) -> c_int {
    let listener = LISTENER.load(Ordering::Acquire);
    if !listener.is_null() {
        // SAFETY: only `watch` stores here, and only functions of this type.
        let listener: fn(usize) = unsafe { std::mem::transmute(listener) };
        listener(datatype.key());
    }
    0
}

fn keyval() -> Option<c_int> {
    static KEYVAL: OnceCell<c_int> = OnceCell::new();
    KEYVAL
        .get_or_try_init(|| {
            let mut keyval: c_int = 0;
            // SAFETY: both callbacks have the types of MPI_Type_copy_attr_function and MPI_Type_delete_attr_function, with a handle as a word.
            let rc = unsafe {
                next::MPI_Type_create_keyval(
                    copy as *const c_void,
                    delete as *const c_void,
                    &raw mut keyval,
                    ptr::null_mut(),
                )
            };
            if rc == 0 { Ok(keyval) } else { Err(()) }
        })
        .ok()
        .copied()
}

/// Call `listener` with the key of `datatype`, a derived type, when it dies. Every call passes the same listener.
/// False if the MPI would not have it.
pub fn watch(datatype: MPI_Datatype, listener: fn(usize)) -> bool {
    LISTENER.store(listener as *mut c_void, Ordering::Release);
    let Some(keyval) = keyval() else { return false };
    // SAFETY: `datatype` is a live derived type and the keyval ours. The value is never read.
    unsafe { next::MPI_Type_set_attr(datatype, keyval, ptr::null_mut()) == 0 }
}
