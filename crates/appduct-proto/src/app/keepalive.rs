//! Pings, and what their silence means.

use std::time::Duration;

use super::Core;
use crate::Now;
use crate::app::fault::SocketError;
use crate::app::output::Output;
use crate::app::state::Standing;
use crate::app::timers::Timer;
use crate::wire::CloseReason;

/// How many pings in a row may stay unanswered: the second one is the end.
const MAX_MISSED: u8 = 2;

/// The pings of one socket.
#[derive(Debug)]
pub(super) struct Keepalive {
    pub(super) interval: Duration,
    waits_for_pong: bool,
    missed: u8,
}

impl Keepalive {
    pub(super) fn new(interval: Duration) -> Self {
        Self { interval, waits_for_pong: false, missed: 0 }
    }

    fn handle_pong(&mut self) {
        self.waits_for_pong = false;
        self.missed = 0;
    }

    /// The next ping is due. `false` if the peer has been silent for too long.
    fn handle_due(&mut self) -> bool {
        if self.waits_for_pong {
            self.missed += 1;
        }
        self.waits_for_pong = true;
        self.missed < MAX_MISSED
    }
}

impl Core {
    pub(super) fn take_pong(&mut self) {
        if let Standing::Active(active) = &mut self.standing {
            active.keepalive.handle_pong();
        }
    }

    /// Sends the next ping, or gives the socket up. However long the app was blocked, one ping is due, not one for each
    /// interval that passed: the pongs that wait unread get their turn first, and a dead peer costs one reconnect.
    pub(super) fn keep_alive(&mut self, now: Now) {
        let Standing::Active(active) = &mut self.standing else { return };
        if active.keepalive.handle_due() {
            self.outputs.push(Output::Ping { socket: active.socket });
            self.timers.set(Timer::Keepalive, now.mono + active.keepalive.interval);
        } else {
            let error = SocketError {
                code: "keepalive_ping_failed",
                message: "the daemon did not answer two pings in a row".to_owned(),
                retryable: true,
            };
            self.close_and_lose(now, CloseReason::SendFailed.into(), Some(error));
        }
    }
}
