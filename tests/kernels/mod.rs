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
use tempi::pack::kernel::{Direction, KERNELS};
use tempi::pack::plan::{self, Limits};
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
/// `packed`, as the launches for a device do.
pub fn launch(
    layout: &Layout,
    memory: u64,
    object: Range<u64>,
    packed: Range<u64>,
    direction: Direction,
    limits: Limits,
) {
    let packing = direction == Direction::Pack;
    let start = packed.start;
    let open = |table: Option<Range<u64>>| {
        let buffers = [(object.clone(), !packing), (packed.clone(), packing)];
        OPEN.set(buffers.into_iter().chain(table.map(|table| (table, false))).collect());
    };
    for (at, leaf) in layout.leaves() {
        let packed = start.wrapping_add_signed(at);
        match leaf {
            LeafRef::Strided(strided) => {
                open(None);
                for launch in plan::launches(strided, memory, packed, direction, None, limits) {
                    one(launch.kernel, launch.grid, launch.block, &launch.args);
                }
            }
            LeafRef::Blocks(blocks) => {
                let Image { bytes, count, entries, run } = Image::new(&blocks.table);
                // Entries are read as words of their own.
                let mut aligned = vec![0_u64; bytes.len().div_ceil(8)];
                for (word, bytes) in aligned.iter_mut().zip(bytes.chunks(8)) {
                    let mut whole = [0x5a; 8];
                    whole.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                    *word = u64::from_ne_bytes(whole);
                }
                let address = aligned.as_ptr().expose_provenance() as u64;
                open(Some(address..address + bytes.len() as u64));
                let table = OnDevice { address, count, entries, run };
                for launch in blocks::launches(blocks, table, memory, packed, direction, limits) {
                    one(launch.kernel, launch.grid, launch.block, &launch.args);
                }
            }
        }
    }
    OPEN.take();
}

fn one<T>(kernel: usize, grid: u32, block: u32, args: &T) {
    // SAFETY: the name and the argument are the kernel's, and every access goes through `translate`.
    let status =
        unsafe { run()(KERNELS[kernel].as_ptr(), grid, block, (&raw const *args).cast(), translate) };
    assert_eq!(status, 0);
}
