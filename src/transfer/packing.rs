//! `MPI_Pack` and `MPI_Unpack`: between the program's data and the program's packed buffer, each wherever it lies.
//!
//! | data | packed buffer | bytes move by |
//! |---|---|---|
//! | host, pinned | host, pinned | CPU loops, where they beat the MPI's |
//! | device, managed | device, managed, pinned | one kernel, or one copy for one block |
//! | device, managed | host | a kernel into mapped memory and a CPU copy (small), or `staged` |
//! | host, pinned | device, managed | CPU loops into mapped memory and a copy |

use super::choose::Way;
use super::object::Object;
use super::{Stop, copy, device, oneshot, pointer, staged};
use crate::config::{self, Method};
use crate::cuda::{self, CudaError, Entered, Kind, Place};
use crate::mpi::aware::cuda_aware;
use crate::mpi::comm::Raise;
use crate::mpi::{MPI_Comm, MPI_Datatype};
use crate::pack::exec::LIBRARY;
use crate::pack::host;
use crate::pack::kernel::Direction;
use crate::reason::Reason;
use crate::report::Means;
use std::ffi::c_int;

/// Up to here packed bytes for pageable host memory go through mapped memory and a CPU copy; beyond, the driver's
/// copy is faster.
const SMALL: usize = 256 << 10;

/// The packed buffer's arguments; `C` is the type of the call's numbers.
#[derive(Clone, Copy, Debug)]
pub struct Packed<C = c_int> {
    /// `outbuf` of a pack, `inbuf` of an unpack.
    pub buffer: usize,
    /// `outsize` or `insize`.
    pub bytes: C,
    /// `position`.
    pub position: *mut C,
}

/// What was done.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// How.
    pub means: Means,
    /// Packed bytes.
    pub bytes: u64,
}

/// Where a pack or unpack of one object happens.
struct Job<'a> {
    object: &'a Object,
    /// Address and place of the first packed byte.
    packed: u64,
    place: Place,
    direction: Direction,
}

/// `MPI_Pack` and `MPI_Unpack`.
///
/// # Errors
/// Why it is not ours, or what went wrong; the position is unchanged then.
///
/// # Safety
/// The arguments are those of a call of `MPI_Pack` or `MPI_Unpack`.
pub unsafe fn serve<C: Copy + Into<i64> + TryFrom<i64>>(
    buffer: usize,
    count: i64,
    datatype: MPI_Datatype,
    side: &Packed<C>,
    comm: MPI_Comm,
    direction: Direction,
) -> Result<Done, Stop> {
    let object = Object::find(buffer, count, datatype)?;
    if side.buffer == 0 || side.position.is_null() {
        return Err(Reason::BadArgument.into());
    }
    // SAFETY: not null, and the caller's duty.
    let position: i64 = unsafe { *side.position }.into();
    let Ok(offset) = u64::try_from(position) else { return Err(Reason::BadArgument.into()) };
    let packed = (side.buffer as u64).wrapping_add(offset);
    let place = cuda::place(usize::try_from(packed).unwrap_or(0));
    let job = Job { object: &object, packed, place, direction };

    let end = position.checked_add(object.layout().size()).filter(|end| *end <= side.bytes.into());
    let Some(end) = end.and_then(|end| C::try_from(end).ok()) else {
        // No room. The system MPI says so, if it can be trusted with the pointers.
        return Err(if job.reachable() {
            Stop::Forward(Reason::BadArgument)
        } else {
            Stop::Raise(Raise::Truncate)
        });
    };
    let means = if job.on_device() { job.with_driver(comm) } else { job.on_host(comm) }?;
    // SAFETY: as above.
    unsafe { *side.position = end };
    Ok(Done { means, bytes: object.bytes() as u64 })
}

impl Job<'_> {
    fn on_device(&self) -> bool {
        self.object.on_device() || self.place.on_device()
    }

    /// Whether the system MPI can serve the call itself.
    fn reachable(&self) -> bool {
        self.object.reachable() && (self.place.kind != Kind::Device || cuda_aware())
    }

    /// Both sides in host memory.
    fn on_host(&self, comm: MPI_Comm) -> Result<Means, Stop> {
        let config = config::get();
        if config.no_host {
            return Err(Reason::SwitchedOff.into());
        }
        if !config.host_always && !host::worthwhile(self.object.layout(), host::system()) {
            return Err(Reason::HostSystemFaster.into());
        }
        self.object.check_usable(comm)?;
        // SAFETY: both are host memory that the program has made valid for the call; MPI forbids them to overlap.
        unsafe { self.loops(self.packed) };
        Ok(Means::Host)
    }

    /// CPU loops between the object and packed bytes at `packed`.
    ///
    /// # Safety
    /// Both are valid host memory.
    unsafe fn loops(&self, packed: u64) {
        let layout = self.object.layout();
        let data = pointer(self.object.buffer as u64);
        match self.direction {
            // SAFETY: the caller's duty.
            Direction::Pack => unsafe { host::pack(layout, data, pointer(packed)) },
            // SAFETY: the caller's duty.
            Direction::Unpack => unsafe { host::unpack(layout, pointer(packed), data) },
        }
    }

    /// At least one side on a device.
    fn with_driver(&self, comm: MPI_Comm) -> Result<Means, Stop> {
        let two = self.object.on_device()
            && self.place.on_device()
            && self.object.place.device != self.place.device;
        if two && self.reachable() {
            return Err(Reason::TwoDevices.into());
        }
        self.object.check_usable(comm)?;
        let place = if self.object.on_device() { &self.object.place } else { &self.place };
        let done = if two {
            self.between_devices()
        } else {
            cuda::enter(place, &LIBRARY).and_then(|entered| self.on_one_device(&entered))
        };
        done.map_err(|error| Stop::cuda(error, self.reachable()))
    }

    fn on_one_device(&self, entered: &Entered) -> Result<Means, CudaError> {
        let layout = self.object.layout();
        if layout.is_contiguous() {
            let (memory, packed) = (self.object.first(), self.packed);
            let (target, source) = match self.direction {
                Direction::Pack => (packed, memory),
                Direction::Unpack => (memory, packed),
            };
            // SAFETY: both are valid for the call, each in whatever memory.
            unsafe { copy::bytes(entered, target, source, self.object.bytes()) }?;
            return Ok(Means::Copy);
        }
        if !self.object.on_device() {
            return self.through_mapped(entered);
        }
        match self.place.kind {
            Kind::Device | Kind::Managed => {
                device::run(entered, self.object, layout, self.packed, self.direction).map(|()| Means::Device)
            }
            Kind::Pinned { device } => {
                device::run(entered, self.object, layout, device, self.direction).map(|()| Means::Oneshot)
            }
            Kind::Host => {
                let small = self.object.bytes() <= SMALL;
                let way = Way::Pack(if small { Method::Oneshot } else { Method::Staged });
                way.attempt(|way| {
                    if way == Way::Pack(Method::Oneshot) {
                        return self.through_bounce(entered);
                    }
                    match self.direction {
                        Direction::Pack => staged::pack_to(entered, self.object, self.packed),
                        Direction::Unpack => staged::unpack(entered, self.object, layout, self.packed),
                    }
                    .map(|()| Means::Staged)
                })
            }
        }
    }

    /// Data on the device, packed bytes in pageable host memory.
    fn through_bounce(&self, entered: &Entered) -> Result<Means, CudaError> {
        let bytes = self.object.bytes();
        match self.direction {
            Direction::Pack => {
                let bounce = oneshot::pack(entered, self.object)?;
                // SAFETY: the program's buffer has room for the packed bytes, the bounce buffer holds them.
                unsafe { host_copy(self.packed, bounce.address(), bytes) };
            }
            Direction::Unpack => {
                let bounce = oneshot::buffer(entered, bytes)?;
                // SAFETY: as above, the other way round.
                unsafe { host_copy(bounce.address(), self.packed, bytes) };
                oneshot::unpack(entered, self.object, self.object.layout(), bounce.device_address())?;
            }
        }
        Ok(Means::Oneshot)
    }

    /// Data in host memory, packed bytes on the device.
    fn through_mapped(&self, entered: &Entered) -> Result<Means, CudaError> {
        let bytes = self.object.bytes();
        let bounce = staged::buffer(entered, bytes)?;
        match self.direction {
            Direction::Pack => {
                // SAFETY: the object is host memory, and the bounce buffer large enough.
                unsafe { self.loops(bounce.address()) };
                // SAFETY: both hold the packed bytes.
                unsafe { copy::bytes(entered, self.packed, bounce.address(), bytes) }?;
            }
            Direction::Unpack => {
                // SAFETY: both hold the packed bytes.
                unsafe { copy::bytes(entered, bounce.address(), self.packed, bytes) }?;
                // SAFETY: the object is host memory, and the bounce buffer holds its bytes.
                unsafe { self.loops(bounce.address()) };
            }
        }
        Ok(Means::Staged)
    }

    /// Data and packed bytes on two devices: through mapped host memory, which both reach.
    fn between_devices(&self) -> Result<Means, CudaError> {
        let bytes = self.object.bytes();
        let layout = self.object.layout();
        match self.direction {
            Direction::Pack => {
                let bounce = oneshot::pack(&cuda::enter(&self.object.place, &LIBRARY)?, self.object)?;
                let entered = cuda::enter(&self.place, &LIBRARY)?;
                // SAFETY: both hold the packed bytes.
                unsafe { copy::bytes(&entered, self.packed, bounce.address(), bytes) }?;
            }
            Direction::Unpack => {
                let bounce = oneshot::buffer(&cuda::enter(&self.object.place, &LIBRARY)?, bytes)?;
                {
                    let entered = cuda::enter(&self.place, &LIBRARY)?;
                    // SAFETY: both hold the packed bytes.
                    unsafe { copy::bytes(&entered, bounce.address(), self.packed, bytes) }?;
                }
                let entered = cuda::enter(&self.object.place, &LIBRARY)?;
                oneshot::unpack(&entered, self.object, layout, bounce.device_address())?;
            }
        }
        Ok(Means::Staged)
    }
}

/// Copy between two ranges of host memory.
///
/// # Safety
/// Both are valid for `bytes` and do not overlap.
unsafe fn host_copy(target: u64, source: u64, bytes: usize) {
    // SAFETY: the caller's duty.
    unsafe { std::ptr::copy_nonoverlapping(pointer(source), pointer(target), bytes) };
}
