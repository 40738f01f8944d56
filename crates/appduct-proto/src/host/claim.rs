//! Claims: a link becomes a session.

use std::sync::Arc;

use super::deadlines::Deadline;
use super::link::PendingClaim;
use super::park::Accepted;
use super::saves::Haste;
use super::session::Unproven;
use super::{Host, SocketId, Transport};
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
        if link.claim.is_some() {
            return self.overtake_claim(now, socket, transport, &id, &claim.token);
        }
        if link.transport != transport {
            return Err(CloseReason::WrongTransport);
        }
        if link.has_expired(now.mono) {
            self.discard_link(&id);
            return Err(CloseReason::LinkExpired);
        }
        if !link.token.is_of(&claim.token) {
            return Err(self.count_wrong_token(now, &id));
        }
        self.accept_claim(now, socket, &id, claim.device);
        Ok(())
    }

    fn count_wrong_token(&mut self, now: Now, id: &Arc<str>) -> CloseReason {
        let Some(link) = self.links.get_mut(id) else { return CloseReason::UnknownSession };
        link.wrong_tokens += 1;
        if link.wrong_tokens < MAX_WRONG_TOKENS {
            return CloseReason::InvalidToken;
        }
        self.discard_link(id);
        self.changed(now, Haste::Now);
        CloseReason::ClaimAttemptsExceeded
    }

    /// The claim is good: an alias is kept for it, and the rest comes with its ack.
    fn accept_claim(&mut self, now: Now, socket: SocketId, id: &Arc<str>, device: Device) {
        let Some(link) = self.links.get_mut(id) else { return };
        let token = self.random.token();
        let (no, alias) = self.sessions.reserve(device.model.as_deref());
        let resume_token = token.digest();
        link.claim = Some(PendingClaim { socket, no, alias, device, claimed_at: now.wall, resume_token });
        self.deadlines.disarm(Deadline::LinkExpiry(id.clone()));
        self.park(now, socket, token, Accepted::Claim(id.clone()));
    }

    /// A claim of a link whose claim waits for its ack. The app may have lost its socket and be back.
    fn overtake_claim(
        &mut self,
        now: Now,
        socket: SocketId,
        transport: Transport,
        id: &Arc<str>,
        token: &str,
    ) -> Result<(), CloseReason> {
        let Some(link) = self.links.get(id) else { return Err(CloseReason::UnknownSession) };
        if link.has_expired(now.mono) {
            return Err(CloseReason::AlreadyClaimed);
        }
        if link.transport != transport {
            return Err(CloseReason::WrongTransport);
        }
        if !link.token.is_of(token) {
            return Err(CloseReason::AlreadyClaimed);
        }
        let Some(claim) = &link.claim else { return Err(CloseReason::AlreadyClaimed) };
        self.refuse_late(socket, self.sockets.turn(claim.socket))?;
        let token = self.random.token();
        let Some(claim) = self.links.get_mut(id).and_then(|link| link.claim.as_mut()) else { return Ok(()) };
        claim.resume_token = token.digest();
        let overtaken = std::mem::replace(&mut claim.socket, socket);
        self.turn_away(overtaken, CloseReason::SessionReplaced);
        self.park(now, socket, token, Accepted::Claim(id.clone()));
        Ok(())
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
        self.refuse_late(socket, session.turn)?;
        self.attach(now, no, socket, session.unproven);
        Ok(())
    }
}
