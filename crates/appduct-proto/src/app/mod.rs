//! The app's side of the link: claim, resume, reconnect, registries, calls, lease, trust.
//!
//! A [`Core`] is driven like the daemon's `Host`: one mutation at one [`Now`], then [`Core::poll_output`] until
//! [`Output::Idle`]. It keeps no socket and no handler: it says which socket to open and which handler to run.
//!
//! | From | By | To |
//! |---|---|---|
//! | any, `supersede` where it is connecting or active | a good `connect` | connecting |
//! | connecting | a socket that dies before its ack | connecting, after a backoff |
//! | connecting | the ack | active |
//! | connecting | 1008, a wrong pin, the link's expiry | closed, `connect_error` |
//! | active | a loss, the background | reconnecting |
//! | reconnecting | the ack of a resume | active |
//! | reconnecting | the end of the grace | closed, `grace_expired` |
//! | active, reconnecting | 1008, from either side | closed, with its reason |
//! | active | 1000 | closed, `revoked` |
//! | any | `disconnect` | closed, `closed_by_app` |
//! | idle, closed | `restore_session` with a good lease | reconnecting |
//!
//! What it promises, besides the order of states:
//!
//! * After an ack come, in this order: the lease, the state, the session, the tool snapshot, the event snapshot (if this
//!   very ack allowed it), the settled `connect`. A snapshot is taken when it is polled. So what a driver registers while it
//!   drains the outputs before it (a listener of the state, say) is in the snapshot and nowhere else; what is registered
//!   after it goes out as a delta behind it. The daemon's registry is right either way.
//! * After a loss come the error, the state, the lost session, then the cancelled calls.
//! * A call has at most one answer, none once it was cancelled, timed out or lost its socket, and none on a later socket.
//! * A frame over the frame limit is never sent and never costs the session.
//! * When the client is idle or closed there is no timer and no socket.
//!
//! Inputs may come late: every one first lets the timers run that are due by then, so a deadline that passed always counts
//! as passed.

mod backoff;
mod calls;
mod connect;
mod event;
mod fault;
mod grace;
mod handshake;
mod keepalive;
mod lease;
mod lifecycle;
mod loss;
mod options;
mod output;
mod registry;
mod state;
mod timers;
mod traffic;
mod trust;
mod url;

#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use calls::Answer;
pub use event::{ClientError, ClientEvent, Phase, SessionChange};
pub use fault::{ConnectFault, PostFault, SocketError, SocketLoss};
pub use lease::Lease;
pub use options::{ConnectInput, Jitter, Options, Secret};
pub use output::Output;
pub use state::State;
pub use trust::Trust;

use crate::Now;
use crate::wire::{Device, EventDescriptor, FieldFault, RawJson, ToolDescriptor};
use backoff::Backoff;
use calls::Calls;
use output::{Outputs, Queued};
use registry::Registry;
use state::Standing;
use timers::{Timer, Timers};
use trust::Sockets;

/// A socket; the core numbers them and never uses a number twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketId(pub u64);

/// A call to `connect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId(pub u64);

/// A registration; removing one never removes a later registration of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Registration(pub u64);

/// The client. See the module for how to drive it.
#[derive(Debug)]
pub struct Core {
    device: Device,
    trust: Trust,
    sockets: Sockets,
    pings: bool,
    backoff: Backoff,
    standing: Standing,
    is_in_background: bool,
    tools: Registry<ToolDescriptor>,
    events: Registry<EventDescriptor>,
    calls: Calls,
    timers: Timers,
    outputs: Outputs,
    last_socket: u64,
    last_attempt: u64,
    last_registration: u64,
}

impl Core {
    /// An idle client whose driver opens TLS sockets and checks the peer's key against the pins of [`Output::Open`].
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self::over(Sockets::Pinned, options)
    }

    /// An idle client of a browser, whose driver opens plain sockets. No pins are asked for or given out; in return only
    /// loopback addresses are dialled, whatever the trust configuration says.
    #[must_use]
    pub fn over_plain_loopback(options: Options) -> Self {
        Self::over(Sockets::PlainLoopback, options)
    }

    fn over(sockets: Sockets, options: Options) -> Self {
        Self {
            device: options.device,
            trust: options.trust,
            sockets,
            pings: options.pings,
            backoff: Backoff::new(options.jitter),
            standing: Standing::Idle,
            is_in_background: false,
            tools: Registry::default(),
            events: Registry::default(),
            calls: Calls::default(),
            timers: Timers::default(),
            outputs: Outputs::default(),
            last_socket: 0,
            last_attempt: 0,
            last_registration: 0,
        }
    }

    /// Where the client stands.
    #[must_use]
    pub fn state(&self) -> State {
        self.standing.state()
    }

    /// The session that is held, or being claimed.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.standing.session_id()
    }

    /// The alias of the held session.
    #[must_use]
    pub fn alias(&self) -> Option<&str> {
        self.standing.held().map(|held| held.lease.alias.as_str())
    }

    /// The registered tools in order of first registration.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolDescriptor> {
        self.tools.iter().cloned().collect()
    }

    /// Registers a tool, or replaces the one of that name in its place. The descriptor is checked as
    /// [`ToolDescriptor::for_app`] does: `null` is not absent, a name matches wholly, lengths count UTF-16 units. A fault
    /// stores nothing and keeps an earlier registration.
    pub fn register_tool(&mut self, now: Now, descriptor: &RawJson) -> Result<Registration, FieldFault> {
        self.run_timers(now);
        self.add_tool(descriptor)
    }

    /// Removes a tool if this registration is still the one that holds its name. Calls in flight go on.
    pub fn unregister_tool(&mut self, now: Now, registration: Registration) {
        self.run_timers(now);
        self.remove_tool(registration);
    }

    /// Declares an event, or replaces the declaration of that name.
    pub fn register_event(&mut self, now: Now, descriptor: &RawJson) -> Result<Registration, FieldFault> {
        self.run_timers(now);
        self.add_event(descriptor)
    }

    /// Removes a declaration if this registration is still the one that holds its name.
    pub fn unregister_event(&mut self, now: Now, registration: Registration) {
        self.run_timers(now);
        self.remove_event(registration);
    }

    /// Starts a claim (or an explicit resume). The end comes as [`Output::Settled`]: success at the ack, not when the
    /// socket opens.
    ///
    /// A refusal leaves a session that is there as it is. One by the build's own configuration (trust, addresses) is also
    /// told to the listeners, and shows as `closed` with `connect_error` where there was nothing to lose.
    ///
    /// A session that is reconnecting is always superseded, one that is connecting or active if `supersede` says so.
    pub fn connect(&mut self, now: Now, input: ConnectInput, supersede: bool) -> Result<AttemptId, ConnectFault> {
        self.run_timers(now);
        self.connect_by(now, input, supersede)
    }

    /// Connects by a deep link, superseding a session that is there; a link for that very session is ignored and settles
    /// nothing (`Ok(None)`).
    pub fn connect_link(&mut self, now: Now, url: &str) -> Result<Option<AttemptId>, ConnectFault> {
        self.run_timers(now);
        self.connect_by_link(now, url)
    }

    /// Takes a URL that the system handed to the app. `true` if it is an appduct link, whatever comes of it; faults go to
    /// the listeners, with phase `Bootstrap` in addition to what the connect itself reports.
    pub fn handle_url(&mut self, now: Now, url: &str) -> bool {
        self.run_timers(now);
        self.take_url(now, url)
    }

    /// Gives the session up. Confirmed by a state event also where there is none.
    pub fn disconnect(&mut self, now: Now) {
        self.run_timers(now);
        self.give_up();
    }

    /// The app's runtime goes away, to come back by [`Core::restore_session`] (a reload): closes the socket with 1001, marks
    /// the lease, stops the handlers and tells the listeners nothing.
    pub fn shut_down(&mut self, now: Now) {
        self.run_timers(now);
        self.vanish(now);
    }

    /// Resumes from a lease. `false` if the client is busy or the lease is no good (it is cleared then).
    ///
    /// The resume is under way at once, in the background too; grace counts from the lease's loss, or from now where the
    /// lease has none.
    pub fn restore_session(&mut self, now: Now, lease: Option<Lease>) -> bool {
        self.run_timers(now);
        self.restore(now, lease)
    }

    /// Posts an event. Whether it was declared makes no difference.
    pub fn post_event(&mut self, now: Now, name: &str, payload: Option<&RawJson>) -> Result<(), PostFault> {
        self.run_timers(now);
        self.post(now, name, payload)
    }

    /// Answers a call; nothing if it has ended. An answer that does not fit into a frame becomes a
    /// `tool_serialization_error` that says so.
    pub fn respond(&mut self, now: Now, call: &str, answer: Answer) {
        self.run_timers(now);
        self.answer_call(call, answer);
    }

    /// Reports progress of a call; nothing if it has ended. Neither field makes it a bare sign of life. It does not move
    /// the deadline.
    pub fn report_progress(&mut self, now: Now, call: &str, progress: Option<f64>, message: Option<&str>) {
        self.run_timers(now);
        self.send_progress(call, progress, message);
    }

    /// The system puts the app in the background: the socket is given up and nothing reconnects until the foreground.
    /// Where the system grants time in the background, the driver calls this when that time is over.
    ///
    /// Grace goes on. A claim goes on too, and so does a resume whose socket is open already.
    pub fn handle_background(&mut self, now: Now) {
        self.run_timers(now);
        self.go_to_background(now);
    }

    /// The app is back in the foreground: a session without a socket resumes at once.
    pub fn handle_foreground(&mut self, now: Now) {
        self.run_timers(now);
        self.come_to_foreground(now);
    }

    /// A socket opened.
    pub fn handle_opened(&mut self, now: Now, socket: SocketId) {
        self.run_timers(now);
        if self.is_current(socket) {
            self.take_open(now);
        }
    }

    /// A text message came.
    pub fn handle_text(&mut self, now: Now, socket: SocketId, text: &Bytes) {
        self.run_timers(now);
        if self.is_current(socket) {
            self.take_text(now, text);
        }
    }

    /// A binary message came.
    pub fn handle_binary(&mut self, now: Now, socket: SocketId) {
        self.run_timers(now);
        if self.is_current(socket) {
            self.take_binary(now);
        }
    }

    /// A pong came.
    pub fn handle_pong(&mut self, now: Now, socket: SocketId) {
        self.run_timers(now);
        if self.is_current(socket) {
            self.take_pong();
        }
    }

    /// A write failed.
    pub fn handle_send_failed(&mut self, now: Now, socket: SocketId) {
        self.run_timers(now);
        if self.is_current(socket) {
            self.take_send_failure(now);
        }
    }

    /// The socket is gone, or never opened.
    pub fn handle_lost(&mut self, now: Now, socket: SocketId, loss: SocketLoss) {
        self.run_timers(now);
        let is_current = self.is_current(socket);
        self.outputs.forget(socket);
        if is_current {
            self.lose(now, loss);
        }
    }

    /// The moment of the last `Idle` has come.
    pub fn handle_timeout(&mut self, now: Now) {
        self.run_timers(now);
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Output {
        loop {
            let output = match self.outputs.pop() {
                None => return Output::Idle { until: self.timers.next() },
                Some(Queued::Output(output)) => Some(output),
                Some(Queued::ToolSnapshot(socket)) => self.take_tool_snapshot(socket),
                Some(Queued::EventSnapshot(socket)) => self.take_event_snapshot(socket),
            };
            if let Some(output) = output {
                return output;
            }
        }
    }

    /// Carries out every deadline that is due.
    fn run_timers(&mut self, now: Now) {
        while let Some(timer) = self.timers.pop_due(now.mono) {
            match timer {
                Timer::Grace => self.expire(),
                Timer::Call(id) => self.time_call_out(&id),
                Timer::Handshake => self.time_handshake_out(now),
                Timer::Retry => match self.standing {
                    Standing::Claiming(_) => self.retry_claim(now),
                    Standing::Resuming(_) => self.resume(now),
                    Standing::Idle | Standing::Active(_) | Standing::Closed => {}
                },
                Timer::Keepalive => self.keep_alive(now),
            }
        }
    }

    /// Whether `socket` is the one that counts: a socket that was closed or lost before has nothing more to say.
    fn is_current(&self, socket: SocketId) -> bool {
        self.standing.socket() == Some(socket)
    }

    fn mint_attempt(&mut self) -> AttemptId {
        self.last_attempt += 1;
        AttemptId(self.last_attempt)
    }

    fn mint_registration(&mut self) -> Registration {
        self.last_registration += 1;
        Registration(self.last_registration)
    }
}
