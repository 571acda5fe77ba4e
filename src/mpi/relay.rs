//! stub
use std::sync::atomic::{AtomicU32, Ordering};
static DEFERRED: AtomicU32 = AtomicU32::new(0);
pub const COMPLETE: bool = true;
pub fn deferred() -> bool {
    DEFERRED.load(Ordering::Acquire) != 0
}
pub fn arm(on: bool) {
    DEFERRED.store(u32::from(on), Ordering::Release);
}
pub fn set_flush(_flush: fn()) {}
pub fn foreign() -> &'static [String] {
    &[]
}
