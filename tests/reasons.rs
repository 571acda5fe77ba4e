//! Every reason to forward, with a call that is forwarded for it: the report names the function and the reason, and the means
//! and bytes of the nearest call that is served.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod ranks;

use ranks::{Mpi, Report, two_mpis};
use tempi::reason::Reason;

/// Where the object of the call lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Host memory, no driver in the process.
    Host,
    /// Host memory, a driver in the process.
    Driver,
    /// Device memory, and the MPI reads it.
    Device,
}

/// A test of one reason.
#[derive(Clone, Copy)]
struct Test {
    reason: Reason,
    function: &'static str,
    place: Place,
    /// What makes the difference, what its other value is, and by which means how many bytes are served then.
    variable: Option<(&'static str, &'static str)>,
    otherwise: Option<(&'static str, &'static str)>,
    served: Option<(&'static str, u64)>,
}

/// Packed bytes of the vector that the program uses.
const BYTES: u64 = 8192;

const fn test(reason: Reason, function: &'static str, place: Place) -> Test {
    Test { reason, function, place, variable: None, otherwise: None, served: None }
}

const fn without(test: Test, variable: (&'static str, &'static str), means: &'static str) -> Test {
    Test { variable: Some(variable), served: Some((means, BYTES)), ..test }
}

const TESTS: &[Test] = &[
    without(test(Reason::SwitchedOff, "MPI_Pack", Place::Device), ("TEMPI_NO_PACK", "1"), "oneshot"),
    test(Reason::ProcNull, "MPI_Send", Place::Device),
    test(Reason::Empty, "MPI_Send", Place::Device),
    test(Reason::BadArgument, "MPI_Send", Place::Device),
    test(Reason::NoDriver, "MPI_Send", Place::Host),
    test(Reason::HostBuffer, "MPI_Send", Place::Driver),
    Test {
        otherwise: Some(("TEMPI_HOST", "always")),
        served: Some(("host", 300 * 4096)),
        ..test(Reason::HostSystemFaster, "MPI_Pack", Place::Host)
    },
    Test {
        otherwise: Some(("TEMPI_CONTIGUOUS_STAGED", "1")),
        served: Some(("copy", 4096)),
        ..test(Reason::Contiguous, "MPI_Send", Place::Device)
    },
    test(Reason::Irregular, "MPI_Send", Place::Device),
    test(Reason::TooManyBlocks, "MPI_Send", Place::Device),
    test(Reason::Overflow, "MPI_Send", Place::Device),
    test(Reason::Opaque, "MPI_Send", Place::Device),
    without(
        test(Reason::NoMemory, "MPI_Send", Place::Device),
        ("SIMCUDA_FAIL", "cuMemAlloc@tempi:*"),
        "oneshot",
    ),
    without(
        test(Reason::CudaFailed, "MPI_Send", Place::Device),
        ("SIMCUDA_FAIL", "cuLaunchKernel@tempi:*"),
        "oneshot",
    ),
    test(Reason::TwoDevices, "MPI_Pack", Place::Device),
    test(Reason::TooLarge, "MPI_Send", Place::Device),
];

/// The reasons that no program can bring about under every MPI, and what tests them where.
const ELSEWHERE: &[(Reason, &str, &str)] = &[
    (Reason::Panicked, "src/api/mod.rs", "Err(Stop::Forward(Reason::Panicked))"),
    (Reason::TooLong, "tests/reasons.rs", "Reason::TooLong.text()"),
];

fn report(mpi: &Mpi, test: &Test, variable: Option<(&str, &str)>) -> Report {
    let program = mpi.compile("reasons", false);
    let name = format!("{:?}", test.reason);
    let mut run =
        mpi.run(1, &program).argument(&name).with("SIMCUDA_DEVICES", "2").with("TEMPI_DATATYPE_ONESHOT", "1");
    if let Some((name, value)) = variable {
        run = run.with(name, value);
    }
    run = match test.place {
        Place::Host => run,
        Place::Driver => run.simulated(true),
        Place::Device => run.simulated(true).with("DEVICE", "1"),
    };
    run.reported(&format!("reasons-{name}")).1.remove(0)
}

fn check(mpi: &Mpi) {
    for test in TESTS {
        println!("{}: {:?}", mpi.name, test.reason);
        let forwarded = report(mpi, test, test.variable);
        let lines: Vec<_> =
            forwarded.forwarded().into_iter().filter(|(function, ..)| *function != "MPI_Irecv").collect();
        assert!(
            !lines.is_empty()
                && lines.iter().all(|line| (line.0, line.1) == (test.function, test.reason.text())),
            "{lines:?}"
        );
        assert_eq!(forwarded.accelerated(), vec![]);
        if let Some((means, bytes)) = test.served {
            let served = report(mpi, test, test.otherwise);
            assert_eq!(served.accelerated(), vec![(test.function, means, 1, bytes)]);
        }
    }
}

#[test]
fn calls_are_forwarded_for_their_reason_under_open_mpi() {
    two_mpis().into_iter().filter(|mpi| mpi.family == "openmpi").for_each(check);
}

#[test]
fn calls_are_forwarded_for_their_reason_under_mpich() {
    two_mpis().into_iter().filter(|mpi| mpi.family == "mpich").for_each(check);
}

/// The MPI that writes past the end of device buffers gets such a message as the program would have given it: four of them here.
#[test]
fn a_message_longer_than_the_receive_is_left_to_open_mpi() {
    for mpi in two_mpis().into_iter().filter(|mpi| mpi.family == "openmpi") {
        let program = mpi.compile("truncated", true);
        let run = mpi.run(2, &program).preloaded().simulated(true).with("TEMPI_DATATYPE_DEVICE", "1");
        let reports = run.reported("truncated").1;
        let wanted = ("MPI_Recv", Reason::TooLong.text(), 4);
        assert!(reports.iter().any(|report| report.forwarded().contains(&wanted)), "{}", mpi.name);
    }
}

#[test]
fn every_reason_has_its_test() {
    for reason in Reason::ALL {
        let here = TESTS.iter().filter(|test| test.reason == *reason).count();
        let there = ELSEWHERE.iter().filter(|(other, ..)| other == reason).count();
        assert_eq!(here + there, 1, "tests of {reason:?}");
    }
    for (reason, file, test) in ELSEWHERE {
        let text = std::fs::read_to_string(file).unwrap();
        let tests = text.split_once("#[test]").expect(file).1;
        assert!(tests.contains(test), "{file}: {reason:?}");
    }
}
