//! Random programs of messages give the same bytes and statuses with the library on device memory as the MPI alone on host memory.
#![allow(clippy::unwrap_used, reason = "tests")]

mod ranks;

use ranks::{Mpi, mpis, two_mpis};

const RANKS: usize = 3;

fn plain(mpi: &Mpi, first: u64, count: u64) -> String {
    let program = mpi.compile("programs", false);
    let said = mpi.run(RANKS, &program).argument(first.to_string()).argument(count.to_string()).succeed();
    assert_eq!(said.lines().count() as u64, count, "{said}");
    said
}

/// Compare, program by program, and see that no request of ours is left and no data was lost.
fn compare(mpi: &Mpi, first: u64, count: u64, aware: bool, fusion: &str) {
    let wanted = plain(mpi, first, count);
    let program = mpi.compile("programs", true);
    let run = mpi.run(RANKS, &program).argument(first.to_string()).argument(count.to_string());
    let output =
        run.preloaded().simulated(aware).with("TEMPI_FUSION", fusion).with("TEMPI_LOG", "debug").output();
    let (said, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success(),
        "{}: {}",
        mpi.name,
        log.lines().rev().take(40).collect::<Vec<_>>().join("\n")
    );
    for (got, want) in said.lines().zip(wanted.lines()) {
        assert_eq!(got, want, "{}", mpi.name);
    }
    assert_eq!(said.lines().count(), wanted.lines().count());
    let ends: Vec<&str> = log.lines().filter(|line| line.contains("MPI_Finalize requests")).collect();
    assert_eq!(ends.len(), RANKS, "{}: {ends:?}", mpi.name);
    assert!(ends.iter().all(|line| line.ends_with("requests 0")), "{}: {ends:?}", mpi.name);
    assert!(!log.contains("its data is lost"), "{}", mpi.name);
}

#[test]
fn device_memory_that_the_mpi_cannot_read() {
    for (mpi, fusion) in mpis().iter().zip(["on", "auto", "off"].iter().cycle()) {
        compare(mpi, 1, 40, false, fusion);
    }
}

#[test]
fn device_memory_that_the_mpi_can_read() {
    for mpi in two_mpis() {
        for (first, fusion) in [(1000, "off"), (1100, "auto"), (1200, "on")] {
            compare(mpi, first, 70, true, fusion);
        }
    }
}

#[test]
fn host_memory() {
    for mpi in two_mpis() {
        let wanted = plain(mpi, 2000, 40);
        let program = mpi.compile("programs", false);
        let said = mpi.run(RANKS, &program).argument("2000").argument("40").preloaded().succeed();
        assert_eq!(said, wanted, "{}", mpi.name);
    }
}

#[test]
fn many_rounds_leave_nothing_behind() {
    for mpi in two_mpis() {
        let program = mpi.compile("rounds", true);
        let run = mpi.run(2, &program).argument("3000").preloaded().simulated(true);
        let output = run.with("TEMPI_LOG", "debug").with("TEMPI_FUSION", "on").output();
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {log}", mpi.name);
        let ends = log.lines().filter(|line| line.ends_with("MPI_Finalize requests 0")).count();
        assert_eq!(ends, 2, "{}", mpi.name);
    }
}
