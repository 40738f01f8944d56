//! What the handlers work on. The event loop owns it; nobody else can reach it.

use std::collections::BTreeMap;

use appduct_proto::Now;
use appduct_proto::host::{CallId, Host};
use appduct_proto::wire::Pin;
use appduct_rpc::StateDir;

use crate::audit::Audit;
use crate::browser::Running;
use crate::config::{Config, PolicyFile};
use crate::event_loop::Devices;
use crate::events_log::EventsLog;
use crate::handlers::InFlight;
use crate::leaf::Leaf;
use crate::persistence::Saver;
use crate::validation::Validation;

/// The daemon's state.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) host: Host,
    pub(crate) devices: Devices,
    pub(crate) leaf: Leaf,
    pub(crate) policy_file: PolicyFile,
    pub(crate) saver: Saver,
    pub(crate) facts: Facts,
    /// Calls that have ended.
    pub(crate) calls_served: u64,
    /// Calls whose callers wait.
    pub(crate) in_flight: BTreeMap<CallId, InFlight>,
    pub(crate) validation: Validation,
    pub(crate) audit: Audit,
    pub(crate) events_log: EventsLog,
    pub(crate) relays: Running,
}

impl State {
    /// Takes the policy over from the configuration if it has changed there.
    pub(crate) fn refresh_policy(&mut self, now: Now) {
        if let Some(policy) = self.policy_file.changed(now.wall)
            && policy != *self.host.policy()
        {
            tracing::info!("the policy of {} has changed", self.facts.state_dir.config().display());
            self.host.set_policy(policy);
        }
    }
}

/// What does not change while the daemon runs.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) version: String,
    pub(crate) started: Now,
    pub(crate) state_dir: StateDir,
    /// As it was at the start; the policy in force is the host's.
    pub(crate) config: Config,
    pub(crate) wss_port: u16,
    pub(crate) web_port: u16,
    pub(crate) pin: Pin,
}
