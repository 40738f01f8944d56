//! The thread: every input goes into the core at one moment, its outputs are carried out, and then it waits.

use std::collections::{BTreeMap, VecDeque};
use std::thread;

use appduct_proto::app::{
    Answer, AttemptId, ClientError, ClientEvent, Core, Jitter, Options, Output, Phase, Registration, SocketId, State,
    Trust,
};
use appduct_proto::wire::{Device, ToolErrorType};
use appduct_proto::{Moment, Now};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};

use super::call::{CallEvent, Port};
use super::calls::{Calls, Running};
use super::handler::Handler;
use super::lease::LeaseSlot;
use super::mailbox::{Command, Kind, Mailbox};
use super::socket::{CLOSING_TIME, SocketEvent, Sockets};
use super::{Engine, Status, clock, subscription};
use crate::error::PIN_MISMATCH;
use crate::{ConnectError, Event};

pub(super) struct Driver {
    core: Core,
    handlers: BTreeMap<String, (Registration, Handler)>,
    calls: Calls,
    sockets: Sockets,
    lease: LeaseSlot,
    waiting: BTreeMap<AttemptId, oneshot::Sender<Result<(), ConnectError>>>,
    /// Those whose link was being followed already, so that no attempt of their own settles.
    joined: Vec<oneshot::Sender<Result<(), ConnectError>>>,
    last_error: Option<ClientError>,
    status: watch::Sender<Status>,
    events: broadcast::Sender<Event>,
    /// Sockets whose queue is full: for the core to hear of once it has been drained.
    overrun: VecDeque<SocketId>,
    until: Option<Moment>,
}

/// What wakes the driver.
enum Wake {
    Command(Option<Command>),
    Call(CallEvent),
    Socket(SocketId, SocketEvent),
    Timeout,
}

impl Driver {
    /// Starts the thread. Where the system has none left, the engine is there and answers that it is not running.
    pub(super) fn start(device: Device, trust: Trust, lease_slot: String) -> Engine {
        crate::marker::keep();
        let (commands, inbox) = mpsc::unbounded_channel();
        let (status, status_out) = watch::channel(Status::default());
        let (events, _) = broadcast::channel(subscription::CAPACITY);
        let events_out = events.downgrade();
        let lease = LeaseSlot::open(lease_slot);
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => {
                    tracing::error!(%error, "appduct cannot start: no runtime");
                    return;
                }
            };
            let jitter = Jitter::Seeded(getrandom::u64().unwrap_or_default());
            let options = Options { device, trust, jitter, pings: true };
            runtime.block_on(drive(Core::new(options), lease, inbox, status, events));
        };
        let thread = thread::Builder::new().name("appduct".to_owned()).spawn(run);
        let thread = match thread {
            Ok(thread) => Some(thread.thread().id()),
            Err(error) => {
                tracing::error!(%error, "appduct cannot start: no thread");
                None
            }
        };
        Engine { mailbox: Mailbox::new(commands, thread), status: status_out, events: events_out }
    }

    /// Takes what woke the driver. Returns who waits for the end, if this is it.
    fn take(&mut self, wake: Wake) -> Option<Ending> {
        let now = clock::now();
        match wake {
            Wake::Command(None) => return Some(Ending(None)),
            Wake::Command(Some(Command::ShutDown(reply))) => return Some(Ending(Some(reply))),
            Wake::Command(Some(command)) => self.obey(now, command),
            Wake::Call(event) => self.take_call_event(now, event),
            Wake::Socket(socket, event) => {
                match event {
                    SocketEvent::Opened => self.core.handle_opened(now, socket),
                    SocketEvent::Text(text) => self.core.handle_text(now, socket, &text),
                    SocketEvent::Binary => self.core.handle_binary(now, socket),
                    SocketEvent::Pong => self.core.handle_pong(now, socket),
                    SocketEvent::SendFailed => self.core.handle_send_failed(now, socket),
                    SocketEvent::Lost(loss) => {
                        self.sockets.forget(socket);
                        self.core.handle_lost(now, socket, loss);
                    }
                }
                self.settle(now);
            }
            Wake::Timeout => {
                self.core.handle_timeout(now);
                self.settle(now);
            }
        }
        None
    }

    fn obey(&mut self, now: Now, command: Command) {
        // Whoever asked may be gone, so an answer that reaches nobody is as good as any.
        match command {
            Command::RegisterTool { descriptor, handler, reply } => {
                let registered = self.core.register_tool(now, &descriptor);
                let unneeded = match &registered {
                    Ok(registration) => {
                        let replaced = self.handlers.insert(handler.tool.clone(), (*registration, handler));
                        replaced.map(|(_, handler)| handler)
                    }
                    Err(_) => Some(handler),
                };
                self.settle(now);
                reply.send((registered, unneeded)).unwrap_or_default();
            }
            Command::RegisterEvent { descriptor, reply } => {
                let registered = self.core.register_event(now, &descriptor);
                self.settle(now);
                reply.send(registered).unwrap_or_default();
            }
            Command::Unregister { kind: Kind::Tool(name), registration, reply } => {
                self.core.unregister_tool(now, registration);
                let holds_the_name = self.handlers.get(&name).is_some_and(|(held, _)| *held == registration);
                let unneeded = if holds_the_name { self.handlers.remove(&name) } else { None };
                self.settle(now);
                reply.send(unneeded.map(|(_, handler)| handler)).unwrap_or_default();
            }
            Command::Unregister { kind: Kind::Event, registration, reply } => {
                self.core.unregister_event(now, registration);
                self.settle(now);
                reply.send(None).unwrap_or_default();
            }
            Command::Tools(reply) => reply.send(self.core.tools()).unwrap_or_default(),
            Command::PostEvent { name, payload, reply } => {
                let posted = self.core.post_event(now, &name, payload.as_ref());
                self.settle(now);
                reply.send(posted).unwrap_or_default();
            }
            Command::Connect { link, reply } => self.connect(now, &link, reply),
            Command::HandleUrl { url, reply } => {
                let is_link = self.core.handle_url(now, &url);
                self.settle(now);
                reply.send(is_link).unwrap_or_default();
            }
            Command::Disconnect(reply) => {
                self.core.disconnect(now);
                self.settle(now);
                reply.send(()).unwrap_or_default();
            }
            Command::RestoreSession(reply) => {
                let is_free = matches!(self.core.state(), State::Idle | State::Closed);
                let lease = if is_free { self.lease.load() } else { None };
                let is_restored = self.core.restore_session(now, lease);
                self.settle(now);
                reply.send(is_restored).unwrap_or_default();
            }
            Command::Background(reply) => {
                self.core.handle_background(now);
                self.settle(now);
                reply.send(()).unwrap_or_default();
            }
            Command::Foreground(reply) => {
                self.core.handle_foreground(now);
                self.settle(now);
                reply.send(()).unwrap_or_default();
            }
            Command::ShutDown(reply) => reply.send(()).unwrap_or_default(),
        }
    }

    fn connect(&mut self, now: Now, link: &str, reply: oneshot::Sender<Result<(), ConnectError>>) {
        match self.core.connect_link(now, link) {
            Ok(Some(attempt)) => drop(self.waiting.insert(attempt, reply)),
            Ok(None) => self.joined.push(reply),
            Err(fault) => reply.send(Err(fault.into())).unwrap_or_default(),
        }
        self.settle(now);
    }

    fn take_call_event(&mut self, now: Now, event: CallEvent) {
        match event {
            CallEvent::Progress { call, fraction, message, reply } => {
                if let Some(id) = self.calls.id_in_flight(call) {
                    self.core.report_progress(now, &id, fraction, message.as_deref());
                    self.settle(now);
                }
                reply.send(()).unwrap_or_default();
            }
            CallEvent::Done { call, answer } => {
                let Some(Running { id, tool, .. }) = self.calls.finish(call) else { return };
                let failure = match &answer {
                    Answer::Error { kind: ToolErrorType::ToolExecutionError, message, .. } => Some(message.clone()),
                    Answer::Error { .. } | Answer::Result(_) | Answer::NotJson => None,
                };
                self.core.respond(now, &id, answer);
                self.settle(now);
                if let Some(message) = failure {
                    self.tell(Event::Error(ClientError {
                        phase: Phase::Tool,
                        message: format!("Tool \"{tool}\" handler failed: {message}"),
                        code: None,
                        close_reason: None,
                        retryable: None,
                        hint: None,
                        tool: Some(tool),
                        call: Some(id),
                    }));
                }
            }
        }
    }

    /// Drains the core until it waits.
    fn settle(&mut self, now: Now) {
        self.publish();
        loop {
            while self.perform() {}
            let Some(socket) = self.overrun.pop_front() else { break };
            self.core.handle_send_failed(now, socket);
        }
        self.publish();
        self.answer_joined();
    }

    /// Does the next thing that the core asks for; `false` if there is nothing.
    fn perform(&mut self) -> bool {
        match self.core.poll_output() {
            Output::Idle { until } => {
                self.until = until;
                return false;
            }
            Output::Open { socket, address, port, pins } => self.sockets.open(socket, (address, port).into(), &pins),
            Output::Send { socket, text } => {
                if !self.sockets.send(socket, text) {
                    self.overrun.push_back(socket);
                }
            }
            Output::Ping { socket } => self.sockets.ping(socket),
            Output::Close { socket, close } => self.sockets.close(socket, close),
            Output::StoreLease(lease) => self.lease.store(lease),
            Output::ClearLease => self.lease.clear(),
            Output::Event(event) => {
                if let ClientEvent::Error(error) = &event {
                    self.last_error = Some(error.clone());
                }
                self.tell(event.into());
            }
            Output::RunTool { call, name, registration, args } => {
                let session_id = self.core.session_id().unwrap_or_default().to_owned();
                let (held, handler) = self.handlers.get(&name).expect("a tool that is called is registered");
                debug_assert_eq!(*held, registration, "handlers change with the core");
                self.calls.start(handler, call, session_id, args);
            }
            Output::CancelTool { call, reason } => self.calls.cancel(&call, reason),
            Output::Settled { attempt, result } => {
                if let Some(reply) = self.waiting.remove(&attempt) {
                    reply.send(result.map_err(ConnectError::from)).unwrap_or_default();
                }
            }
        }
        true
    }

    /// Lets handles see where the core stands.
    fn publish(&self) {
        let core = &self.core;
        self.status.send_if_modified(|status| {
            let is_same = status.state == core.state()
                && status.session_id.as_deref() == core.session_id()
                && status.alias.as_deref() == core.alias();
            if !is_same {
                *status = Status {
                    state: core.state(),
                    session_id: core.session_id().map(str::to_owned),
                    alias: core.alias().map(str::to_owned),
                };
            }
            !is_same
        });
    }

    /// Answers those who wait for an attempt that is not theirs, once it is decided.
    fn answer_joined(&mut self) {
        let result = match self.core.state() {
            State::Connecting | State::Reconnecting => return,
            State::Active => Ok(()),
            State::Idle | State::Closed => Err(self.why_closed()),
        };
        for reply in self.joined.drain(..) {
            reply.send(result.clone()).unwrap_or_default();
        }
    }

    fn why_closed(&self) -> ConnectError {
        match &self.last_error {
            Some(ClientError { close_reason: Some(reason), .. }) => ConnectError::Rejected { reason: reason.clone() },
            Some(ClientError { code: Some(code), .. }) if code == PIN_MISMATCH => ConnectError::PinMismatch,
            Some(ClientError { message, .. }) => {
                ConnectError::Unreachable { code: "connection_failed", message: message.clone() }
            }
            None => ConnectError::ClosedByApp,
        }
    }

    fn tell(&self, event: Event) {
        // Without receivers there is nobody to tell.
        self.events.send(event).map(drop).unwrap_or_default();
    }
}

/// Who waits for the driver's end.
struct Ending(Option<oneshot::Sender<()>>);

async fn drive(
    core: Core,
    lease: LeaseSlot,
    mut inbox: mpsc::UnboundedReceiver<Command>,
    status: watch::Sender<Status>,
    events: broadcast::Sender<Event>,
) {
    let (sockets, mut socket_events) = Sockets::new();
    let (call_events, mut calls) = mpsc::unbounded_channel();
    let port = Port { events: call_events, thread: thread::current().id() };
    let mut driver = Driver {
        core,
        handlers: BTreeMap::new(),
        calls: Calls::new(port),
        sockets,
        lease,
        waiting: BTreeMap::new(),
        joined: Vec::new(),
        last_error: None,
        status,
        events,
        overrun: VecDeque::new(),
        until: None,
    };
    let ending = loop {
        let wake = tokio::select! {
            command = inbox.recv() => Wake::Command(command),
            Some(event) = calls.recv() => Wake::Call(event),
            Some((socket, event)) = socket_events.recv() => Wake::Socket(socket, event),
            () = wait_until(driver.until) => Wake::Timeout,
        };
        if let Some(ending) = driver.take(wake) {
            break ending;
        }
    };
    drop((inbox, calls));
    let now = clock::now();
    driver.core.shut_down(now);
    driver.settle(now);
    // Closing is a courtesy to the daemon; past its time the sockets are dropped.
    drop(timeout(CLOSING_TIME, driver.sockets.closed()).await);
    if let Ending(Some(reply)) = ending {
        reply.send(()).unwrap_or_default();
    }
}

async fn wait_until(moment: Option<Moment>) {
    match moment {
        Some(moment) => sleep(moment.since(clock::now().mono)).await,
        None => std::future::pending().await,
    }
}
