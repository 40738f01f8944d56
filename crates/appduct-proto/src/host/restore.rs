//! A host takes up where an earlier one left off.

use std::sync::Arc;
use std::time::Duration;

use super::deadlines::Deadline;
use super::link::Link;
use super::record::{Instead, LinkRecord, Records, SessionRecord, Suspension};
use super::ring::Ring;
use super::session::{Session, State, Unproven};
use super::{Host, SuspendReason};
use crate::{Now, Timestamp};

/// Ends with the year 9999: later times have no usual text.
const MAX_WALL_MS: u64 = 253_402_300_799_999;

fn wall(ms: u64) -> Timestamp {
    Timestamp(ms.min(MAX_WALL_MS))
}

impl Host {
    /// Takes over what an earlier host recorded; comes before every other input of a new host. See the module for what
    /// comes back and for how long.
    pub fn restore(&mut self, now: Now, records: Records) {
        let age = records.age(now, self.settings.boot.as_deref());
        let crashed = !records.stopped;
        for session in records.sessions {
            self.restore_session(now, session, age, crashed);
        }
        for link in records.links {
            self.restore_link(now, link, age);
        }
        // What is over by now ends as everything does.
        self.handle_timeout(now);
    }

    fn restore_session(&mut self, now: Now, record: SessionRecord, age: Duration, crashed: bool) {
        let lost = Suspension { since_ms: now.wall.0, reason: SuspendReason::ConnectionLost, grace_left_ms: u64::MAX };
        let Suspension { since_ms, reason, grace_left_ms } = record.suspended.unwrap_or(lost);
        let recorded = Duration::from_millis(grace_left_ms).min(self.settings.expire_after());
        let left = if crashed { recorded } else { recorded.saturating_sub(age) };
        let until = now.mono + left;
        let max_ttl = self.settings.max_link_ttl;
        let unproven = record.instead.map(|instead| match instead {
            Instead::Resume { token_sha256 } => Unproven::Resume { token: token_sha256 },
            Instead::Claim { token_sha256, left_ms } => {
                let left = Duration::from_millis(left_ms).min(max_ttl).saturating_sub(age);
                Unproven::Claim { token: token_sha256, expires: now.mono + left }
            }
        });
        let state = State::Suspended { since: wall(since_ms), reason, until };
        let (id, alias) = (record.session_id.into(), record.alias.into());
        let session = Session {
            transport: record.transport,
            created_at: wall(record.created_at_ms),
            claimed_at: wall(record.claimed_at_ms),
            unproven,
            ring: Ring::restored(record.last_event_seq, crashed),
            ..Session::new(id, alias, record.device, state, record.resume_token_sha256)
        };
        if let Some(no) = self.sessions.restore(session) {
            self.deadlines.arm(Deadline::Grace(no), until);
        }
    }

    fn restore_link(&mut self, now: Now, record: LinkRecord, age: Duration) {
        let id: Arc<str> = record.session_id.into();
        if self.links.contains_key(&id) || self.sessions.by_id(&id).is_some() {
            return;
        }
        let ttl = Duration::from_millis(record.ttl_ms).min(self.settings.max_link_ttl);
        let left = Duration::from_millis(record.left_ms).min(ttl).saturating_sub(age);
        let link = Link {
            token: record.token_sha256,
            transport: record.transport,
            created_at: wall(record.created_at_ms),
            expires: now.mono + left,
            ttl,
            wrong_tokens: 0,
            claim: None,
        };
        self.deadlines.arm(Deadline::LinkExpiry(id.clone()), link.expires);
        self.links.insert(id, link);
    }
}
