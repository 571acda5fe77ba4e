//! Completion of requests (MPI-4.1 sections 3.7.3 to 3.7.6).
//!
//! Every function does the same: claim the requests that are ours, let the system complete, and for those that it reports as done unpack
//! the received bytes before the call returns. What the program sees of requests and statuses is the system's. An error of ours is
//! raised on `MPI_COMM_SELF`, because the request's communicator may have been freed since.

use super::finish;
use crate::mpi::status::{self, Spare, Statuses};
use crate::mpi::{MPI_Request, MPI_Status, Via, family, next, request};
use crate::transfer::pending::{self, Claim, Life};
use crate::transfer::{Arrived, Incoming, orphans};
use crate::{report, state};
use std::ffi::c_int;

/// Whether any request may be ours.
#[inline]
pub(super) fn ours() -> bool {
    (pending::any() || orphans::any()) && state::active()
}

/// The keys of an array of requests.
///
/// # Safety
/// `requests` is an array of `count` requests.
pub(super) unsafe fn keys(count: c_int, requests: *const MPI_Request) -> impl Iterator<Item = usize> {
    let count = if requests.is_null() { 0 } else { usize::try_from(count).unwrap_or(0) };
    // SAFETY: the caller's duty.
    (0..count).map(move |index| unsafe { MPI_Request::read(requests, index) }.key())
}

/// The requests of one call that are ours.
struct Watch {
    claims: Vec<Claim>,
    requests: *mut MPI_Request,
}

impl Watch {
    /// Look for them; also ask for what the program has freed.
    ///
    /// # Safety
    /// `requests` is an array of `count` requests until after the call.
    unsafe fn new(via: Via, count: c_int, requests: *mut MPI_Request) -> Self {
        let mut claims = Vec::new();
        finish(family().comm_self(), || {
            let polled = orphans::poll();
            // SAFETY: the caller's duty.
            claims = pending::claim(via, unsafe { keys(count, requests) });
            polled
        });
        Self { claims, requests }
    }

    /// Whether a status is needed to know what was received.
    fn receives(&self) -> bool {
        self.claims.iter().any(|claim| claim.pending.receives())
    }

    /// Whether the request is gone: one that is complete and not persistent, or one that failed.
    fn freed(&self, claim: &Claim, rc: c_int) -> bool {
        match claim.pending.life() {
            Life::Once | Life::Persistent if rc != 0 => self.replaced(claim),
            Life::Once | Life::Deferred => true, // a deferred one by us
            Life::Persistent => false,
        }
    }

    /// Whether the call has replaced the handle, by the null handle.
    fn replaced(&self, claim: &Claim) -> bool {
        // SAFETY: the claim's index lies in the array.
        unsafe { MPI_Request::read(self.requests, claim.index) }.key() != claim.key
    }

    /// Whether a failed call has completed the request, be it with an error. A send needs no status for that (there may be none): one
    /// that has nothing under way is over, whether or not the system has told so.
    fn over(&self, claim: &Claim, status: Option<*const MPI_Status>) -> bool {
        let pending = |status| {
            // SAFETY: a call that reports a receive has filled its status.
            claim.pending.receives() && unsafe { status::error(status) } == family().constants().err_pending
        };
        self.replaced(claim)
            || claim.pending.life() != Life::Once
                && !status.is_some_and(pending)
                && request::idle(MPI_Request(claim.key))
    }

    /// The system's call has returned `rc`; `reported(i)` is the status of request `i` if it is reported as done. With a failure the
    /// `MPI_ERROR` field of a reported status tells which requests succeeded.
    fn finish(self, rc: c_int, reported: impl Fn(usize) -> Option<*const MPI_Status>) -> c_int {
        let unpacked = finish(family().comm_self(), || {
            let since = report::clock();
            let done = |claim: &&Claim| {
                let status = reported(claim.index);
                if rc == 0 { status.is_some() } else { self.over(claim, status) }
            };
            let claims: Vec<&Claim> = self.claims.iter().filter(done).collect();
            pending::settle(claims.iter().map(|claim| (*claim, self.freed(claim, rc))));
            let mut result = Ok(());
            for claim in claims.iter().filter(|claim| claim.pending.life() == Life::Deferred) {
                // SAFETY: the claim's index lies in the array.
                unsafe { request::free_completed(self.requests, claim.index, claim.key) };
                result = result.and(claim.pending.failure());
            }
            let arrived: Vec<Arrived<'_>> =
                claims.iter().filter_map(|claim| arrived(claim, rc, reported(claim.index))).collect();
            if arrived.is_empty() { result } else { result.and(Incoming::finish_all(&arrived, since)) }
        });
        if rc == 0 { unpacked } else { rc }
    }
}

/// What a completed request of ours has received. What a send has for a status may be `MPI_STATUSES_IGNORE`, and there is nothing to
/// do for it.
fn arrived(claim: &Claim, rc: c_int, status: Option<*const MPI_Status>) -> Option<Arrived<'_>> {
    let status = status.filter(|_| claim.pending.receives())?;
    // SAFETY: the call reports the request, so its status is filled.
    if rc != 0 && unsafe { status::error(status) } != 0 {
        return None;
    }
    // SAFETY: as above.
    claim.pending.arrived(|| unsafe { status::received(status) })
}

pub(super) unsafe fn wait(via: Via, request: *mut MPI_Request, status: *mut MPI_Status) -> c_int {
    // SAFETY: the caller's duty, or a spare status.
    let system = |status| unsafe { next::MPI_Wait(via, request, status) };
    if !ours() {
        return system(status);
    }
    // SAFETY: the caller passes one request.
    let watch = unsafe { Watch::new(via, 1, request) };
    let mut spare = Spare::default();
    let status = if watch.receives() { spare.or(status) } else { status };
    let rc = system(status);
    watch.finish(rc, |_| (rc == 0).then_some(status.cast_const()))
}

pub(super) unsafe fn test(
    via: Via,
    request: *mut MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's duty, or a spare status.
    let system = |status| unsafe { next::MPI_Test(via, request, flag, status) };
    if !ours() {
        return system(status);
    }
    // SAFETY: the caller passes one request.
    let watch = unsafe { Watch::new(via, 1, request) };
    let mut spare = Spare::default();
    let status = if watch.receives() { spare.or(status) } else { status };
    let rc = system(status);
    // SAFETY: a successful call has set the flag.
    let done = rc == 0 && unsafe { *flag } != 0;
    watch.finish(rc, |_| done.then_some(status.cast_const()))
}

pub(super) unsafe fn waitall(
    via: Via,
    count: c_int,
    requests: *mut MPI_Request,
    statuses: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's duty, or spare statuses.
    let system = |statuses| unsafe { next::MPI_Waitall(via, count, requests, statuses) };
    if !ours() {
        return system(statuses);
    }
    // SAFETY: the caller's duty.
    let watch = unsafe { Watch::new(via, count, requests) };
    let statuses = Statuses::new(statuses, usize::try_from(count).unwrap_or(0), watch.receives());
    let rc = system(statuses.first());
    watch.finish(rc, |index| Some(statuses.at(index)))
}

pub(super) unsafe fn testall(
    via: Via,
    count: c_int,
    requests: *mut MPI_Request,
    flag: *mut c_int,
    statuses: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's duty, or spare statuses.
    let system = |statuses| unsafe { next::MPI_Testall(via, count, requests, flag, statuses) };
    if !ours() {
        return system(statuses);
    }
    // SAFETY: the caller's duty.
    let watch = unsafe { Watch::new(via, count, requests) };
    let statuses = Statuses::new(statuses, usize::try_from(count).unwrap_or(0), watch.receives());
    let rc = system(statuses.first());
    // SAFETY: a successful call has set the flag.
    let done = rc != 0 || unsafe { *flag } != 0;
    watch.finish(rc, |index| done.then(|| statuses.at(index)))
}

pub(super) unsafe fn waitany(
    via: Via,
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's duty, or a spare status.
    let system = |status| unsafe { next::MPI_Waitany(via, count, requests, index, status) };
    if !ours() {
        return system(status);
    }
    // SAFETY: the caller's duty.
    let watch = unsafe { Watch::new(via, count, requests) };
    let mut spare = Spare::default();
    let status = if watch.receives() { spare.or(status) } else { status };
    let rc = system(status);
    // SAFETY: a successful call has set the index.
    let done = if rc == 0 { usize::try_from(unsafe { *index }).ok() } else { None };
    watch.finish(rc, |index| (done == Some(index)).then_some(status.cast_const()))
}

pub(super) unsafe fn testany(
    via: Via,
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's duty, or a spare status.
    let system = |status| unsafe { next::MPI_Testany(via, count, requests, index, flag, status) };
    if !ours() {
        return system(status);
    }
    // SAFETY: the caller's duty.
    let watch = unsafe { Watch::new(via, count, requests) };
    let mut spare = Spare::default();
    let status = if watch.receives() { spare.or(status) } else { status };
    let rc = system(status);
    // SAFETY: a successful call has set the flag.
    let any = rc == 0 && unsafe { *flag } != 0;
    // SAFETY: and the index with it.
    let done = if any { usize::try_from(unsafe { *index }).ok() } else { None };
    watch.finish(rc, |index| (done == Some(index)).then_some(status.cast_const()))
}

macro_rules! some {
    ($($body:ident, $name:ident;)*) => { $(
        pub(super) unsafe fn $body(via: Via, incount: c_int, requests: *mut MPI_Request, outcount: *mut c_int, indices: *mut c_int, statuses: *mut MPI_Status) -> c_int {
            // SAFETY: the caller's duty, or spare statuses.
            let system = |statuses| unsafe { next::$name(via, incount, requests, outcount, indices, statuses) };
            if !ours() {
                return system(statuses);
            }
            // SAFETY: the caller's duty.
            let watch = unsafe { Watch::new(via, incount, requests) };
            let statuses = Statuses::new(statuses, usize::try_from(incount).unwrap_or(0), watch.receives());
            let rc = system(statuses.first());
            if watch.claims.is_empty() {
                return rc;
            }
            // SAFETY: the caller's places. A failed call may have left both as they were: then no request is over.
            let places = unsafe { places(incount, outcount, indices) };
            watch.finish(rc, |index| {
                let found = places.binary_search_by_key(&index, |(index, _)| *index).ok();
                found.and_then(|at| places.get(at)).map(|(_, place)| statuses.at(*place))
            })
        }
    )* };
}

some! {
    waitsome, MPI_Waitsome;
    testsome, MPI_Testsome;
}

/// The requests that a call of the `some` kind reports, each with the place of its status, in order of the requests.
///
/// # Safety
/// `outcount` is valid, and so many `indices` are, if it is at most `incount`.
unsafe fn places(incount: c_int, outcount: *const c_int, indices: *const c_int) -> Vec<(usize, usize)> {
    // SAFETY: the caller's duty.
    let outcount = unsafe { *outcount };
    // MPI_UNDEFINED is negative.
    let outcount = if outcount > incount { 0 } else { usize::try_from(outcount).unwrap_or(0) };
    let mut places: Vec<(usize, usize)> = (0..outcount)
        .filter_map(|place| {
            // SAFETY: the caller's duty.
            let index = unsafe { *indices.wrapping_add(place) };
            usize::try_from(index).ok().map(|index| (index, place))
        })
        .collect();
    places.sort_unstable();
    places
}

/// Complete means that the data is there, so it is unpacked now; the call that frees the request later knows.
pub(super) unsafe fn get_status(
    via: Via,
    request: MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's duty, or a spare status.
    let system = |status| unsafe { next::MPI_Request_get_status(via, request, flag, status) };
    if !ours() {
        return system(status);
    }
    let mut claims = Vec::new();
    finish(family().comm_self(), || {
        claims = pending::claim(via, [request.key()]);
        Ok(())
    });
    let Some(claim) = claims.first().filter(|claim| claim.pending.receives()) else {
        return system(status);
    };
    let mut spare = Spare::default();
    let status = spare.or(status);
    let rc = system(status);
    // SAFETY: a successful call has set the flag.
    if rc != 0 || unsafe { *flag } == 0 {
        return rc;
    }
    // SAFETY: the flag says that the status is filled.
    finish(family().comm_self(), || claim.pending.deliver(|| unsafe { status::received(status) }))
}

/// A request under way is not freed but taken over, because its packed buffer must live until the system is done with it.
pub(super) unsafe fn free(via: Via, request: *mut MPI_Request) -> c_int {
    // SAFETY: the caller's duty.
    let system = || unsafe { next::MPI_Request_free(via, request) };
    if !ours() || request.is_null() {
        return system();
    }
    // SAFETY: the caller passes a request.
    let handle = unsafe { MPI_Request::read(request, 0) };
    let (mut inactive, mut taken_over) = (None, false);
    let rc = finish(family().comm_self(), || {
        if let Some(claim) = pending::claim(via, [handle.key()]).first() {
            orphans::adopt(handle, claim);
            taken_over = true;
            return orphans::poll();
        }
        inactive = pending::take_inactive(handle.key());
        Ok(())
    });
    if !taken_over {
        return system();
    }
    // SAFETY: the caller's variable.
    unsafe { family().request_null().write(request) };
    rc
}
