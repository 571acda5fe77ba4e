//! The large-count functions (`MPI_Send_c` and the like): accelerated where the MPI has them; where it lacks them a program finds a right
//! function, or does without as it would alone.
#![allow(clippy::unwrap_used, reason = "tests")]

mod ranks;

use ranks::{Mpi, mpis, two_mpis};

/// Each function, how often it is counted when it is called with one element, and when it receives 5 ints.
const FUNCTIONS: &[(&str, u64, u64)] = &[
    ("MPI_Pack_c", 1, 0),
    ("MPI_Unpack_c", 1, 0),
    ("MPI_Send_c", 1, 0),
    ("MPI_Ssend_c", 1, 0),
    ("MPI_Rsend_c", 1, 0),
    ("MPI_Bsend_c", 1, 0),
    ("MPI_Recv_c", 1, 1),
    ("MPI_Mrecv_c", 1, 1),
    ("MPI_Sendrecv_c", 2, 0), // both halves
    ("MPI_Sendrecv_replace_c", 1, 0),
    ("MPI_Isend_c", 1, 0),
    ("MPI_Issend_c", 1, 0),
    ("MPI_Irsend_c", 1, 0),
    ("MPI_Ibsend_c", 1, 0),
    ("MPI_Irecv_c", 1, 1),
    ("MPI_Imrecv_c", 1, 1),
    ("MPI_Send_init_c", 1, 0),
    ("MPI_Ssend_init_c", 1, 0),
    ("MPI_Rsend_init_c", 1, 0),
    ("MPI_Bsend_init_c", 1, 0),
    ("MPI_Recv_init_c", 1, 1),
];

/// Packed bytes of the vector that the program uses.
const BYTES: u64 = 512;

#[test]
fn every_function_is_accelerated_on_device_memory() {
    for mpi in mpis() {
        let program = mpi.compile("large", true);
        let run = mpi.run(1, &program).argument("calls").simulated(false).with("TEMPI_DATATYPE_ONESHOT", "1");
        let report = run.reported("large-calls").1.remove(0);
        let large = |name: &&str| name.ends_with("_c");
        let accelerated = report.accelerated();
        let got: Vec<_> = accelerated.into_iter().filter(|line| large(&line.0)).collect();
        let wanted: Vec<_> = FUNCTIONS
            .iter()
            .map(|(name, calls, partial)| (*name, "oneshot", calls + partial, calls * BYTES + partial * 20))
            .collect();
        assert_eq!(got, wanted, "{}", mpi.name);
        let forwarded: Vec<_> = report.forwarded().into_iter().filter(|line| large(&line.0)).collect();
        assert_eq!(forwarded, [("MPI_Send_c", "peer is MPI_PROC_NULL", 1)], "{}", mpi.name);
    }
}

#[test]
fn sends_that_belong_together_are_packed_together() {
    for mpi in mpis() {
        let program = mpi.compile("large", true);
        let run = mpi.run(1, &program).argument("bursts").simulated(false).with("TEMPI_FUSION", "1");
        let report = run.reported("large-bursts").1.remove(0);
        let sends: u64 =
            report.accelerated().iter().filter(|line| line.0 == "MPI_Isend_c").map(|line| line.2).sum();
        assert_eq!(sends, 24, "{}", mpi.name);
        assert!(report.0["fused"].as_u64().unwrap() > 0, "{}: {report:?}", mpi.name);
    }
}

#[test]
fn host_memory_passes() {
    for mpi in mpis() {
        let program = mpi.compile("large", false);
        mpi.run(1, &program).argument("calls").preloaded().with("TEMPI_HOST", "always").succeed();
    }
}

#[test]
fn no_number_is_too_large() {
    // Intel's own receive crashes with room for more elements than an int counts.
    for mpi in mpis().iter().filter(|mpi| mpi.name != "intel") {
        let host = mpi.compile("large", false);
        mpi.run(1, &host).argument("limits").preloaded().succeed();
        mpi.run(1, &host).argument("limits").preloaded().with("TEMPI_HOST", "always").succeed();
        let device = mpi.compile("large", true);
        mpi.run(1, &device).argument("limits").preloaded().simulated(false).succeed();
    }
}

/// The functions by which a program may recognise an MPI of version 4 and that the library cannot serve without it are found where the
/// MPI has them and nowhere else.
#[test]
fn what_a_program_finds_is_right_and_what_is_missing_stays_missing() {
    let weak = |mpi: &Mpi| {
        let host = mpi.compile("large", false);
        let plain = mpi.run(1, &host).argument("weak").succeed();
        assert_eq!(plain.lines().count(), 7, "{plain}");
        assert_eq!(mpi.run(1, &host).argument("weak").preloaded().succeed(), plain, "{}", mpi.name);
        let device = mpi.compile("large", true);
        let said = mpi.run(1, &device).argument("weak").preloaded().simulated(false).succeed();
        assert_eq!(said, plain, "{}", mpi.name);
        plain
    };
    let said: Vec<_> = two_mpis().into_iter().map(|mpi| (mpi, weak(mpi))).collect();
    for (mpi, plain) in &said {
        let expected = if mpi.family == "openmpi" { "absent" } else { "found" };
        assert!(plain.contains(&format!("MPI_Bcast_c {expected}")), "{}: {plain}", mpi.name);
    }
}
