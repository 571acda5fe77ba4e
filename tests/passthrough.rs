//! The library in the life of a process: whatever a program does and however it came to its MPI, it prints what it
//! prints without the library.

mod common;

use common::{Mpi, library, mpis, python, root, run, simulated_driver, sorted};
use std::process::Command;

/// The library did some of the work of this run, so that a test does not pass because it slept.
fn worked(mpi: &Mpi, report: &str) {
    let pack = report.lines().filter(|line| line.trim_start().starts_with("MPI_Pack "));
    assert!(pack.count() > 0, "{}: the library accelerated no MPI_Pack\n{report}", mpi.name);
}

#[test]
fn programs_without_mpi_are_left_alone() {
    let lib = library();
    for (program, args, out) in [
        ("/bin/true", vec![], ""),
        ("/bin/sh", vec!["-c", "echo $((6 * 7)); exit 0"], "42\n"),
        ("python3", vec!["-c", "print(7)"], "7\n"),
    ] {
        for bind_now in [false, true] {
            let mut command = Command::new(program);
            command.args(args.iter()).env("LD_PRELOAD", &lib);
            if bind_now {
                command.env("LD_BIND_NOW", "1");
            }
            let (stdout, stderr) = run(&mut command);
            assert_eq!((stdout.as_str(), stderr.as_str()), (out, ""), "{program}, LD_BIND_NOW {bind_now}");
        }
    }
}

#[test]
fn an_exchange_prints_the_same() {
    for mpi in mpis() {
        let program = mpi.compile("tests/passthrough/halo.c", "linked", &[]).display().to_string();
        for vars in [&[][..], &[("LD_BIND_NOW", "1")][..]] {
            worked(mpi, &mpi.same(3, vars, &[&program]));
        }
        // Switched off it does nothing.
        let report = mpi.same(2, &[("TEMPI_DISABLE", "1")], &[&program]);
        assert!(!report.contains("MPI_Pack  "), "{}: TEMPI_DISABLE\n{report}", mpi.name);
    }
}

#[test]
fn the_launcher_may_be_preloaded_too() {
    for mpi in mpis() {
        let program = mpi.compile("tests/passthrough/halo.c", "launched", &[]).display().to_string();
        let (plain, _) = run(&mut mpi.command(2, &[], &[&program]));
        let mut command = mpi.command(2, &[], &[&program]);
        command.env("LD_PRELOAD", library()).env("TEMPI_REPORT", "on");
        let (out, report) = run(&mut command);
        assert_eq!(sorted(&out), sorted(&plain), "{}", mpi.name);
        worked(mpi, &report);
    }
}

/// Interpreters open their MPI in a scope where `RTLD_NEXT` does not look.
#[test]
fn an_mpi_opened_in_a_scope_of_its_own_is_found() {
    for mpi in mpis() {
        let plugin = mpi.compile("tests/passthrough/halo.c", "plugin.so", &["-DPLUGIN", "-shared", "-fPIC"]);
        let program = plugin.with_file_name("opens").display().to_string();
        let source = root().join("tests/passthrough/opens.c");
        run(Command::new("cc").args(["-O1", "-Wall", "-o", &program]).arg(source).arg("-ldl"));
        worked(mpi, &mpi.same(2, &[], &[&program, &plugin.display().to_string()]));
    }
}

#[test]
fn before_init_after_finalize_and_in_children() {
    for mpi in mpis() {
        let program = mpi.compile("tests/passthrough/lifecycle.c", "linked", &[]).display().to_string();
        worked(mpi, &mpi.same(1, &[], &[&program]));
    }
}

#[test]
fn a_session_will_do() {
    for mpi in mpis() {
        let program = mpi.compile("tests/cases/session_only.c", "linked", &[]).display().to_string();
        let library = library().display().to_string();
        // Exit status 77 where the MPI has no sessions.
        let mut command =
            mpi.command(2, &[("LD_PRELOAD", &library)], &["sh", "-c", r#""$0" || [ $? = 77 ]"#, &program]);
        let (out, _) = run(&mut command);
        assert!(
            out.contains("ok session_only") || out.contains("this MPI has no sessions"),
            "{}: {out}",
            mpi.name
        );
    }
}

/// Linked instead of preloaded. Before the MPI the library acts; behind it the MPI's own symbols come first, and the
/// library must keep still.
/// A second MPI in the process is neither taken for the first nor asked for what the first lacks.
#[test]
fn another_mpi_in_the_process_is_left_alone() {
    let of = |open: bool| mpis().iter().find(|mpi| mpi.name.starts_with("openmpi") == open);
    let (Some(one), Some(other)) = (of(true), of(false)) else {
        return println!("skipped: there is one kind of MPI");
    };
    for (mpi, second) in [(one, other), (other, one)] {
        let program = mpi.compile("tests/passthrough/another.c", "another", &["-ldl"]).display().to_string();
        worked(mpi, &mpi.same(1, &[("TEMPI_HOST", "always")], &[&program, &second.lib]));
    }
}

/// A file that is no MPI, and this library itself, which would call itself for ever.
#[test]
fn a_wrong_mpi_named_by_the_user_is_ignored() {
    let ours = library().display().to_string();
    for mpi in mpis().iter().take(1) {
        let program = mpi.compile("tests/passthrough/halo.c", "named", &[]).display().to_string();
        let (plain, _) = run(&mut mpi.command(2, &[], &[&program]));
        for wrong in ["libm.so.6", "/nowhere", &ours] {
            let vars = [("TEMPI_LIBMPI", wrong), ("LD_PRELOAD", &ours), ("TEMPI_REPORT", "on")];
            let (out, report) = run(&mut mpi.command(2, &vars, &[&program]));
            assert_eq!(sorted(&out), sorted(&plain), "{wrong}");
            assert!(report.contains("TEMPI_LIBMPI is not a file of an MPI"), "{wrong}: {report}");
            worked(mpi, &report);
        }
    }
}

#[test]
fn linking_will_do() {
    let folder = library().parent().expect("it lies in a folder").display().to_string();
    let (search, path) = (format!("-L{folder}"), format!("-Wl,-rpath,{folder}"));
    for mpi in mpis() {
        let plain = mpi.compile("tests/passthrough/halo.c", "plain", &[]).display().to_string();
        let (plain, _) = run(&mut mpi.command(2, &[], &[&plain]));
        let soname = mpi.lib.as_str();
        let before = ["-Wl,--no-as-needed", &search, &path, "-ltempi"];
        let behind = ["-Wl,--no-as-needed", soname, &search, &path, "-ltempi"];
        for (what, flags, acts) in [("before", &before[..], true), ("behind", &behind[..], false)] {
            let program = mpi.compile("tests/passthrough/halo.c", what, flags).display().to_string();
            let (out, report) = run(&mut mpi.command(2, &[("TEMPI_REPORT", "on")], &[&program]));
            assert_eq!(sorted(&out), sorted(&plain), "{}, {what}", mpi.name);
            if acts {
                worked(mpi, &report);
            } else {
                assert!(!report.contains("MPI_Pack"), "{}, {what}: {report}", mpi.name);
            }
        }
    }
}

#[test]
fn fortran_three_ways() {
    let with_fortran: Vec<_> = mpis().iter().filter(|mpi| mpi.fc.is_some()).collect();
    // Only the packaged MPIs bring Fortran; without one there is nothing to test here, which must not pass unseen in CI.
    assert!(!with_fortran.is_empty() || std::env::var_os("CI").is_none(), "no MPI with Fortran");
    for mpi in with_fortran {
        for interface in ["MPIF_H", "USE_MPI", "USE_MPI_F08"] {
            let define = format!("-D{interface}");
            let program = mpi
                .compile("tests/passthrough/halo.F90", interface, &["-cpp", &define])
                .display()
                .to_string();
            worked(mpi, &mpi.same(2, &[], &[&program]));
        }
    }
}

#[test]
fn python_opens_its_mpi_itself() {
    let (python, script) = (python(), root().join("tests/passthrough/halo.py").display().to_string());
    // The wheel of mpi4py wants an MPI under the names libmpi.so.40 and libmpi.so.12: Debian's MPICH has another.
    for mpi in
        mpis().iter().filter(|mpi| ["openmpi4", "openmpi5", "mpich5", "intel"].contains(&mpi.name.as_str()))
    {
        let report =
            mpi.same(2, &[("MPI4PY_LIBMPI", &mpi.lib), ("TEMPI_HOST", "always")], &[&python, &script]);
        // mpi4py calls the large-count functions wherever it finds them.
        let pack = |line: &str| line.trim_start().starts_with("MPI_Pack_c ") && line.contains(" host ");
        assert!(report.lines().any(pack), "{}: {report}", mpi.name);
    }
}

#[test]
fn an_error_handler_may_leave_the_call() {
    let driver = simulated_driver().display().to_string();
    let flags = ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-lstdc++", "-ldl"];
    for mpi in mpis() {
        let program = mpi.compile("tests/passthrough/throws.cc", "throws", &flags).display().to_string();
        let vars = [("LD_LIBRARY_PATH", driver.as_str()), ("SIMCUDA_READABLE", "1")];
        for way in [&[][..], &["jump"][..]] {
            let report = mpi.same(2, &vars, &[&[program.as_str()], way].concat());
            assert!(report.contains("MPI_Irecv "), "{}: {report}", mpi.name);
        }
    }
}

#[test]
fn device_memory_in_a_simulated_driver() {
    let driver = simulated_driver().display().to_string();
    for mpi in mpis() {
        let program =
            mpi.compile("tests/cases/pack_pieces.c", "cuda", &["-DUSE_CUDA", "-ldl"]).display().to_string();
        let vars = [("LD_LIBRARY_PATH", driver.as_str()), ("SIMCUDA_READABLE", "1")];
        worked(mpi, &mpi.same(2, &vars, &[&program]));
    }
}
