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
//! # Goodbye has no grace
//!
//! An app that closes its session's socket with 1000 `client_close` has disconnected on purpose or has been given another
//! link. It cleared its lease before that close, so it can never resume, and nobody should wait for it: the session suspends
//! and expires in the same moment, its calls end, its alias is free and its record goes. After any other close, and after
//! none, the session has its grace. On a socket whose ack still waits for a save, `client_close` is an end like any other.
//!
//! # A call that its caller gave up stops
//!
//! The app has a timer of its own for each call: the tool's `timeout_ms`, clamped, or ten seconds. If the caller's deadline
//! was shorter, the app would work on for nobody; so when it comes, the call ends and then the app is sent a `tool_cancel`
//! with the reason `timeout`. Its answer, `tool_cancelled`, is late and dropped. Where the app's own timer is due by then,
//! nothing is sent.
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
//!
//! An app has one socket at a time, so a repetition comes on a socket that opened later. On one that opened before that of
//! the newest claim or resume it was held back by the network: it is closed with `session_replaced`, and changes nothing.
//!
//! # Sessions outlive the daemon
//!
//! With [`Settings::persist`] the driver keeps [`Records`] on disk, and a token's digest is there before the ack that
//! carries the token leaves. An accepted claim or resume changes what is recorded and parks its socket. [`Output::Save`]
//! brings the records, one save at a time, and whatever changes meanwhile shares the next. Once
//! [`Host::handle_saved`] says that a save has the change, the session becomes active on that socket: ack, then event.
//! Until then nobody else hears of it:
//!
//! * A session that is being claimed is not listed; its link is no longer pending, and may be revoked.
//! * A session that is being resumed stays as it was: active on its older socket, whose calls go on, or suspended; then its
//!   grace does not end.
//! * If the parked socket goes, a claim leaves its link pending as before, and a resume leaves the session as it was, a
//!   suspended one with its whole grace. Nothing is told, and what the app showed stays good.
//! * The same claim or resume on another socket takes the place of one that is parked, with `session_replaced`.
//! * What the app sends before its ack counts after it and is no proof of anything; at the ninth such message the socket is
//!   closed with `expected_claim_or_resume`. A parked socket is not unclaimed: neither that timer nor that bound is for it.
//! * If the save fails, or takes longer than three seconds, the ack leaves all the same ([`Host::unsaved_acks`] counts):
//!   being reachable is worth more than outliving the next crash. While a save is overdue no ack waits. A failed save is
//!   tried again with the next change, and after one second, doubling to a minute.
//!
//! After a save comes a rest of four times as long as it took, at most 250 ms. What a person does to links and sessions is
//! saved at once. A suspension, an expiry and the proof of an ack are saved together within a second: so much later, and
//! the time of a write, a crash may still bring a session back that has expired, or let an app show a token that is dead.
//!
//! [`Host::restore`] gives a new host what an earlier one recorded:
//!
//! * Pending links, for what is left of their time; their wrong tokens are counted anew.
//! * Sessions in claim order, suspended, with id, alias, device, listener, times and tokens. Registries and kept events are
//!   not recorded: registries are empty until the app resumes and sends its snapshots.
//! * After a shutdown, grace goes on from the shutdown; after a crash it goes on from the new host's start, whole for a
//!   session that was active, otherwise with what was left when it was last saved. What has passed ends with its ordinary
//!   event.
//! * Times that are left are recorded instead of ends, and the time between two processes is told by the monotonic scale
//!   if [`Settings::boot`] is the same, so that a wall clock that was set loses nothing. After a reboot only the wall clock
//!   can tell; if it went back, no time has passed.
//! * After a shutdown the numbers of app events go on. After a crash they go on behind a gap of at most 200,000, so that
//!   none comes twice and no reader's cursor is ahead; events that the crash took are not counted as dropped.

mod alias;
mod call;
mod claim;
mod deadlines;
mod event;
mod events_list;
mod explain;
mod frames;
mod glob;
mod groups;
mod inputs;
mod keepalive;
mod life;
mod link;
mod output;
mod park;
mod policy;
mod preview;
mod record;
mod refusal;
mod registry;
mod restore;
mod resume;
mod ring;
mod saves;
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
pub use explain::PolicyExplanation;
pub use glob::Glob;
pub use groups::GroupTotal;
pub use link::{Endpoint, LinkRequest, MintedLink};
pub use output::Output;
pub use policy::{Decision, DeniedReason, Policy, PolicyRule};
pub use record::{Records, RecordsFault};
pub use refusal::Refusal;
pub use ring::{EventQuery, EventsSince};
pub use saves::Generation;
pub use session::{SessionSummary, SuspendReason};
pub use settings::Settings;
pub use socket::{SocketFault, SocketId, Transport};
pub use tools_list::{ListedTool, ToolPage, ToolQuery};

use call::Calls;
use deadlines::Deadlines;
use link::Links;
use output::Outputs;
use park::AllParked;
use saves::Saves;
use secret::Random;
use sessions::Sessions;
use socket::Sockets;

use crate::Now;

/// The daemon's state. See the module for how to drive it.
#[derive(Debug)]
pub struct Host {
    settings: Settings,
    random: Random,
    sockets: Sockets,
    links: Links,
    sessions: Sessions,
    calls: Calls,
    parked: AllParked,
    saves: Saves,
    deadlines: Deadlines,
    outputs: Outputs,
    /// Of the last mutation.
    now: Now,
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
            parked: AllParked::default(),
            saves: Saves::default(),
            deadlines: Deadlines::default(),
            outputs: Outputs::default(),
            now: Now::default(),
            shutting_down: false,
        }
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.settings.policy
    }

    /// Replaces the policy; calls in flight go on.
    pub fn set_policy(&mut self, policy: Policy) {
        self.settings.policy = policy;
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Output {
        let output = self.outputs.take().or_else(|| self.start_save());
        output.unwrap_or_else(|| Output::Idle { until: self.deadlines.next() })
    }
}
