//! A message of ours as arguments of the system's call.
#![forbid(unsafe_code)]

use super::choose::{Case, Company, Way, choose, machine};
use super::fused::{self, Part};
use super::object::Object;
use super::{Stop, copy, device, oneshot, staged};
use crate::config::{self, Method};
use crate::cuda::error::OUT_OF_MEMORY;
use crate::cuda::{self, CudaError, Memory};
use crate::ir::Layout;
use crate::mpi::aware::{cuda_aware, overruns};
use crate::mpi::comm::Raise;
use crate::mpi::status::Received;
use crate::mpi::wire::Wire;
use crate::mpi::{MPI_Comm, MPI_Datatype};
use crate::pack::exec::LIBRARY;
use crate::pack::kernel::Direction;
use crate::pool::{self, Buffer};
use crate::reason::Reason;
use crate::report::{self, Call, Means};
use std::borrow::Cow;
use std::ffi::{c_int, c_void};
use std::time::Instant;

/// What kind of memory the system's call can take packed bytes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Whatever the MPI takes.
    Any,
    /// Host memory only.
    Host,
}

/// Packed bytes on their way out or in.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) object: Object,
    pub(super) way: Way,
    pub(super) buffer: Buffer,
    wire: Wire,
    since: Option<Instant>,
}

impl Packed {
    fn means(&self) -> Means {
        match self.way {
            Way::Copy => Means::Copy,
            Way::Pack(method) => method.into(),
        }
    }

    /// All of it.
    fn whole(&self) -> Part<'_> {
        Part { packed: self, layout: Cow::Borrowed(self.object.layout()) }
    }
}

/// A message that is packed and ready to be sent.
#[derive(Debug)]
pub struct Outgoing(Packed);

/// A receive into a buffer of ours, to be unpacked once the message is there.
#[derive(Debug)]
pub struct Incoming(Packed);

/// A receive that is complete.
#[derive(Debug)]
pub struct Arrived<'a> {
    /// The receive.
    pub incoming: &'a Incoming,
    /// The function that made it.
    pub call: Call,
    /// What it delivered.
    pub received: Received,
}

impl<'a> Arrived<'a> {
    /// What is to be unpacked, and its bytes.
    fn part(&self) -> (Part<'a>, i64) {
        let all = self.incoming.0.whole();
        let size = all.layout.size();
        let bytes = self.received.bytes.min(size);
        if bytes == size {
            return (all, bytes);
        }
        (Part { layout: Cow::Owned(all.layout.prefix(bytes)), ..all }, bytes)
    }
}

macro_rules! arguments {
    ($($name:ident: $pointer:ty),*) => { $(
        impl $name {
            /// The buffer argument.
            pub fn address(&self) -> $pointer {
                super::pointer(self.0.buffer.address()).cast()
            }
            /// The count argument.
            pub fn count(&self) -> c_int {
                self.0.wire.count
            }
            /// The datatype argument.
            pub fn datatype(&self) -> MPI_Datatype {
                self.0.wire.datatype
            }
        }
    )* };
}
arguments!(Outgoing: *const c_void, Incoming: *mut c_void);

/// Find the data, choose the way, and let `fill` make the packed buffer.
fn prepare(
    buffer: usize,
    count: i64,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
    (reach, company): (Reach, Company),
    make: impl Fn(&Object, Way) -> Result<(Buffer, Way), CudaError>,
) -> Result<Packed, Stop> {
    let since = report::clock();
    let object = Object::find(buffer, count, datatype)?;
    let layout = object.layout();
    let case = Case {
        kind: object.place.kind,
        contiguous: layout.is_contiguous(),
        bytes: object.bytes(),
        cuda_aware: reach == Reach::Any && cuda_aware(),
    };
    let way = choose(case, config::get(), machine(company))?;
    object.check_usable(comm)?;
    let wire = Wire::new(layout.size()).ok_or_else(|| {
        if object.reachable() { Stop::Forward(Reason::TooLarge) } else { Stop::Raise(Raise::Other) }
    })?;
    let (buffer, way) = make(&object, way).map_err(|error| Stop::cuda(error, object.reachable()))?;
    Ok(Packed { object, way, buffer, wire, since })
}

/// A buffer that the MPI takes, for the packed bytes of `object`; in another way than `way` if need be.
fn room(object: &Object, way: Way) -> Result<(Buffer, Way), CudaError> {
    let memory = match way {
        Way::Pack(Method::Device) => Memory::Device,
        Way::Copy | Way::Pack(Method::Oneshot | Method::Staged) => Memory::Mapped,
    };
    // As a rule one is kept, and the context need not be entered.
    let kept = cuda::context::entered_before(&object.place)
        .and_then(|context| pool::take_kept(context, memory, object.bytes()));
    if let Some(buffer) = kept {
        return Ok((buffer, way));
    }
    entering(object, way, new_room)
}

/// Enter the object's context and do `work` by one way after the other. The context is left again before the MPI is called, which
/// may count on the program's own.
fn entering(
    object: &Object,
    way: Way,
    work: impl Fn(&cuda::Entered, &Object, Way) -> Result<Buffer, CudaError>,
) -> Result<(Buffer, Way), CudaError> {
    cuda::enter(&object.place, &LIBRARY)
        .and_then(|entered| way.attempt(|way| Ok((work(&entered, object, way)?, way))))
}

fn new_room(entered: &cuda::Entered, object: &Object, way: Way) -> Result<Buffer, CudaError> {
    match way {
        Way::Pack(Method::Device) => device::buffer(entered, object.bytes()),
        Way::Pack(Method::Oneshot) => oneshot::buffer(entered, object.bytes()),
        Way::Copy | Way::Pack(Method::Staged) => staged::buffer(entered, object.bytes()),
    }
}

/// What a kernel answers that should reach ordinary host memory.
pub(super) const OUT_OF_REACH: CudaError =
    CudaError { call: "cuMemHostGetDevicePointer_v2", code: OUT_OF_MEMORY };

/// Pack `object` into a buffer that [`room`] made, for this way or another.
fn fill(entered: &cuda::Entered, object: &Object, way: Way, buffer: &Buffer) -> Result<(), CudaError> {
    match way {
        Way::Copy => copy::out(entered, object, buffer),
        Way::Pack(Method::Staged) => staged::pack_to(entered, object, buffer.address()),
        Way::Pack(_) if buffer.device_address() == 0 => Err(OUT_OF_REACH),
        Way::Pack(Method::Device | Method::Oneshot) => device::pack(entered, object, buffer),
    }
}

/// Pack the data of a send that blocks.
///
/// # Errors
/// Why it is not ours, or what went wrong.
pub fn outgoing(
    buffer: usize,
    count: i64,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
    reach: Reach,
) -> Result<Outgoing, Stop> {
    prepare(buffer, count, datatype, comm, (reach, Company::Alone), ready).map(Outgoing)
}

/// Pack the data of a send that travels while other messages do.
///
/// # Errors
/// Why it is not ours, or what went wrong.
pub fn outgoing_in_company(
    buffer: usize,
    count: i64,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
    reach: Reach,
) -> Result<Outgoing, Stop> {
    prepare(buffer, count, datatype, comm, (reach, Company::Others), ready).map(Outgoing)
}

/// A buffer that the MPI takes, with the packed bytes of `object`.
fn ready(object: &Object, way: Way) -> Result<(Buffer, Way), CudaError> {
    entering(object, way, |entered, object, way| {
        let buffer = new_room(entered, object, way)?;
        fill(entered, object, way, &buffer)?;
        Ok(buffer)
    })
}

/// Make the buffer of a send that is packed later, by [`Outgoing::pack`].
///
/// # Errors
/// Why it is not ours, or what went wrong.
pub fn outgoing_later(
    buffer: usize,
    count: i64,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
    reach: Reach,
) -> Result<Outgoing, Stop> {
    prepare(buffer, count, datatype, comm, (reach, Company::Others), room).map(Outgoing)
}

/// Make the buffer of a receive that blocks.
///
/// # Errors
/// Why it is not ours, or what went wrong.
pub fn incoming(buffer: usize, count: i64, datatype: MPI_Datatype, comm: MPI_Comm) -> Result<Incoming, Stop> {
    prepare(buffer, count, datatype, comm, (Reach::Any, Company::Alone), room).map(Incoming)
}

/// Make the buffer of a receive of a message that travels while others do.
///
/// # Errors
/// Why it is not ours, or what went wrong.
pub fn incoming_in_company(
    buffer: usize,
    count: i64,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
) -> Result<Incoming, Stop> {
    prepare(buffer, count, datatype, comm, (Reach::Any, Company::Others), room).map(Incoming)
}

impl Outgoing {
    /// Pack the data as it is now.
    ///
    /// # Errors
    /// What to raise.
    pub fn pack(&self) -> Result<(), Raise> {
        self.fill().map_err(|error| {
            tracing::debug!(%error, "the data of a persistent send could not be packed");
            if error.code == cuda::error::OUT_OF_MEMORY { Raise::NoMemory } else { Raise::Other }
        })
    }

    /// Pack the data of a message that is about to be sent.
    ///
    /// # Errors
    /// What happens instead.
    pub fn packed(&self) -> Result<(), Stop> {
        self.fill().map_err(|error| Stop::cuda(error, self.0.object.reachable()))
    }

    fn fill(&self) -> Result<(), CudaError> {
        let Packed { object, way, buffer, .. } = &self.0;
        cuda::enter(&object.place, &LIBRARY)
            .and_then(|entered| way.attempt(|way| fill(&entered, object, way, buffer)))
    }

    /// Packed bytes.
    pub fn bytes(&self) -> usize {
        self.0.object.bytes()
    }

    /// Pack the data of all messages as it is now, by one launch where that can be.
    ///
    /// # Errors
    /// What to raise, for each message.
    pub fn pack_all(messages: &[&Self]) -> Vec<Result<(), Raise>> {
        let moved = if messages.len() > 1 {
            let parts: Vec<Part<'_>> = messages.iter().map(|out| out.0.whole()).collect();
            fused::run(&parts, Direction::Pack)
        } else {
            Vec::new()
        };
        let moved = moved.into_iter().chain(std::iter::repeat(false));
        messages.iter().zip(moved).map(|(out, moved)| if moved { Ok(()) } else { out.pack() }).collect()
    }

    /// When the message was prepared, if calls are counted.
    pub fn since(&self) -> Option<Instant> {
        self.0.since
    }

    /// The system has taken the message.
    pub fn sent(&self, call: Call, since: Option<Instant>) {
        report::done(call, self.0.means(), self.0.object.bytes() as u64, since);
    }

    /// The same buffer and layout as a receive, for `MPI_Sendrecv_replace`.
    pub fn into_incoming(self) -> Incoming {
        Incoming(self.0)
    }
}

impl Incoming {
    /// When the receive was prepared, if calls are counted.
    pub fn since(&self) -> Option<Instant> {
        self.0.since
    }

    /// Whether a longer message than was asked for could be written past the end of the buffer.
    pub fn overrun_by_longer(&self) -> bool {
        self.0.way == Way::Pack(Method::Device) && overruns()
    }

    /// The bytes that were asked for.
    pub fn bytes(&self) -> i64 {
        self.0.object.layout().size()
    }

    /// Unpack what each receive delivered, and nothing else, by one launch where that can be.
    ///
    /// # Errors
    /// What to raise: the last failure.
    pub fn finish_all(receives: &[Arrived<'_>], since: Option<Instant>) -> Result<(), Raise> {
        if let [one] = receives {
            return one.incoming.finish(one.call, one.received, since);
        }
        let mut since = since;
        let (parts, bytes): (Vec<Part<'_>>, Vec<i64>) =
            receives.iter().map(Arrived::part).filter(|(_, bytes)| *bytes > 0).unzip();
        let moved = fused::run(&parts, Direction::Unpack);
        let mut result = Ok(());
        let mut moved = moved.into_iter().zip(bytes);
        for Arrived { incoming, call, received } in receives {
            match if received.bytes > 0 { moved.next() } else { None } {
                // The time is that of all of them.
                Some((true, bytes)) => {
                    let since = since.take().or_else(report::clock);
                    report::done(*call, incoming.0.means(), bytes.unsigned_abs(), since);
                }
                _ => result = result.and(incoming.finish(*call, *received, report::clock())),
            }
        }
        result
    }

    /// Unpack what was received, and nothing else.
    ///
    /// # Errors
    /// What to raise.
    pub fn finish(&self, call: Call, received: Received, since: Option<Instant>) -> Result<(), Raise> {
        let object = &self.0.object;
        let layout = object.layout();
        let bytes = received.bytes.min(layout.size());
        if bytes > 0 {
            let done = cuda::enter(&object.place, &LIBRARY).and_then(|entered| {
                if bytes == layout.size() {
                    return self.unpack(&entered, layout);
                }
                self.unpack(&entered, &layout.prefix(bytes))
            });
            done.map_err(|error| {
                tracing::debug!(%error, bytes, "a received message could not be unpacked");
                Raise::Other
            })?;
        }
        report::done(call, self.0.means(), bytes.unsigned_abs(), since);
        Ok(())
    }

    /// Unpack the layout of the received bytes. However far an attempt came, the next one writes the same bytes to the same places.
    fn unpack(&self, entered: &cuda::Entered, layout: &Layout) -> Result<(), CudaError> {
        let Packed { object, buffer, way, .. } = &self.0;
        let (near, far) = (buffer.address(), buffer.device_address());
        way.attempt(|way| match way {
            Way::Copy => copy::back(entered, object, layout, near),
            Way::Pack(Method::Staged) => staged::unpack(entered, object, layout, near),
            Way::Pack(_) if far == 0 => Err(OUT_OF_REACH),
            Way::Pack(Method::Device) => device::unpack(entered, object, layout, far),
            Way::Pack(Method::Oneshot) => oneshot::unpack(entered, object, layout, far),
        })
    }
}
