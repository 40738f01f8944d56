//! Claims: a link becomes a session.

use std::sync::Arc;

use super::deadlines::Deadline;
use super::session::{Session, State, Unproven};
use super::{EventBody, Host, SocketId, Transport};
use crate::Now;
use crate::wire::{CloseReason, Device};

/// How many wrong tokens burn a link.
const MAX_WRONG_TOKENS: u8 = 5;

/// The first frame of a socket, as far as it is a claim.
pub(super) struct Claim {
    pub(super) session_id: String,
    pub(super) token: String,
    pub(super) device: Device,
}

impl Host {
    /// Accepts a claim, or says how the socket is closed. The first check that fails decides.
    pub(super) fn claim(
        &mut self,
        now: Now,
        socket: SocketId,
        transport: Transport,
        claim: Claim,
    ) -> Result<(), CloseReason> {
        let Some((id, link)) = self.links.get_key_value(claim.session_id.as_str()) else {
            return self.claim_again(now, socket, transport, &claim);
        };
        let id = id.clone();
        if link.transport != transport {
            return Err(CloseReason::WrongTransport);
        }
        if link.has_expired(now.mono) {
            self.discard_link(&id);
            return Err(CloseReason::LinkExpired);
        }
        if !link.token.is_of(&claim.token) {
            return Err(self.count_wrong_token(&id));
        }
        self.consume_link(now, socket, &id, claim.device);
        Ok(())
    }

    fn count_wrong_token(&mut self, id: &Arc<str>) -> CloseReason {
        let Some(link) = self.links.get_mut(id) else { return CloseReason::UnknownSession };
        link.wrong_tokens += 1;
        if link.wrong_tokens < MAX_WRONG_TOKENS {
            return CloseReason::InvalidToken;
        }
        self.discard_link(id);
        CloseReason::ClaimAttemptsExceeded
    }

    fn consume_link(&mut self, now: Now, socket: SocketId, id: &Arc<str>, device: Device) {
        let Some(link) = self.discard_link(id) else { return };
        let token = self.random.token();
        let model = device.model.clone();
        let no = self.sessions.insert(id.clone(), model.as_deref(), |label| Session {
            label,
            device: device.clone(),
            transport: link.transport,
            created_at: link.created_at,
            claimed_at: now.wall,
            state: State::Active { socket, missed: 0 },
            resume_token: token.digest(),
            unproven: Some(Unproven::Claim { token: link.token, expires: link.expires }),
            tools: Default::default(),
            events: Default::default(),
            ring: Default::default(),
            calls: Default::default(),
        });
        self.sockets.bind(socket, no);
        self.deadlines.disarm(Deadline::Hello(socket));
        self.deadlines.arm(Deadline::Keepalive(no), now.mono + self.settings.ping_after());
        self.acknowledge(now, no, socket, &token, EventBody::SessionClaimed { device });
    }

    /// A claim of a link that is no longer pending. It may be the claim of before, whose ack was lost.
    fn claim_again(
        &mut self,
        now: Now,
        socket: SocketId,
        transport: Transport,
        claim: &Claim,
    ) -> Result<(), CloseReason> {
        let (no, session) = self.sessions.by_id(&claim.session_id).ok_or(CloseReason::UnknownSession)?;
        let shown = match session.unproven {
            Some(Unproven::Claim { token, expires }) if now.mono < expires => token,
            Some(Unproven::Claim { .. } | Unproven::Resume { .. }) | None => return Err(CloseReason::AlreadyClaimed),
        };
        if session.transport != transport {
            return Err(CloseReason::WrongTransport);
        }
        if !shown.is_of(&claim.token) {
            return Err(CloseReason::AlreadyClaimed);
        }
        self.attach(now, no, socket, session.unproven);
        Ok(())
    }
}
