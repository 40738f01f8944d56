//! An app: its process, what outlives it, and what it has registered.

use std::collections::BTreeMap;

use appduct_proto::app::{AttemptId, Core, Jitter, Lease, Options, Registration, Trust};
use appduct_proto::host::Transport;
use appduct_proto::wire::Device;

use crate::random::Random;

#[derive(Debug)]
pub(crate) struct App {
    /// `None` while no process runs.
    pub(crate) core: Option<Core>,
    /// Counts the processes.
    pub(crate) life: u64,
    pub(crate) transport: Transport,
    pub(crate) until: Option<u64>,
    /// The process is suspended until then: nothing reaches it, and its timers come late.
    pub(crate) frozen_until: u64,
    /// What a reload finds.
    pub(crate) lease: Option<Lease>,
    /// The links that are being claimed, by attempt: session and token of each. The last is the one that counts.
    pub(crate) claims: BTreeMap<AttemptId, (String, String)>,
    /// The session that its listeners have heard of.
    pub(crate) held: Option<String>,
    pub(crate) is_in_background: bool,
    pub(crate) set_by_ms: i64,
    pub(crate) clock_was_set: bool,
    /// When the session lost its socket.
    pub(crate) lost_at: Option<u64>,
    pub(crate) gave_up: bool,
    pub(crate) tools: Registered,
    pub(crate) events: Registered,
}

/// What is registered, as the app's developer sees it: by name, the newest of each.
pub(crate) type Registered = BTreeMap<String, (Registration, String)>;

impl App {
    pub(crate) fn new(transport: Transport) -> Self {
        Self {
            core: None,
            life: 0,
            transport,
            until: None,
            frozen_until: 0,
            lease: None,
            claims: BTreeMap::new(),
            held: None,
            is_in_background: false,
            set_by_ms: 0,
            clock_was_set: false,
            lost_at: None,
            gave_up: false,
            tools: Registered::new(),
            events: Registered::new(),
        }
    }

    /// A process starts.
    pub(crate) fn start(&mut self, random: &mut Random) {
        let device = Device { model: Some("X".to_owned()), ..Device::default() };
        let trust = Trust { allow_private_lan_only: true, ..Trust::default() };
        let pings = self.transport == Transport::Native;
        let options = Options { device, trust, jitter: Jitter::Seeded(random.number()), pings };
        self.core = Some(match self.transport {
            Transport::Native => Core::new(options),
            Transport::Web => Core::over_plain_loopback(options),
        });
        self.until = None;
        self.frozen_until = 0;
        self.claims.clear();
        self.is_in_background = false;
        self.tools.clear();
        self.events.clear();
    }

    /// The process is gone.
    pub(crate) fn end(&mut self) {
        self.core = None;
        self.life += 1;
        self.until = None;
        self.claims.clear();
    }

    pub(crate) fn is_awake(&self, now: u64) -> bool {
        self.core.is_some() && self.frozen_until <= now
    }

    /// The session that it holds or claims.
    pub(crate) fn session(&self) -> Option<&str> {
        self.core.as_ref()?.session_id()
    }
}
