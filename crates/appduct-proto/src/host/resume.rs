//! Resumes: a session gets a new socket and a new token.

use super::deadlines::Deadline;
use super::secret::Token;
use super::session::{State, Unproven};
use super::sessions::SessionNo;
use super::{EventBody, Host, Outcome, SocketId, Transport};
use crate::Now;
use crate::wire::{CloseReason, DaemonFrame, Number, SessionAck};

impl Host {
    /// Accepts a resume, or says how the socket is closed.
    pub(super) fn resume(
        &mut self,
        now: Now,
        socket: SocketId,
        transport: Transport,
        session_id: &str,
        resume_token: &str,
    ) -> Result<(), CloseReason> {
        let (no, session) = self.sessions.by_id(session_id).ok_or(CloseReason::UnknownSession)?;
        if session.transport != transport {
            return Err(CloseReason::WrongTransport);
        }
        let newest = session.resume_token;
        if newest.is_of(resume_token) {
            // Only the newest ack can have told the app, so what it had to show before is dead.
            self.attach(now, no, socket, Some(Unproven::Resume { token: newest }));
            return Ok(());
        }
        match session.unproven {
            Some(Unproven::Resume { token }) if token.is_of(resume_token) => {
                self.attach(now, no, socket, session.unproven);
                Ok(())
            }
            Some(Unproven::Resume { .. } | Unproven::Claim { .. }) | None => Err(CloseReason::InvalidResumeToken),
        }
    }

    /// Gives a session another socket and a fresh token. What was shown for it stays good until a frame comes.
    pub(super) fn attach(&mut self, now: Now, no: SessionNo, socket: SocketId, shown: Option<Unproven>) {
        let token = self.random.token();
        let Some(session) = self.sessions.get_mut(no) else { return };
        let replaced = session.socket();
        session.state = State::Active { socket, missed: 0 };
        session.resume_token = token.digest();
        session.unproven = shown;
        self.sockets.bind(socket, no);
        self.deadlines.disarm(Deadline::Hello(socket));
        self.deadlines.disarm(Deadline::Grace(no));
        self.deadlines.arm(Deadline::Keepalive(no), now.mono + self.settings.ping_after());
        if let Some(replaced) = replaced {
            self.close_socket(replaced, CloseReason::SessionReplaced);
        }
        self.acknowledge(now, no, socket, &token, EventBody::SessionResumed);
        self.end_calls(now, no, &Outcome::Resumed);
    }

    /// Sends the ack, then tells everyone else.
    pub(super) fn acknowledge(&mut self, now: Now, no: SessionNo, socket: SocketId, token: &Token, body: EventBody) {
        let Some(session) = self.sessions.get(no) else { return };
        let ack = SessionAck {
            alias: session.label.alias.to_string(),
            resume_token: token.text(),
            keepalive_interval_s: Number(self.settings.ping_after().as_secs_f64()),
            grace_s: Number(self.settings.expire_after().as_secs_f64()),
            event_registry: true,
        };
        self.outputs.send(socket, &session.label, &DaemonFrame::Ack(ack));
        self.outputs.event(now, &session.label, body);
    }
}
