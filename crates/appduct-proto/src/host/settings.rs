//! The numbers that a host runs by.

use std::time::Duration;

use super::Policy;

/// The numbers that a host runs by.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a suspended session may be resumed.
    pub grace: Duration,
    /// How often each active session is pinged; it is dropped at the third ping in a row without an answer. At least one
    /// millisecond.
    pub keepalive_interval: Duration,
    /// How many app events each session keeps for `events_since`.
    pub event_buffer: usize,
    /// How many bytes of names and payloads these may have together; the newest is kept whatever its size.
    pub event_buffer_bytes: usize,
    /// How many sockets may wait for their claim at once.
    pub max_unclaimed_sockets: usize,
    /// How many calls one session may have in flight.
    pub max_calls_per_session: usize,
    /// How many tools one registry may hold.
    pub max_tools: usize,
    /// How many events one app may declare.
    pub max_events: usize,
    /// How many bytes of descriptors each of the two registries of an app may hold.
    pub max_registry_bytes: usize,
    /// The longest TTL of a link.
    pub max_link_ttl: Duration,
    /// How many links may be pending at once.
    pub max_pending_links: usize,
    /// Which calls may be made.
    pub policy: Policy,
    /// Whether sessions are recorded: acks then wait for [`Output::Save`](super::Output::Save). The driver must answer
    /// each with [`Host::handle_saved`](super::Host::handle_saved).
    pub persist: bool,
    /// Names the run of the machine whose time the driver's monotonic scale tells; `None` if another process of the
    /// driver has another scale. With it no change of the wall clock is taken for time that passed between two processes.
    pub boot: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(600),
            keepalive_interval: Duration::from_secs(15),
            event_buffer: 256,
            event_buffer_bytes: 8 * 1024 * 1024,
            max_unclaimed_sockets: 256,
            max_calls_per_session: 256,
            max_tools: 10_000,
            max_events: 10_000,
            max_registry_bytes: 16 * 1024 * 1024,
            max_link_ttl: Duration::from_secs(7 * 24 * 60 * 60),
            max_pending_links: 1_000,
            policy: Policy::default(),
            persist: false,
            boot: None,
        }
    }
}

/// The shortest step of the driver's clock: a deadline is never at the moment that arms it.
const STEP: Duration = Duration::from_millis(1);

impl Settings {
    pub(super) fn ping_after(&self) -> Duration {
        self.keepalive_interval.max(STEP)
    }

    pub(super) fn expire_after(&self) -> Duration {
        self.grace.max(STEP)
    }
}
