//! Every deadline of a core: one enum, one table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::Moment;

/// What a deadline is for. Of several that are due, the earliest goes first; of equal ones, the first in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The session is over if it has no socket by then.
    Grace,
    /// A call has no answer yet.
    Call(Arc<str>),
    /// A socket has brought no ack yet.
    Handshake,
    /// The next claim or resume.
    Retry,
    /// The next ping.
    Keepalive,
}

/// The table: at most one deadline for each timer.
#[derive(Debug, Default)]
pub(super) struct Timers {
    deadlines: BTreeMap<Timer, Moment>,
    queue: BTreeSet<(Moment, Timer)>,
}

impl Timers {
    pub(super) fn set(&mut self, timer: Timer, deadline: Moment) {
        self.clear(&timer);
        self.queue.insert((deadline, timer.clone()));
        self.deadlines.insert(timer, deadline);
    }

    pub(super) fn clear(&mut self, timer: &Timer) {
        if let Some((timer, deadline)) = self.deadlines.remove_entry(timer) {
            self.queue.remove(&(deadline, timer));
        }
    }

    /// The next deadline.
    pub(super) fn next(&self) -> Option<Moment> {
        self.queue.first().map(|(deadline, _)| *deadline)
    }

    /// Takes the first timer that is due.
    pub(super) fn pop_due(&mut self, now: Moment) -> Option<Timer> {
        self.queue.first().filter(|(deadline, _)| *deadline <= now)?;
        let (_, timer) = self.queue.pop_first()?;
        self.deadlines.remove(&timer);
        Some(timer)
    }
}
