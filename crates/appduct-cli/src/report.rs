//! What a command found out: data, with no words and no layout.

mod doctor;
mod init;
mod key;
mod manual;
mod mcp;

use appduct_proto::wire::RawJson;
use appduct_rpc::Kept;
use appduct_rpc::methods::{Attached, EventNotification, LinkEndpoint, Policy, PolicyExplained, Session, ToolGroup};
use serde::{Serialize, Serializer};

pub(crate) use doctor::{Assertion, Diagnosis, Expected, Format, Platform};
pub(crate) use init::{AppIds, Initialized, McpServerEntry};
pub(crate) use key::Key;
pub(crate) use manual::{Page, Pages, Script};
pub(crate) use mcp::McpListening;

/// What a command found out. Serialises as the `data` of the JSON output.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Report {
    Link(Link),
    WebLink(WebLink),
    /// A page that its browser has paired.
    Attached(Attached),
    Sessions(Sessions),
    Tools(Tools),
    Groups(Groups),
    /// One tool's entry as the daemon gives it.
    Tool(RawJson),
    /// A tool's result, as the app wrote it.
    Called(RawJson),
    Events(Events),
    /// A session that is active.
    Waited(Box<Kept<Session>>),
    Revoked(Revoked),
    PolicyExplained(Box<Kept<PolicyExplained>>),
    DaemonRunning(DaemonRunning),
    DaemonStarted(DaemonStarted),
    DaemonStopped(DaemonStopped),
    DaemonStatus(Box<DaemonStatus>),
    Diagnosis(Diagnosis),
    Initialized(Initialized),
    Key(Key),
    McpListening(McpListening),
    Script(Script),
    Page(Page),
    Pages(Pages),
}

/// A minted link.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Link {
    pub(crate) session_id: String,
    /// A secret until it is claimed.
    pub(crate) deep_link: String,
    pub(crate) endpoint: LinkEndpoint,
    /// Unix seconds.
    pub(crate) expires_at: u64,
    pub(crate) pin: String,
    /// Only where a device was told to open it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) delivery: Option<Delivery>,
    /// Whether to draw the link.
    #[serde(skip)]
    pub(crate) qr: bool,
}

/// A link for a web page.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebLink {
    pub(crate) session_id: String,
    /// The page's address with the link: a secret until it is claimed.
    pub(crate) url: String,
    /// What the page's console takes instead.
    pub(crate) script: String,
    /// Unix seconds.
    pub(crate) expires_at: u64,
}

impl std::fmt::Debug for WebLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebLink").field("session_id", &self.session_id).finish_non_exhaustive()
    }
}

/// A link that a device was told to open.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Delivery {
    pub(crate) delivered: bool,
    pub(crate) target: &'static str,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("session_id", &self.session_id).finish_non_exhaustive()
    }
}

/// The live sessions, and when they were looked at.
#[derive(Clone, Debug)]
pub(crate) struct Sessions {
    pub(crate) sessions: Vec<Kept<Session>>,
    /// Milliseconds since the Unix epoch.
    pub(crate) now_ms: i64,
}

impl Serialize for Sessions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.sessions.serialize(serializer)
    }
}

/// A page of a session's tools, with what was asked for.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Tools {
    pub(crate) tools: Vec<RawJson>,
    /// How many match before paging.
    pub(crate) total: u64,
    /// The whole registry; an old daemon reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) groups: Option<Vec<ToolGroup>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offset: Option<u64>,
    /// Whether to show each tool in full.
    #[serde(skip)]
    pub(crate) full: bool,
}

/// The groups of a session's tools.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Groups {
    pub(crate) groups: Vec<ToolGroup>,
    /// The size of the registry.
    pub(crate) total: u64,
}

/// A page of the events that an app declares, with what was asked for.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Events {
    pub(crate) events: Vec<RawJson>,
    /// How many match before paging.
    pub(crate) total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offset: Option<u64>,
}

/// One line of a stream.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Item {
    Event(Kept<EventNotification>),
    Cursor(Cursor),
}

/// Where a page of events ends.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cursor {
    /// What to go on from.
    pub(crate) cursor: u64,
    /// How many events before the page are lost; an old daemon does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dropped: Option<u64>,
    /// How many more there are; an old daemon does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remaining: Option<u64>,
    /// The command that goes on; for people only.
    #[serde(skip)]
    pub(crate) resume: String,
}

/// What an app says of a running call.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
pub(crate) struct Step {
    /// Any number; 0 to 1 by custom.
    #[serde(default)]
    pub(crate) progress: Option<f64>,
    #[serde(default)]
    pub(crate) message: Option<String>,
}

/// A session or a link that is over.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Revoked {
    pub(crate) ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    /// A link has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alias: Option<String>,
}

/// A daemon that runs in this process.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DaemonRunning {
    pub(crate) daemon: RunningDaemon,
}

/// The daemon of this process.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RunningDaemon {
    pub(crate) pid: u32,
    pub(crate) state_dir: String,
    pub(crate) socket_path: String,
}

/// A daemon that is up.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DaemonStarted {
    pub(crate) daemon: StartedDaemon,
}

/// The daemon that is up.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StartedDaemon {
    pub(crate) pid: u32,
    pub(crate) wss_port: u16,
    pub(crate) started_at: String,
}

/// A daemon that was told to go.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct DaemonStopped {
    pub(crate) daemon: StoppedDaemon,
}

/// How a daemon was told to go.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct StoppedDaemon {
    pub(crate) ok: bool,
    pub(crate) method: &'static str,
}

/// A daemon's state.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DaemonStatus {
    /// Only where its version is not ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warning: Option<String>,
    pub(crate) daemon: StatusDaemon,
    pub(crate) policy: Policy,
    pub(crate) audit: StatusAudit,
}

/// A daemon's own figures. An older daemon reports fewer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StatusDaemon {
    pub(crate) version: String,
    pub(crate) pid: u32,
    pub(crate) started_at: String,
    pub(crate) wss_port: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) web_port: Option<u16>,
    pub(crate) pinned_keys: Vec<String>,
    pub(crate) session_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) uptime_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calls_served: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resident_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_sockets: Option<u64>,
    /// Whether sessions outlive the daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) persist_sessions: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed_saves: Option<u64>,
    /// Why the configuration as it is cannot be taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) config_fault: Option<String>,
}

/// A daemon's audit log.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StatusAudit {
    pub(crate) path: String,
    pub(crate) failed_writes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed_prunes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retention_days: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
}
