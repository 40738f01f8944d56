//! The daemon itself.

use std::collections::BTreeMap;

use appduct_proto::wire::{FieldFault, Fields, RawJson};
use serde::{Deserialize, Serialize};

use super::{Done, Method, Session};

/// `daemon.status`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DaemonStatus;

/// `daemon.shutdown`: answers first, then the daemon goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DaemonShutdown;

impl Method for DaemonStatus {
    const NAME: &'static str = "daemon.status";
    type Reply = Status;

    fn params(&self) -> RawJson {
        RawJson::empty_object()
    }

    fn parse(_: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self)
    }
}

impl Method for DaemonShutdown {
    const NAME: &'static str = "daemon.shutdown";
    type Reply = Done;

    fn params(&self) -> RawJson {
        RawJson::empty_object()
    }

    fn parse(_: &Fields<'_>) -> Result<Self, FieldFault> {
        Ok(Self)
    }
}

/// The reply of `daemon.status`. Fields that an older daemon does not report are absent; absent is not zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The daemon's version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// ISO 8601 in UTC.
    pub started_at: String,
    /// The bound port.
    pub wss_port: u16,
    /// The bound port of the web listener.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub web_port: Option<u16>,
    /// The pins of the host key; exactly one.
    pub pinned_keys: Vec<String>,
    /// The live sessions in claim order.
    pub sessions: Vec<Session>,
    /// Links that may still be claimed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pending_links: Option<u64>,
    /// The policy in force.
    pub policy: Policy,
    /// The audit log.
    pub audit: Audit,
    /// Ours: seconds since the start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uptime_seconds: Option<u64>,
    /// Ours: calls that ended since the start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub calls_served: Option<u64>,
    /// Ours: calls that wait for their app.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub calls_in_flight: Option<u64>,
    /// Ours: whether claimed sessions outlive this daemon; `false` also where they should and cannot be saved.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub persist_sessions: Option<bool>,
    /// Ours: saves of the sessions that failed since the start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed_saves: Option<u64>,
    /// Ours: why `config.json` as it is cannot be taken; the policy of an earlier state of it is in force then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub config_fault: Option<String>,
    /// Ours: resident memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resident_bytes: Option<u64>,
    /// Ours: open device sockets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub open_sockets: Option<u64>,
}

/// The policy in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// For tools that nothing else decides.
    pub default: String,
    /// For tools that say that they are destructive.
    pub destructive: String,
    /// By `<alias>/<tool>`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tools: Option<BTreeMap<String, String>>,
    /// Ours: by group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub groups: Option<BTreeMap<String, String>>,
}

/// The audit log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// Its directory.
    pub path: String,
    /// Lines that could not be written.
    pub failed_writes: u64,
    /// Files that could not be deleted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed_prunes: Option<u64>,
    /// How long files are kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retention_days: Option<u64>,
    /// How many day files there are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<u64>,
    /// How large they are together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<u64>,
}
