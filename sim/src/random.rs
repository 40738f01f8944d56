//! Randomness that follows from a seed.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// The one source of chance of a run.
#[derive(Debug)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`, which is greater than zero.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// A number from `from` up to and including `to`.
    pub(crate) fn within(&mut self, (from, to): (u64, u64)) -> u64 {
        from + self.below(to - from + 1)
    }

    /// True that often in a hundred times.
    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// A place in something that has `length` of them, at least one.
    pub(crate) fn place(&mut self, length: usize) -> usize {
        (self.number() % length as u64) as usize
    }

    /// One of several; `None` of none.
    pub(crate) fn pick<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        if among.is_empty() { None } else { among.get(self.place(among.len())) }
    }

    pub(crate) fn seed(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.0.fill_bytes(&mut bytes);
        bytes
    }
}
