//! What the handlers work on. The event loop owns it; nobody else can reach it.

use appduct_proto::Now;
use appduct_proto::host::Host;
use appduct_proto::wire::Pin;
use appduct_rpc::StateDir;

use crate::config::Config;
use crate::leaf::Leaf;

/// The daemon's state.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) host: Host,
    pub(crate) leaf: Leaf,
    pub(crate) facts: Facts,
    /// Calls that have ended.
    pub(crate) calls_served: u64,
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
