//! What outlives a daemon, and the document that it is kept in.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::secret::Digest;
use super::session::{Session, State, Unproven};
use super::sessions::SessionNo;
use super::{Host, SuspendReason, Transport};
use crate::wire::{Device, MAX_ID_UNITS};
use crate::{Moment, Now, Timestamp};

/// The version of the document. It goes up when an older reader would misread the document, not when fields are added.
const VERSION: u64 = 1;

/// The sessions and pending links of a host at one moment. No token is in it, only digests.
///
/// Times that are left are of the moment at which the records were taken, so that no clock that was set meanwhile changes
/// them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Records {
    version: u64,
    pub(super) written: Written,
    /// Whether the daemon shut down, so that these are its last records.
    #[serde(default)]
    pub(super) stopped: bool,
    /// In claim order.
    pub(super) sessions: Vec<SessionRecord>,
    pub(super) links: Vec<LinkRecord>,
}

/// When records were taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Written {
    pub(super) wall_ms: u64,
    /// On the driver's monotonic scale; means something in a process of the same `boot` only.
    pub(super) mono_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) boot: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionRecord {
    pub(super) session_id: String,
    pub(super) alias: String,
    pub(super) device: Device,
    pub(super) transport: Transport,
    pub(super) created_at_ms: u64,
    pub(super) claimed_at_ms: u64,
    /// Of the newest token.
    pub(super) resume_token_sha256: Digest,
    /// What the app may show instead, if it has not got the newest token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) instead: Option<Instead>,
    /// Absent while the session is active, or about to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) suspended: Option<Suspension>,
    /// The number of the newest app event; after a crash there may have been more.
    #[serde(default)]
    pub(super) last_event_seq: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Instead {
    Resume { token_sha256: Digest },
    Claim { token_sha256: Digest, left_ms: u64 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Suspension {
    pub(super) since_ms: u64,
    pub(super) reason: SuspendReason,
    pub(super) grace_left_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LinkRecord {
    pub(super) session_id: String,
    pub(super) transport: Transport,
    pub(super) created_at_ms: u64,
    pub(super) token_sha256: Digest,
    pub(super) ttl_ms: u64,
    pub(super) left_ms: u64,
}

/// Why a document gives no records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordsFault {
    /// A later version of the daemon wrote it; it must not be overwritten.
    NewerVersion(u64),
    /// It is no document of ours, or a damaged one.
    Broken,
}

/// What every version of the document has.
#[derive(Deserialize)]
struct AnyVersion {
    version: u64,
}

impl Records {
    /// The document, a line of JSON.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = serde_json::to_string(self).expect("strings and numbers become JSON");
        text.push('\n');
        text
    }

    /// Reads a document of any version up to ours; fields that it should not have are ignored.
    pub fn decode(document: &[u8]) -> Result<Self, RecordsFault> {
        // A derived reader takes an array for an object too, its elements for the fields in order.
        if document.trim_ascii_start().first() != Some(&b'{') {
            return Err(RecordsFault::Broken);
        }
        let AnyVersion { version } = serde_json::from_slice(document).map_err(|_| RecordsFault::Broken)?;
        if version > VERSION {
            return Err(RecordsFault::NewerVersion(version));
        }
        let records: Self = serde_json::from_slice(document).map_err(|_| RecordsFault::Broken)?;
        if version == VERSION && records.is_sound() { Ok(records) } else { Err(RecordsFault::Broken) }
    }

    /// How many sessions are recorded.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// How many pending links are recorded.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// How much time passed since the records were taken, as far as it can be known.
    pub(super) fn age(&self, now: Now, boot: Option<&str>) -> Duration {
        let Written { wall_ms, mono_ms, .. } = self.written;
        if boot.is_some() && self.written.boot.as_deref() == boot {
            now.mono.since(Moment(mono_ms))
        } else {
            Duration::from_millis(now.wall.0.saturating_sub(wall_ms))
        }
    }

    fn is_sound(&self) -> bool {
        self.sessions.iter().all(|session| is_name(&session.session_id) && is_name(&session.alias))
            && self.links.iter().all(|link| is_name(&link.session_id))
    }
}

/// Whether apps take it as the id or the alias of a session.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.encode_utf16().count() <= MAX_ID_UNITS
}

impl Host {
    /// What would be saved at this moment. [`Output::Save`](super::Output::Save) brings the records that must be saved.
    #[must_use]
    pub fn records(&self, now: Now) -> Records {
        let live = self.sessions.iter().map(|(no, session)| (no, SessionRecord::of(session, now)));
        let mut sessions: Vec<_> = live.chain(self.claimed_links(now)).collect();
        sessions.sort_by_key(|&(no, _)| no);
        let pending = self.links.iter().filter(|(_, link)| link.is_pending(now.mono));
        Records {
            version: VERSION,
            written: Written { wall_ms: now.wall.0, mono_ms: now.mono.0, boot: self.settings.boot.clone() },
            stopped: self.shutting_down,
            sessions: sessions.into_iter().map(|(_, session)| session).collect(),
            links: pending
                .map(|(id, link)| LinkRecord {
                    session_id: id.to_string(),
                    transport: link.transport,
                    created_at_ms: link.created_at.0,
                    token_sha256: link.token,
                    ttl_ms: millis(link.ttl),
                    left_ms: millis(link.expires.since(now.mono)),
                })
                .collect(),
        }
    }

    /// Links whose claim waits for its ack: on disk they are sessions before they are in memory.
    fn claimed_links(&self, now: Now) -> impl Iterator<Item = (SessionNo, SessionRecord)> {
        self.links.iter().filter_map(move |(id, link)| {
            let claim = link.claim.as_ref()?;
            let record = SessionRecord {
                session_id: id.to_string(),
                alias: claim.alias.to_string(),
                device: claim.device.clone(),
                transport: link.transport,
                created_at_ms: link.created_at.0,
                claimed_at_ms: claim.claimed_at.0,
                resume_token_sha256: claim.resume_token,
                instead: Instead::claim(link.token, link.expires, now),
                suspended: None,
                last_event_seq: 0,
            };
            Some((claim.no, record))
        })
    }
}

impl SessionRecord {
    fn of(session: &Session, now: Now) -> Self {
        Self {
            session_id: session.label.session_id.to_string(),
            alias: session.label.alias.to_string(),
            device: session.device.clone(),
            transport: session.transport,
            created_at_ms: session.created_at.0,
            claimed_at_ms: session.claimed_at.0,
            resume_token_sha256: session.resume_token,
            instead: match session.unproven {
                Some(Unproven::Resume { token }) => Some(Instead::Resume { token_sha256: token }),
                Some(Unproven::Claim { token, expires }) => Instead::claim(token, expires, now),
                None => None,
            },
            suspended: match session.state {
                State::Suspended { since: Timestamp(since_ms), reason, until } if session.parked.is_none() => {
                    Some(Suspension { since_ms, reason, grace_left_ms: millis(until.since(now.mono)) })
                }
                State::Suspended { .. } | State::Active { .. } => None,
            },
            last_event_seq: session.ring.last_seq(),
        }
    }
}

impl Instead {
    fn claim(token_sha256: Digest, expires: Moment, now: Now) -> Option<Self> {
        let left_ms = millis(expires.since(now.mono));
        (left_ms > 0).then_some(Self::Claim { token_sha256, left_ms })
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
