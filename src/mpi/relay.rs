//! The relays: the functions of MPI that we only pass on, exported so that nothing overtakes what was put off.
//!
//! A send that is put off for a moment must be on its way before any other call of the process can wait for it, overtake it or run into it.
//! So every function that every MPI has and that could do so ([`relay_table!`](super::table)) is exported under both names, as a jump without
//! a signature: it looks whether something is [put off](arm), and goes on through a slot to the next definition of its name. Arguments
//! stay in the registers and on the stack that they came in, so one relay serves `double MPI_Wtime(void)`, `MPI_Pcontrol` with its dots and
//! the twelve arguments of `MPI_Get_accumulate`; the function returns to the caller, without a frame of ours between the two.
//!
//! Depends on [`library`] alone. The invariant: a slot holds [`slow`] or the next definition of its function. [`slow`] keeps all that a
//! function may be called with in its place while it does what was put off and finds the definition.

use super::library;
use std::arch::naked_asm;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

pub use super::imports::foreign;

/// Whether this build has relays at all, so that anything may be put off.
pub const COMPLETE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Nonzero while something is put off. The relays read it.
static DEFERRED: AtomicU32 = AtomicU32::new(0);

static FLUSH: OnceLock<fn()> = OnceLock::new();

/// Whether something is put off.
#[inline]
pub fn deferred() -> bool {
    DEFERRED.load(Ordering::Acquire) != 0
}

/// Something is put off from now on, so that each relay calls what [`set_flush`] was given before it goes on; or nothing is any more.
/// What the caller did before it disarmed the relays has happened for every call that then passes.
pub fn arm(on: bool) {
    DEFERRED.store(u32::from(on), Ordering::Release);
}

/// What a relay does while something is put off: post all of it, [disarm](arm) the relays, and return once no other thread of ours is inside
/// the MPI. The first function that is set stays.
///
/// It runs on the caller's thread, at any relayed call: also at one that the MPI or an error handler makes while `flush` itself is
/// inside the MPI, where it has to return at once. It may be left by a C++ exception or a `longjmp` of an error handler.
pub fn set_flush(flush: fn()) {
    // Whoever comes second has the same function.
    let _ = FLUSH.set(flush);
}

/// Functions that are neither hooks nor relays and that need not be: they leave the MPI's messages alone and may run beside any other call.
/// * `MPI_Abort` ends the process in whatever state it is, perhaps out of a signal handler: it must not wait for a lock of ours.
/// * What may be called before `MPI_Init` serves as the sign that there is an MPI in the process (mpi4py asks for `MPI_Get_version` before it
///   loads one, and we for [`library::MARK`]): the sign must not be ours. The standard wants these thread-safe at every level.
pub const HARMLESS: &[&str] = &[
    "MPI_Abort",
    "MPI_Finalized",
    "MPI_Get_library_version",
    "MPI_Get_version",
    "MPI_Initialized",
    "MPI_Wtick",
    "MPI_Aint_add",
    "MPI_Aint_diff",
];

/// Where a relay goes on.
#[repr(C)]
struct Slot {
    address: AtomicPtr<c_void>,
    warned: AtomicBool,
}

/// The bytes from one slot to the next.
const SLOT: usize = size_of::<Slot>();

impl Slot {
    const fn new() -> Self {
        Self {
            address: AtomicPtr::new(slow as unsafe extern "C" fn() as *mut c_void),
            warned: AtomicBool::new(false),
        }
    }
}

/// The way of a relay that is not bound yet, or that has to flush. x86-64: `r11` has the address of the slot, and every register that
/// may hold an argument (`rax`: how many vector registers do; `r10`: the static chain) is as the caller left it.
///
/// # Safety
/// Reached from a relay alone.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn slow() {
    naked_asm!(
        ".cfi_startproc",
        "endbr64",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "sub rsp, 192",
        "movaps [rsp], xmm0",
        "movaps [rsp + 16], xmm1",
        "movaps [rsp + 32], xmm2",
        "movaps [rsp + 48], xmm3",
        "movaps [rsp + 64], xmm4",
        "movaps [rsp + 80], xmm5",
        "movaps [rsp + 96], xmm6",
        "movaps [rsp + 112], xmm7",
        "mov [rsp + 128], rdi",
        "mov [rsp + 136], rsi",
        "mov [rsp + 144], rdx",
        "mov [rsp + 152], rcx",
        "mov [rsp + 160], r8",
        "mov [rsp + 168], r9",
        "mov [rsp + 176], rax",
        "mov [rsp + 184], r10",
        "mov rdi, r11",
        "call {resolve}",
        "mov r11, rax",
        "movaps xmm0, [rsp]",
        "movaps xmm1, [rsp + 16]",
        "movaps xmm2, [rsp + 32]",
        "movaps xmm3, [rsp + 48]",
        "movaps xmm4, [rsp + 64]",
        "movaps xmm5, [rsp + 80]",
        "movaps xmm6, [rsp + 96]",
        "movaps xmm7, [rsp + 112]",
        "mov rdi, [rsp + 128]",
        "mov rsi, [rsp + 136]",
        "mov rdx, [rsp + 144]",
        "mov rcx, [rsp + 152]",
        "mov r8, [rsp + 160]",
        "mov r9, [rsp + 168]",
        "mov rax, [rsp + 176]",
        "mov r10, [rsp + 184]",
        "leave",
        ".cfi_def_cfa rsp, 8",
        ".cfi_restore rbp",
        "jmp r11",
        ".cfi_endproc",
        resolve = sym resolve,
    )
}

/// The way of a relay that is not bound yet, or that has to flush. AArch64: `x16` has the address of the slot, and `x0` to `x8` and `q0`
/// to `q7` are as the caller left them.
///
/// # Safety
/// Reached from a relay alone.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn slow() {
    naked_asm!(
        ".cfi_startproc",
        "hint #34", // bti c
        "stp x29, x30, [sp, #-224]!",
        ".cfi_def_cfa_offset 224",
        ".cfi_offset 29, -224",
        ".cfi_offset 30, -216",
        "mov x29, sp",
        ".cfi_def_cfa_register 29",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "str x8, [sp, #80]",
        "stp q0, q1, [sp, #96]",
        "stp q2, q3, [sp, #128]",
        "stp q4, q5, [sp, #160]",
        "stp q6, q7, [sp, #192]",
        "mov x0, x16",
        "bl {resolve}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x2, x3, [sp, #32]",
        "ldp x4, x5, [sp, #48]",
        "ldp x6, x7, [sp, #64]",
        "ldr x8, [sp, #80]",
        "ldp q0, q1, [sp, #96]",
        "ldp q2, q3, [sp, #128]",
        "ldp q4, q5, [sp, #160]",
        "ldp q6, q7, [sp, #192]",
        "ldp x29, x30, [sp], #224",
        ".cfi_def_cfa 31, 0",
        ".cfi_restore 29",
        ".cfi_restore 30",
        "br x16",
        ".cfi_endproc",
        resolve = sym resolve,
    )
}

/// A relay's code. `{at}` is the place of its slot in `{table}`.
#[cfg(target_arch = "x86_64")]
macro_rules! relay {
    ($at:expr) => {
        naked_asm!(
            ".cfi_startproc",
            "endbr64",
            "lea r11, [rip + {table} + {at}]",
            "cmp dword ptr [rip + {deferred}], 0",
            "jne {slow}",
            "jmp qword ptr [r11]",
            ".cfi_endproc",
            table = sym TABLE,
            at = const $at,
            deferred = sym DEFERRED,
            slow = sym slow,
        )
    };
}

/// A relay's code. `{at}` is the place of its slot in `{table}`. The loads acquire: the processor may not call what it read of the MPI earlier.
#[cfg(target_arch = "aarch64")]
macro_rules! relay {
    ($at:expr) => {
        naked_asm!(
            ".cfi_startproc",
            "hint #34", // bti c
            "adrp x17, {deferred}",
            "add x17, x17, :lo12:{deferred}",
            "adrp x16, {table} + {at}",
            "add x16, x16, :lo12:{table} + {at}",
            "ldar w17, [x17]",
            "cbnz w17, 2f",
            "ldr x17, [x16]",
            "br x17",
            "2:",
            "b {slow}",
            ".cfi_endproc",
            table = sym TABLE,
            at = const $at,
            deferred = sym DEFERRED,
            slow = sym slow,
        )
    };
}

/// One name of a relay. As with the hooks, the library's own tests keep theirs to themselves.
macro_rules! export {
    ($name:expr, $at:expr) => {
        const _: () = {
            #[unsafe(naked)]
            #[cfg_attr(not(test), unsafe(export_name = $name))]
            #[allow(dead_code)]
            unsafe extern "C" fn relay() {
                relay!($at)
            }
        };
    };
}

macro_rules! make_relays {
    ($($name:ident)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Row { $($name,)* END }

        /// The slots: for each function that of its `MPI_` name and that of its `PMPI_` name.
        static TABLE: [[Slot; 2]; Row::END as usize] = [const { [Slot::new(), Slot::new()] }; Row::END as usize];

        /// The functions, in the order of the slots.
        pub static NAMES: &[&str] = &[$(stringify!($name)),*];

        $(
            export!(stringify!($name), Row::$name as usize * 2 * SLOT);
            export!(concat!("P", stringify!($name)), (Row::$name as usize * 2 + 1) * SLOT);
        )*
    };
}

relay_table!(make_relays);

macro_rules! list_hooks {
    ([$($hook:expr),*]) => {
        /// The functions that we serve.
        pub static HOOKS: &[&str] = &[$($hook),*];
    };
    ([$($hook:expr),*] hook fn $name:ident ($($a:tt)*) -> $r:ty => $body:path; $($rest:tt)*) => {
        list_hooks!{ [$($hook,)* stringify!($name)] $($rest)* }
    };
    ([$($hook:expr),*] large fn $name:ident ($($a:tt)*) -> $r:ty | $fallback:path => $body:path; $($rest:tt)*) => {
        list_hooks!{ [$($hook,)* stringify!($name)] $($rest)* }
    };
    ([$($hook:expr),*] $kind:ident fn $name:ident ($($a:tt)*) -> $r:ty; $($rest:tt)*) => {
        list_hooks!{ [$($hook),*] $($rest)* }
    };
    ($($rows:tt)*) => { list_hooks!{ [] $($rows)* } };
}

mpi_table!(list_hooks);

/// Flush if something is put off, and find where the relay of `slot` goes on. Called by [`slow`].
extern "C-unwind" fn resolve(slot: &'static Slot) -> *mut c_void {
    if deferred()
        && let Some(flush) = FLUSH.get()
    {
        flush();
    }
    let address = slot.address.load(Ordering::Acquire);
    if address == slow as unsafe extern "C" fn() as *mut c_void { bind(slot) } else { address }
}

#[cold]
fn bind(slot: &'static Slot) -> *mut c_void {
    let at = (&raw const *slot).addr().wrapping_sub((&raw const TABLE).addr()) / SLOT;
    let name = NAMES.get(at / 2).copied().unwrap_or_default();
    let address = find(name, at % 2 == 1);
    if address.is_null() {
        if !slot.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(name, "no MPI library in this process provides this function");
        }
        return absent as extern "C" fn() -> c_int as *mut c_void;
    }
    slot.address.store(address, Ordering::Release);
    address
}

/// The next definition of a function by the name that the program used, or by the other one.
fn find(name: &str, profiling: bool) -> *mut c_void {
    let mut text = [0; 64];
    let Some(place) = text.get_mut(..=name.len()) else { return std::ptr::null_mut() };
    let (first, rest) = place.split_at_mut(1);
    first.fill(b'P');
    rest.copy_from_slice(name.as_bytes());
    let by = |from| {
        let name = text.get(from..).and_then(|text| CStr::from_bytes_until_nul(text).ok());
        name.map_or(std::ptr::null_mut(), library::find)
    };
    let (first, second) = if profiling { (0, 1) } else { (1, 0) };
    let address = by(first);
    if address.is_null() { by(second) } else { address }
}

/// What stands in for a function that no MPI in the process has.
extern "C" fn absent() -> c_int {
    super::family::family().constants().err_other
}
