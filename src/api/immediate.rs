//! Messages that do not block (MPI-4.1 section 3.7.2).
//!
//! A send packs at once, or together with those that follow it (`burst`), and hands the packed bytes to the system's function of the
//! same name: what the MPI matches are its own requests in the program's order. A receive is posted into a buffer of ours and unpacked by whichever call completes it
//! (`request`). Persistent requests are made here too, since all but their starts (`persistent`) is the same.
#![allow(clippy::inline_always, reason = "a call that passes keeps its arguments in their registers")]

use super::burst::Send;
use super::side::{keep, made, passes, receiving, sending};
use crate::mpi::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Message, MPI_Request, Via, family, next};
use crate::report::Call;
use crate::transfer::burst::{self, Turn};
use crate::transfer::{self, Outgoing, Reach, pending};
use std::ffi::{c_int, c_void};

/// A send that passes: nobody packs it, but it must not overtake what is deferred.
#[inline]
unsafe fn passing(dest: c_int, system: impl FnOnce() -> c_int, request: *const MPI_Request) -> c_int {
    let turn = beside(dest);
    let rc = system();
    drop(turn);
    // SAFETY: the system has made the request, unless `rc` is an error.
    unsafe { made(request, rc) }
}

/// What a call needs that goes by an open burst: the turn, and the burst's messages before it if it sends one itself.
#[inline]
fn beside(dest: c_int) -> Option<Turn> {
    if !burst::open() {
        return None;
    }
    if dest != family().constants().proc_null {
        burst::flush();
    }
    Some(burst::turn())
}

macro_rules! sends {
    ($($body:ident, $name:ident, $count:ty, $call:expr, $reach:expr, $make:path, $kept:path $(, later $later:ident)?;)*) => { $(
        #[inline(always)]
        pub(super) unsafe fn $body(via: Via, buf: *const c_void, count: $count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int {
            #[inline(never)]
            unsafe fn serve(via: Via, buf: *const c_void, count: $count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int {
                let system = |buf, count, datatype| {
                    // SAFETY: the caller's duty, or the packed bytes that are kept as long as the request lives.
                    let rc = unsafe { next::$name(via, buf, count, datatype, dest, tag, comm, request) };
                    // SAFETY: the system has made the request.
                    unsafe { made(request, rc) }
                };
                $( if burst::possible() {
                    let send = Send { call: $call, data: (buf, count, datatype), dest, comm, request };
                    let later = |(buf, count, datatype): (_, _, _)| {
                        // SAFETY: as above.
                        let rc = unsafe { next::$later(Via::Pmpi, buf, count, datatype, dest, tag, comm, request) };
                        // SAFETY: the system has made the request.
                        unsafe { made(request, rc) }
                    };
                    // SAFETY: both make a request.
                    return unsafe { send.serve(|(buf, count, datatype)| system(buf, count, datatype), later) };
                } )?
                let make = || $make(buf as usize, count.into(), datatype, comm, $reach);
                sending($call, comm, (buf, count, datatype), make, system, |out| {
                    // SAFETY: the system has made the request.
                    unsafe { $kept(request, $call, out) }
                })
            }
            if passes($call, Some(dest), count) {
                // SAFETY: the caller's duty.
                let system = || unsafe { next::$name(via, buf, count, datatype, dest, tag, comm, request) };
                // SAFETY: the system makes the request.
                return unsafe { passing(dest, system, request) };
            }
            // SAFETY: the caller's duty.
            unsafe { serve(via, buf, count, datatype, dest, tag, comm, request) }
        }
    )* };
}

sends! {
    isend, MPI_Isend, c_int, Call::Isend, Reach::Any, transfer::outgoing_in_company, sent, later MPI_Send_init;
    isend_c, MPI_Isend_c, MPI_Count, Call::IsendC, Reach::Any, transfer::outgoing_in_company, sent, later MPI_Send_init_c;
    issend, MPI_Issend, c_int, Call::Issend, Reach::Any, transfer::outgoing_in_company, sent, later MPI_Ssend_init;
    issend_c, MPI_Issend_c, MPI_Count, Call::IssendC, Reach::Any, transfer::outgoing_in_company, sent, later MPI_Ssend_init_c;
    irsend, MPI_Irsend, c_int, Call::Irsend, Reach::Any, transfer::outgoing_in_company, sent, later MPI_Rsend_init;
    irsend_c, MPI_Irsend_c, MPI_Count, Call::IrsendC, Reach::Any, transfer::outgoing_in_company, sent, later MPI_Rsend_init_c;
    ibsend, MPI_Ibsend, c_int, Call::Ibsend, Reach::Host, transfer::outgoing_in_company, sent;
    ibsend_c, MPI_Ibsend_c, MPI_Count, Call::IbsendC, Reach::Host, transfer::outgoing_in_company, sent;
    send_init, MPI_Send_init, c_int, Call::SendInit, Reach::Any, transfer::outgoing_later, made_ready;
    send_init_c, MPI_Send_init_c, MPI_Count, Call::SendInitC, Reach::Any, transfer::outgoing_later, made_ready;
    ssend_init, MPI_Ssend_init, c_int, Call::SsendInit, Reach::Any, transfer::outgoing_later, made_ready;
    ssend_init_c, MPI_Ssend_init_c, MPI_Count, Call::SsendInitC, Reach::Any, transfer::outgoing_later, made_ready;
    rsend_init, MPI_Rsend_init, c_int, Call::RsendInit, Reach::Any, transfer::outgoing_later, made_ready;
    rsend_init_c, MPI_Rsend_init_c, MPI_Count, Call::RsendInitC, Reach::Any, transfer::outgoing_later, made_ready;
    bsend_init, MPI_Bsend_init, c_int, Call::BsendInit, Reach::Host, transfer::outgoing_later, made_ready;
    bsend_init_c, MPI_Bsend_init_c, MPI_Count, Call::BsendInitC, Reach::Host, transfer::outgoing_later, made_ready;
}

/// A message is on its way.
///
/// # Safety
/// `request` points to its request.
pub(super) unsafe fn sent(request: *const MPI_Request, call: Call, out: Outgoing) {
    out.sent(call, out.since());
    // SAFETY: the caller's duty.
    unsafe { keep(request, call, pending::post, out) }
}

/// A persistent message has its buffer; each start packs it (`persistent`).
///
/// # Safety
/// `request` points to its request.
unsafe fn made_ready(request: *const MPI_Request, call: Call, out: Outgoing) {
    // SAFETY: the caller's duty.
    unsafe { keep(request, call, pending::init, out) }
}

macro_rules! receives {
    ($($(#[doc = $doc:literal])* $body:ident, $name:ident, $count:ty, $call:expr, $how:expr;)*) => { $(
        $(#[doc = $doc])*
        #[inline(always)]
        pub(super) unsafe fn $body(via: Via, buf: *mut c_void, count: $count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int {
            #[inline(never)]
            unsafe fn serve(via: Via, buf: *mut c_void, count: $count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int {
                let system = |buf, count, datatype| {
                    // SAFETY: the caller's duty, or a buffer that is kept as long as the request lives.
                    let rc = unsafe { next::$name(via, buf, count, datatype, source, tag, comm, request) };
                    // SAFETY: the system has made the request.
                    unsafe { made(request, rc) }
                };
                receiving($call, comm, (buf, count, datatype), system, |incoming| {
                    // SAFETY: the system has made the request.
                    unsafe { keep(request, $call, $how, incoming) }
                })
            }
            // A receive that is posted keeps nobody waiting, but nobody else may be in the MPI meanwhile.
            let turn = if burst::open() { Some(burst::turn()) } else { None };
            let rc = if passes($call, Some(source), count) {
                // SAFETY: the caller's duty.
                let rc = unsafe { next::$name(via, buf, count, datatype, source, tag, comm, request) };
                // SAFETY: the system has made the request.
                unsafe { made(request, rc) }
            } else {
                // SAFETY: the caller's duty.
                unsafe { serve(via, buf, count, datatype, source, tag, comm, request) }
            };
            if turn.is_some() {
                burst::ended();
            }
            rc
        }
    )* };
}

receives! {
    irecv, MPI_Irecv, c_int, Call::Irecv, pending::post;
    irecv_c, MPI_Irecv_c, MPI_Count, Call::IrecvC, pending::post;
    /// Persistent, but in all else as `MPI_Irecv`.
    recv_init, MPI_Recv_init, c_int, Call::RecvInit, pending::init;
    recv_init_c, MPI_Recv_init_c, MPI_Count, Call::RecvInitC, pending::init;
}

macro_rules! matched {
    ($($body:ident, $name:ident, $count:ty, $call:expr;)*) => { $(
        pub(super) unsafe fn $body(via: Via, buf: *mut c_void, count: $count, datatype: MPI_Datatype, message: *mut MPI_Message, request: *mut MPI_Request) -> c_int {
            let system = |buf, count, datatype| {
                // SAFETY: as in `irecv`; `message` is the caller's.
                let rc = unsafe { next::$name(via, buf, count, datatype, message, request) };
                // SAFETY: the system has made the request.
                unsafe { made(request, rc) }
            };
            // SAFETY: the caller passes a message's handle.
            let nobody = || unsafe { MPI_Message::read(message, 0) }.key() == family().message_no_proc().key();
            if passes($call, None, count) || nobody() {
                return system(buf, count, datatype);
            }
            // The call names no communicator; errors are raised where the MPI raises those of calls without one.
            receiving($call, family().comm_self(), (buf, count, datatype), system, |incoming| {
                // SAFETY: the system has made the request.
                unsafe { keep(request, $call, pending::post, incoming) }
            })
        }
    )* };
}

matched! {
    imrecv, MPI_Imrecv, c_int, Call::Imrecv;
    imrecv_c, MPI_Imrecv_c, MPI_Count, Call::ImrecvC;
}
