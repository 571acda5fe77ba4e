//! Messages that do not block (MPI-4.1 section 3.7.2).
//!
//! A send packs at once, in one launch, and hands the packed bytes to the system's function of the same name: what the MPI matches
//! are its own requests in the program's order. A receive is posted into a buffer of ours and unpacked by whichever call completes it
//! (`request`).

use super::side::{Peer, keep, made, receiving, sending};
use crate::mpi::{MPI_Comm, MPI_Datatype, MPI_Message, MPI_Request, Via, family, next};
use crate::report::Call;
use crate::state;
use crate::transfer::{self, Reach, pending};
use std::ffi::{c_int, c_void};

macro_rules! sends {
    ($($body:ident, $name:ident, $call:expr, $reach:expr;)*) => { $(
        #[inline]
        pub(super) unsafe fn $body(via: Via, buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int {
            let system = move |buf, count, datatype| {
                // SAFETY: the caller's duty, or the packed bytes that are kept until the request is complete.
                let rc = unsafe { next::$name(via, buf, count, datatype, dest, tag, comm, request) };
                // SAFETY: the system has made the request.
                unsafe { made(request, rc) }
            };
            let to = Peer { call: $call, rank: Some(dest), comm };
            let make = move || transfer::outgoing(buf as usize, count, datatype, comm, $reach);
            sending(to, (buf, count, datatype), make, system, |out| {
                out.sent($call, out.since());
                // SAFETY: the system has made the request.
                unsafe { keep(request, to, pending::post, out) }
            })
        }
    )* };
}

sends! {
    isend, MPI_Isend, Call::Isend, Reach::Any;
    issend, MPI_Issend, Call::Issend, Reach::Any;
    irsend, MPI_Irsend, Call::Irsend, Reach::Any;
    ibsend, MPI_Ibsend, Call::Ibsend, Reach::Host;
}

pub(super) unsafe fn irecv(
    via: Via,
    buf: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    let system = move |buf, count, datatype| {
        // SAFETY: the caller's duty, or a buffer that is kept until the request is complete.
        let rc = unsafe { next::MPI_Irecv(via, buf, count, datatype, source, tag, comm, request) };
        // SAFETY: the system has made the request.
        unsafe { made(request, rc) }
    };
    let from = Peer { call: Call::Irecv, rank: Some(source), comm };
    let make = move || transfer::incoming(buf as usize, count, datatype, comm);
    receiving(from, (buf, count, datatype), make, system, |incoming| {
        // SAFETY: the system has made the request.
        unsafe { keep(request, from, pending::post, incoming) };
    })
}

pub(super) unsafe fn imrecv(
    via: Via,
    buf: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    request: *mut MPI_Request,
) -> c_int {
    let system = move |buf, count, datatype| {
        // SAFETY: as in `irecv`; `message` is the caller's.
        let rc = unsafe { next::MPI_Imrecv(via, buf, count, datatype, message, request) };
        // SAFETY: the system has made the request.
        unsafe { made(request, rc) }
    };
    if !state::active() {
        return system(buf, count, datatype);
    }
    // SAFETY: the caller passes a message's handle.
    let nobody = unsafe { MPI_Message::read(message, 0) }.key() == family().message_no_proc().key();
    // The call names no communicator; errors are raised where the MPI raises those of calls without one.
    let comm = family().comm_self();
    let rank = nobody.then(|| family().constants().proc_null);
    let from = Peer { call: Call::Imrecv, rank, comm };
    let make = move || transfer::incoming(buf as usize, count, datatype, comm);
    receiving(from, (buf, count, datatype), make, system, |incoming| {
        // SAFETY: the system has made the request.
        unsafe { keep(request, from, pending::post, incoming) };
    })
}
