//! One side of a message: what all functions that send and all that post a receive have in common, be they blocking, immediate or
//! persistent.
#![allow(clippy::inline_always, reason = "a call that passes keeps its arguments in their registers")]

use super::{finish, prepare, stopped};
use crate::mpi::{MPI_Comm, MPI_Datatype, MPI_Request, family};
use crate::reason::Reason;
use crate::report::{self, Call};
use crate::transfer::pending::{self, Message};
use crate::transfer::{self, Incoming, Outgoing, Stop};
use crate::{config, cuda, state};
use std::ffi::{c_int, c_void};

/// A count argument: `int`, or `MPI_Count` in the large-count functions.
pub(super) trait Count: Copy + From<c_int> + Into<i64> {}

impl<C: Copy + From<c_int> + Into<i64>> Count for C {}

/// The reasons to forward that cost next to nothing to find. `peer` is absent where the call names none.
#[inline(always)]
pub(super) fn cheap(peer: Option<c_int>, count: impl Count) -> Option<Reason> {
    if peer.is_some_and(|peer| peer == family().constants().proc_null) {
        Some(Reason::ProcNull)
    } else if count.into() == 0 {
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
pub(super) fn passes(call: Call, peer: Option<c_int>, count: impl Count) -> bool {
    if !state::active() {
        return true;
    }
    let Some(reason) = cheap(peer, count) else { return false };
    report::forwarded(call, reason);
    true
}

/// The body of every send: `make` the message, hand it to the `system`'s function and `keep` what has to outlive the call.
#[inline]
pub(super) fn sending<C: Count>(
    call: Call,
    comm: MPI_Comm,
    (buf, count, datatype): (*const c_void, C, MPI_Datatype),
    make: impl Fn() -> Result<Outgoing, Stop>,
    system: impl Fn(*const c_void, C, MPI_Datatype) -> c_int,
    keep: impl FnOnce(Outgoing),
) -> c_int {
    match prepare(make) {
        Ok(out) => {
            let rc = system(out.address(), out.count().into(), out.datatype());
            if rc == 0 {
                keep(out);
            }
            rc
        }
        Err(stop) => stopped(call, comm, stop, || system(buf, count, datatype)),
    }
}

/// The body of every receive that does not block.
#[inline]
pub(super) fn receiving<C: Count>(
    call: Call,
    comm: MPI_Comm,
    (buf, count, datatype): (*mut c_void, C, MPI_Datatype),
    system: impl Fn(*mut c_void, C, MPI_Datatype) -> c_int,
    keep: impl FnOnce(Incoming),
) -> c_int {
    match prepare(|| transfer::incoming_in_company(buf as usize, count.into(), datatype, comm)) {
        Ok(incoming) => {
            let rc = system(incoming.address(), incoming.count().into(), incoming.datatype());
            if rc == 0 {
                keep(incoming);
            }
            rc
        }
        Err(stop) => stopped(call, comm, stop, || system(buf, count, datatype)),
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
pub(super) unsafe fn keep<M: Into<Message>>(
    request: *const MPI_Request,
    call: Call,
    how: Keep<M>,
    message: M,
) {
    // SAFETY: the caller's duty.
    let key = unsafe { MPI_Request::read(request, 0) }.key();
    finish(family().comm_self(), || {
        how(key, call, message);
        Ok(())
    });
}
