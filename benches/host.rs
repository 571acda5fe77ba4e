//! The CPU packer's speed, alone or turn by turn with an MPI's `MPI_Pack` and `MPI_Unpack` in the same
//! process.
//!
//! ```text
//! cargo bench --bench host                              our loops alone
//! cargo bench --bench host -- /usr/lib/.../libmpi.so    against that MPI (one process; mpirun is not needed)
//! ```
//!
//! Prints a table; with `--json` one JSON object a line; with `--skew=16` memory begins 16 bytes after a
//! page. Times are microseconds a call over short batches that alternate between the two, so that a
//! disturbance of the machine falls on both. Every shape's bytes are compared too.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::format_push_string,
    reason = "a benchmark may stop"
)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::hint::black_box;
use std::time::Instant;

use tempi::ir::{Dim, Strided};
use tempi::pack::host::policy::worthwhile_strided as worthwhile;
use tempi::pack::host::{System, pack_strided as pack, unpack_strided as unpack};

/// A shape as nested repetitions of `block` bytes in type-map order, innermost first: (count, stride in
/// bytes).
struct Shape {
    name: String,
    block: i64,
    repeat: Vec<(i64, i64)>,
    /// A face is made as a subarray of a cube of doubles, as programs do: (edge, dimension, width).
    face: Option<(i32, usize, i32)>,
}

impl Shape {
    fn new(name: String, block: i64, repeat: &[(i64, i64)]) -> Self {
        Self { name, block, repeat: repeat.to_vec(), face: None }
    }

    /// The same in canonical form.
    fn layout(&self) -> Strided {
        let (mut block, mut size) = (self.block, self.block);
        let mut offset = 0;
        if let Some((edge, dimension, width)) = self.face {
            offset = i64::from(edge - width) * 8 * i64::from(edge).pow(u32::try_from(2 - dimension).unwrap());
        }
        let mut dims: Vec<Dim> = Vec::new();
        for &(count, stride) in &self.repeat {
            match dims.last_mut() {
                None if stride == block => block *= count,
                Some(last) if stride == last.stride * last.count => last.count *= count,
                _ if count > 1 => dims.push(Dim { count, stride, packed: size }),
                _ => {}
            }
            size *= count;
        }
        dims.sort_by_key(|dim| (dim.stride.abs(), dim.packed));
        Strided { offset, block, dims, size }
    }

    fn span(&self) -> usize {
        let layout = self.layout();
        let reach: i64 = layout.dims.iter().map(|dim| (dim.count - 1) * dim.stride).sum();
        usize::try_from(layout.offset + layout.block + reach).unwrap()
    }
}

/// All shapes that the policy is judged by. `benches/host.c` makes the same ones.
fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for total in [64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 24] {
        for block in [4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096] {
            if total >= 2 * block {
                shapes.push(Shape::new(format!("vector {block}"), block, &[(total / block, 2 * block)]));
            }
        }
    }
    for edge in [64, 256] {
        for width in [1, 2] {
            for dimension in 0..3 {
                let (n, w) = (i64::from(edge), i64::from(width));
                let count = |d| if d == dimension { w } else { n };
                let repeat = [(count(2), 8), (count(1), 8 * n), (count(0), 8 * n * n)];
                let name = format!("face {edge} width {width} dim {dimension}");
                shapes.push(Shape { face: Some((edge, dimension, width)), ..Shape::new(name, 8, &repeat) });
            }
        }
    }
    for (inner, outer) in [(2, 16), (2, 4096), (4, 8), (4, 2048), (16, 512), (64, 128), (1024, 64)] {
        let gap = 8 * (2 * inner + 3);
        shapes.push(Shape::new(format!("nested {inner}x{outer}"), 8, &[(inner, 16), (outer, gap)]));
    }
    for (a, b, c) in [(2, 3, 8), (4, 8, 64), (16, 16, 16)] {
        let repeat = [(a, 16), (b, 16 * a + 8), (c, (16 * a + 8) * b + 24)];
        shapes.push(Shape::new(format!("nested {a}x{b}x{c}"), 8, &repeat));
    }
    for (block, n) in [(4, 64), (8, 8), (8, 32), (8, 64), (8, 100), (8, 256), (8, 1024), (16, 256), (64, 128)]
    {
        shapes.push(Shape::new(format!("transpose {block} {n}x{n}"), block, &[(n, n * block), (n, block)]));
    }
    for (fields, n) in [(3, 16), (3, 1000), (3, 100_000), (8, 1000)] {
        shapes.push(Shape::new(format!("fields {fields}x{n}"), 8, &[(n, 8 * fields), (fields, 8)]));
    }
    shapes
}

/// An MPI found by name at run time; handles are machine words in both families.
struct Mpi {
    library: *mut c_void,
    system: System,
}

type Word = usize;

impl Mpi {
    fn open(path: &str) -> Self {
        let name = CString::new(path).unwrap();
        // SAFETY: a C string; what the library runs on loading is the MPI's own.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        assert!(!library.is_null(), "cannot load {path}");
        let mut this = Self { library, system: System::Mpich };
        if !this.symbol("ompi_mpi_byte").is_null() {
            let old = this.version().starts_with("Open MPI v4");
            this.system = if old { System::OpenMpi4 } else { System::OpenMpi5 };
        }
        let init: unsafe extern "C" fn(*mut c_int, *mut c_void) -> c_int = this.function("MPI_Init");
        // SAFETY: MPI_Init takes null for both (MPI-4.1 section 11.2.1).
        assert_eq!(unsafe { init(std::ptr::null_mut(), std::ptr::null_mut()) }, 0);
        this
    }

    fn symbol(&self, name: &str) -> *mut c_void {
        let name = CString::new(name).unwrap();
        // SAFETY: an open library and a C string.
        unsafe { libc::dlsym(self.library, name.as_ptr()) }
    }

    /// The function `name` as the caller's type of it, which must be that of mpi.h with handles as words.
    fn function<F: Copy>(&self, name: &str) -> F {
        let address = self.symbol(name);
        assert!(!address.is_null() && size_of::<F>() == size_of::<*mut c_void>(), "no {name}");
        // SAFETY: a function's address, as wide as F; its type is the caller's promise above.
        unsafe { std::mem::transmute_copy(&address) }
    }

    fn handle(&self, open_mpi: &str, mpich: Word) -> Word {
        match self.system {
            System::OpenMpi4 | System::OpenMpi5 => self.symbol(open_mpi) as Word,
            System::Mpich => mpich,
        }
    }

    fn world(&self) -> Word {
        self.handle("ompi_mpi_comm_world", 0x4400_0000)
    }

    fn version(&self) -> String {
        let get: unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int =
            self.function("MPI_Get_library_version");
        let (mut text, mut length) = (vec![0_u8; 16384], 0);
        // SAFETY: room for MPI_MAX_LIBRARY_VERSION_STRING of either family.
        unsafe { get(text.as_mut_ptr().cast(), &raw mut length) };
        let text = String::from_utf8_lossy(&text[..usize::try_from(length).unwrap()]).into_owned();
        text.split(['\n', ',']).next().unwrap_or_default().trim().replace('\t', " ")
    }

    /// The committed datatype of a shape, made of doubles or floats by the constructors a program would use.
    fn datatype(&self, shape: &Shape) -> Word {
        type Vector = unsafe extern "C" fn(c_int, c_int, c_int, Word, *mut Word) -> c_int;
        type Hvector = unsafe extern "C" fn(c_int, c_int, isize, Word, *mut Word) -> c_int;
        type Subarray = unsafe extern "C" fn(
            c_int,
            *const c_int,
            *const c_int,
            *const c_int,
            c_int,
            Word,
            *mut Word,
        ) -> c_int;
        let (element, base) = if shape.block % 8 == 0 {
            (8, self.handle("ompi_mpi_double", 0x4c00_080b))
        } else {
            (4, self.handle("ompi_mpi_float", 0x4c00_040a))
        };
        let int = |value: i64| c_int::try_from(value).unwrap();
        let mut datatype = 0;
        if let Some((edge, dimension, width)) = shape.face {
            let (sizes, mut parts, mut starts) = ([edge; 3], [edge; 3], [0; 3]);
            (parts[dimension], starts[dimension]) = (width, edge - width);
            let order = if self.system == System::Mpich { 56 } else { 0 };
            let make: Subarray = self.function("MPI_Type_create_subarray");
            // SAFETY: three sizes, parts and starts that fit.
            unsafe {
                make(3, sizes.as_ptr(), parts.as_ptr(), starts.as_ptr(), order, base, &raw mut datatype)
            };
        } else {
            let (&(count, stride), outer) = shape.repeat.split_first().unwrap();
            let make: Vector = self.function("MPI_Type_vector");
            let (blocklength, stride) = (int(shape.block / element), int(stride / element));
            // SAFETY: a predefined type and a place for the new one.
            unsafe { make(int(count), blocklength, stride, base, &raw mut datatype) };
            for &(count, stride) in outer {
                let make: Hvector = self.function("MPI_Type_create_hvector");
                let inner = datatype;
                // SAFETY: a type made above and a place for the new one.
                unsafe { make(int(count), 1, isize::try_from(stride).unwrap(), inner, &raw mut datatype) };
            }
        }
        let commit: unsafe extern "C" fn(*mut Word) -> c_int = self.function("MPI_Type_commit");
        // SAFETY: a type made above.
        assert_eq!(unsafe { commit(&raw mut datatype) }, 0);
        datatype
    }
}

/// Memory that begins `skew` bytes after a page: where an allocator puts a buffer decides which blocks cross
/// lines.
struct Buffer {
    room: Vec<u8>,
    begin: usize,
    length: usize,
}

impl Buffer {
    fn new(length: usize, skew: usize) -> Self {
        let room = vec![0; length + 4096 + skew];
        let begin = room.as_ptr().align_offset(4096) + skew;
        Self { room, begin, length }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.room[self.begin..self.begin + self.length]
    }
}

/// Nanoseconds a call of each round, sorted.
struct Times(Vec<f64>);

impl Times {
    fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn least(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }
}

/// Times the contestants in turn: batches of at least 40 microseconds, 21 rounds or fewer for slow ones.
fn measure(contestants: &mut [&mut dyn FnMut()]) -> Vec<Times> {
    let batch = |call: &mut dyn FnMut(), calls: u32| {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed().as_nanos() as f64
    };
    let calls: Vec<u32> = contestants
        .iter_mut()
        .map(|call| {
            let mut calls = 1;
            while batch(call, calls) < 40e3 {
                calls *= 2;
            }
            calls
        })
        .collect();
    let mut times: Vec<Times> = contestants.iter().map(|_| Times(Vec::new())).collect();
    let start = Instant::now();
    for round in 0..21 {
        if round >= 7 && start.elapsed().as_millis() > 150 {
            break;
        }
        for ((call, &calls), times) in contestants.iter_mut().zip(&calls).zip(&mut times) {
            times.0.push(batch(call, calls) / f64::from(calls));
        }
    }
    for times in &mut times {
        times.0.sort_by(f64::total_cmp);
    }
    times
}

fn main() {
    let mut json = false;
    let mut filter = String::new();
    let mut skew = 0;
    let mut mpi = None;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--bench" => {}
            "--json" => json = true,
            number if number.starts_with("--skew=") => skew = number["--skew=".len()..].parse().unwrap(),
            path if path.contains("libmpi") => mpi = Some(Mpi::open(path)),
            name => name.clone_into(&mut filter),
        }
    }
    if !json {
        println!("# microseconds a call (medians); x: MPI's over ours, by medians and by minima");
        println!("# {}", mpi.as_ref().map_or("our loops alone".to_owned(), Mpi::version));
        println!(
            "{:28} {:>9} | {:>10} {:>10} {:>6} {:>6} | {:>10} {:>10} {:>6} {:>6} | used",
            "shape", "bytes", "MPI_Pack", "pack", "x", "x min", "MPI_Unpack", "unpack", "x", "x min"
        );
    }
    for shape in shapes().iter().filter(|shape| shape.name.contains(&filter)) {
        report(shape, mpi.as_ref(), json, skew);
    }
    if let Some(mpi) = mpi {
        let finalize: unsafe extern "C" fn() -> c_int = mpi.function("MPI_Finalize");
        // SAFETY: MPI was initialised, and nothing is pending.
        unsafe { finalize() };
    }
}

/// Measures one shape and prints its line.
fn report(shape: &Shape, mpi: Option<&Mpi>, json: bool, skew: usize) {
    type Pack = unsafe extern "C" fn(*const u8, c_int, Word, *mut u8, c_int, *mut c_int, Word) -> c_int;
    type Unpack = unsafe extern "C" fn(*const u8, c_int, *mut c_int, *mut u8, c_int, Word, Word) -> c_int;

    let layout = shape.layout();
    let size = usize::try_from(layout.size).unwrap();
    let span = shape.span();
    let (mut memory, mut landed, mut packed) =
        (Buffer::new(span, skew), Buffer::new(span, skew), Buffer::new(size, 0));
    for (i, byte) in memory.bytes().iter_mut().enumerate() {
        *byte = i.to_le_bytes()[0] ^ i.to_le_bytes()[1];
    }
    let source = memory.bytes().as_ptr();
    let (target, buffer) = (landed.bytes().as_mut_ptr(), packed.bytes().as_mut_ptr());
    // SAFETY: the buffers hold the layout's span and size.
    let mut our_pack = || unsafe { pack(black_box(&layout), source, buffer) };
    // SAFETY: as above.
    let mut our_unpack = || unsafe { unpack(black_box(&layout), buffer, target) };
    let (packs, unpacks) = if let Some(mpi) = mpi {
        let (datatype, world) = (mpi.datatype(shape), mpi.world());
        let length = c_int::try_from(size).unwrap();
        let (call_pack, call_unpack): (Pack, Unpack) = (mpi.function("MPI_Pack"), mpi.function("MPI_Unpack"));
        let mut mpi_pack = || {
            let mut position = 0;
            // SAFETY: as above, and the type is the shape's.
            unsafe { call_pack(source, 1, datatype, buffer, length, &raw mut position, world) };
            assert_eq!(position, length);
        };
        let mut mpi_unpack = || {
            let mut position = 0;
            // SAFETY: as above.
            unsafe { call_unpack(buffer, length, &raw mut position, target, 1, datatype, world) };
        };
        mpi_pack();
        mpi_unpack();
        let mut ours = vec![0_u8; size];
        let mut ours_landed = vec![0_u8; span];
        // SAFETY: buffers of the same lengths.
        unsafe { pack(&layout, source, ours.as_mut_ptr()) };
        // SAFETY: as above.
        unsafe { unpack(&layout, ours.as_ptr(), ours_landed.as_mut_ptr()) };
        assert!(ours == packed.bytes(), "{}: packed bytes differ", shape.name);
        assert!(ours_landed == landed.bytes(), "{}: unpacked bytes differ", shape.name);
        (measure(&mut [&mut mpi_pack, &mut our_pack]), measure(&mut [&mut mpi_unpack, &mut our_unpack]))
    } else {
        (measure(&mut [&mut our_pack]), measure(&mut [&mut our_unpack]))
    };
    print(shape, &layout, mpi, json, [&packs, &unpacks]);
}

fn print(shape: &Shape, layout: &Strided, mpi: Option<&Mpi>, json: bool, results: [&[Times]; 2]) {
    let used = mpi.is_none_or(|mpi| worthwhile(layout, mpi.system));
    let mut line = if json {
        let version = mpi.map_or(String::new(), Mpi::version);
        format!(
            "{{\"mpi\":\"{version}\",\"shape\":\"{}\",\"bytes\":{},\"used\":{used}",
            shape.name, layout.size
        )
    } else {
        format!("{:28} {:>9}", shape.name, layout.size)
    };
    for (name, times) in ["pack", "unpack"].iter().zip(results) {
        let ours = times.last().unwrap();
        let theirs = if times.len() > 1 { &times[0] } else { &Times(Vec::new()) };
        let (median, least) = (theirs.median() / ours.median(), theirs.least() / ours.least());
        if json {
            line += &format!(
                ",\"{name}_us\":{:.4},\"{name}_min_us\":{:.4}",
                ours.median() / 1e3,
                ours.least() / 1e3
            );
            if mpi.is_some() {
                line += &format!(",\"mpi_{name}_us\":{:.4}", theirs.median() / 1e3);
                line += &format!(",\"mpi_{name}_min_us\":{:.4}", theirs.least() / 1e3);
            }
        } else {
            let (theirs, ours) = (theirs.median() / 1e3, ours.median() / 1e3);
            line += &format!(" | {theirs:>10.3} {ours:>10.3} {median:>6.2} {least:>6.2}");
        }
    }
    println!(
        "{line}{}",
        if json { "}".to_owned() } else { format!(" | {}", if used { "yes" } else { "no" }) }
    );
}
