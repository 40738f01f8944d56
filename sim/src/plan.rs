//! What differs from run to run before anything happens.

use std::time::Duration;

use appduct_proto::host::Settings;

use crate::random::Random;

/// The numbers of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) grace_ms: u64,
    pub(crate) keepalive_ms: u64,
    pub(crate) link_ttl_ms: u64,
    /// Whether the driver knows the run of its machine, so that time between two daemons needs no wall clock.
    pub(crate) knows_boot: bool,
    pub(crate) apps: usize,
    /// Whether daemons die before the weather clears.
    pub(crate) is_deadly: bool,
    /// Whether the disk is ever slow or full. If not, no death excuses anything.
    pub(crate) has_bad_disk: bool,
    /// Whether anybody sets a clock, likewise.
    pub(crate) sets_clocks: bool,
    /// How much happens before the weather clears.
    pub(crate) acts: u64,
    /// The longest pause between two acts in milliseconds.
    pub(crate) pause_ms: u64,
    max_unclaimed_sockets: usize,
    max_calls_per_session: usize,
}

impl Plan {
    pub(crate) fn new(random: &mut Random) -> Self {
        let choose = |random: &mut Random, among: &[u64]| among[random.place(among.len())];
        Self {
            grace_ms: choose(random, &[30_000, 60_000, 120_000]),
            keepalive_ms: choose(random, &[2_000, 5_000, 15_000]),
            link_ttl_ms: 20_000 + random.below(180_000),
            knows_boot: random.percent(70),
            is_deadly: random.percent(75),
            has_bad_disk: random.percent(50),
            sets_clocks: random.percent(40),
            apps: 1 + random.place(5),
            acts: 40 + random.below(160),
            pause_ms: choose(random, &[300, 1_500, 4_000]),
            max_unclaimed_sockets: choose(random, &[3, 16, 256]) as usize,
            max_calls_per_session: choose(random, &[2, 256]) as usize,
        }
    }

    pub(crate) fn settings(&self, boot: u64) -> Settings {
        Settings {
            grace: Duration::from_millis(self.grace_ms),
            keepalive_interval: Duration::from_millis(self.keepalive_ms),
            event_buffer: 8,
            max_unclaimed_sockets: self.max_unclaimed_sockets,
            max_calls_per_session: self.max_calls_per_session,
            persist: true,
            boot: self.knows_boot.then(|| format!("boot-{boot}")),
            ..Settings::default()
        }
    }

    /// Long enough for whoever has a session to have it back once nothing is wrong any more: both ends have noticed a dead
    /// connection, a handshake that was under way has ended, and the longest wait before the next is over.
    pub(crate) fn recovery_ms(&self) -> u64 {
        4 * self.keepalive_ms + 60_000
    }
}
