//! What the app and the system do to a session: disconnect, reload, background, foreground.

use super::{Core, Lease};
use crate::Now;
use crate::app::fault::ConnectFault;
use crate::app::grace;
use crate::app::output::Output;
use crate::app::state::{Held, Resuming, Standing, State};
use crate::app::timers::Timer;
use crate::wire::{Close, CloseReason};

impl Core {
    pub(super) fn give_up(&mut self) {
        self.drop_socket(CloseReason::ClientClose);
        self.end_session("closed_by_app");
    }

    pub(super) fn restore(&mut self, now: Now, lease: Option<Lease>) -> bool {
        let is_free = matches!(self.state(), State::Idle | State::Closed);
        let Some(lease) = lease.filter(|_| is_free) else { return false };
        let since = lease.disconnected_at.unwrap_or(now.wall);
        let left = grace::left(lease.grace(), since, now).filter(|_| lease.is_valid());
        let pins = self.trust.admit(self.sockets, lease.address, lease.link_pin).ok();
        let (Some(left), Some(pins)) = (left, pins) else {
            self.outputs.push(Output::ClearLease);
            return false;
        };
        self.backoff.reset();
        self.timers.set(Timer::Grace, now.mono + left);
        let lease = Lease { disconnected_at: Some(since), ..lease };
        // The first loss is what grace counts from, also across the next reload.
        self.outputs.push(Output::StoreLease(lease.clone()));
        let held = Held { lease, pins };
        self.enter(Standing::Resuming(Box::new(Resuming { held, handshake: None })), None);
        self.resume(now);
        true
    }

    pub(super) fn go_to_background(&mut self, now: Now) {
        self.is_in_background = true;
        match &self.standing {
            Standing::Active(active) => {
                let socket = active.socket;
                self.outputs.push(Output::Close { socket, close: CloseReason::AppBackgrounded.into() });
                self.timers.clear(&Timer::Keepalive);
                self.interrupt(now);
            }
            Standing::Resuming(_) => self.timers.clear(&Timer::Retry),
            Standing::Idle | Standing::Claiming(_) | Standing::Closed => {}
        }
    }

    pub(super) fn come_to_foreground(&mut self, now: Now) {
        self.is_in_background = false;
        self.resume(now);
    }

    pub(super) fn vanish(&mut self, now: Now) {
        if let Some(socket) = self.standing.socket() {
            self.outputs.push(Output::Close { socket, close: Close { code: 1001, reason: String::new() } });
        }
        for timer in [Timer::Handshake, Timer::Keepalive, Timer::Retry, Timer::Grace] {
            self.timers.clear(&timer);
        }
        let before = std::mem::replace(&mut self.standing, Standing::Closed);
        if let Some(Held { lease, .. }) = before.held() {
            let since = lease.disconnected_at.unwrap_or(now.wall);
            self.outputs.push(Output::StoreLease(Lease { disconnected_at: Some(since), ..lease.clone() }));
        }
        self.suspend_calls();
        self.settle(&before, Err(ConnectFault::ClosedByApp));
    }
}
