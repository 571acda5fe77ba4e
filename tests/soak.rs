//! Random datatypes through everything that moves bytes: some thousands, or as many as the time that `scripts/soak` gives.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod exercise;
mod kernels;
mod recipe;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use exercise::exercise;
use recipe::random::{self, Rng};

/// A type of its own for each seed. A failure names the seed that repeats it.
fn seed(seed: u64) -> bool {
    let mut rng = Rng::seeded(seed);
    let limit = if seed % 20 == 0 { 3000 } else { 400 };
    let work = || {
        let recipe = random::recipe(&mut rng, 7, limit);
        exercise(&mut rng, recipe)
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        eprintln!("repeat it with SOAK_SEED={seed} SOAK_MINUTES=0 cargo test --test soak");
        resume_unwind(panic)
    })
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}: a number")))
}

#[test]
fn random_types_are_moved_as_their_type_map_says() {
    let first = variable("SOAK_SEED").unwrap_or(0);
    let enough = variable("SOAK_MINUTES").map(|minutes| Duration::from_secs(60 * minutes));
    let (begun, mut types, mut moved) = (Instant::now(), 0_u64, 0_u64);
    loop {
        moved += u64::from(seed(first + types));
        types += 1;
        if enough.map_or(types >= 6000, |enough| begun.elapsed() >= enough) {
            break;
        }
    }
    println!(
        "{types} types from seed {first}, {moved} of them moved, {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    assert!(types < 100 || moved > types / 2, "{moved} of {types} moved");
}
