//! Links: minted, pending, expired.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::deadlines::Deadline;
use super::saves::Haste;
use super::secret::Digest;
use super::sessions::SessionNo;
use super::{EventBody, Host, Refusal, SocketId, Transport};
use crate::wire::{Bootstrap, Device};
use crate::{Moment, Now, Timestamp};

/// Where an app should connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The address.
    pub address: IpAddr,
    /// The port, 1 or greater.
    pub port: u16,
}

/// A link to mint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRequest {
    /// The listener that may claim it.
    pub transport: Transport,
    /// What the payload tells the app.
    pub endpoint: Endpoint,
    /// How long it may be claimed; at least one millisecond.
    pub ttl: Duration,
}

/// A minted link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MintedLink {
    /// The session that a claim of it makes.
    pub session_id: String,
    /// What the deep link carries; `encode` gives its text.
    pub bootstrap: Bootstrap,
}

/// A link that is no session yet.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) token: Digest,
    pub(super) transport: Transport,
    pub(super) created_at: Timestamp,
    pub(super) expires: Moment,
    pub(super) ttl: Duration,
    pub(super) wrong_tokens: u8,
    /// A claim whose ack has not left; nobody else has heard of it.
    pub(super) claim: Option<PendingClaim>,
}

/// What a claim will make of its link.
#[derive(Debug)]
pub(super) struct PendingClaim {
    pub(super) socket: SocketId,
    pub(super) no: SessionNo,
    pub(super) alias: Arc<str>,
    pub(super) device: Device,
    pub(super) claimed_at: Timestamp,
    pub(super) resume_token: Digest,
}

impl Link {
    pub(super) fn has_expired(&self, now: Moment) -> bool {
        self.expires <= now
    }

    pub(super) fn is_pending(&self, now: Moment) -> bool {
        self.claim.is_none() && !self.has_expired(now)
    }
}

/// Links by the session id that each will have.
pub(super) type Links = BTreeMap<Arc<str>, Link>;

impl Host {
    /// Mints a link.
    pub fn create_link(&mut self, now: Now, request: &LinkRequest) -> Result<MintedLink, Refusal> {
        self.handle_timeout(now);
        let max = self.settings.max_link_ttl;
        if request.ttl < Duration::from_millis(1) || request.ttl > max {
            return Err(Refusal::LinkTtl { max });
        }
        let limit = self.settings.max_pending_links;
        if self.pending_links(now) >= limit {
            return Err(Refusal::TooManyLinks { limit });
        }
        let id = self.unused_session_id();
        let token = self.random.token();
        let link = Link {
            token: token.digest(),
            transport: request.transport,
            created_at: now.wall,
            expires: now.mono + request.ttl,
            ttl: request.ttl,
            wrong_tokens: 0,
            claim: None,
        };
        self.deadlines.arm(Deadline::LinkExpiry(id.clone()), link.expires);
        self.links.insert(id.clone(), link);
        self.changed(now, Haste::Now);
        let expires_at = now.wall + request.ttl;
        self.outputs.link_event(now, &id, EventBody::LinkCreated { expires_at });
        Ok(MintedLink {
            session_id: id.to_string(),
            bootstrap: Bootstrap {
                address: request.endpoint.address,
                port: request.endpoint.port,
                session_id: id.to_string(),
                token: token.0,
                expires_at: expires_at.unix_seconds(),
            },
        })
    }

    /// How many links may still be claimed.
    #[must_use]
    pub fn pending_links(&self, now: Now) -> usize {
        self.links.values().filter(|link| link.is_pending(now.mono)).count()
    }

    /// A link passed its time. Its record stays as long again, so that a late claim hears why it fails.
    pub(super) fn expire_link(&mut self, now: Now, id: Arc<str>) {
        let Some(link) = self.links.get(&id) else { return };
        self.outputs.link_event(now, &id, EventBody::LinkExpired);
        let ttl = link.ttl;
        self.changed(now, Haste::Soon);
        self.deadlines.arm(Deadline::LinkForgotten(id), now.mono + ttl);
    }

    /// Removes a link with all that waits for it.
    pub(super) fn discard_link(&mut self, id: &Arc<str>) -> Option<Link> {
        self.deadlines.disarm(Deadline::LinkExpiry(id.clone()));
        self.deadlines.disarm(Deadline::LinkForgotten(id.clone()));
        self.links.remove(id)
    }

    fn unused_session_id(&mut self) -> Arc<str> {
        loop {
            let id = self.random.session_id();
            if !self.links.contains_key(id.as_str()) && self.sessions.by_id(&id).is_none() {
                return id.into();
            }
        }
    }
}
