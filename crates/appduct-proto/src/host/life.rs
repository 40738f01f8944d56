//! How sessions lose their socket and how they end.

use super::deadlines::Deadline;
use super::session::State;
use super::sessions::SessionNo;
use super::{EventBody, Host, Outcome, Refusal, SuspendReason};
use crate::Now;
use crate::wire::CloseReason;

impl Host {
    /// The session's socket is gone or closed; it may be resumed until its grace ends.
    pub(super) fn suspend(&mut self, now: Now, no: SessionNo, reason: SuspendReason) {
        let Some(session) = self.sessions.get_mut(no) else { return };
        session.state = State::Suspended { since: now.wall, reason };
        self.outputs.event(now, &session.label, EventBody::SessionSuspended { reason });
        self.deadlines.disarm(Deadline::Keepalive(no));
        self.deadlines.arm(Deadline::Grace(no), now.mono + self.settings.expire_after());
        self.end_calls(now, no, &Outcome::Suspended(reason));
    }

    /// The session's grace has passed.
    pub(super) fn expire(&mut self, now: Now, no: SessionNo) {
        self.remove_session(now, no, EventBody::SessionExpired);
    }

    /// Ends a session, or a pending link by its exact session id.
    pub fn revoke(&mut self, now: Now, selector: Option<&str>) -> Result<(), Refusal> {
        self.handle_timeout(now);
        let refusal = match self.sessions.resolve(selector) {
            Ok((no, session)) => {
                if let Some(socket) = session.socket() {
                    self.close_socket(socket, CloseReason::Revoked);
                }
                self.remove_session(now, no, EventBody::SessionRevoked);
                return Ok(());
            }
            Err(refusal) => refusal,
        };
        if selector.is_some_and(|id| self.revoke_link(now, id)) { Ok(()) } else { Err(refusal) }
    }

    /// Whether there was such a pending link.
    fn revoke_link(&mut self, now: Now, id: &str) -> bool {
        let pending = self.links.get_key_value(id).filter(|(_, link)| !link.has_expired(now.mono));
        let Some(id) = pending.map(|(id, _)| id.clone()) else { return false };
        self.discard_link(&id);
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
    /// an event; sockets that still open are closed at once.
    pub fn shutdown(&mut self, now: Now) {
        self.handle_timeout(now);
        self.shutting_down = true;
        let sessions: Vec<_> = self.sessions.iter().map(|(no, _)| no).collect();
        for no in sessions {
            self.end_calls(now, no, &Outcome::SessionGone);
            if let Some(session) = self.sessions.get_mut(no)
                && session.socket().is_some()
            {
                session.state = State::Suspended { since: now.wall, reason: SuspendReason::ConnectionLost };
            }
        }
        for socket in self.sockets.all_open() {
            self.close_socket(socket, CloseReason::DaemonShutdown);
        }
        self.deadlines.clear();
    }
}
