//! Storms from seeds.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use crate::testing::Choices;
use crate::testing::storm::{MAX_STEPS, storm};

const SEEDS: u64 = 180;

/// More than a step ever takes.
const STEP_BYTES: usize = 16;

#[test]
fn after_any_storm_both_ends_agree_and_every_call_has_ended_once() {
    let mut results = 0;
    for seed in 0..SEEDS {
        let mut bytes = [0; MAX_STEPS * STEP_BYTES];
        ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut bytes);
        let run = std::panic::catch_unwind(|| storm(seed, &mut Choices::new(&bytes)));
        results += run.unwrap_or_else(|_| panic!("seed {seed}"));
    }
    assert!(results as u64 > SEEDS, "hardly a call came through: {results}");
}
