//! The wait before the next attempt: exponential with full jitter.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::options::Jitter;

const FIRST_MS: u64 = 500;
const MAX_MS: u64 = 30_000;
/// 500 · 2^6 is over the longest wait.
const MAX_EXPONENT: u32 = 6;

/// Waits of `random · min(30 s, 500 ms · 2^attempt)`.
#[derive(Debug)]
pub(super) struct Backoff {
    attempt: u32,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Seeded(Box<ChaCha8Rng>),
    Fixed(f64),
}

impl Backoff {
    pub(super) fn new(jitter: Jitter) -> Self {
        let source = match jitter {
            Jitter::Seeded(seed) => Source::Seeded(Box::new(ChaCha8Rng::seed_from_u64(seed))),
            Jitter::Fixed(random) => Source::Fixed(random.clamp(0.0, 1.0)),
        };
        Self { attempt: 0, source }
    }

    /// The wait before the next attempt.
    pub(super) fn next_wait(&mut self) -> Duration {
        let ceiling = MAX_MS.min(FIRST_MS << self.attempt.min(MAX_EXPONENT));
        self.attempt = self.attempt.saturating_add(1);
        // At most 30,000, so the conversion is exact; what is not a number becomes 0.
        Duration::from_millis((self.source.random() * ceiling as f64) as u64)
    }

    /// Starts over.
    pub(super) fn reset(&mut self) {
        self.attempt = 0;
    }
}

impl Source {
    fn random(&mut self) -> f64 {
        match self {
            // The 53 bits that a float between 0 and 1 holds.
            Self::Seeded(rng) => (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64,
            Self::Fixed(random) => *random,
        }
    }
}
