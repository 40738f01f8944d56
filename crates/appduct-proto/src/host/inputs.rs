//! What sockets and time do to a host.

use std::time::Duration;

use super::claim::Claim;
use super::deadlines::Deadline;
use super::socket::Awaits;
use super::{Host, SocketFault, SocketId, SuspendReason, Transport};
use crate::Now;
use crate::wire::{Close, CloseReason, Hello, Received};

/// How long a socket may take to claim or resume.
const HELLO_WITHIN: Duration = Duration::from_secs(10);

impl Host {
    /// A device connected; its claim must come within ten seconds. Over the bound of unclaimed sockets it is closed with
    /// 1013 `too_many_sockets`, which an app takes as a reason to try again.
    pub fn handle_opened(&mut self, now: Now, socket: SocketId, transport: Transport) {
        self.handle_timeout(now);
        let full = self.sockets.unclaimed() >= self.settings.max_unclaimed_sockets;
        if !self.sockets.open(socket, transport) {
            return;
        }
        if self.shutting_down {
            self.close_socket(socket, CloseReason::DaemonShutdown);
        } else if full {
            self.close_socket(socket, CloseReason::TooManySockets);
        } else {
            self.deadlines.arm(Deadline::Hello(socket), now.mono + HELLO_WITHIN);
        }
    }

    /// A text message came.
    pub fn handle_received(&mut self, now: Now, socket: SocketId, received: Received) {
        self.handle_timeout(now);
        let taken = match self.sockets.awaits(socket) {
            Some(Awaits::Hello(transport)) => self.take_hello(now, socket, transport, received),
            Some(Awaits::Save(generation)) => self.keep_early(generation, received),
            Some(Awaits::Frames(session)) => self.take_message(now, session, received),
            Some(Awaits::End) | None => Ok(()),
        };
        if let Err(reason) = taken {
            self.fail_socket(now, socket, reason);
        }
    }

    /// Something went wrong below the frames.
    pub fn handle_fault(&mut self, now: Now, socket: SocketId, fault: SocketFault) {
        self.handle_timeout(now);
        let reason = match fault {
            SocketFault::TooBig => CloseReason::MessageTooBig,
            SocketFault::Binary => CloseReason::BinaryFrameNotSupported,
            SocketFault::InvalidUtf8 => CloseReason::InvalidUtf8,
            SocketFault::SendFailed => CloseReason::SendFailed,
        };
        self.fail_socket(now, socket, reason);
    }

    /// The socket is gone; `close` is what the peer sent, if it sent a close frame with a code. 1000 `client_close` ends
    /// its session, see the module.
    pub fn handle_closed(&mut self, now: Now, socket: SocketId, close: Option<Close>) {
        self.handle_timeout(now);
        let said = |reason: CloseReason| close == Some(reason.into());
        let backgrounded = said(CloseReason::AppBackgrounded);
        let reason = if backgrounded { SuspendReason::AppBackgrounded } else { SuspendReason::ConnectionLost };
        self.outputs.forget(socket);
        let goodbye = said(CloseReason::ClientClose);
        match self.sockets.remove(socket) {
            Some(Awaits::Frames(session)) => {
                self.suspend(now, session, reason);
                if goodbye {
                    self.expire(now, session);
                }
            }
            Some(Awaits::Save(generation)) => self.unpark(now, generation, reason),
            Some(Awaits::Hello(_)) => self.deadlines.disarm(Deadline::Hello(socket)),
            Some(Awaits::End) | None => {}
        }
    }

    /// The moment of the last `Idle` has come. Every other input does this first, so it comes after all that was due
    /// before it.
    pub fn handle_timeout(&mut self, now: Now) {
        self.now = now;
        while let Some(deadline) = self.deadlines.take_due(now.mono) {
            match deadline {
                Deadline::Call(call) => self.time_out(now, call),
                Deadline::Hello(socket) => self.fail_socket(now, socket, CloseReason::PreClaimTimeout),
                Deadline::Keepalive(session) => self.ping_or_drop(now, session),
                Deadline::Grace(session) => self.expire(now, session),
                Deadline::SaveOverdue => self.give_up_waiting(now),
                // The save starts once everything else is done.
                Deadline::Save => {}
                Deadline::LinkExpiry(link) => self.expire_link(now, link),
                Deadline::LinkForgotten(link) => {
                    self.links.remove(&link);
                }
            }
        }
    }

    fn take_hello(
        &mut self,
        now: Now,
        socket: SocketId,
        transport: Transport,
        received: Received,
    ) -> Result<(), CloseReason> {
        match received {
            Received::NotAnObject => Err(CloseReason::InvalidJson),
            Received::Hello(Hello::Claim { session_id, token, device }) => {
                self.claim(now, socket, transport, Claim { session_id, token, device })
            }
            Received::Hello(Hello::Resume { session_id, resume_token }) => {
                self.resume(now, socket, transport, &session_id, &resume_token)
            }
            Received::Frame { .. } | Received::Unknown => Err(CloseReason::ExpectedClaimOrResume),
        }
    }

    /// Closes a socket for what it did; its session suspends at once, without waiting for the peer's goodbye.
    pub(super) fn fail_socket(&mut self, now: Now, socket: SocketId, reason: CloseReason) {
        match self.close_socket(socket, reason) {
            Some(Awaits::Frames(session)) => self.suspend(now, session, SuspendReason::ConnectionLost),
            Some(Awaits::Save(generation)) => self.unpark(now, generation, SuspendReason::ConnectionLost),
            Some(Awaits::Hello(_) | Awaits::End) | None => {}
        }
    }

    /// Closes a socket, if it is open. Returns what it awaited; its session is the caller's to care for.
    pub(super) fn close_socket(&mut self, socket: SocketId, reason: CloseReason) -> Option<Awaits> {
        let awaited = self.sockets.end(socket)?;
        self.deadlines.disarm(Deadline::Hello(socket));
        self.outputs.close(socket, reason);
        Some(awaited)
    }

    /// How many sockets are open: neither gone nor closed by us.
    #[must_use]
    pub fn open_sockets(&self) -> usize {
        self.sockets.open_count()
    }

    /// How many sockets the driver has not reported gone, those included that we have closed.
    #[must_use]
    pub fn known_sockets(&self) -> usize {
        self.sockets.known_count()
    }
}
