//! One side of a message: what all functions that send and all that post a receive have in common, be they blocking, immediate or
//! persistent.

use super::{finish, prepare, stopped};
use crate::mpi::{MPI_Comm, MPI_Datatype, MPI_Request, family};
use crate::reason::Reason;
use crate::report::{self, Call};
use crate::transfer::pending::{self, Message};
use crate::transfer::{Incoming, Outgoing, Stop};
use crate::{config, cuda, state};
use std::ffi::{c_int, c_void};

/// Which function is called, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Peer {
    pub(super) call: Call,
    /// Absent where the call names none.
    pub(super) rank: Option<c_int>,
    pub(super) comm: MPI_Comm,
}

/// The reasons to forward that cost next to nothing to find.
#[inline(always)]
pub(super) fn cheap(peer: Option<c_int>, count: c_int) -> Option<Reason> {
    if peer.is_some_and(|peer| peer == family().constants().proc_null) {
        Some(Reason::ProcNull)
    } else if count == 0 {
        Some(Reason::Empty)
    } else if !cuda::driver::present() {
        Some(Reason::NoDriver)
    } else if config::get().no_send {
        Some(Reason::SwitchedOff)
    } else {
        None
    }
}

/// Whether the call goes on to the system for a cheap reason, which is counted. Small enough to be a part of the exported
/// function, so that such a call keeps its arguments in their registers.
#[inline(always)]
fn passes(peer: &Peer, count: c_int) -> bool {
    if !state::active() {
        return true;
    }
    let Some(reason) = cheap(peer.rank, count) else { return false };
    report::forwarded(peer.call, reason);
    true
}

/// The body of every send: `make` the message, hand it to the `system`'s function and `keep` what has to outlive the call.
#[inline(always)]
pub(super) fn sending(
    to: Peer,
    (buf, count, datatype): (*const c_void, c_int, MPI_Datatype),
    make: impl Fn() -> Result<Outgoing, Stop>,
    system: impl Fn(*const c_void, c_int, MPI_Datatype) -> c_int,
    keep: impl FnOnce(Outgoing),
) -> c_int {
    if passes(&to, count) {
        return system(buf, count, datatype);
    }
    sending_ours(to, (buf, count, datatype), make, system, keep)
}

/// The part of [`sending`] that is not for every call.
#[inline(never)]
fn sending_ours(
    to: Peer,
    (buf, count, datatype): (*const c_void, c_int, MPI_Datatype),
    make: impl Fn() -> Result<Outgoing, Stop>,
    system: impl Fn(*const c_void, c_int, MPI_Datatype) -> c_int,
    keep: impl FnOnce(Outgoing),
) -> c_int {
    let forward = || system(buf, count, datatype);
    match prepare(make) {
        Ok(out) => {
            let rc = system(out.address(), out.count(), out.datatype());
            if rc == 0 {
                keep(out);
            }
            rc
        }
        Err(stop) => stopped(to.call, to.comm, stop, forward),
    }
}

/// The body of every receive that does not block.
#[inline(always)]
pub(super) fn receiving(
    from: Peer,
    (buf, count, datatype): (*mut c_void, c_int, MPI_Datatype),
    make: impl Fn() -> Result<Incoming, Stop>,
    system: impl Fn(*mut c_void, c_int, MPI_Datatype) -> c_int,
    keep: impl FnOnce(Incoming),
) -> c_int {
    if passes(&from, count) {
        return system(buf, count, datatype);
    }
    receiving_ours(from, (buf, count, datatype), make, system, keep)
}

/// The part of [`receiving`] that is not for every call.
#[inline(never)]
fn receiving_ours(
    from: Peer,
    (buf, count, datatype): (*mut c_void, c_int, MPI_Datatype),
    make: impl Fn() -> Result<Incoming, Stop>,
    system: impl Fn(*mut c_void, c_int, MPI_Datatype) -> c_int,
    keep: impl FnOnce(Incoming),
) -> c_int {
    let forward = || system(buf, count, datatype);
    match prepare(make) {
        Ok(incoming) => {
            let rc = system(incoming.address(), incoming.count(), incoming.datatype());
            if rc == 0 {
                keep(incoming);
            }
            rc
        }
        Err(stop) => stopped(from.call, from.comm, stop, forward),
    }
}

/// The system has made a request, unless `rc` is an error. What was known of an earlier one of the same value is over.
///
/// # Safety
/// `request` points to the system's request if `rc` is 0.
#[inline]
pub(super) unsafe fn made(request: *const MPI_Request, rc: c_int) -> c_int {
    if rc == 0 && pending::any() {
        // SAFETY: the caller's duty.
        pending::forget(unsafe { MPI_Request::read(request, 0) }.key());
    }
    rc
}

/// How a message is kept behind its request: [`pending::post`] or [`pending::init`].
pub(super) type Keep<M> = fn(usize, Call, M);

/// Keep a message behind the request that the system has made for it.
///
/// # Safety
/// `request` points to that request.
pub(super) unsafe fn keep<M: Into<Message>>(request: *const MPI_Request, by: Peer, how: Keep<M>, message: M) {
    // SAFETY: the caller's duty.
    let key = unsafe { MPI_Request::read(request, 0) }.key();
    finish(by.comm, || {
        how(key, by.call, message);
        Ok(())
    });
}
