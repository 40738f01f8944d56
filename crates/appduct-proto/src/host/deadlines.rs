//! What the host waits for in time: one enum, one table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::SocketId;
use super::call::CallNo;
use super::sessions::SessionNo;
use crate::Moment;

/// A thing that happens when its moment comes. Those of one moment happen in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deadline {
    /// A call's answer is due.
    Call(CallNo),
    /// A socket's claim or resume is due.
    Hello(SocketId),
    /// A save has taken too long for anybody to wait for it.
    SaveOverdue,
    /// The next save may start.
    Save,
    /// The next ping of an active session is due.
    Keepalive(SessionNo),
    /// The grace of a suspended session ends.
    Grace(SessionNo),
    /// The link of this session id may no longer be claimed.
    LinkExpiry(Arc<str>),
    /// The record of an expired link has been kept long enough for late claims.
    LinkForgotten(Arc<str>),
}

/// Every deadline that is armed, each at most once.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    moments: BTreeMap<Deadline, Moment>,
    queue: BTreeSet<(Moment, Deadline)>,
}

impl Deadlines {
    /// Arms a deadline, or moves it.
    pub(super) fn arm(&mut self, deadline: Deadline, moment: Moment) {
        if let Some(earlier) = self.moments.insert(deadline.clone(), moment) {
            self.queue.remove(&(earlier, deadline.clone()));
        }
        self.queue.insert((moment, deadline));
    }

    pub(super) fn disarm(&mut self, deadline: Deadline) {
        if let Some(moment) = self.moments.remove(&deadline) {
            self.queue.remove(&(moment, deadline));
        }
    }

    pub(super) fn next(&self) -> Option<Moment> {
        self.queue.first().map(|&(moment, _)| moment)
    }

    /// Takes the earliest deadline, if its moment has come.
    pub(super) fn take_due(&mut self, now: Moment) -> Option<Deadline> {
        if self.next()? > now {
            return None;
        }
        let (_, deadline) = self.queue.pop_first()?;
        self.moments.remove(&deadline);
        Some(deadline)
    }

    #[cfg(test)]
    pub(super) fn armed(&self) -> BTreeSet<Deadline> {
        assert!(self.moments.iter().all(|(deadline, &moment)| self.queue.contains(&(moment, deadline.clone()))));
        assert_eq!(self.moments.len(), self.queue.len());
        self.moments.keys().cloned().collect()
    }

    pub(super) fn clear(&mut self) {
        self.moments.clear();
        self.queue.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(socket: u64) -> Deadline {
        Deadline::Hello(SocketId(socket))
    }

    #[test]
    fn deadlines_come_due_in_time_order_and_then_in_the_order_of_the_enum() {
        let mut deadlines = Deadlines::default();
        deadlines.arm(hello(2), Moment(20));
        deadlines.arm(Deadline::LinkExpiry("a".into()), Moment(10));
        deadlines.arm(hello(1), Moment(10));
        assert_eq!(deadlines.next(), Some(Moment(10)));
        assert_eq!(deadlines.take_due(Moment(9)), None);
        assert_eq!(deadlines.take_due(Moment(10)), Some(hello(1)));
        assert_eq!(deadlines.take_due(Moment(10)), Some(Deadline::LinkExpiry("a".into())));
        assert_eq!(deadlines.take_due(Moment(19)), None);
        assert_eq!(deadlines.take_due(Moment(99)), Some(hello(2)));
        assert_eq!(deadlines.next(), None);
    }

    #[test]
    fn arming_again_moves_and_disarming_removes() {
        let mut deadlines = Deadlines::default();
        deadlines.arm(hello(1), Moment(10));
        deadlines.arm(hello(1), Moment(30));
        assert_eq!(deadlines.next(), Some(Moment(30)));
        deadlines.disarm(hello(1));
        deadlines.disarm(hello(1));
        assert_eq!(deadlines.take_due(Moment(u64::MAX)), None);
    }
}
