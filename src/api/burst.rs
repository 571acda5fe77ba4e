//! Immediate sends as members of a burst (`transfer::burst`): deferred, posted with others, or sent at once.

use super::side::Count;
use super::{finish, immediate, prepare, stopped};
use crate::mpi::{MPI_Comm, MPI_Datatype, MPI_Request, family};
use crate::report::{self, Call};
use crate::transfer::burst::{self, Turn};
use crate::transfer::pending::{self, Message};
use crate::transfer::{self, Reach, Stop};
use std::ffi::{c_int, c_void};

/// The data of a call.
type Data<C> = (*const c_void, C, MPI_Datatype);

/// What the program said of one immediate send.
#[derive(Clone, Copy)]
pub(super) struct Send<C> {
    pub(super) call: Call,
    pub(super) data: Data<C>,
    pub(super) dest: c_int,
    pub(super) comm: MPI_Comm,
    pub(super) request: *mut MPI_Request,
}

impl<C: Count> Send<C> {
    /// What is likely to be the same when the program comes here the next time. Tags may count iterations, and buffers may alternate.
    fn signature(&self) -> u64 {
        let (_, count, datatype) = self.data;
        let words = [
            self.call as u64,
            u64::from(self.dest.cast_unsigned()),
            count.into().cast_unsigned(),
            datatype.key() as u64,
            self.comm.key() as u64,
        ];
        words
            .into_iter()
            .fold(0, |hash, word| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
    }

    /// Serve the send. `at_once` is the system's function of the call's name, `later` makes a persistent request of the same mode.
    ///
    /// # Safety
    /// `request` is a place for a handle, which both functions fill if they return 0.
    pub(super) unsafe fn serve(
        &self,
        at_once: impl Fn(Data<C>) -> c_int,
        later: impl Fn(Data<C>) -> c_int,
    ) -> c_int {
        let (buf, count, datatype) = self.data;
        let out = match prepare(|| {
            transfer::outgoing_later(buf as usize, count.into(), datatype, self.comm, Reach::Any)
        }) {
            Ok(out) => out,
            // SAFETY: the caller's duty.
            Err(stop) => return unsafe { self.forward(stop, at_once, later) },
        };
        let turn = burst::turn();
        let another = burst::expects(&turn, self.signature());
        if another || !burst::empty(&turn) {
            let rc = later((out.address(), out.count().into(), out.datatype()));
            if rc == 0 {
                // SAFETY: the system has made the request.
                unsafe { self.defer(&turn, out.bytes(), out.into()) };
                burst::sent(&turn, !another);
            }
            return rc;
        }
        // Nothing is deferred, so nobody needs the turn.
        drop(turn);
        let rc = match prepare(|| out.packed()) {
            Ok(()) => {
                let rc = at_once((out.address(), out.count().into(), out.datatype()));
                if rc == 0 {
                    // SAFETY: the system has made the request.
                    unsafe { immediate::sent(self.request, self.call, out) };
                }
                rc
            }
            Err(stop) => stopped(self.call, self.comm, stop, || at_once(self.data)),
        };
        burst::ended();
        rc
    }

    /// A send that is not ours. Where others are deferred it waits for them, so that it cannot overtake them; but nobody packs it.
    ///
    /// # Safety
    /// As [`serve`](Self::serve).
    unsafe fn forward(
        &self,
        stop: Stop,
        at_once: impl Fn(Data<C>) -> c_int,
        later: impl Fn(Data<C>) -> c_int,
    ) -> c_int {
        let Stop::Forward(reason) = stop else {
            return stopped(self.call, self.comm, stop, || at_once(self.data));
        };
        if !burst::open() {
            return stopped(self.call, self.comm, stop, || at_once(self.data));
        }
        let turn = burst::turn();
        let rc = if burst::empty(&turn) {
            stopped(self.call, self.comm, stop, || at_once(self.data))
        } else {
            report::forwarded(self.call, reason);
            let rc = later(self.data);
            if rc == 0 {
                // SAFETY: the system has made the request.
                unsafe { self.defer(&turn, 0, Message::Nothing) };
            }
            rc
        };
        burst::ended();
        rc
    }

    /// The system has made a persistent request of the send: start it later.
    ///
    /// # Safety
    /// `request` holds it.
    unsafe fn defer(&self, turn: &Turn, bytes: usize, message: Message) {
        // SAFETY: the caller's duty.
        let handle = unsafe { MPI_Request::read(self.request, 0) };
        finish(family().comm_self(), || {
            let pending = pending::defer(handle.key(), self.call, message);
            burst::defer(turn, handle, pending, bytes);
            Ok(())
        });
    }
}
