//! The kernels' host build: compiled once for a test program, run by name.
#![allow(dead_code, unreachable_pub, missing_docs)] // Every test program uses its own part.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // A test may panic.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use tempi::ir::{Layout, LeafRef};
use tempi::pack::blocks;
use tempi::pack::kernel::{BATCH, BatchArgs, BlocksArgs, Direction, HERE, KERNELS};
use tempi::pack::list::{List, Shape};
use tempi::pack::plan::{self, Launch, Limits};
use tempi::pack::table::{Image, OnDevice};

pub type Translate = unsafe extern "C" fn(u64, usize, c_int) -> *mut c_void;
pub type Run = unsafe extern "C" fn(*const c_char, c_uint, c_uint, *const c_void, Translate) -> c_int;

/// `tempi_kernel_run`. The undefined-behaviour sanitizer traps on an access that is not aligned to its word.
pub fn run() -> Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    *RUN.get_or_init(|| {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let source = above.map(|folder| folder.join("kernels/host.c")).find(|file| file.exists()).unwrap();
        let object = std::env::temp_dir().join(format!("tempi-kernel-{}.so", std::process::id()));
        let status = Command::new("cc")
            .args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"])
            .args(["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"])
            .args([source.as_os_str(), "-o".as_ref(), object.as_os_str()])
            .status()
            .expect("a C compiler");
        assert!(status.success());
        let path = CString::new(object.to_str().unwrap()).unwrap();
        // SAFETY: the object was just built and runs nothing when it is loaded.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!library.is_null());
        std::fs::remove_file(&object).unwrap();
        // SAFETY: the library is never closed.
        let symbol = unsafe { libc::dlsym(library, c"tempi_kernel_run".as_ptr()) };
        assert!(!symbol.is_null());
        // SAFETY: the signature is that of kernels/host.c.
        unsafe { std::mem::transmute::<*mut c_void, Run>(symbol) }
    })
}

thread_local! {
    /// Memory that a launch may access, and whether it may write there.
    static OPEN: RefCell<Vec<(Range<u64>, bool)>> = const { RefCell::new(Vec::new()) };
}

/// Device addresses are the host's here. A panic must not cross C, so a wrong access ends the program.
unsafe extern "C" fn translate(address: u64, bytes: usize, write: c_int) -> *mut c_void {
    let allowed = |(range, writable): &(Range<u64>, bool)| {
        range.start <= address && address + bytes as u64 <= range.end && (*writable || write == 0)
    };
    if OPEN.with_borrow(|open| open.iter().any(allowed)) {
        return std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0));
    }
    eprintln!("a kernel's access to {bytes} bytes at {address:#x}, write {write}");
    std::process::abort();
}

/// Moves the bytes of `layout` between the object at `memory` (the buffer argument), which lies within `object`, and
/// `packed`, as the launches for a device do: a sequence as a list in one launch.
pub fn launch(
    layout: &Layout,
    memory: u64,
    object: Range<u64>,
    packed: Range<u64>,
    direction: Direction,
    limits: Limits,
) {
    let packing = direction == Direction::Pack;
    // Entries and lists are read as words of their own.
    let mut tables: Vec<Vec<u64>> = Vec::new();
    let mut open = vec![(object, !packing), (packed.clone(), packing)];
    let mut list = matches!(layout, Layout::Parts(_)).then(|| List::new(1 << 16));
    for (at, leaf) in layout.leaves() {
        let packed = packed.start.wrapping_add_signed(at);
        let launches: Vec<Launch<BlocksArgs>> = match leaf {
            LeafRef::Strided(strided) => plan::launches(strided, memory, packed, direction, None, limits)
                .map(|Launch { kernel, grid, block, args }| {
                    let args = BlocksArgs::from(args);
                    Launch { kernel, grid, block, args }
                })
                .collect(),
            LeafRef::Blocks(blocks) => {
                let Image { bytes, count, entries, run } = Image::new(&blocks.table);
                let whole = |part: &[u8]| std::array::from_fn(|i| part.get(i).copied().unwrap_or(0x5a));
                tables.push(bytes.chunks(8).map(|part| u64::from_ne_bytes(whole(part))).collect());
                let address = tables.last().unwrap().as_ptr().expose_provenance() as u64;
                open.push((address..address + bytes.len() as u64, false));
                let table = OnDevice { address, count, entries, run };
                blocks::launches(blocks, table, memory, packed, direction, limits).collect()
            }
        };
        OPEN.set(open.clone());
        match (&mut list, launches.as_slice()) {
            (Some(list), [single]) => list.push(single),
            // The strided kernels take the first part of the argument.
            _ => {
                for launch in &launches {
                    one(launch.kernel, launch.grid, launch.block, &launch.args);
                }
            }
        }
    }
    if let Some(mut list) = list.filter(|list| !list.is_empty()) {
        let shape = list.finish(direction, limits);
        let unpack = u32::from(!packing);
        let Shape { items, index, .. } = shape;
        let mut args =
            BatchArgs { flag: 0, counter: 0, value: 0, unpack, items, index, list: 0, here: [0; HERE] };
        let words = list.words();
        match args.here.get_mut(..words.len()) {
            Some(here) if words.len() % 2 == 0 => here.copy_from_slice(words),
            _ => {
                args.list = words.as_ptr().expose_provenance() as u64;
                open.push((args.list..args.list + 8 * words.len() as u64, false));
                OPEN.set(open);
            }
        }
        one(BATCH, shape.grid, shape.block, &args);
    }
    OPEN.take();
}

fn one<T>(kernel: usize, grid: u32, block: u32, args: &T) {
    // SAFETY: the name and the argument are the kernel's, and every access goes through `translate`.
    let status =
        unsafe { run()(KERNELS[kernel].as_ptr(), grid, block, (&raw const *args).cast(), translate) };
    assert_eq!(status, 0);
}
