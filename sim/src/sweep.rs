//! Many seeds on all processors.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::{Counts, Sabotage, Violation, run};

/// What many runs came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// How many seeds ran.
    pub runs: u64,
    /// What broke, by seed.
    pub violations: Vec<Violation>,
    /// How much happened in all of them.
    pub counts: Counts,
    /// How many lines of events that were.
    pub lines: u64,
}

impl Sweep {
    /// What broke and how to see it again, a paragraph each.
    #[must_use]
    pub fn broken(&self) -> String {
        let show = |violation: &Violation| {
            format!("{violation}\n    again: cargo xtask sim --seed {} --verbose", violation.seed)
        };
        self.violations.iter().map(show).collect::<Vec<_>>().join("\n")
    }
}

/// Runs the seeds from `first` on, `seeds` of them, or fewer once `enough` of them have broken a promise.
#[must_use]
pub fn sweep(first: u64, seeds: u64, sabotage: Sabotage, enough: usize) -> Sweep {
    let next = AtomicU64::new(0);
    let total = Mutex::new(Sweep::default());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= seeds {
                        return;
                    }
                    let result = run(first + at, sabotage, None);
                    let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                    total.runs += 1;
                    match result {
                        Ok(report) => {
                            total.lines += report.lines;
                            total.counts.add(report.counts);
                        }
                        Err(violation) => total.violations.push(violation),
                    }
                    if total.violations.len() >= enough {
                        return next.store(seeds, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut sweep = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    sweep.violations.sort_by_key(|violation| violation.seed);
    sweep
}
