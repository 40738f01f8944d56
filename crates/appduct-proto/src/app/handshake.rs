//! From an open socket to the ack.

use super::{Core, Lease, SocketId, State};
use crate::Now;
use crate::app::event::{ClientEvent, SessionChange};
use crate::app::fault::SocketError;
use crate::app::grace::OPEN_TIMEOUT;
use crate::app::keepalive::Keepalive;
use crate::app::options::{Secret, claimed_device};
use crate::app::output::{Output, Queued};
use crate::app::state::{Active, Handshake, Held, Standing};
use crate::app::timers::Timer;
use crate::wire::{Close, CloseReason, DaemonFrame, DaemonReceived, Hello, SessionAck};

/// The longest reason that a close frame holds, in bytes.
const MAX_CLOSE_REASON_BYTES: usize = 123;

impl Core {
    /// The socket of a claim or resume opened: the first frame goes out, unless the socket comes too late.
    pub(super) fn take_open(&mut self, now: Now) {
        let waits = |handshake: &&Handshake| !handshake.is_open;
        let Some(handshake) = self.standing.handshake().filter(waits) else { return };
        if now.mono.since(handshake.asked_at) > OPEN_TIMEOUT {
            self.time_handshake_out(now);
        } else {
            self.greet();
        }
    }

    fn greet(&mut self) {
        let device = &self.device;
        let (hello, handshake) = match &mut self.standing {
            Standing::Claiming(claim) => {
                let session_id = claim.input.session_id.clone();
                let hello = match &claim.input.secret {
                    Secret::Token(token) => Hello::Claim {
                        session_id,
                        token: token.clone(),
                        device: claimed_device(device, &claim.input.device),
                    },
                    Secret::ResumeToken(token) => Hello::Resume { session_id, resume_token: token.clone() },
                };
                (hello, &mut claim.handshake)
            }
            Standing::Resuming(resuming) => {
                let lease = &resuming.held.lease;
                let session_id = lease.session_id.clone();
                (Hello::Resume { session_id, resume_token: lease.resume_token.clone() }, &mut resuming.handshake)
            }
            Standing::Idle | Standing::Active(_) | Standing::Closed => return,
        };
        if let Some(handshake) = handshake {
            handshake.is_open = true;
            self.outputs.push(Output::Send { socket: handshake.socket, text: hello.encode() });
        }
    }

    /// The first frame of a socket came: only a valid ack for the session that was asked for will do. Everything else
    /// closes with 1008, which ends the session like the daemon's own 1008.
    pub(super) fn take_first(&mut self, now: Now, received: DaemonReceived) {
        let reason = match received {
            DaemonReceived::Frame { session_id, frame: Ok(Some(DaemonFrame::Ack(ack))), .. }
                if session_id.as_deref() == self.session_id() =>
            {
                self.accept(now, ack);
                return;
            }
            DaemonReceived::Frame { reason, .. } => reason,
            DaemonReceived::NotAnObject => None,
        };
        let code = CloseReason::InvalidAck.as_str();
        let reason = reason.map_or_else(|| code.to_owned(), |reason| close_reason(&reason));
        let error =
            SocketError { code, message: "the daemon's first frame is not an ack".to_owned(), retryable: false };
        self.close_and_lose(now, Close { code: CloseReason::InvalidAck.code(), reason }, Some(error));
    }

    /// The lease with the new token is stored before anybody hears of the ack; then come the state, the session, the
    /// snapshots, and at last the caller of `connect`.
    fn accept(&mut self, now: Now, ack: SessionAck) {
        let Some((held, socket)) = renewed(&self.standing, &ack) else { return };
        for timer in [Timer::Grace, Timer::Handshake] {
            self.timers.clear(&timer);
        }
        self.backoff.reset();
        let keepalive = Keepalive::new(held.lease.keepalive_interval());
        if self.pings {
            self.timers.set(Timer::Keepalive, now.mono + keepalive.interval);
        }
        self.outputs.push(Output::StoreLease(held.lease.clone()));
        let (session_id, alias) = (held.lease.session_id.clone(), ack.alias);
        let before = self.enter(
            Standing::Active(Box::new(Active {
                held,
                socket,
                takes_events: ack.event_registry,
                tool_snapshot_waits: true,
                event_snapshot_waits: ack.event_registry,
                keepalive,
            })),
            None,
        );
        let change = match before.state() {
            State::Reconnecting => SessionChange::Resumed { session_id, alias },
            State::Connecting | State::Idle | State::Active | State::Closed => {
                SessionChange::Claimed { session_id, alias }
            }
        };
        self.outputs.push(Output::Event(ClientEvent::Session(change)));
        self.outputs.push_snapshot(Queued::ToolSnapshot(socket));
        if ack.event_registry {
            self.outputs.push_snapshot(Queued::EventSnapshot(socket));
        }
        self.settle(&before, Ok(()));
    }
}

/// The session that `ack` makes of what was waiting for it: the newest token, no loss, and the pin that the link came
/// with, for every later resume.
fn renewed(standing: &Standing, ack: &SessionAck) -> Option<(Held, SocketId)> {
    let (session_id, address, port, link_pin, pins, handshake) = match standing {
        Standing::Claiming(claim) => {
            let input = &claim.input;
            (&input.session_id, input.address, input.port, input.link_pin, &claim.pins, &claim.handshake)
        }
        Standing::Resuming(resuming) => {
            let lease = &resuming.held.lease;
            let Held { pins, .. } = &resuming.held;
            (&lease.session_id, lease.address, lease.port, lease.link_pin, pins, &resuming.handshake)
        }
        Standing::Idle | Standing::Active(_) | Standing::Closed => return None,
    };
    let lease = Lease {
        session_id: session_id.clone(),
        resume_token: ack.resume_token.clone(),
        alias: ack.alias.clone(),
        address,
        port,
        keepalive_interval_s: ack.keepalive_interval_s.0,
        grace_s: ack.grace_s.0,
        disconnected_at: None,
        link_pin,
    };
    Some((Held { lease, pins: pins.clone() }, handshake.as_ref()?.socket))
}

/// The start of `text` that a close frame holds.
fn close_reason(text: &str) -> String {
    let mut end = text.len().min(MAX_CLOSE_REASON_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
