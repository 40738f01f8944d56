//! What the handlers work on. The event loop owns it; nobody else can reach it.

use std::collections::BTreeMap;

use appduct_proto::Now;
use appduct_proto::host::{CallId, Host};
use appduct_proto::wire::Pin;
use appduct_rpc::StateDir;

use crate::audit::Audit;
use crate::config::Config;
use crate::events_log::EventsLog;
use crate::handlers::InFlight;
use crate::leaf::Leaf;
use crate::validation::Validation;

/// The daemon's state.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) host: Host,
    pub(crate) leaf: Leaf,
    pub(crate) facts: Facts,
    /// Calls that have ended.
    pub(crate) calls_served: u64,
    /// Calls whose callers wait.
    pub(crate) in_flight: BTreeMap<CallId, InFlight>,
    pub(crate) validation: Validation,
    pub(crate) audit: Audit,
    pub(crate) events_log: EventsLog,
}

/// What does not change while the daemon runs.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) version: String,
    pub(crate) started: Now,
    pub(crate) state_dir: StateDir,
    pub(crate) config: Config,
    pub(crate) wss_port: u16,
    pub(crate) pin: Pin,
}
