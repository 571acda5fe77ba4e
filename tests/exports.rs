//! What the built library shows to the dynamic linker: nothing of CUDA, and no library that a process without CUDA and
//! without MPI lacks.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// The library that cargo built along with this test.
fn library() -> PathBuf {
    let mut path = env::current_exe().unwrap();
    path.set_file_name("libtempi.so");
    assert!(path.exists(), "{}", path.display());
    path
}

fn output(program: &str, option: &str) -> String {
    let output = Command::new(program).arg(option).arg(library()).output().expect(program);
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn no_driver_function_is_exported_or_imported() {
    let symbols = output("nm", "-D");
    assert!(symbols.contains(" U dlsym"), "the listing is that of a dynamic library:\n{symbols}");
    // An exported one would take the driver's place in the application; an imported one would keep the library from
    // loading without a driver. A name that is missing from src/cuda/symbols.txt shows up as an import.
    let of_cuda =
        |name: &str| name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let found: Vec<&str> = symbols.split_whitespace().filter(|name| of_cuda(name)).collect();
    assert_eq!(found, Vec::<&str>::new());
}

#[test]
fn only_the_c_library_is_needed() {
    let needed = output("readelf", "-d");
    let needed = needed.lines().filter(|line| line.contains("(NEEDED)"));
    let names: Vec<&str> = needed.filter_map(|line| line.split(['[', ']']).nth(1)).collect();
    assert!(names.contains(&"libc.so.6"), "{names:?}");
    let known = ["libc.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"];
    let others: Vec<_> = names.iter().filter(|name| !known.contains(name)).collect();
    assert_eq!(others, Vec::<&&str>::new());
}

#[test]
fn a_process_without_a_driver_loads_it() {
    let status = Command::new("true").env("LD_PRELOAD", library()).env("LD_BIND_NOW", "1").output().unwrap();
    assert!(status.status.success());
    assert_eq!(String::from_utf8_lossy(&status.stderr), "");
}
