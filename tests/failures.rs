//! Every call of the driver fails in turn while an operation runs: it delivers the right bytes or returns an MPI error, and all
//! works again afterwards. `tests/apps/failures.c` looks after the bytes, the errors and the leaks.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod ranks;

use std::collections::HashMap;

use ranks::{Mpi, two_mpis};

/// Runs with failures and those of them that delivered, by operation.
fn run(mpi: &Mpi, method: &str, aware: bool) -> HashMap<String, (u32, u32)> {
    let program = mpi.compile("failures", false);
    let variable = format!("TEMPI_DATATYPE_{method}");
    let run = mpi.run(1, &program);
    let (run, operations) = if method == "AUTO" { (run, 15) } else { (run.argument("messages"), 6) };
    let said = run.preloaded().simulated(aware).with(&variable, "1").with("SIMCUDA_DELAY_US", "10").succeed();
    let line = |line: &str| {
        let (operation, counts) = line.split_once(": ")?;
        let mut counts = counts.split_whitespace().filter_map(|word| word.parse().ok());
        Some((operation.to_owned(), (counts.next()?, counts.next()?)))
    };
    let counts: HashMap<_, _> = said.lines().filter_map(line).collect();
    assert_eq!(counts.len(), operations, "{said}");
    counts
}

fn check(mpi: &Mpi) {
    for method in ["AUTO", "ONESHOT", "STAGED"] {
        let counts = run(mpi, method, false);
        for (operation, &(failures, delivered)) in &counts {
            println!("{} {method} {operation}: {delivered} of {failures}", mpi.name);
            // Some failures leave no way. Not all do: whoever gave up at once would not come so far.
            assert!(failures > 80 && delivered > failures / 8 && delivered < failures, "{operation}");
        }
        // With two ways to pack, the second often helps.
        for operation in ["send", "recv"] {
            let (failures, delivered) = counts[operation];
            assert!(delivered > failures / 4, "{operation}: {delivered} of {failures}");
        }
    }
    for method in ["AUTO", "DEVICE", "ONESHOT", "STAGED"] {
        for (operation, (failures, delivered)) in run(mpi, method, true) {
            println!("{} {method} {operation}: {delivered} of {failures}, aware", mpi.name);
            // What the MPI can serve it serves; only a message that has come already cannot be given to it.
            let received = ["recv", "sendrecv", "sendrecv_replace"].contains(&operation.as_str());
            assert!(failures > 0 && delivered <= failures, "{operation}");
            assert!(if received { delivered > failures / 2 } else { delivered == failures }, "{operation}");
        }
    }
}

#[test]
fn failures_under_open_mpi() {
    two_mpis().into_iter().filter(|mpi| mpi.family == "openmpi").for_each(check);
}

#[test]
fn failures_under_mpich() {
    two_mpis().into_iter().filter(|mpi| mpi.family == "mpich").for_each(check);
}
