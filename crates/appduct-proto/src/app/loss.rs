//! A socket is gone: what becomes of the session.
//!
//! The close code alone decides. 1008 ends the session, also when this side closed with it; 1000 from the daemon means that
//! somebody revoked it; everything else is survived within the grace. A session that is held always is with a socket or on
//! the way to one, so a loss with neither claim nor session cannot happen, and `socket_closed` is never a reason.

use super::{ConnectFault, Core, Lease};
use crate::app::event::{ClientError, ClientEvent, Phase, SessionChange};
use crate::app::fault::{SocketError, SocketLoss, socket_hint};
use crate::app::output::Output;
use crate::app::state::{Held, Resuming, Standing};
use crate::app::timers::Timer;
use crate::wire::{Close, CloseReason};
use crate::{Moment, Now};

impl Core {
    /// This side closes the current socket; its own code and reason count, whatever the socket says later.
    pub(super) fn close_and_lose(&mut self, now: Now, close: Close, error: Option<SocketError>) {
        if let Some(socket) = self.standing.socket() {
            let loss = SocketLoss { code: Some(close.code), reason: Some(close.reason.clone()), error };
            self.outputs.push(Output::Close { socket, close });
            self.lose(now, loss);
        }
    }

    /// The current socket is gone.
    pub(super) fn lose(&mut self, now: Now, loss: SocketLoss) {
        self.timers.clear(&Timer::Handshake);
        self.timers.clear(&Timer::Keepalive);
        match self.standing {
            Standing::Claiming(_) => self.lose_claim(now, loss),
            Standing::Active(_) => self.lose_session_socket(now, loss),
            Standing::Resuming(_) => self.lose_resume(now, loss),
            Standing::Idle | Standing::Closed => {}
        }
    }

    fn lose_session_socket(&mut self, now: Now, loss: SocketLoss) {
        if loss.code == Some(CloseReason::Revoked.code()) {
            self.end_session("revoked");
            return;
        }
        let rejection = loss.rejection();
        self.report_loss(&loss, loss.cause(), rejection.is_none());
        match rejection {
            Some(reason) => self.end_session(&reason),
            None => self.interrupt(now),
        }
    }

    /// A resume failed. A 1000 here says nothing of the session: it fails this attempt only.
    fn lose_resume(&mut self, now: Now, loss: SocketLoss) {
        let Standing::Resuming(resuming) = &mut self.standing else { return };
        resuming.handshake = None;
        let rejection = loss.rejection();
        let message = format!("Appduct resume attempt failed: {}.", loss.cause());
        self.report_loss(&loss, message, rejection.is_none());
        match rejection {
            Some(reason) => self.end_session(&reason),
            None => self.wait_to_retry(now),
        }
    }

    fn report_loss(&mut self, loss: &SocketLoss, message: String, retryable: bool) {
        let code = loss.error.as_ref().map(|error| error.code);
        self.outputs.error(ClientError {
            code: code.map(str::to_owned),
            close_reason: loss.reason.clone(),
            retryable: Some(retryable),
            hint: code.and_then(socket_hint).map(str::to_owned),
            ..ClientError::new(Phase::Socket, message)
        });
    }

    /// The session goes on without a socket. Grace runs from here, once, until an ack.
    pub(super) fn interrupt(&mut self, now: Now) {
        let Standing::Active(active) = &self.standing else { return };
        let Held { lease, pins } = &active.held;
        let lease = Lease { disconnected_at: Some(now.wall), ..lease.clone() };
        let held = Held { lease: lease.clone(), pins: pins.clone() };
        self.timers.set(Timer::Grace, now.mono + lease.grace());
        self.outputs.push(Output::StoreLease(lease));
        self.enter(Standing::Resuming(Box::new(Resuming { held, handshake: None })), None);
        self.suspend_calls();
        self.wait_to_retry(now);
    }

    /// Plans the next attempt. A session waits for the foreground while the app is in the background; a claim does not.
    pub(super) fn wait_to_retry(&mut self, now: Now) {
        let waits_for_foreground = self.is_in_background && matches!(self.standing, Standing::Resuming(_));
        if !waits_for_foreground {
            let at: Moment = now.mono + self.backoff.next_wait();
            self.timers.set(Timer::Retry, at);
        }
    }

    /// Resumes unless an attempt is under way. The link's own pin counts for every resume.
    pub(super) fn resume(&mut self, now: Now) {
        let Standing::Resuming(resuming) = &self.standing else { return };
        if resuming.handshake.is_some() {
            return;
        }
        self.timers.clear(&Timer::Retry);
        let Held { lease, pins } = &resuming.held;
        let (address, port, pins) = (lease.address, lease.port, pins.clone());
        let handshake = self.open_socket(now, address, port, pins);
        if let Standing::Resuming(resuming) = &mut self.standing {
            resuming.handshake = Some(handshake);
        }
    }

    /// Closes whatever socket there is, with every timer that belongs to it.
    pub(super) fn drop_socket(&mut self, reason: CloseReason) {
        if let Some(socket) = self.standing.socket() {
            self.outputs.push(Output::Close { socket, close: reason.into() });
        }
        for timer in [Timer::Handshake, Timer::Keepalive, Timer::Retry] {
            self.timers.clear(&timer);
        }
    }

    /// Grace is over, with a resume in flight or not.
    pub(super) fn expire(&mut self) {
        self.drop_socket(CloseReason::ClientClose);
        self.end_session("grace_expired");
    }

    /// The session is over: nothing of it stays, in the core or in the lease store. A claim that ends here was given up by
    /// the app; it has no session to lose.
    pub(super) fn end_session(&mut self, reason: &str) {
        self.outputs.push(Output::ClearLease);
        self.timers.clear(&Timer::Grace);
        self.timers.clear(&Timer::Retry);
        let before = self.enter(Standing::Closed, Some(reason));
        if before.held().is_some() {
            let reason = reason.to_owned();
            self.outputs.push(Output::Event(ClientEvent::Session(SessionChange::Lost { reason })));
        }
        self.suspend_calls();
        self.settle(&before, Err(ConnectFault::ClosedByApp));
    }
}
