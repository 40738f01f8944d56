//! The one task that owns the daemon's state.
//!
//! Sockets and control connections are tasks of their own and send [`Event`]s; each event is one mutation at one reading of
//! the clock, after which every output of the host is carried out.

mod clients;
mod devices;

use std::time::Duration;

use appduct_proto::host::{
    self, CallId, EventBody, FinishedCall, Generation, Output, SocketFault, SocketId, SuspendReason, Transport,
};
use appduct_proto::wire::{Close, RawJson, Received};
use appduct_proto::{Moment, Now};
use appduct_rpc::RpcError;
use appduct_rpc::methods::{Attached, ToolsCall, WebAttach};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use crate::audit::Audit;
use crate::browser::{self, Admission, Desk};
use crate::clock::Clock;
use crate::control::{Client, ClientId, Slot};
use crate::events_log::EventsLog;
use crate::handlers::{self, Answer, Ended, Notification, Reply, Request, daemon_started};
use crate::links::Outbox;
use crate::state::State;
use crate::validation::{Check, Verdict};
use clients::Clients;

pub(crate) use devices::Devices;

/// Events that may wait. Senders wait when it is full, so a peer that sends too fast is read more slowly.
const MAILBOX_EVENTS: usize = 1024;

/// The system's timers stop while it sleeps and deadlines do not, so no timer runs longer than this.
const MAX_SLEEP: Duration = Duration::from_secs(60);

/// How long the reply to `daemon.shutdown` may take to leave.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long the last save may take. A daemon that does not save goes all the same.
const LAST_SAVE: Duration = Duration::from_secs(5);

/// How to reach the event loop.
pub(crate) type Mailbox = mpsc::Sender<Event>;

/// Everything that can happen to a daemon but time.
#[derive(Debug)]
pub(crate) enum Event {
    /// A device is through its handshakes.
    SocketOpened { socket: SocketId, transport: Transport, outbox: Outbox },
    /// A text message came from a device.
    SocketReceived { socket: SocketId, received: Received },
    /// Something is wrong with a device's socket below the frames.
    SocketFault { socket: SocketId, fault: SocketFault },
    /// A device answered a ping.
    SocketPong { socket: SocketId },
    /// A device is gone.
    SocketClosed { socket: SocketId, close: Option<Close> },
    /// A client connected to the control socket.
    ClientConnected { client: ClientId, handle: Client },
    /// A client asks for something.
    ClientRequest { client: ClientId, id: RawJson, request: Request, slot: Slot },
    /// It is known whether the arguments of a call fit.
    ArgsChecked { client: ClientId, id: RawJson, params: Box<ToolsCall>, slot: Slot, verdict: Verdict },
    /// It is known whether the result of a call fits.
    ResultChecked { call: CallId, verdict: Verdict },
    /// The SDK of a page in a browser waits for a link.
    PageReady { target: String, ttl_seconds: Option<u64>, answer: oneshot::Sender<Result<Admission, RpcError>> },
    /// It would not have it; its relay has ended.
    PageRefused { session_id: String, relay: (String, u64) },
    /// A page has been attached, or cannot be.
    PageAttached { client: ClientId, id: RawJson, slot: Slot, result: Result<Attached, RpcError> },
    /// A page's relay has ended.
    RelayEnded { relay: (String, u64) },
    /// A client hung up.
    ClientGone { client: ClientId },
    /// The save that was started last has ended.
    Saved { generation: Generation, result: std::io::Result<()> },
    /// The daemon is to go: a signal, or somebody asked for it and has heard the answer.
    Stop,
}

/// A new mailbox and what it fills.
pub(crate) fn mailbox() -> (Mailbox, mpsc::Receiver<Event>) {
    mpsc::channel(MAILBOX_EVENTS)
}

/// The owner of the state.
#[derive(Debug)]
pub(crate) struct EventLoop {
    state: State,
    clock: Clock,
    clients: Clients,
    events: mpsc::Receiver<Event>,
    mailbox: mpsc::WeakSender<Event>,
}

impl EventLoop {
    pub(crate) fn new(state: State, clock: Clock, mailbox: &Mailbox, events: mpsc::Receiver<Event>) -> Self {
        Self { state, clock, clients: Clients::default(), events, mailbox: mailbox.downgrade() }
    }

    /// Runs until somebody stops the daemon. By then every call has ended and every socket has been told to close; dropping
    /// the loop lets the control connections go once what waits for them is written.
    pub(crate) async fn run(mut self) -> Logs {
        let started = self.clock.now();
        let first = daemon_started(&self.state.facts.version, started.wall);
        self.state.events_log.record(first.json().as_str().to_owned());
        self.clients.publish_own(&first);
        self.state.audit.prune_if_due(started);
        let mut until = self.settle(started);
        loop {
            let event = tokio::select! {
                event = self.events.recv() => Some(event.unwrap_or(Event::Stop)),
                () = sleep(time_left(until, self.clock.now())) => None,
            };
            let now = self.clock.now();
            if until.is_some_and(|until| until <= now.mono) {
                self.state.host.handle_timeout(now);
                until = self.settle(now);
            }
            self.state.leaf.renew_if_due(now.wall);
            self.state.audit.prune_if_due(now);
            match event {
                None => {}
                Some(Event::Stop) => return self.stop(now).await,
                Some(event) => {
                    self.apply(now, event);
                    until = self.settle(now);
                }
            }
        }
    }

    /// Ends calls, tells the sockets and waits for the last save, which has the time of it.
    async fn stop(mut self, now: Now) -> Logs {
        self.state.host.shutdown(now);
        self.settle(now);
        for (call, result) in handlers::end_checks(&mut self.state, now) {
            self.clients.call_ended(&call, result);
        }
        let last_save = async {
            while self.state.host.is_saving()
                && let Some(event) = self.events.recv().await
            {
                let now = self.clock.now();
                // Nobody is served any more; the end of its connection tells the client.
                if !matches!(event, Event::ClientRequest { .. } | Event::ArgsChecked { .. } | Event::PageReady { .. }) {
                    self.apply(now, event);
                }
                self.settle(now);
            }
        };
        if timeout(LAST_SAVE, last_save).await.is_err() {
            tracing::warn!("the sessions could not be saved in time; what has happened since the last save is lost");
        }
        Logs { audit: self.state.audit, events_log: self.state.events_log }
    }

    fn apply(&mut self, now: Now, event: Event) {
        let host = &mut self.state.host;
        match event {
            Event::SocketOpened { socket, transport, outbox } => {
                self.state.devices.insert(socket, outbox);
                host.handle_opened(now, socket, transport);
            }
            Event::SocketReceived { socket, received } => host.handle_received(now, socket, received),
            Event::SocketFault { socket, fault } => host.handle_fault(now, socket, fault),
            Event::SocketPong { socket } => host.handle_pong(now, socket),
            Event::SocketClosed { socket, close } => {
                self.state.devices.remove(socket);
                host.handle_closed(now, socket, close);
            }
            Event::ClientConnected { client, handle } => self.clients.insert(client, handle),
            Event::ClientRequest { client, id, request, slot } => self.request(now, client, id, request, slot),
            Event::ArgsChecked { client, id, params, slot, verdict } => {
                // Nobody waits for a call of a client that has hung up.
                if self.clients.is_connected(client) {
                    let answer = handlers::call(&mut self.state, now, *params, Some(verdict));
                    self.answer(now, client, id, answer, slot);
                }
            }
            Event::ResultChecked { call, verdict } => {
                if let Some(result) = handlers::result_checked(&mut self.state, now, &call, verdict) {
                    self.clients.call_ended(&call, result);
                }
            }
            Event::PageReady { target, ttl_seconds, answer } => {
                let admission = handlers::page_ready(&mut self.state, now, target, ttl_seconds);
                // An answer that nobody waits for is that of a daemon that goes.
                answer.send(admission).ok();
            }
            Event::PageRefused { session_id, relay: (target, number) } => {
                self.state.relays.ended(&target, number);
                handlers::page_refused(&mut self.state, now, session_id);
            }
            Event::PageAttached { client, id, slot, result } => {
                self.clients.reply(client, id, result.map(Reply::Attached), slot);
            }
            Event::RelayEnded { relay: (target, number) } => self.state.relays.ended(&target, number),
            Event::ClientGone { client } => self.hung_up(now, client),
            Event::Saved { generation, result } => {
                host.handle_saved(now, generation, result.is_ok());
                self.state.saver.ended(result);
            }
            // Ends the loop before it gets here, or has ended it.
            Event::Stop => {}
        }
    }

    fn request(&mut self, now: Now, client: ClientId, id: RawJson, request: Request, slot: Slot) {
        let answer = handlers::handle(&mut self.state, now, request);
        self.answer(now, client, id, answer, slot);
    }

    fn answer(&mut self, now: Now, client: ClientId, id: RawJson, answer: Result<Answer, RpcError>, slot: Slot) {
        let result = match answer {
            Ok(Answer::AfterCheck { check, params }) => {
                return self.check(check, move |verdict| Event::ArgsChecked { client, id, params, slot, verdict });
            }
            Ok(Answer::AfterCall { call, follow }) => {
                return self.clients.await_call(call, client, id, slot, follow);
            }
            Ok(Answer::AfterBrowser(params)) => return self.attach(client, id, params, slot),
            Ok(Answer::Subscribe(subscription)) => return self.clients.subscribe(client, id, subscription, slot),
            Ok(Answer::Shutdown) => return self.say_goodbye(client, id, slot),
            Ok(Answer::Reply(reply)) => Ok(reply),
            Err(error) => Err(error),
        };
        // The events that the request has brought about come before its reply.
        self.settle(now);
        self.clients.reply(client, id, result, slot);
    }

    /// Replies that the daemon goes, and goes once the reply has left.
    fn say_goodbye(&self, client: ClientId, id: RawJson, slot: Slot) {
        let (written, told) = oneshot::channel();
        self.clients.reply_last(client, id, slot, written);
        let mailbox = self.mailbox.clone();
        tokio::spawn(async move {
            // A client that is gone, or that does not read, has heard enough.
            timeout(FAREWELL, told).await.ok();
            if let Some(mailbox) = mailbox.upgrade() {
                mailbox.send(Event::Stop).await.ok();
            }
        });
    }

    /// Has a page attached, and its frames carried for as long as it is there.
    fn attach(&self, client: ClientId, id: RawJson, params: WebAttach, slot: Slot) {
        let desk = Desk { mailbox: self.mailbox.clone(), web_port: self.state.facts.web_port };
        let held = self.state.relays.hold();
        tokio::spawn(async move {
            let (result, relay) = match browser::attach(&params, &desk).await {
                Ok((attached, relay)) => (Ok(attached), Some(relay)),
                Err(error) => (Err(error), None),
            };
            let tell = async |event| {
                if let Some(mailbox) = desk.mailbox.upgrade() {
                    mailbox.send(event).await.ok();
                }
            };
            tell(Event::PageAttached { client, id, slot, result }).await;
            if let Some(relay) = relay {
                let id = relay.id();
                relay.run().await;
                tell(Event::RelayEnded { relay: id }).await;
            }
            drop(held);
        });
    }

    /// Has a value checked elsewhere; the verdict comes as an event.
    fn check(&self, check: Check, event: impl FnOnce(Verdict) -> Event + Send + 'static) {
        let (validation, mailbox) = (self.state.validation.clone(), self.mailbox.clone());
        tokio::spawn(async move {
            let verdict = validation.check(check).await;
            if let Some(mailbox) = mailbox.upgrade() {
                mailbox.send(event(verdict)).await.ok();
            }
        });
    }

    /// Nobody waits for this client's calls any more.
    fn hung_up(&mut self, now: Now, client: ClientId) {
        for call in self.clients.remove(client) {
            self.state.host.abandon(now, &call);
            self.settle(now);
        }
    }

    /// Carries out what the host wants done, and what comes of that, until there is nothing more. Returns when the host
    /// wants to be called next.
    fn settle(&mut self, now: Now) -> Option<Moment> {
        loop {
            let until = self.drain(now);
            let Some(overfull) = self.state.devices.take_overfull() else { return until };
            self.state.host.handle_fault(now, overfull, SocketFault::SendFailed);
        }
    }

    fn drain(&mut self, now: Now) -> Option<Moment> {
        loop {
            match self.state.host.poll_output() {
                Output::Send { socket, text } => self.state.devices.send(socket, text),
                Output::Ping { socket } => self.state.devices.ping(socket),
                Output::Close { socket, close } => self.state.devices.close(socket, close),
                Output::Terminate { socket } => self.state.devices.terminate(socket),
                Output::Event(event) => {
                    self.log(&event);
                    self.clients.publish(&event);
                }
                Output::CallFinished(finished) => {
                    let call = finished.call.clone();
                    match handlers::finished(&mut self.state, now, finished) {
                        Ended::Answer(result) => self.clients.call_ended(&call, result),
                        Ended::Check(check) => {
                            self.check(check, move |verdict| Event::ResultChecked { call, verdict });
                        }
                    }
                }
                Output::Save { generation, records } => {
                    // The process holds a mailbox for as long as the loop runs.
                    if let Some(mailbox) = self.mailbox.upgrade() {
                        self.state.saver.start(generation, records, mailbox);
                    }
                }
                Output::Idle { until } => return until,
            }
        }
    }

    /// Writes an event down, unless an app posted it.
    fn log(&mut self, event: &host::Event) {
        narrate(event);
        if !matches!(event.body, EventBody::AppEvent { .. } | EventBody::AppEventPreview { .. }) {
            self.state.events_log.record(Notification::of(event).json().as_str().to_owned());
        }
    }
}

/// Tells the log of what a person looks for there; calls, of which there can be thousands in a second, only if it is asked
/// for them, since `events.log` has them all. Never arguments, results, tokens or what an app says.
fn narrate(event: &host::Event) {
    let alias = event.alias.as_deref().unwrap_or("-");
    match &event.body {
        EventBody::SessionClaimed { .. } => tracing::info!(alias, session = event.session_id, "paired"),
        EventBody::SessionResumed => tracing::info!(alias, "resumed"),
        EventBody::SessionSuspended { reason: SuspendReason::AppBackgrounded } => {
            tracing::info!(alias, "suspended: the app is in the background");
        }
        EventBody::SessionSuspended { reason: SuspendReason::ConnectionLost } => {
            tracing::info!(alias, "suspended: the connection is lost");
        }
        EventBody::SessionRevoked => tracing::info!(alias, session = event.session_id, "revoked"),
        EventBody::SessionExpired => tracing::info!(alias, "expired"),
        EventBody::ToolCallStarted { name, call } => {
            tracing::debug!(alias, tool = name, call = &*call.0, "call started")
        }
        EventBody::ToolCallFinished(FinishedCall { call, tool, outcome, duration, .. }) => {
            let (ms, end) = (duration.as_millis(), handlers::error_type(outcome).unwrap_or("result"));
            tracing::debug!(alias, tool, call = &*call.0, ms, end, "call ended");
        }
        EventBody::ToolCallDenied { name } => tracing::info!(alias, tool = name, "call denied by the policy"),
        EventBody::LinkCreated { .. }
        | EventBody::LinkExpired
        | EventBody::ToolsChanged { .. }
        | EventBody::EventsChanged { .. }
        | EventBody::AppEvent { .. }
        | EventBody::AppEventPreview { .. }
        | EventBody::ToolCallProgress { .. } => {}
    }
}

/// The logs of a daemon that goes.
#[derive(Debug)]
pub(crate) struct Logs {
    audit: Audit,
    events_log: EventsLog,
}

impl Logs {
    /// Waits until everything is written.
    pub(crate) async fn flush(&self) {
        self.audit.flush().await;
        self.events_log.flush().await;
    }
}

/// How long a timer may run now.
fn time_left(until: Option<Moment>, now: Now) -> Duration {
    until.map_or(MAX_SLEEP, |until| until.since(now.mono).min(MAX_SLEEP))
}
