//! The function table against a real `mpi.h`: a row whose types differ does not compile.
//!
//! The `large` rows are compared where the header has them, which the feature `check-large` says.
//! Nothing of the MPI is linked: the functions are named, not called.
#![allow(unused_imports, non_snake_case)]

use mpi_sys::*;
use std::ffi::{c_char, c_int, c_void};

macro_rules! check {
    () => {};
    (hook fn MPI_Init $($rest:tt)*) => { check!{ @skip $($rest)* } };
    (hook fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty => $body:path; $($rest:tt)*) => {
        const _: unsafe extern "C" fn($($t),*) -> $r = mpi_sys::$name;
        check!{ $($rest)* }
    };
    (large fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty | $fallback:path => $body:path; $($rest:tt)*) => {
        #[cfg(feature = "check-large")]
        const _: unsafe extern "C" fn($($t),*) -> $r = mpi_sys::$name;
        check!{ $($rest)* }
    };
    (call fn MPI_Type_create_keyval $($rest:tt)*) => { check!{ @skip $($rest)* } };
    (call fn $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty; $($rest:tt)*) => {
        const _: unsafe extern "C" fn($($t),*) -> $r = mpi_sys::$name;
        check!{ $($rest)* }
    };
    // Functions that not every MPI has are not in every header.
    (maybe fn $($rest:tt)*) => { check!{ @skip $($rest)* } };
    (@skip ( $($a:ident : $t:ty),* ) -> $r:ty => $body:path; $($rest:tt)*) => { check!{ $($rest)* } };
    (@skip ( $($a:ident : $t:ty),* ) -> $r:ty; $($rest:tt)*) => { check!{ $($rest)* } };
    (@skip $name:ident ( $($a:ident : $t:ty),* ) -> $r:ty; $($rest:tt)*) => { check!{ $($rest)* } };
}

mpi_table!(check);
