//! The daemon's side of every link: links, sessions, registries, calls, events.
//!
//! A [`Host`] is driven: each `handle_*` method and each command is one mutation at one [`Now`]; after it the driver takes
//! outputs from [`Host::poll_output`] until [`Output::Idle`], carries them out, and waits for the next input or for the
//! moment that `Idle` names, when it calls [`Host::handle_timeout`].
//!
//! # Order
//!
//! An input comes after every deadline at or before its `Now`: an answer that arrives at the moment of its call's deadline
//! is late. Commands that only read (`&self`) see the state after the last mutation.
//!
//! # Sockets
//!
//! After [`Output::Close`] or [`Output::Terminate`] nothing of that socket counts any more, and its session suspends at
//! once, without waiting for the peer; [`Host::handle_closed`] then only frees the number. A socket that is not its
//! session's current one has been closed, so its frames, pongs and end change nothing.
//!
//! # A lost ack costs nothing
//!
//! A claim or resume rotates the resume token, and the network may drop exactly the ack that carries the new one. So what
//! the app showed stays good until the first frame of the session arrives on the new socket, which proves that the app has
//! the ack: the resume token before the newest, or the link's token until the link would have expired. A frame is such a
//! proof once it has the type of an app's frame and the session's id, whatever else is wrong with it. Showing the newest
//! resume token is a proof too.
//!
//! A repeated claim in that window takes the session over as a resume does: same session, same alias, the device of the
//! first claim, a fresh resume token, an open older socket closed with `session_replaced`, and the event
//! [`EventBody::SessionResumed`]; there is one [`EventBody::SessionClaimed`] per session. With another token, or after the
//! window, it is `already_claimed`; on the other listener within the window, `wrong_transport`.

mod alias;
mod call;
mod claim;
mod deadlines;
mod event;
mod events_list;
mod frames;
mod glob;
mod groups;
mod inputs;
mod keepalive;
mod life;
mod link;
mod output;
mod policy;
mod preview;
mod refusal;
mod registry;
mod resume;
mod ring;
mod secret;
mod session;
mod sessions;
mod settings;
mod socket;
mod tools_list;

#[cfg(test)]
mod tests;

pub use call::{CallId, CallRequest, CallTarget, FinishedCall, Outcome};
pub use event::{Event, EventBody};
pub use events_list::{DeclaredEventPage, DeclaredEventQuery};
pub use glob::Glob;
pub use groups::GroupTotal;
pub use link::{Endpoint, LinkRequest, MintedLink};
pub use output::Output;
pub use policy::{Decision, DeniedReason, Policy};
pub use refusal::Refusal;
pub use ring::{EventQuery, EventsSince};
pub use session::{SessionSummary, SuspendReason};
pub use settings::Settings;
pub use socket::{SocketFault, SocketId, Transport};
pub use tools_list::{ListedTool, ToolPage, ToolQuery};

#[cfg(doc)]
use crate::Now;

use call::Calls;
use deadlines::Deadlines;
use link::Links;
use output::Outputs;
use secret::Random;
use sessions::Sessions;
use socket::Sockets;

/// The daemon's state. See the module for how to drive it.
#[derive(Debug)]
pub struct Host {
    settings: Settings,
    random: Random,
    sockets: Sockets,
    links: Links,
    sessions: Sessions,
    calls: Calls,
    deadlines: Deadlines,
    outputs: Outputs,
    shutting_down: bool,
}

impl Host {
    /// An empty host. `seed` must come from the system's secure randomness: ids and tokens are made from it.
    #[must_use]
    pub fn new(settings: Settings, seed: [u8; 32]) -> Self {
        Self {
            settings,
            random: Random::new(seed),
            sockets: Sockets::default(),
            links: Links::default(),
            sessions: Sessions::default(),
            calls: Calls::default(),
            deadlines: Deadlines::default(),
            outputs: Outputs::default(),
            shutting_down: false,
        }
    }

    /// Replaces the policy; calls in flight go on.
    pub fn set_policy(&mut self, policy: Policy) {
        self.settings.policy = policy;
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Output {
        self.outputs.take().unwrap_or_else(|| Output::Idle { until: self.deadlines.next() })
    }
}
