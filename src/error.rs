//! What went wrong after a call became ours.
#![forbid(unsafe_code)]

use std::fmt;

/// A failed foreign call, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The C name of the function that failed.
    pub call: &'static str,
    /// Its result code, in the convention of that function's library.
    pub code: i32,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} gave {}", self.call, self.code)
    }
}

impl std::error::Error for Error {}
