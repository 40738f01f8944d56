//! The receiving end of the client's events.

use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{Receiver, WeakSender};

use crate::Event;

/// How many events a receiver holds back before the oldest are dropped.
pub(super) const CAPACITY: usize = 256;

/// `None` where the client had been shut down before.
pub(crate) struct Subscription(Option<Receiver<Event>>);

impl Subscription {
    pub(super) fn new(events: &WeakSender<Event>) -> Self {
        Self(events.upgrade().map(|events| events.subscribe()))
    }

    pub(crate) async fn next(&mut self) -> Option<Event> {
        match self.0.as_mut()?.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(count)) => Some(Event::Missed { count }),
            Err(RecvError::Closed) => None,
        }
    }

    pub(crate) fn try_next(&mut self) -> Option<Event> {
        match self.0.as_mut()?.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Lagged(count)) => Some(Event::Missed { count }),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}
