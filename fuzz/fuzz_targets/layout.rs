//! A fuzzer's bytes choose a datatype, a count and a part of the message; what is moved is what the type map says.
#![no_main]

#[path = "../../tests/exercise/mod.rs"]
mod exercise;
#[path = "../../tests/kernels/mod.rs"]
mod kernels;
#[path = "../../tests/recipe/mod.rs"]
mod recipe;

use libfuzzer_sys::fuzz_target;
use recipe::random::{self, Rng};

fuzz_target!(|bytes: &[u8]| {
    let mut rng = Rng::bytes(bytes);
    let recipe = random::recipe(&mut rng, 7, 3000);
    exercise::exercise(&mut rng, recipe);
});
