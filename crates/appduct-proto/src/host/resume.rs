//! Resumes: a session gets a new socket and a new token.

use super::deadlines::Deadline;
use super::park::Accepted;
use super::session::Unproven;
use super::sessions::SessionNo;
use super::socket::Turn;
use super::{Host, SocketId, Transport};
use crate::Now;
use crate::wire::CloseReason;

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
                self.refuse_late(socket, session.turn)?;
                self.attach(now, no, socket, session.unproven);
                Ok(())
            }
            Some(Unproven::Resume { .. } | Unproven::Claim { .. }) | None => Err(CloseReason::InvalidResumeToken),
        }
    }

    /// An app has one socket at a time. So what repeats a claim or resume on a socket that opened before the one of the newest
    /// is not a repetition: the network held it back, and whoever sent it has gone on.
    pub(super) fn refuse_late(&self, socket: SocketId, newest: Turn) -> Result<(), CloseReason> {
        if self.sockets.turn(socket) < newest { Err(CloseReason::SessionReplaced) } else { Ok(()) }
    }

    /// Gives a session another socket and a fresh token, as soon as the token is on disk; until then an older socket stays
    /// the session's. What was shown for it stays good until a frame comes.
    pub(super) fn attach(&mut self, now: Now, no: SessionNo, socket: SocketId, shown: Option<Unproven>) {
        let token = self.random.token();
        let turn = self.sockets.turn(socket);
        let Some(session) = self.sessions.get_mut(no) else { return };
        session.resume_token = token.digest();
        session.unproven = shown;
        session.ack_left = false;
        session.turn = turn;
        if let Some(overtaken) = session.parked.replace(socket) {
            self.turn_away(overtaken, CloseReason::SessionReplaced);
        }
        self.deadlines.disarm(Deadline::Grace(no));
        self.park(now, socket, token, Accepted::Resume(no));
    }
}
