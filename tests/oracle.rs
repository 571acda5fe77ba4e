//! Random datatypes through the preloaded library: `MPI_Pack` and `MPI_Unpack` of a real MPI against the type-map walker,
//! on host memory and on the simulated device.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod ranks;
mod recipe;

use std::fs;
use std::path::{Path, PathBuf};

use ranks::{Mpi, Report, folder, mpis, two_mpis};
use recipe::case::Case;
use recipe::random::{self, Rng};
use recipe::{Model, soak};
use tempi::ir::layout;

/// `number` cases from seeds of their own, those of `part`, and the file that the program reads them from. With `ours` there are only types that
/// we certainly serve: an MPI that is not CUDA-aware has no way to serve the others on a device.
fn cases(part: u64, number: u64, name: &str, ours: bool) -> (Vec<Case>, PathBuf) {
    let first = 500_000 + part * number;
    let cases: Vec<Case> = (first..first + number)
        .map(|seed| (random::recipe(&mut Rng::seeded(seed), 5, 1500), i64::try_from(seed % 4).unwrap()))
        .map(|(recipe, count)| Case::new(recipe, count))
        .filter(|case| !ours || case.is_trusted() && layout(&Model::default(), &case.recipe).is_ok())
        .filter(|case| case.span.1 - case.span.0 < 1 << 25 && case.is_survived())
        .collect();
    let lines: Vec<String> = cases.iter().map(Case::line).collect();
    let file = folder().join(name);
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    (cases, file)
}

/// What the MPI answers by itself. It may be wrong, or end early, where it is not to be trusted.
fn plain(mpi: &Mpi, file: &Path) -> Vec<String> {
    let program = mpi.compile("pack_random", false);
    let output = mpi.run(1, &program).argument(file.to_str().unwrap()).output();
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// An answer in two parts: the bounds and the size, which are the MPI's, and the hashes, which the library can change.
fn parts(answer: &str) -> Option<(&str, &str)> {
    answer.match_indices(' ').nth(2).map(|(at, _)| answer.split_at(at))
}

/// Compare the answers of the preloaded program. With `own`, all that is strided was packed by us; without, what the MPI gets wrong
/// by itself may be wrong.
fn compare(what: &str, cases: &[Case], plain: &[String], answers: &str, own: bool) {
    let mut wrong = 0;
    assert_eq!(answers.lines().count(), cases.len(), "{what}: answers");
    for ((case, answer), plain) in cases.iter().zip(answers.lines()).zip(plain) {
        let right = case.answer();
        let ours = own && layout(&Model::default(), &case.recipe).is_ok();
        let good = match (ours, case.is_trusted()) {
            (true, true) => answer == right,
            (true, false) => match (parts(answer), parts(plain), parts(&right)) {
                _ if answer == plain => true,
                // The MPI packs what lies behind the buffer: anything.
                (Some(answer), Some(plain), Some(right)) if case.is_misread() && plain.1 != right.1 => {
                    answer.0 == plain.0
                }
                (Some(answer), _, Some(right)) => answer.1 == right.1,
                _ => false,
            },
            (false, _) => answer == right || *plain != right,
        };
        if !good {
            wrong += 1;
            println!(
                "{what}: {}\n   preloaded {answer}\n   plain     {plain}\n   right     {right}",
                case.line()
            );
        }
    }
    assert_eq!(wrong, 0, "{what}: of {}", cases.len());
}

/// How many packs and unpacks were served by one of `means`.
fn served(report: &Report, means: &[&str]) -> u64 {
    let ours = |(function, by, calls, _): (&str, &str, u64, u64)| {
        (["MPI_Pack", "MPI_Unpack"].contains(&function) && means.contains(&by)).then_some(calls)
    };
    report.accelerated().into_iter().filter_map(ours).sum()
}

/// The packs and unpacks that nobody but us should serve: of all that has several blocks.
fn expected(cases: &[Case]) -> u64 {
    cases.iter().filter(|case| !case.is_contiguous()).map(|case| 1 + u64::from(case.unpacks())).sum()
}

/// All places for `number` types: host memory where we are faster, host memory always, and a device.
fn everywhere(mpi: &Mpi, number: u64) {
    (0..soak()).for_each(|part| everywhere_once(mpi, part, number));
}

fn everywhere_once(mpi: &Mpi, part: u64, number: u64) {
    let (types, file) = cases(part, number, &format!("oracle-{}", mpi.name), false);
    let argument = file.to_str().unwrap();
    let by_itself = plain(mpi, &file);
    assert_eq!(by_itself.len(), types.len(), "{}: plain answers", mpi.name);
    let calls = 2 * u64::try_from(types.len()).unwrap();

    let host = mpi.compile("pack_random", false);
    let (answers, reports) = mpi.run(1, &host).argument(argument).reported("oracle-auto");
    compare(&format!("{}, host", mpi.name), &types, &by_itself, &answers, false);
    let some = served(&reports[0], &["host"]);

    let (answers, reports) =
        mpi.run(1, &host).argument(argument).with("TEMPI_HOST", "always").reported("oracle-always");
    compare(&format!("{}, host always", mpi.name), &types, &by_itself, &answers, true);
    let ours = served(&reports[0], &["host"]);
    let least = expected(&types);
    assert!(ours >= least && ours >= some, "{}: {ours} of {calls} by our loops, {some} if free", mpi.name);

    let (types, file) = cases(part, number, &format!("oracle-strided-{}", mpi.name), true);
    let argument = file.to_str().unwrap();
    let by_itself = plain(mpi, &file);
    let device = mpi.compile("pack_random", true);
    for packed in ["device", "host"] {
        let run = mpi
            .run(1, &device)
            .argument(argument)
            .simulated(false)
            .with("SIMCUDA_DELAY_US", "2")
            .with("MEM_PACK", packed);
        let (answers, reports) = run.reported("oracle-device");
        compare(&format!("{}, device to {packed}", mpi.name), &types, &by_itself, &answers, true);
        let ours = served(&reports[0], &["device", "oneshot", "staged", "copy"]);
        assert!(ours >= expected(&types), "{}: {ours} of {} on the device", mpi.name, 2 * types.len());
    }
}

#[test]
fn random_types_under_open_mpi() {
    two_mpis().into_iter().filter(|mpi| mpi.family == "openmpi").for_each(|mpi| everywhere(mpi, 2100));
}

#[test]
fn random_types_under_mpich() {
    two_mpis().into_iter().filter(|mpi| mpi.family == "mpich").for_each(|mpi| everywhere(mpi, 2100));
}

#[test]
fn some_random_types_under_the_others() {
    let two: Vec<&str> = two_mpis().into_iter().map(|mpi| mpi.name.as_str()).collect();
    mpis().iter().filter(|mpi| !two.contains(&mpi.name.as_str())).for_each(|mpi| everywhere(mpi, 100));
}
