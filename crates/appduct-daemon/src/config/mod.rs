//! `config.json`: what a user may change about a daemon.
//!
//! The file is read when the daemon starts. A missing file means every default; a file that cannot be read, or a key that
//! breaks its rule, is a failed start, never a silent default. Unknown keys are reported and ignored. Of a file that changes
//! later the policy alone is taken, before each use of it; the rest waits for the next start.

mod load;
mod policy;
mod policy_file;

use std::path::PathBuf;
use std::time::Duration;

use appduct_proto::host::{Policy, Settings};

use crate::clock;

pub use load::ConfigError;
pub(crate) use policy::decision_name;
pub(crate) use policy_file::PolicyFile;

/// Every setting, with the file's names in the docs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// `wssPort`, 8443: the port of the device listener; 0 lets the system choose.
    pub wss_port: u16,
    /// `keyPath`, `key.pem` in the state directory: the host key.
    pub key_path: PathBuf,
    /// `graceSeconds`, 600: how long a suspended session may be resumed.
    pub grace: Duration,
    /// `linkTtlSeconds`, 300: how long a link may be claimed where nothing else is asked for.
    pub link_ttl: Duration,
    /// `keepaliveIntervalSeconds`, 15: how often an active session is pinged.
    pub keepalive_interval: Duration,
    /// `eventBufferSize`, 256: how many app events each session keeps.
    pub event_buffer: usize,
    /// `auditRetentionDays`, 30: how long audit files are kept.
    pub audit_retention_days: u64,
    /// `daemonLogMaxBytes`, 10485760: the size at which `daemon.log` is rotated.
    pub daemon_log_max_bytes: u64,
    /// `eventsLogMaxBytes`, 10485760: the size at which `events.log` is rotated.
    pub events_log_max_bytes: u64,
    /// `policy`: `default` and `destructive` (`allow`), `tools` by `<alias>/<tool>`, `groups` by group; each `allow`, `deny`
    /// or `prompt`.
    pub policy: Policy,
    /// `advertisedIp`, unset or `null`: what links say instead of a detected address.
    pub advertised_ip: Option<String>,
    /// `scheme`, unset or `null`: the link scheme, for clients.
    pub scheme: Option<String>,
    /// `webOrigins`, `[]`: origins that may use the web listener besides loopback ones.
    pub web_origins: Vec<String>,
    /// `restartDaemonOnVersionMismatch`, `false`: for clients.
    pub restart_daemon_on_version_mismatch: bool,
    /// `persistSessions`, `true`: whether sessions outlive the daemon.
    pub persist_sessions: bool,
    /// `validateArgs`, `true`: whether `args` are checked against a tool's input schema.
    pub validate_args: bool,
    /// `validateResults`, `false`: whether results are checked against a tool's output schema.
    pub validate_results: bool,
    /// `bounds`
    pub bounds: Bounds,
}

/// `bounds`: how much of each thing there may be. Every bound is a positive integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// `bounds.unclaimedSockets`, 256: device sockets that wait for their claim.
    pub unclaimed_sockets: usize,
    /// `bounds.callsPerSession`, 256: calls in flight on one session.
    pub calls_per_session: usize,
    /// `bounds.tools`, 10000: tools that one app may register.
    pub tools: usize,
    /// `bounds.events`, 10000: events that one app may declare.
    pub events: usize,
    /// `bounds.registryBytes`, 16777216: bytes of descriptors in each of the two registries of one app.
    pub registry_bytes: usize,
    /// `bounds.eventBufferBytes`, 8388608: bytes of app events that each session keeps; the newest is kept in any case.
    pub event_buffer_bytes: usize,
    /// `bounds.linkTtlSeconds`, 604800: the longest TTL of a link.
    pub link_ttl: Duration,
    /// `bounds.pendingLinks`, 1000: links that wait for their claim.
    pub pending_links: usize,
    /// `bounds.deviceQueueBytes`, 4194304: bytes that may wait to be written to one device.
    pub device_queue_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            unclaimed_sockets: 256,
            calls_per_session: 256,
            tools: 10_000,
            events: 10_000,
            registry_bytes: 16 * 1024 * 1024,
            event_buffer_bytes: 8 * 1024 * 1024,
            link_ttl: Duration::from_secs(7 * 24 * 60 * 60),
            pending_links: 1_000,
            device_queue_bytes: 4 * 1024 * 1024,
        }
    }
}

impl Config {
    /// Every default, with the host key at `key_path`.
    #[must_use]
    pub fn with_key(key_path: PathBuf) -> Self {
        const LOG_BYTES: u64 = 10 * 1024 * 1024;
        Self {
            wss_port: 8443,
            key_path,
            grace: Duration::from_secs(600),
            link_ttl: Duration::from_secs(300),
            keepalive_interval: Duration::from_secs(15),
            event_buffer: 256,
            audit_retention_days: 30,
            daemon_log_max_bytes: LOG_BYTES,
            events_log_max_bytes: LOG_BYTES,
            policy: Policy::default(),
            advertised_ip: None,
            scheme: None,
            web_origins: Vec::new(),
            restart_daemon_on_version_mismatch: false,
            persist_sessions: true,
            validate_args: true,
            validate_results: false,
            bounds: Bounds::default(),
        }
    }

    /// What the host runs by; `persist` where sessions can be saved.
    pub(crate) fn host_settings(&self, persist: bool) -> Settings {
        Settings {
            grace: self.grace,
            keepalive_interval: self.keepalive_interval,
            event_buffer: self.event_buffer,
            event_buffer_bytes: self.bounds.event_buffer_bytes,
            max_unclaimed_sockets: self.bounds.unclaimed_sockets,
            max_calls_per_session: self.bounds.calls_per_session,
            max_tools: self.bounds.tools,
            max_events: self.bounds.events,
            max_registry_bytes: self.bounds.registry_bytes,
            max_link_ttl: self.bounds.link_ttl,
            max_pending_links: self.bounds.pending_links,
            policy: self.policy.clone(),
            persist,
            boot: clock::boot(),
        }
    }
}
