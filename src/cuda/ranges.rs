//! Addresses that are host memory by the layout of the process.
//!
//! Asking the driver about an address that it does not know costs 100 to 160 ns, twice what a device address costs; these
//! comparisons cost 5. Three ranges need no question, because no driver maps anything into them: the heap below the program
//! break, the segments of the main program, and the stack of the calling thread. Depends on `libc` only. The
//! invariant: `true` is a proof; `false` says nothing.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fs;
use std::mem::zeroed;
use std::ops::Range;
use std::ptr::{from_mut, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether `address` is proved to be host memory.
#[inline]
pub fn is_host(address: usize) -> bool {
    in_program(address) || in_stack(address)
}

/// Where the main program's own ranges begin and end. The heap's end moves and is asked for.
struct Program {
    segments: Range<usize>,
    heap_start: usize,
    /// `None` where the C library does not tell: then no address is known to be the heap's.
    heap_end: Option<&'static AtomicUsize>,
}

/// Whether `address` is proved to be heap or the main program's own.
#[inline]
pub(super) fn in_program(address: usize) -> bool {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| Program {
        segments: segments(),
        heap_start: heap_start(),
        heap_end: program_break(),
    });
    program.segments.contains(&address)
        || (address >= program.heap_start
            && program.heap_end.is_some_and(|end| address < end.load(Ordering::Relaxed)))
}

/// Where the C library keeps the end of the heap. Not `sbrk(0)`: memory hooks (UCX has them) turn that into a system call.
fn program_break() -> Option<&'static AtomicUsize> {
    // SAFETY: the name is a C string; the default scope is always there.
    let variable = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__curbrk".as_ptr()) };
    // SAFETY: glibc's `void *__curbrk`, aligned and never freed, written by `brk` alone.
    (!variable.is_null()).then(|| unsafe { AtomicUsize::from_ptr(variable.cast()) })
}

/// Where the kernel put the start of the heap (proc(5), /proc/PID/stat, field 47); past every address if it will not say.
fn heap_start() -> usize {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program's name in parentheses and may itself hold spaces; the third comes after the last.
    let start =
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(47 - 3)?.parse().ok());
    start.filter(|&start| start != 0).unwrap_or(usize::MAX)
}

/// From the first byte of the main program's first segment to the last byte of its last one.
fn segments() -> Range<usize> {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, range: *mut c_void) -> c_int {
        // SAFETY: `range` is the Range below, which outlives the iteration.
        let range = unsafe { &mut *range.cast::<Range<usize>>() };
        // SAFETY: dl_iterate_phdr passes a valid info.
        let info = unsafe { &*info };
        // SAFETY: the info's header table and its length belong together.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
            let start = usize::try_from(info.dlpi_addr.wrapping_add(header.p_vaddr)).unwrap_or(usize::MAX);
            let end = start.saturating_add(usize::try_from(header.p_memsz).unwrap_or(0));
            *range = range.start.min(start)..range.end.max(end);
        }
        1 // The main program comes first; the rest is not wanted.
    }
    let mut range = Range { start: usize::MAX, end: 0 };
    // SAFETY: the callback matches the declared type and does not unwind.
    unsafe { libc::dl_iterate_phdr(Some(first), from_mut(&mut range).cast()) };
    range
}

/// No more of a stack than this is believed in: with an unlimited stack the C library's answer for the main thread reaches
/// down to whatever is mapped below.
const DEEPEST: usize = 8 << 20;

/// Between this frame and the top of the thread's stack. Not so on a stack of the program's own making (a fibre, a signal
/// stack), where this frame lies outside the thread's stack.
fn in_stack(address: usize) -> bool {
    thread_local! {
        /// Empty (0..0) for a thread whose stack is unknown, `None` before it was asked.
        static STACK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
    }
    let frame = 0u8;
    let frame = &raw const frame as usize;
    if address < frame {
        return false;
    }
    // A thread that is ending has no such variable any more; its addresses are asked about.
    let stack = STACK.try_with(|cell| {
        cell.get().unwrap_or_else(|| {
            let stack = thread_stack();
            cell.set(Some(stack));
            stack
        })
    });
    stack.is_ok_and(|(low, top)| frame >= low && address < top)
}

/// The lowest address and the end of the calling thread's stack, 0 and 0 if unknown. Slow for the main thread, whose stack the
/// C library looks up in /proc.
fn thread_stack() -> (usize, usize) {
    // SAFETY: a pthread_attr_t is plain data, filled in by the next call.
    let mut attributes: libc::pthread_attr_t = unsafe { zeroed() };
    // SAFETY: `attributes` is writable.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) } != 0 {
        return (0, 0);
    }
    let (mut low, mut bytes) = (null_mut(), 0);
    // SAFETY: `attributes` was filled in above; the outputs are writable.
    let answer = unsafe { libc::pthread_attr_getstack(&raw const attributes, &raw mut low, &raw mut bytes) };
    // SAFETY: filled in above, not used afterwards.
    unsafe { libc::pthread_attr_destroy(&raw mut attributes) };
    let top = (low as usize).saturating_add(bytes);
    if answer == 0 { ((low as usize).max(top.saturating_sub(DEEPEST)), top) } else { (0, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statics_heap_and_stack_are_host_memory() {
        static ZEROED: [u8; 64] = [0; 64];
        let local = [0u8; 64];
        assert!(is_host(&raw const ZEROED as usize), "static");
        assert!(is_host(statics_heap_and_stack_are_host_memory as fn() as usize), "code");
        assert!(is_host(&raw const local as usize), "stack");
        std::thread::spawn(|| {
            let local = [0u8; 64];
            assert!(is_host(&raw const local as usize), "a thread's stack");
        })
        .join()
        .unwrap();
        // The last byte below the break is heap; the break itself is not.
        let end = program_break().expect("glibc").load(Ordering::Relaxed);
        assert!(heap_start() < end, "the test harness has used the heap");
        assert!(is_host(end - 1));
        assert!(is_host(heap_start()));
        assert!(!is_host(end));
        assert!(!is_host(heap_start() - 1) || segments().contains(&(heap_start() - 1)));
    }

    #[test]
    fn nothing_else_is_proved() {
        assert!(!is_host(0));
        assert!(!is_host(usize::MAX));
        let (low, top) = thread_stack();
        assert!(!is_host(top));
        assert!(!is_host(low), "below this frame");
        // SAFETY: an anonymous mapping, where a driver could put its own.
        let map = unsafe {
            libc::mmap(null_mut(), 4096, libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert_ne!(map, libc::MAP_FAILED);
        assert!(!is_host(map as usize));
        // SAFETY: mapped above.
        unsafe { libc::munmap(map, 4096) };
    }
}
