//! Pings: who does not answer two of them is gone by the third.

use super::deadlines::Deadline;
use super::session::State;
use super::sessions::SessionNo;
use super::{Host, SocketId, SuspendReason};
use crate::Now;

/// How many pings in a row may stay without an answer.
const MAX_MISSED: u8 = 2;

impl Host {
    /// The next ping of an active session is due. Each session has a beat of its own, which starts with its socket, so
    /// thousands of them do not ping at once.
    pub(super) fn ping_or_drop(&mut self, now: Now, no: SessionNo) {
        let Some(session) = self.sessions.get_mut(no) else { return };
        let State::Active { socket, missed } = &mut session.state else { return };
        let socket = *socket;
        if *missed < MAX_MISSED {
            *missed += 1;
            self.outputs.ping(socket);
            self.deadlines.arm(Deadline::Keepalive(no), now.mono + self.settings.ping_after());
            return;
        }
        self.sockets.end(socket);
        self.outputs.terminate(socket);
        self.suspend(now, no, SuspendReason::ConnectionLost);
    }

    /// A pong came.
    pub fn handle_pong(&mut self, now: Now, socket: SocketId) {
        self.handle_timeout(now);
        let session = self.sockets.session(socket).and_then(|no| self.sessions.get_mut(no));
        if let Some(State::Active { missed, .. }) = session.map(|session| &mut session.state) {
            *missed = 0;
        }
    }
}
