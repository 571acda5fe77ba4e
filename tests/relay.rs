//! The relays: what a call keeps on its way through one, which functions have one, and which functions that have none a process imports.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Mpi, library, mpis, root, run};
use std::collections::BTreeSet;
use std::ffi::{CString, c_int};
use std::panic::{catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use tempi::mpi::relay;

#[repr(C)]
#[derive(Debug, PartialEq)]
struct Large([i64; 5]);

/// What the fake MPI defines, and the relays of this executable pass on.
mod calls {
    use super::{Large, c_int};

    unsafe extern "C-unwind" {
        #[rustfmt::skip]
        pub(crate) fn MPI_Get_accumulate(
            a: i64,
            b: i64,
            c: i64,
            d: i64,
            e: i64,
            f: i64,
            g: i64,
            h: i64,
            i: i64,
            j: i64,
            p: f64,
            q: f64,
            r: f64,
            s: f64,
            t: f64,
            u: f64,
            v: f64,
            w: f64,
            x: f64,
            y: f64,
        ) -> f64;
        pub(crate) fn MPI_Comm_split(a: i64, b: i64) -> Large;
        pub(crate) fn MPI_Pcontrol(level: c_int, ...) -> f64;
        pub(crate) fn MPI_Barrier() -> c_int;
        pub(crate) fn PMPI_Barrier() -> c_int;
        pub(crate) fn MPI_Bcast() -> c_int;
        pub(crate) fn PMPI_Bcast() -> c_int;
        pub(crate) fn MPI_Reduce() -> c_int;
        pub(crate) fn PMPI_Reduce() -> c_int;
        pub(crate) fn MPI_Scan() -> c_int;
    }
}

fn load(library: &Path) {
    let path = CString::new(library.to_str().unwrap()).unwrap();
    // SAFETY: `path` is a C string.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_GLOBAL) };
    assert!(!handle.is_null(), "{}", library.display());
}

static FLUSHES: AtomicU32 = AtomicU32::new(0);
static THROW: AtomicBool = AtomicBool::new(false);

/// What the relays call. Leaves nothing in a register that a function need not preserve.
fn flush() {
    FLUSHES.fetch_add(1, Relaxed);
    if THROW.load(Relaxed) {
        resume_unwind(Box::new("thrown"));
    }
    macro_rules! wipe {
        ($set:literal, $($register:literal)*) => {
            // SAFETY: sets registers that are declared as overwritten.
            unsafe { std::arch::asm!($(concat!($set, $register, ", ", $register),)* clobber_abi("C")) }
        };
    }
    #[cfg(target_arch = "x86_64")]
    {
        wipe!("pxor ", "xmm0" "xmm1" "xmm2" "xmm3" "xmm4" "xmm5" "xmm6" "xmm7" "xmm8" "xmm15");
        wipe!("xor ", "rax" "rcx" "rdx" "rsi" "rdi" "r8" "r9" "r10" "r11");
    }
    #[cfg(target_arch = "aarch64")]
    {
        wipe!("mvn ", "x0" "x1" "x2" "x3" "x4" "x5" "x6" "x7" "x8" "x9" "x10" "x11" "x12" "x13" "x14" "x15" "x16" "x17");
        // SAFETY: sets registers that are declared as overwritten.
        unsafe {
            std::arch::asm!(
                "movi v0.2d, #0",
                "movi v1.2d, #0",
                "movi v2.2d, #0",
                "movi v3.2d, #0",
                "movi v4.2d, #0",
                "movi v5.2d, #0",
                "movi v6.2d, #0",
                "movi v7.2d, #0",
                "movi v16.2d, #0",
                "movi v31.2d, #0",
                clobber_abi("C")
            );
        }
    }
}

/// Call everything; every argument and every result has to arrive.
fn call_all() {
    // SAFETY: the fake MPI has functions of these types.
    unsafe {
        let sum = calls::MPI_Get_accumulate(
            1, 10, 100, 1000, 10_000, 100_000, 7, 70, 700, 7000, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0,
            256.0, 512.0,
        );
        // 1 + 20 + 300 + 4000 + 50000 + 600000 + 49 + 560 + 6300 + 70000, and half of sum(k * 2^(k-1)) for k to 10, which is 9217.
        assert!((sum - (731_230.0 + 4608.5)).abs() < f64::EPSILON, "{sum}");
        assert_eq!(calls::MPI_Comm_split(9, 4), Large([9, 4, 13, 5, 36]));
        let sum = calls::MPI_Pcontrol(9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0);
        assert!((sum - 285.0).abs() < f64::EPSILON, "{sum}");
        // Each name goes on as itself, or as the other one where the MPI has only that.
        let answers = [calls::MPI_Barrier(), calls::PMPI_Barrier(), calls::MPI_Bcast(), calls::PMPI_Bcast()];
        assert_eq!(answers, [1, 2, 3, 3]);
        assert_eq!([calls::MPI_Reduce(), calls::PMPI_Reduce()], [4, 4]);
    }
}

/// The number of calls in [`call_all`].
const CALLS: u32 = 9;

#[test]
fn a_call_passes_with_all_it_has() {
    // SAFETY: there is no MPI yet, so nothing is called.
    let nowhere = || unsafe { calls::MPI_Scan() };
    // MPI_ERR_OTHER is 15 to 17 in all families.
    assert!((15..=17).contains(&nowhere()), "there is no MPI");
    load(&fake());
    assert!((15..=17).contains(&nowhere()), "this MPI has no such function");

    // Bound while nothing is put off, then passed straight on. What was not found before is asked for again.
    relay::set_flush(flush);
    call_all();
    call_all();
    assert_eq!(FLUSHES.load(Relaxed), 0);

    relay::arm(true);
    assert!(relay::deferred());
    call_all();
    assert_eq!(FLUSHES.swap(0, Relaxed), CALLS, "each call flushes");

    // An error handler that leaves the flush by an exception leaves the call, through the frame of the relay.
    THROW.store(true, Relaxed);
    // SAFETY: the fake MPI has this function.
    let thrown = catch_unwind(|| unsafe { calls::MPI_Barrier() }).unwrap_err();
    assert_eq!(thrown.downcast_ref(), Some(&"thrown"));
    THROW.store(false, Relaxed);
    assert_eq!(FLUSHES.swap(0, Relaxed), 1);

    relay::arm(false);
    assert!(!relay::deferred());
    call_all();
    assert_eq!(FLUSHES.load(Relaxed), 0);
}

/// The functions that the library at `file` defines with this prefix, which is left out.
fn defined(file: &Path, prefix: &str) -> BTreeSet<String> {
    let (out, _) = run(Command::new("nm").args(["-D", "--defined-only"]).arg(file));
    let function = |line: &str| {
        let mut words = line.split_whitespace().rev();
        let name = words.next()?.split('@').next()?.strip_prefix(prefix)?;
        let mut letters = name.chars();
        // Not the constants, which are in upper case, and not MPI_T_.
        let like = letters.next()?.is_uppercase() && letters.next()?.is_lowercase();
        (like && matches!(words.next(), Some("T" | "W" | "i"))).then(|| name.to_owned())
    };
    out.lines().filter_map(function).collect()
}

fn without_prefix(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| name.strip_prefix("MPI_").unwrap().to_owned()).collect()
}

/// An exported function that the MPI lacks would answer a program that tests for it by a weak symbol. The large-count functions may: they
/// are served under every MPI (tests/large.rs).
#[test]
fn every_mpi_has_what_is_exported() {
    let ours = defined(&library(), "MPI_");
    let listed = &without_prefix(relay::NAMES) | &without_prefix(relay::HOOKS);
    assert_eq!(ours, listed);
    assert_eq!(defined(&library(), "PMPI_"), listed);
    assert_eq!(relay::NAMES.len() + relay::HOOKS.len(), listed.len(), "no function is listed twice");
    // What tells of an MPI must not come from us.
    assert_eq!((&without_prefix(relay::HARMLESS) & &ours).len(), 0);
    for mpi in mpis() {
        let theirs = defined(Path::new(&mpi.lib), "MPI_");
        let lacks: Vec<_> = ours.difference(&theirs).filter(|name| !name.ends_with("_c")).collect();
        assert_eq!(lacks, Vec::<&String>::new(), "{}", mpi.name);
    }
}

/// What every MPI has is exported, or has a reason.
#[test]
fn what_every_mpi_has_is_exported() {
    if mpis().len() < 6 {
        return println!("skipped: not every MPI is here");
    }
    let all = mpis().iter().map(|mpi| defined(Path::new(&mpi.lib), "MPI_"));
    let all = all.reduce(|a, b| &a & &b).unwrap();
    let reasons = without_prefix(relay::HARMLESS);
    let unseen: Vec<_> = (&(&all - &defined(&library(), "MPI_")) - &reasons).into_iter().collect();
    assert_eq!(unseen, Vec::<String>::new());
}

/// Calls before `MPI_Init` and after `MPI_Finalize`, by both names, with many arguments, structures and results that are no `int`.
#[test]
fn relayed_calls_do_what_they_did() {
    for mpi in mpis() {
        let program = mpi.compile("tests/passthrough/relayed.c", "linked", &[]).display().to_string();
        for vars in [&[][..], &[("LD_BIND_NOW", "1")][..]] {
            mpi.same(2, vars, &[&program]);
        }
    }
}

/// `MPI_Abort` ends the program, preloaded or not.
#[test]
fn abort_ends() {
    let library = library().display().to_string();
    for mpi in mpis() {
        let program = mpi.compile("tests/passthrough/relayed.c", "linked-abort", &[]).display().to_string();
        let mut command = Command::new("timeout");
        let launched = mpi.command(2, &[("LD_PRELOAD", &library)], &[&program, "abort"]);
        command.args(["-k", "5", "60"]).arg(launched.get_program()).args(launched.get_args());
        let output = command.output().unwrap();
        let code = output.status.code();
        assert!(
            !output.status.success() && code != Some(124) && code != Some(137),
            "{}: {output:?}",
            mpi.name
        );
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("still here"), "{}: {text}", mpi.name);
    }
}

/// Not a test: [`imports_of`] starts this executable once more for it.
#[test]
#[ignore = "the other half of a test"]
fn child() {
    let Some(list) = std::env::var_os("RELAY_LIBRARIES") else { return };
    assert_eq!(relay::foreign(), Vec::<String>::new(), "nothing is loaded yet");
    for library in list.to_str().unwrap().split(':') {
        load(Path::new(library));
        let found = relay::foreign();
        assert!(std::ptr::eq(found, relay::foreign()), "the answer is kept");
        println!("\nafter {library}: {}", found.join(" "));
    }
}

/// What [`relay::foreign`] says in a process after each of these libraries was loaded.
fn imports_of(mpi: Option<&Mpi>, libraries: &[PathBuf]) -> Vec<String> {
    let list: Vec<_> = libraries.iter().map(|library| library.to_str().unwrap()).collect();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture"]).env("RELAY_LIBRARIES", list.join(":"));
    if let Some(folder) = mpi.and_then(|mpi| Path::new(&mpi.lib).parent()) {
        command.env("LD_LIBRARY_PATH", folder);
    }
    let (out, _) = run(&mut command);
    let lines = out.lines().filter_map(|line| line.strip_prefix("after ")?.split_once(": "));
    let found: Vec<_> = lines.map(|(_, found)| found.to_owned()).collect();
    assert_eq!(found.len(), libraries.len(), "{out}");
    found
}

/// The C compiler of the target.
fn cc() -> Command {
    Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()))
}

fn fake() -> PathBuf {
    static BUILT: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    let build = || {
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libfake_mpi.so");
        let source = root().join("tests/relay/fake.c");
        run(cc().args(["-O1", "-Wall", "-shared", "-fPIC", "-o"]).arg(&library).arg(source));
        library
    };
    BUILT.get_or_init(build).clone()
}

#[test]
fn imports_that_pass_by_are_found() {
    let shared = ["-shared", "-fPIC"];
    for mpi in mpis() {
        let has = |name: &str| defined(Path::new(&mpi.lib), "MPI_").contains(name);
        let plug_in = |what: &str, flags: &[&str]| {
            mpi.compile("tests/relay/imports.c", &format!("{what}.so"), &[&shared, flags].concat())
        };
        let of = |what: &str, flags: &[&str]| imports_of(Some(mpi), &[plug_in(what, flags)]).pop().unwrap();
        assert_eq!(of("plain", &[]), "", "{}", mpi.name);
        // A name that the MPI does not have is not its function.
        let expected = if has("Bcast_c") { "PMPI_Bcast_c" } else { "" };
        assert_eq!(of("bcast_c", &["-DBCAST_C"]), expected, "{}", mpi.name);
        assert_eq!(of("own", &["-DOWN_NAME"]), "", "{}", mpi.name);
        for way in if has("Barrier_init") { &["-DBARRIER_INIT", "-DPOINTER"][..] } else { &[] } {
            assert_eq!(of(way, &[way]), "MPI_Barrier_init", "{}", mpi.name);
            // Both kinds of hash table; no lazy binding.
            for flag in ["-Wl,--hash-style=sysv", "-Wl,-z,now"] {
                assert_eq!(of("flag", &[way, flag]), "MPI_Barrier_init", "{}, {flag}", mpi.name);
            }
            // A library that comes later is seen, and nothing is forgotten.
            let both = [plug_in("plain", &[]), plug_in(way, &[way])];
            assert_eq!(imports_of(Some(mpi), &both), ["", "MPI_Barrier_init"], "{}", mpi.name);
        }
    }
}

#[test]
fn imports_of_fortran_are_found() {
    for mpi in mpis().iter().filter(|mpi| mpi.fc.is_some()) {
        let of = |what: &str, flags: &[&str]| {
            let flags = [&["-shared", "-fPIC", "-cpp"], flags].concat();
            let plug_in = mpi.compile("tests/relay/imports.F90", &format!("fortran-{what}.so"), &flags);
            imports_of(Some(mpi), &[plug_in]).pop().unwrap()
        };
        assert_eq!(of("mpif", &[]), "", "{}", mpi.name);
        assert_eq!(of("f08", &["-DUSE_MPI_F08"]), "", "{}", mpi.name);
        if defined(Path::new(&mpi.lib), "MPI_").contains("Barrier_init") {
            assert_eq!(of("mpif-newer", &["-DBARRIER_INIT"]), "mpi_barrier_init_", "{}", mpi.name);
            let found = of("f08-newer", &["-DUSE_MPI_F08", "-DBARRIER_INIT"]);
            assert_eq!(found, "mpi_barrier_init_f08_", "{}", mpi.name);
        }
    }
}
