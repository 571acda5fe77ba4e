//! One datatype through everything that moves it, against the type-map walker: the layout, its repetitions and the parts that
//! short messages fill, packed and unpacked by the host's loops and by the launches for a device.
//!
//! Buffers are as large as the bytes touched, now and then with a margin that is looked at: the first for a sanitizer, the second
//! for those who have none.
#![allow(dead_code, unreachable_pub, missing_docs)] // Every test program uses its own part.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // A test may panic.

use tempi::ir::{Layout, layout};
use tempi::pack::host;
use tempi::pack::kernel::Direction;
use tempi::pack::plan::Limits;

use crate::kernels::launch;
use crate::recipe::case::{self, Case};
use crate::recipe::expand::expand;
use crate::recipe::random::Rng;
use crate::recipe::{Model, Recipe};

/// Objects are moved up to here; of larger ones only the layout is looked at.
const LARGEST: i64 = 1 << 18;

/// Memory with the bytes `lo..hi` of an object in it.
struct Object {
    bytes: Vec<u8>,
    /// Where in it the buffer argument lies; outside, maybe.
    origin: i64,
}

impl Object {
    fn new((lo, hi): (i64, i64), margin: i64, at: i64, salt: u8) -> Self {
        let length = usize::try_from(hi - lo + 2 * margin + at).unwrap();
        let byte = |i: usize| u8::try_from((i * 167 + (i >> 8) * 59 + usize::from(salt)) % 256).unwrap();
        Self { bytes: (0..length).map(byte).collect(), origin: at + margin - lo }
    }

    fn place(&self, offset: i64) -> usize {
        usize::try_from(self.origin + offset).unwrap()
    }

    fn packed(&self, offsets: &[i64]) -> Vec<u8> {
        offsets.iter().map(|offset| self.bytes[self.place(*offset)]).collect()
    }

    fn unpacked(&self, offsets: &[i64], packed: &[u8]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        offsets.iter().zip(packed).for_each(|(offset, byte)| bytes[self.place(*offset)] = *byte);
        bytes
    }

    /// The buffer argument.
    fn buffer(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().wrapping_offset(isize::try_from(self.origin).unwrap())
    }
}

/// By what bytes are moved.
#[derive(Clone, Copy, Debug)]
enum Mover {
    Host,
    Device(Limits),
}

impl Mover {
    fn run(self, layout: &Layout, object: &mut Object, packed: &mut [u8], direction: Direction) {
        let buffer = object.buffer();
        match (self, direction) {
            // SAFETY: the oracle's offsets, which the layout was compared with, lie within the object, and the packed buffer
            // has the layout's size.
            (Self::Host, Direction::Pack) => unsafe { host::pack(layout, buffer, packed.as_mut_ptr()) },
            // SAFETY: as above.
            (Self::Host, Direction::Unpack) => unsafe { host::unpack(layout, packed.as_ptr(), buffer) },
            (Self::Device(limits), _) => {
                let range = |bytes: &mut [u8]| {
                    let start = bytes.as_mut_ptr().expose_provenance() as u64;
                    start..start + bytes.len() as u64
                };
                let memory = buffer.expose_provenance() as u64;
                launch(layout, memory, range(&mut object.bytes), range(packed), direction, limits);
            }
        }
    }
}

/// Exercises `recipe`; the choices that are left (counts, prefixes, places) come from `rng`. Whether its bytes were moved.
pub fn exercise(rng: &mut Rng, recipe: Recipe) -> bool {
    let found = layout(&Model::default(), &recipe).unwrap_or_else(|reason| panic!("{recipe}: {reason}"));
    let case = Case::new(recipe, rng.pick(&[1, 1, 2, 3, 0, 7]));
    let extent = case.recipe.footprint().extent();
    let whole = found.repeat(case.count, extent).expect("a size that can be counted");
    assert_eq!(expand(&whole), case.offsets, "{} of {}", case.count, case.recipe);

    // What came of a message that was as long as the receive, or shorter.
    let bytes = if rng.odds(2) { whole.size() } else { rng.within(0, whole.size()) };
    let part = whole.prefix(bytes);
    let offsets = &case.offsets[..usize::try_from(bytes).unwrap()];
    assert_eq!(expand(&part), offsets, "{bytes} bytes of {} of {}", case.count, case.recipe);
    let span = case::span(offsets);
    if span.1 - span.0 > LARGEST {
        return false;
    }

    let words = if rng.odds(2) { i32::MAX.unsigned_abs() } else { rng.within(1, 70).try_into().unwrap() };
    let limits = Limits { words, multiprocessors: rng.pick(&[1, 3, 200]) };
    let unpacks = case.unpacks();
    for mover in [Mover::Host, Mover::Device(limits)] {
        let (margin, at, shift) = (rng.pick(&[0, 64]), rng.within(0, 15), rng.within(0, 15));
        let what =
            || format!("{mover:?}: {bytes} bytes of {} of {}, at {at} {shift}", case.count, case.recipe);
        let mut object = Object::new(span, margin, at, 1);
        let before = object.bytes.clone();
        let mut room = Object::new((0, bytes), margin, shift, 2);
        let (from, to) = (room.place(0), room.place(bytes));

        let right = room.unpacked(&(0..bytes).collect::<Vec<_>>(), &object.packed(offsets));
        mover.run(&part, &mut object, &mut room.bytes[from..to], Direction::Pack);
        assert!(room.bytes == right && object.bytes == before, "packing, {}", what());
        if unpacks {
            let mut target = Object::new(span, margin, at, 3);
            let right = target.unpacked(offsets, &room.bytes[from..to]);
            mover.run(&part, &mut target, &mut room.bytes[from..to], Direction::Unpack);
            assert!(target.bytes == right, "unpacking, {}", what());
        }
    }
    true
}
