//! How sessions lose their socket and how they end.

use super::deadlines::Deadline;
use super::saves::Haste;
use super::session::State;
use super::sessions::SessionNo;
use super::{EventBody, Host, Outcome, Refusal, SuspendReason};
use crate::Now;
use crate::wire::CloseReason;

impl Host {
    /// The session's socket is gone or closed; it may be resumed until its grace ends.
    pub(super) fn suspend(&mut self, now: Now, no: SessionNo, reason: SuspendReason) {
        let Some(session) = self.sessions.get_mut(no) else { return };
        let until = now.mono + self.settings.expire_after();
        session.state = State::Suspended { since: now.wall, reason, until };
        self.outputs.event(now, &session.label, EventBody::SessionSuspended { reason });
        self.deadlines.disarm(Deadline::Keepalive(no));
        if session.parked.is_none() {
            self.deadlines.arm(Deadline::Grace(no), until);
        }
        self.changed(now, Haste::Soon);
        self.end_calls(now, no, &Outcome::Suspended(reason));
    }

    /// The session's grace has passed.
    pub(super) fn expire(&mut self, now: Now, no: SessionNo) {
        self.remove_session(now, no, EventBody::SessionExpired);
        self.changed(now, Haste::Soon);
    }

    /// Ends a session, or a pending link by its exact session id.
    pub fn revoke(&mut self, now: Now, selector: Option<&str>) -> Result<(), Refusal> {
        self.handle_timeout(now);
        let refusal = match self.sessions.resolve(selector) {
            Ok((no, session)) => {
                let (socket, parked) = (session.socket(), session.parked);
                if let Some(socket) = socket {
                    self.close_socket(socket, CloseReason::Revoked);
                }
                if let Some(parked) = parked {
                    self.turn_away(parked, CloseReason::Revoked);
                }
                self.remove_session(now, no, EventBody::SessionRevoked);
                self.changed(now, Haste::Now);
                return Ok(());
            }
            Err(refusal) => refusal,
        };
        if selector.is_some_and(|id| self.revoke_link(now, id)) { Ok(()) } else { Err(refusal) }
    }

    /// Whether there was such a link: pending, or with a claim that nobody has heard of.
    fn revoke_link(&mut self, now: Now, id: &str) -> bool {
        let pending =
            self.links.get_key_value(id).filter(|(_, link)| link.claim.is_some() || link.is_pending(now.mono));
        let Some(id) = pending.map(|(id, _)| id.clone()) else { return false };
        if let Some(claim) = self.discard_link(&id).and_then(|link| link.claim) {
            self.sessions.release(&claim.alias);
            self.turn_away(claim.socket, CloseReason::Revoked);
        }
        self.changed(now, Haste::Now);
        self.outputs.link_event(now, &id, EventBody::SessionRevoked);
        true
    }

    fn remove_session(&mut self, now: Now, no: SessionNo, body: EventBody) {
        let Some(mut session) = self.sessions.remove(no) else { return };
        self.deadlines.disarm(Deadline::Keepalive(no));
        self.deadlines.disarm(Deadline::Grace(no));
        self.outputs.event(now, &session.label, body);
        for call in std::mem::take(&mut session.calls) {
            self.end_call(now, &session.label, call, Outcome::SessionGone);
        }
    }

    /// Ends every call and closes every socket: the daemon goes away. Sessions stay listed, without a socket and without
    /// an event; sockets that still open are closed at once. One more save comes, see [`Host::is_saving`].
    pub fn shutdown(&mut self, now: Now) {
        self.handle_timeout(now);
        if self.shutting_down {
            return;
        }
        self.shutting_down = true;
        let parked: Vec<_> = self.parked.keys().copied().collect();
        for generation in parked {
            self.unpark(now, generation, SuspendReason::ConnectionLost);
        }
        let until = now.mono + self.settings.expire_after();
        let sessions: Vec<_> = self.sessions.iter().map(|(no, _)| no).collect();
        for no in sessions {
            self.end_calls(now, no, &Outcome::SessionGone);
            if let Some(session) = self.sessions.get_mut(no)
                && session.socket().is_some()
            {
                session.state = State::Suspended { since: now.wall, reason: SuspendReason::ConnectionLost, until };
            }
        }
        for socket in self.sockets.all_open() {
            self.close_socket(socket, CloseReason::DaemonShutdown);
        }
        self.deadlines.clear();
        self.save_at_last(now);
    }
}
