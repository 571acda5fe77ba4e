//! Programs that look after themselves, preloaded: the life of datatypes, error handlers, threads and contexts, kinds of memory.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod ranks;

use ranks::two_mpis;

/// What the library still knows when MPI is finalised, as its log says: `NAME NUMBER`.
fn at_finalize(log: &str, name: &str) -> u64 {
    let line = log.lines().find(|line| line.contains(&format!("MPI_Finalize {name} "))).expect(log);
    let mut words = line.split_whitespace().skip_while(|word| *word != name);
    words.nth(1).and_then(|number| number.parse().ok()).expect(line)
}

#[test]
fn datatypes_are_forgotten_with_their_handles() {
    for mpi in two_mpis() {
        for device in [false, true] {
            let program = mpi.compile("types_life", device);
            let run =
                mpi.run(1, &program).preloaded().with("TEMPI_LOG", "debug").with("TEMPI_HOST", "always");
            let run = if device { run.simulated(false) } else { run };
            let output = run.output();
            let log = String::from_utf8_lossy(&output.stderr);
            let wrong: Vec<_> = log.lines().filter(|line| line.contains("wrong:")).collect();
            assert!(output.status.success(), "{}, device {device}: {wrong:?}", mpi.name);
            assert!(log.matches("type analysed").count() > 1000, "{}: types analysed", mpi.name);
            // Predefined types never die.
            let types = at_finalize(&log, "types");
            assert!(types < 5, "{}, device {device}: {types} types", mpi.name);
            assert_eq!(at_finalize(&log, "requests"), 0, "{}, device {device}: requests", mpi.name);
        }
    }
}

#[test]
fn tables_leave_the_device_with_their_types() {
    for mpi in two_mpis() {
        for (aware, method) in [(false, "ONESHOT"), (true, "DEVICE")] {
            let program = mpi.compile("tables", false);
            let run = mpi.run(1, &program).preloaded().simulated(aware).with("SIMCUDA_LAZY", "0");
            let method = format!("TEMPI_DATATYPE_{method}");
            let output = run.with(&method, "1").with("TEMPI_LOG", "debug").output();
            let log = String::from_utf8_lossy(&output.stderr);
            let wrong: Vec<_> = log.lines().filter(|line| line.contains("wrong:")).collect();
            assert!(output.status.success(), "{}, {method}: {wrong:?}", mpi.name);
            let copied = log.matches("table of runs copied to the device").count();
            assert!(copied >= 2500, "{}, {method}: {copied} tables", mpi.name);
            assert_eq!(at_finalize(&log, "tables"), 0, "{}, {method}: bytes of tables", mpi.name);
            assert!(at_finalize(&log, "types") < 5, "{}, {method}", mpi.name);
        }
    }
}

#[test]
fn error_handlers_hear_what_the_mpi_would_say() {
    for mpi in two_mpis() {
        let host = mpi.compile("errors", false);
        let plain = mpi.run(1, &host).succeed();
        assert!(plain.lines().count() > 15, "{plain}");
        let compare = |what: &str, said: String| {
            for (said, plain) in said.lines().zip(plain.lines()) {
                assert_eq!(said, plain, "{}, {what}", mpi.name);
            }
            assert_eq!(said.lines().count(), plain.lines().count(), "{}, {what}", mpi.name);
        };
        compare("host", mpi.run(1, &host).preloaded().with("TEMPI_HOST", "always").succeed());
        let device = mpi.compile("errors", true);
        compare("device", mpi.run(1, &device).preloaded().simulated(false).succeed());
        compare("device, aware", mpi.run(1, &device).preloaded().simulated(true).succeed());
    }
}

#[test]
fn threads_and_contexts_do_not_meet() {
    for mpi in two_mpis() {
        let program = mpi.compile("contexts", false);
        for (aware, method) in [(false, "ONESHOT"), (false, "STAGED"), (true, "DEVICE")] {
            let method = format!("TEMPI_DATATYPE_{method}");
            let run = mpi.run(1, &program).simulated(aware).with("SIMCUDA_DEVICES", "2").with(&method, "1");
            let (said, reports) = run.reported("contexts");
            assert!(said.contains("ok contexts") || said.contains("skip"), "{}: {said}", mpi.name);
            let calls: u64 = reports[0].accelerated().iter().map(|line| line.2).sum();
            assert!(calls >= 4 * 60 * 3, "{}: {calls} calls", mpi.name);
        }
    }
}

#[test]
fn memory_of_every_kind_meets_every_other() {
    for mpi in two_mpis() {
        let host = mpi.compile("kinds", false);
        mpi.run(1, &host).preloaded().with("TEMPI_HOST", "always").succeed();
        let device = mpi.compile("kinds", true);
        for (aware, method) in [(false, "ONESHOT"), (false, "STAGED"), (true, "DEVICE")] {
            let method = format!("TEMPI_DATATYPE_{method}");
            mpi.run(1, &device)
                .preloaded()
                .simulated(aware)
                .with("SIMCUDA_DELAY_US", "5")
                .with(&method, "1")
                .succeed();
        }
    }
}
