//! The usual calls of `MPI_Pack` and `MPI_Unpack` in host memory, which take the MPI itself some ten nanoseconds: a type that was used before, with
//! the count that it was used with, or one whose elements lie one behind the other.
//!
//! A thread remembers what to do with a type ([`Known`]), so that nothing is asked, locked, allocated or decided. Whatever is
//! not usual is left to [`packing`](super::packing). The invariant: what is remembered of a type holds until a type dies,
//! and is what `packing` would find.

use super::packing::Packed;
use super::pointer;
use crate::ir::Layout;
use crate::mpi::{MPI_Comm, MPI_Datatype, family};
use crate::pack::host::{self, Vector};
use crate::pack::kernel::Direction;
use crate::{config, cuda, typecache};
use std::cell::RefCell;
use std::ffi::c_int;
use std::ptr;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The bytes and the position are where they belong.
    Done,
    /// The system MPI is as fast.
    Forward,
    /// Not a usual call: nothing was done.
    Unusual,
}

/// What a thread remembers of `count` elements of a type.
struct Known {
    /// The handles as they came: where one is narrower than a word, the rest of it is unspecified.
    datatype: usize,
    comm: usize,
    /// 0: any count, the elements lie one behind the other.
    count: c_int,
    deaths: u64,
    /// From the buffer argument to the first byte in packed order.
    first: isize,
    /// Packed bytes, of one element if `count` is 0.
    size: i64,
    way: Way,
}

/// How the bytes move.
enum Way {
    /// By the system MPI.
    System,
    /// As they are, if they are not too many.
    Copy { longest: i64 },
    /// By the loop of a vector.
    Vector(Vector),
    /// By whatever loops suit.
    Loops(Layout),
}

/// Types that a thread remembers.
const RECENT: usize = 8;

thread_local! {
    static RECENTLY: RefCell<[Option<Known>; RECENT]> = const { RefCell::new([const { None }; RECENT]) };
}

/// `MPI_Pack` or `MPI_Unpack`, if the call is a usual one.
///
/// # Safety
/// The arguments are those of a call of `MPI_Pack` or `MPI_Unpack`.
#[inline(always)]
pub unsafe fn quick(
    buffer: usize,
    count: c_int,
    datatype: MPI_Datatype,
    side: Packed,
    comm: MPI_Comm,
    direction: Direction,
) -> Answer {
    if buffer == 0 || side.buffer == 0 || side.position.is_null() {
        return Answer::Unusual;
    }
    // Out of the closure, as what is inside would not be a part of the caller.
    let Ok(recent) = RECENTLY.try_with(ptr::from_ref) else { return Answer::Unusual };
    // SAFETY: this thread's variable, which it had a moment ago and has while it is in this call.
    let recent = unsafe { &*recent };
    // Borrowed already: the program has come back here out of a copy, by a signal handler.
    let Ok(mut recent) = recent.try_borrow_mut() else { return Answer::Unusual };
    let place = typecache::spread(datatype.0) % RECENT;
    let known = match recent.get(place) {
        Some(Some(known)) if known.is(datatype, count, comm) => known,
        _ => match remember(&mut recent, place, learn(datatype, count, comm)) {
            Some(known) => known,
            None => return Answer::Unusual,
        },
    };
    // SAFETY: the caller's duty.
    unsafe { known.serve(buffer, count, side, direction) }.unwrap_or(Answer::Unusual)
}

/// Puts `learnt` in its place, and forgets all that might be of dead types: a layout may be large, and have its table on a device.
#[cold]
fn remember(recent: &mut [Option<Known>; RECENT], place: usize, learnt: Option<Known>) -> Option<&Known> {
    forget_the_dead(recent);
    Some(recent.get_mut(place)?.insert(learnt?))
}

fn forget_the_dead(recent: &mut [Option<Known>; RECENT]) {
    let deaths = typecache::deaths();
    for slot in recent.iter_mut().filter(|slot| slot.as_ref().is_some_and(|known| known.deaths != deaths)) {
        *slot = None;
    }
}

/// A type has died on this thread.
fn on_death() {
    let _ =
        RECENTLY.try_with(|recent| recent.try_borrow_mut().map(|mut recent| forget_the_dead(&mut recent)));
}

/// What to remember; `None` of a type that was never analysed, may not be used or has no bytes, of a count that is none and of no communicator.
#[cold]
#[inline(never)]
fn learn(datatype: MPI_Datatype, count: c_int, comm: MPI_Comm) -> Option<Known> {
    if comm.key() == family().comm_null().key() {
        return None;
    }
    typecache::tell_of_deaths(on_death);
    let deaths = typecache::deaths();
    let entry = typecache::get(datatype)?;
    let one = entry.layout.as_ref().ok().filter(|one| entry.usable() && count > 0 && !one.is_empty())?;
    let dense = one.is_contiguous() && one.size() == entry.extent;
    let always = config::get().host_always;
    let copy = Way::Copy { longest: if always { i64::MAX } else { host::policy::DENSE } };
    let (size, way) = if dense {
        (one.size(), copy)
    } else {
        let all = one.repeat(count.into(), entry.extent)?;
        let way = match &*all {
            layout if layout.is_contiguous() => copy,
            layout if !(always || host::worthwhile(layout, host::system())) => Way::System,
            Layout::Strided(strided) if let Some(vector) = Vector::new(strided) => Way::Vector(vector),
            layout => Way::Loops(layout.clone()),
        };
        (all.size(), way)
    };
    let first = isize::try_from(one.first()).ok()?;
    let count = if dense { 0 } else { count };
    Some(Known { datatype: datatype.0, comm: comm.0, count, deaths, first, size, way })
}

impl Known {
    #[inline]
    fn is(&self, datatype: MPI_Datatype, count: c_int, comm: MPI_Comm) -> bool {
        self.datatype == datatype.0
            && self.comm == comm.0
            && (self.count == count || self.count == 0)
            && count > 0
            && self.deaths == typecache::deaths()
    }

    /// # Safety
    /// As [`quick`]; `self` is what is known of the call's type and count.
    #[inline(always)]
    unsafe fn serve(
        &self,
        buffer: usize,
        count: c_int,
        side: Packed,
        direction: Direction,
    ) -> Option<Answer> {
        let first = buffer.wrapping_add_signed(self.first);
        if let Way::System = self.way {
            return cuda::are_host(first, side.buffer).then_some(Answer::Forward);
        }
        let elements = if self.count == 0 { count } else { 1 };
        // SAFETY: not null, and the caller's duty.
        let position = unsafe { *side.position };
        let size = self.size.checked_mul(elements.into())?;
        let end = i64::from(position).checked_add(size).and_then(|end| c_int::try_from(end).ok())?;
        let packed = side.buffer.wrapping_add(usize::try_from(position).ok()?);
        if end > side.bytes || !cuda::are_host(first, packed) {
            return None;
        }
        let (memory, packed) = (pointer(first as u64), pointer(packed as u64));
        // SAFETY: both are host memory that the program has made valid for the call; MPI forbids them to overlap.
        unsafe {
            match (&self.way, direction) {
                (Way::System, _) => return Some(Answer::Forward),
                (Way::Copy { longest }, _) if size > *longest => return Some(Answer::Forward),
                (Way::Copy { .. }, Direction::Pack) => {
                    memory.copy_to_nonoverlapping(packed, usize::try_from(size).ok()?);
                }
                (Way::Copy { .. }, Direction::Unpack) => {
                    packed.copy_to_nonoverlapping(memory, usize::try_from(size).ok()?);
                }
                (Way::Vector(vector), Direction::Pack) => vector.pack(memory, packed),
                (Way::Vector(vector), Direction::Unpack) => vector.unpack(packed, memory),
                (Way::Loops(layout), Direction::Pack) => host::pack(layout, pointer(buffer as u64), packed),
                (Way::Loops(layout), Direction::Unpack) => {
                    host::unpack(layout, packed, pointer(buffer as u64));
                }
            }
        }
        // SAFETY: as above.
        unsafe { *side.position = end };
        Some(Answer::Done)
    }
}
