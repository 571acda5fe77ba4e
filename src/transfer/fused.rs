//! `fused`: many messages packed, or unpacked, by one launch.
//!
//! A launch and the wait for it cost more than a small message, and where ranks share a GPU each of them waits for its turn. So
//! what one call starts or completes goes to the device together: all packs, then the copies of those that are staged; or the copies and
//! then all unpacks. Whatever fails is done again one by one, by every way that there is; a byte is only ever written with its own value.
//!
//! Depends on `message`. The invariant: when [`run`] returns, nothing of it is under way.

use super::choose::Way;
use super::message::{OUT_OF_REACH, Packed};
use crate::config::Method;
use crate::cuda::{self, CudaError, Entered, Memory};
use crate::ir::Layout;
use crate::pack::batch::{self, Item};
use crate::pack::exec::LIBRARY;
use crate::pack::kernel::Direction;
use crate::pool::{self, Buffer};
use crate::report;
use std::borrow::Cow;

/// One message's part: its buffers, and the layout to be moved, all of the object or a part of it.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) packed: &'a Packed,
    pub(super) layout: Cow<'a, Layout>,
}

/// A copy between a staging buffer and the host.
struct Staged {
    device: Buffer,
    host: u64,
    bytes: usize,
}

/// Move all `parts`, those of one context by one launch. Tells which of them were moved; the others are the caller's to move.
pub(super) fn run(parts: &[Part<'_>], direction: Direction) -> Vec<bool> {
    let mut moved = vec![false; parts.len()];
    let mut left: Vec<usize> = (0..parts.len()).collect();
    while let Some(first) = left.first().and_then(|index| parts.get(*index)) {
        let place = first.packed.object.place;
        let same = |part: &Part<'_>| {
            let other = part.packed.object.place;
            (other.context, other.device) == (place.context, place.device)
        };
        let (here, others): (Vec<usize>, _) =
            left.into_iter().partition(|index| parts.get(*index).is_some_and(same));
        left = others;
        let group: Vec<&Part<'_>> = here.iter().filter_map(|index| parts.get(*index)).collect();
        let done = cuda::enter(&place, &LIBRARY).and_then(|entered| together(&entered, &group, direction));
        match done {
            Ok(()) => {
                here.iter().filter_map(|index| moved.get_mut(*index).map(|moved| *moved = true)).count()
            }
            Err(error) => {
                tracing::debug!(%error, messages = group.len(), "messages are moved one by one");
                continue;
            }
        };
    }
    moved
}

/// Move the parts of one context.
fn together(entered: &Entered, parts: &[&Part<'_>], direction: Direction) -> Result<(), CudaError> {
    let mut items = Vec::with_capacity(parts.len());
    let mut staged = Vec::new();
    for part in parts {
        let Packed { object, way, buffer, .. } = part.packed;
        let bytes = usize::try_from(part.layout.size()).unwrap_or(0);
        let packed = match way {
            Way::Copy => continue,
            Way::Pack(Method::Staged) => {
                let device = pool::take(entered, Memory::Device, bytes)?;
                let packed = device.device_address();
                staged.push(Staged { device, host: buffer.address(), bytes });
                packed
            }
            Way::Pack(_) if buffer.device_address() == 0 => return Err(OUT_OF_REACH),
            Way::Pack(_) => buffer.device_address(),
        };
        items.push(Item { layout: &part.layout, memory: object.buffer as u64, packed });
    }
    let copies = || parts.iter().filter(|part| part.packed.way == Way::Copy);
    // Declared after `staged`, so that it is waited for before those buffers go back.
    let mut lane = entered.lane()?;
    if direction == Direction::Unpack {
        for Staged { device, host, bytes } in &staged {
            // SAFETY: both hold the packed bytes until the lane is waited for.
            unsafe { lane.copy(device.address(), *host, *bytes) }?;
        }
    }
    for part in copies() {
        let Packed { object, buffer, .. } = part.packed;
        let bytes = usize::try_from(part.layout.size()).unwrap_or(0);
        let block = (object.buffer as u64).wrapping_add_signed(part.layout.first());
        let (target, source) = match direction {
            Direction::Pack => (buffer.address(), block),
            Direction::Unpack => (block, buffer.address()),
        };
        // SAFETY: the program's block is valid for the call, and the buffer holds the packed bytes, until the lane is waited for.
        unsafe { lane.copy(target, source, bytes) }?;
    }
    let back = direction == Direction::Pack && !staged.is_empty();
    // SAFETY: the program's buffers are valid for the call (MPI-4.1 section 2.5.1) and those of two receives never overlap; the packed buffers
    // hold the layouts' bytes; and the lane is waited for before any of them can go.
    unsafe { batch::launch(entered, &mut lane, &items, direction, !back) }?;
    report::fused(items.len());
    if back {
        for Staged { device, host, bytes } in &staged {
            // SAFETY: both hold the packed bytes until the lane is waited for.
            unsafe { lane.copy(*host, device.address(), *bytes) }?;
        }
    }
    lane.wait()
}
