//! What happens to the client, for those who want to watch it.

use std::fmt;

use appduct_proto::app::{ClientError, ClientEvent, SessionChange, State};

use crate::engine;

/// Something that happened to the client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The state changed, or was confirmed with a reason.
    State {
        /// The state.
        state: State,
        /// Why, where that is known: `closed_by_app`, `grace_expired`, `revoked`, `connect_error` or the daemon's word.
        reason: Option<String>,
    },
    /// A session was claimed, resumed or lost.
    Session(SessionChange),
    /// Something went wrong. It loses nothing by itself.
    Error(ClientError),
    /// The receiver was too slow, and its oldest events were dropped.
    Missed {
        /// How many.
        count: u64,
    },
}

/// The events of a client from the moment of [`Appduct::events`](crate::Appduct::events) on.
///
/// A receiver holds back at most 256 events; then the oldest are dropped, and [`Event::Missed`] stands in their place.
pub struct Events(pub(crate) engine::Subscription);

impl Events {
    /// Waits for the next event; `None` once the client is shut down (at once in a build that does nothing). Dropping the
    /// future loses no event.
    pub async fn next(&mut self) -> Option<Event> {
        self.0.next().await
    }

    /// The next event if one is there.
    pub fn try_next(&mut self) -> Option<Event> {
        self.0.try_next()
    }
}

impl From<ClientEvent> for Event {
    fn from(event: ClientEvent) -> Self {
        match event {
            ClientEvent::State { state, reason } => Self::State { state, reason },
            ClientEvent::Session(change) => Self::Session(change),
            ClientEvent::Error(error) => Self::Error(error),
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}
