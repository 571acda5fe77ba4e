//! Random datatypes through everything that moves bytes: some thousands, or as many as the time that `scripts/soak` gives.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod exercise;
mod kernels;
mod recipe;

use std::ffi::c_int;
use std::panic;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use exercise::exercise;
use recipe::random::{self, Rng};

/// The seed that is being tried.
static SEED: AtomicU64 = AtomicU64::new(0);

/// A type of its own for each seed.
fn seed(seed: u64) -> bool {
    SEED.store(seed, Relaxed);
    let mut rng = Rng::seeded(seed);
    let limit = if seed.is_multiple_of(20) { 3000 } else { 400 };
    let recipe = random::recipe(&mut rng, 7, limit);
    exercise(&mut rng, recipe)
}

/// However a seed ends the program, it is named: a sanitizer and a kernel that is caught do so by a signal.
fn name_the_seed() {
    fn name() {
        eprintln!("repeat it with SOAK_SEED={} SOAK_MINUTES=0 cargo test --test soak", SEED.load(Relaxed));
    }
    extern "C" fn died(signal: c_int) {
        name();
        // SAFETY: ends the program, as the signal would have.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        // SAFETY: as above.
        unsafe { libc::raise(signal) };
    }
    for signal in [libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL] {
        // SAFETY: the handler is of the type that signal(2) takes.
        unsafe { libc::signal(signal, died as *const () as libc::sighandler_t) };
    }
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        usual(info);
        name();
    }));
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}: a number")))
}

#[test]
fn random_types_are_moved_as_their_type_map_says() {
    let first = variable("SOAK_SEED").unwrap_or(0);
    let enough = variable("SOAK_MINUTES").map(|minutes| Duration::from_secs(60 * minutes));
    name_the_seed();
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
