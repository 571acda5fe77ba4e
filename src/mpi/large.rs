//! The large-count functions (MPI-4.1 section 3.2.2) where the MPI lacks them, by means of the functions that it has.
//!
//! We export them under every MPI, so a program may find a name that its MPI lacks: what it finds is a right function. A count that an `int`
//! holds goes on as it is, a larger one as one element of a type that holds so many ([`Wire`]). What cannot be said at
//! all is refused by the MPI itself, through the right error handler, as a negative count.

use super::datatype::System;
use super::handle::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status};
use super::next::{self, Via};
use super::wire::{Wire, extent};
use crate::ir::Describe;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Call `system` with what `count` elements of `datatype` are for it.
fn counted(
    count: MPI_Count,
    datatype: MPI_Datatype,
    system: impl FnOnce(c_int, MPI_Datatype) -> c_int,
) -> c_int {
    match Wire::of(count, datatype) {
        Some(wire) => system(wire.count, wire.datatype),
        None => system(-1, datatype),
    }
}

macro_rules! functions {
    ($($($body:ident = $name:ident),* ($buf:ty $(, $a:ident: $t:ty)*);)*) => { $( functions!{ @list [$($body = $name),*] $buf, ($($a: $t),*) } )* };
    (@list [$($body:ident = $name:ident),*] $buf:ty, $rest:tt) => { $( functions!{ @one $body, $name, $buf, $rest } )* };
    (@one $body:ident, $name:ident, $buf:ty, ($($a:ident: $t:ty),*)) => {
        pub(super) unsafe fn $body(via: Via, buf: $buf, count: MPI_Count, datatype: MPI_Datatype, $($a: $t),*) -> c_int {
            // SAFETY: the caller's duty.
            counted(count, datatype, |count, datatype| unsafe { next::$name(via, buf, count, datatype, $($a),*) })
        }
    };
}

functions! {
    send = MPI_Send, ssend = MPI_Ssend, rsend = MPI_Rsend, bsend = MPI_Bsend
        (*const c_void, dest: c_int, tag: c_int, comm: MPI_Comm);
    isend = MPI_Isend, issend = MPI_Issend, irsend = MPI_Irsend, ibsend = MPI_Ibsend,
    send_init = MPI_Send_init, ssend_init = MPI_Ssend_init, rsend_init = MPI_Rsend_init, bsend_init = MPI_Bsend_init
        (*const c_void, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request);
    recv = MPI_Recv
        (*mut c_void, source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status);
    mrecv = MPI_Mrecv
        (*mut c_void, message: *mut MPI_Message, status: *mut MPI_Status);
    irecv = MPI_Irecv, recv_init = MPI_Recv_init
        (*mut c_void, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request);
    imrecv = MPI_Imrecv
        (*mut c_void, message: *mut MPI_Message, request: *mut MPI_Request);
    sendrecv_replace = MPI_Sendrecv_replace
        (*mut c_void, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status);
}

pub(super) unsafe fn sendrecv(
    via: Via,
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    counted(sendcount, sendtype, |sendcount, sendtype| {
        // SAFETY: the caller's duty.
        counted(recvcount, recvtype, |recvcount, recvtype| unsafe {
            next::MPI_Sendrecv(
                via, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                recvtag, comm, status,
            )
        })
    })
}

pub(super) unsafe fn pack(
    via: Via,
    inbuf: *const c_void,
    incount: MPI_Count,
    datatype: MPI_Datatype,
    outbuf: *mut c_void,
    outsize: MPI_Count,
    position: *mut MPI_Count,
    comm: MPI_Comm,
) -> c_int {
    let pieces =
        Pieces { data: inbuf.addr(), count: incount, datatype, packed: outbuf.addr(), bytes: outsize };
    // SAFETY: the caller's duty.
    unsafe {
        pieces.walk(position, |data, count, packed, bytes, position| {
            next::MPI_Pack(via, place(data), count, datatype, place(packed).cast_mut(), bytes, position, comm)
        })
    }
}

pub(super) unsafe fn unpack(
    via: Via,
    inbuf: *const c_void,
    insize: MPI_Count,
    position: *mut MPI_Count,
    outbuf: *mut c_void,
    outcount: MPI_Count,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let pieces =
        Pieces { data: outbuf.addr(), count: outcount, datatype, packed: inbuf.addr(), bytes: insize };
    // SAFETY: the caller's duty.
    unsafe {
        pieces.walk(position, |data, count, packed, bytes, position| {
            next::MPI_Unpack(
                via,
                place(packed),
                bytes,
                position,
                place(data).cast_mut(),
                count,
                datatype,
                comm,
            )
        })
    }
}

fn place(address: usize) -> *const c_void {
    ptr::with_exposed_provenance(address)
}

/// The address so many bytes away; `isize` has 64 bits on every platform of this crate.
fn away(address: usize, bytes: MPI_Count) -> usize {
    address.wrapping_add_signed(isize::try_from(bytes).unwrap_or(0))
}

/// A pack or an unpack in pieces of less than 2 GiB: consecutive packs may be joined (MPI-4.1 section 5.2).
struct Pieces {
    data: usize,
    count: MPI_Count,
    datatype: MPI_Datatype,
    packed: usize,
    bytes: MPI_Count,
}

impl Pieces {
    /// Call `system` with data, count, packed buffer, its bytes and position for each piece.
    ///
    /// # Safety
    /// `position` is null or valid.
    unsafe fn walk(
        &self,
        position: *mut MPI_Count,
        system: impl Fn(usize, c_int, usize, c_int, *mut c_int) -> c_int,
    ) -> c_int {
        if position.is_null() {
            return system(self.data, clamp(self.count), self.packed, clamp(self.bytes), ptr::null_mut());
        }
        // SAFETY: not null, and the caller's duty.
        let start = unsafe { *position };
        let (rc, end) = self.pieces(start, self.step(self.room(start)), system);
        if rc == 0 {
            // SAFETY: as above.
            unsafe { *position = end };
        }
        rc
    }

    /// What is left of the packed buffer, as far as an `int` holds it.
    fn room(&self, position: MPI_Count) -> c_int {
        clamp(self.bytes.saturating_sub(position))
    }

    /// The pieces from a position on, of so many elements and so far apart: a return code and the position afterwards.
    fn pieces(
        &self,
        mut at: MPI_Count,
        (most, extent): (MPI_Count, MPI_Count),
        system: impl Fn(usize, c_int, usize, c_int, *mut c_int) -> c_int,
    ) -> (c_int, MPI_Count) {
        let mut done = 0;
        loop {
            let elements = clamp((self.count - done).min(most));
            let data = away(self.data, done.wrapping_mul(extent));
            let packed = away(self.packed, at);
            let mut moved: c_int = 0;
            let rc = system(data, elements, packed, self.room(at), &raw mut moved);
            if rc != 0 {
                return (rc, at);
            }
            at += i64::from(moved);
            done += i64::from(elements);
            if done >= self.count || moved == 0 {
                return (0, at);
            }
        }
    }

    /// Elements of one piece, and bytes from one to the next. An element that is no piece itself counts as -1, which the MPI refuses.
    fn step(&self, room: c_int) -> (MPI_Count, MPI_Count) {
        // Nothing is asked of a type before the MPI has seen it, unless it has to be.
        if self.count <= c_int::MAX.into() && room < c_int::MAX {
            return (self.count, 0);
        }
        let (Ok(size), Some(extent)) = (System.size(self.datatype), extent(self.datatype)) else {
            return (-1, 0);
        };
        match i64::from(c_int::MAX).checked_div(size) {
            None => (c_int::MAX.into(), extent),
            Some(0) => (-1, 0),
            Some(elements) => (elements, extent),
        }
    }
}

/// The nearest `int`, of negative numbers -1, which is as wrong as any.
fn clamp(number: MPI_Count) -> c_int {
    c_int::try_from(number.max(-1)).unwrap_or(c_int::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_large_pack_is_made_of_pieces() {
        let calls = RefCell::new(Vec::new());
        let system = |data: usize, count: c_int, packed: usize, bytes: c_int, moved: *mut c_int| {
            calls.borrow_mut().push((data, count, packed, bytes));
            // SAFETY: the caller's variable.
            unsafe { *moved = count * 8 };
            0
        };
        let large =
            Pieces { data: 1000, count: 25, datatype: MPI_Datatype(0), packed: 1 << 40, bytes: 1 << 33 };
        assert_eq!(large.pieces(1 << 32, (10, -64), system), (0, (1 << 32) + 200));
        let at = (1 << 40) + (1 << 32);
        let wanted = [(1000, 10, at), (360, 10, at + 80), (0_usize.wrapping_sub(280), 5, at + 160)];
        let wanted: Vec<_> = wanted.map(|(data, count, packed)| (data, count, packed, c_int::MAX)).into();
        assert_eq!(calls.take(), wanted);
        // One call, however little there is to do; what is wrong stays wrong.
        let none = Pieces { count: 0, bytes: 24, ..large };
        assert_eq!(none.pieces(8, (0, 0), system), (0, 8));
        assert_eq!(calls.take(), [(1000, 0, (1 << 40) + 8, 16)]);
        let refuses = |_: usize, count: c_int, _: usize, bytes: c_int, _: *mut c_int| 10 * count + bytes;
        assert_eq!(Pieces { count: -7, bytes: 1, ..none }.pieces(8, (-7, 0), refuses), (-11, 8));
        assert_eq!(Pieces { count: 25, bytes: 100, ..none }.pieces(8, (-1, 8), refuses), (82, 8));
    }
}
