//! Many layouts in one launch: what a burst of sends packs, and what a completion call unpacks.
#![allow(clippy::missing_errors_doc)]

use super::exec;
use super::kernel::Direction;
use crate::cuda::{CudaError, Entered, Lane};
use crate::ir::Layout;

/// One object to move.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// What bytes.
    pub layout: &'a Layout,
    /// The buffer argument of the MPI call, as an address that the device sees.
    pub memory: u64,
    /// Where the packed bytes lie, as an address that the device sees.
    pub packed: u64,
}

/// Queue kernels that move all `items`, one launch if it can be; with `report` the last of them tells the lane of its end. Returns
/// how many launches were queued: 0 if no item has a byte, and then nothing reports and nothing is to be waited for.
///
/// # Errors
/// The driver's; what was queued before is waited for when the lane is dropped.
///
/// # Safety
/// As [`exec::launch`], for every item; and no two items write the same byte.
pub unsafe fn launch(
    entered: &Entered,
    lane: &mut Lane<'_>,
    items: &[Item<'_>],
    direction: Direction,
    report: bool,
) -> Result<u32, CudaError> {
    let mut left = items.iter().filter(|item| !item.layout.is_empty()).peekable();
    let mut launches = 0;
    while let Some(item) = left.next() {
        let report = report && left.peek().is_none();
        // SAFETY: the caller's duty.
        unsafe { exec::launch(entered, lane, item.layout, item.memory, item.packed, direction, report) }?;
        launches += 1;
    }
    Ok(launches)
}
