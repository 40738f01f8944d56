//! What must hold, whatever happens: the promises, checked from what both ends were seen to do.
//!
//! The oracle knows what a caller, an app and a disk can know, and compares. It has no copy of the rules of either end; where
//! it must know what is allowed it keeps a bound that is wider than the truth and never narrower.

mod apps;
mod calls;
mod events;
mod secrets;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub(crate) use calls::Answered;
pub(crate) use sessions::Clock;

use self::calls::CallTruth;
use self::sessions::Truth;

/// What a run can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// A call ends in exactly one way, and no tool runs twice for it.
    OneEnd,
    /// What an app holds and what is listed of it agree.
    FreshRegistry,
    /// A daemon that dies loses no session, and leaves nothing that cannot be read.
    SurvivesDeath,
    /// A bad peer costs its own socket only, and nothing piles up.
    OwnSocketOnly,
    /// Nobody gets in without the right token, and no token shows.
    NobodyElse,
    /// Nothing but what the protocol says ends a session.
    NothingLost,
    /// Neither end panics or breaks the rules of its driver.
    SoundMachines,
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The seed of the run.
    pub seed: u64,
    /// Which promise.
    pub promise: Promise,
    /// When, in milliseconds since the start of the run.
    pub at: u64,
    /// How.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}: {:?} broken at {} ms: {}", self.seed, self.promise, self.at, self.what)
    }
}

/// How much happened in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions claimed.
    pub claims: u64,
    /// Resumes acked.
    pub resumes: u64,
    /// Calls taken.
    pub calls: u64,
    /// Calls with a result.
    pub results: u64,
    /// Daemons that were killed.
    pub kills: u64,
    /// Daemons that were stopped.
    pub stops: u64,
    /// Tokens of others, or dead ones, that were shown.
    pub intrusions: u64,
    /// Registries compared.
    pub comparisons: u64,
    /// Sessions that a crash took because the disk had failed before.
    pub forfeits: u64,
    /// Claims and resumes that came after one of a newer connection.
    pub late_hellos: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Self) {
        let Self { claims, resumes, calls, results, kills, stops, intrusions, comparisons, forfeits, late_hellos } =
            other;
        self.claims += claims;
        self.resumes += resumes;
        self.calls += calls;
        self.results += results;
        self.kills += kills;
        self.stops += stops;
        self.intrusions += intrusions;
        self.comparisons += comparisons;
        self.forfeits += forfeits;
        self.late_hellos += late_hellos;
    }
}

#[derive(Debug)]
pub(crate) struct Oracle {
    seed: u64,
    pub(crate) now: u64,
    grace_ms: u64,
    /// Whether a disk or a clock may be an excuse.
    takes_excuses: bool,
    pub(crate) verdict: Option<Violation>,
    pub(crate) counts: Counts,
    sessions: BTreeMap<String, Truth>,
    calls: BTreeMap<String, CallTruth>,
    tokens: BTreeSet<String>,
    /// Of the daemon that runs.
    pub(crate) unsaved_acks: u64,
}

impl Oracle {
    pub(crate) fn new(seed: u64, grace_ms: u64, takes_excuses: bool) -> Self {
        Self {
            seed,
            now: 0,
            grace_ms,
            takes_excuses,
            verdict: None,
            counts: Counts::default(),
            sessions: BTreeMap::new(),
            calls: BTreeMap::new(),
            tokens: BTreeSet::new(),
            unsaved_acks: 0,
        }
    }

    /// A promise is broken. The first one counts.
    pub(crate) fn violate(&mut self, promise: Promise, what: String) {
        if self.verdict.is_none() {
            self.verdict = Some(Violation { seed: self.seed, promise, at: self.now, what });
        }
    }

    pub(crate) fn require(&mut self, holds: bool, promise: Promise, what: impl FnOnce() -> String) {
        if !holds {
            self.violate(promise, what());
        }
    }
}
