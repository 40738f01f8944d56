//! One host and its apps, with a network between them.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use bytes::Bytes;

use super::network::{Arrival, Message, Network};
use crate::app::{
    Answer, ClientEvent, Core, Jitter, Lease, Options, SessionChange, SocketError, SocketLoss, State, Trust,
};
use crate::host::{
    CallId, CallRequest, Endpoint, FinishedCall, Host, LinkRequest, Outcome, Settings, ToolQuery, Transport,
};
use crate::wire::{DeepLink, Device, Pin, RawJson, Received};
use crate::{Moment, Now, Timestamp, app, host};

const START: Now = Now { mono: Moment(1_000), wall: Timestamp(1_700_000_000_000) };

/// A text that is JSON.
#[must_use]
pub fn raw(text: &str) -> RawJson {
    RawJson::parse(text).expect("the text is JSON")
}

/// The descriptor of a tool of this name.
#[must_use]
pub fn tool(name: &str) -> RawJson {
    raw(&format!(r#"{{"name":"{name}","description":"d"}}"#))
}

/// An app, and what its driver knows.
#[derive(Debug)]
pub struct App {
    /// The machine.
    pub core: Core,
    until: Option<Moment>,
    /// The stored lease.
    pub lease: Option<Lease>,
    /// The process is suspended until then: nothing reaches it, and its timers come late.
    frozen_until: Option<Moment>,
    /// How long its handlers take.
    pub handler_ms: u64,
    /// What the listeners heard of the session.
    pub changes: Vec<SessionChange>,
    /// Whether each `connect` that settled was a success.
    pub settled: Vec<bool>,
    /// Why handlers were told to stop.
    pub cancelled: Vec<String>,
}

/// A host and its apps in virtual time, joined by a network.
#[derive(Debug)]
pub struct Pair {
    /// The time.
    pub now: Now,
    /// The daemon's end.
    pub host: Host,
    host_until: Option<Moment>,
    /// The apps by their numbers.
    pub apps: Vec<App>,
    /// What lies between.
    pub network: Network,
    /// Every call that the host took, and how often it ended.
    pub calls: BTreeMap<CallId, Vec<FinishedCall>>,
}

impl Pair {
    /// A host without apps, whose tokens follow from the seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut bytes = [7; 32];
        bytes[..8].copy_from_slice(&seed.to_be_bytes());
        Self {
            now: START,
            host: Host::new(Settings::default(), bytes),
            host_until: None,
            apps: Vec::new(),
            network: Network::new(20),
            calls: BTreeMap::new(),
        }
    }

    /// Adds an app of this model with the tools `who` and `t`.
    pub fn add_app(&mut self, model: &str, seed: u64) -> usize {
        let device = Device { model: Some(model.to_owned()), ..Device::default() };
        let trust = Trust { allow_private_lan_only: true, ..Trust::default() };
        let core = Core::new(Options { device, trust, jitter: Jitter::Seeded(seed), pings: true });
        self.apps.push(App {
            core,
            until: None,
            lease: None,
            frozen_until: None,
            handler_ms: 50,
            changes: Vec::new(),
            settled: Vec::new(),
            cancelled: Vec::new(),
        });
        let app = self.apps.len() - 1;
        for name in ["who", "t"] {
            self.drive_app(app, |core, now| core.register_tool(now, &tool(name))).expect("it is a descriptor");
        }
        self.drive_app(app, |core, now| core.register_event(now, &raw(r#"{"name":"e","description":"d"}"#)))
            .expect("it is a descriptor");
        app
    }

    /// Mints a link and gives it to the app. Returns the session.
    pub fn link(&mut self, app: usize) -> String {
        let endpoint = Endpoint { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 8443 };
        let request = LinkRequest { transport: Transport::Native, endpoint, ttl: Duration::from_secs(300) };
        let minted = self.drive_host(|host, now| host.create_link(now, &request)).expect("the TTL is within the bound");
        let payload = minted.bootstrap.encode().expect("a minted link has a payload");
        let url = DeepLink { payload, pin: Some(Pin::of_spki(b"daemon")) }.compose("app").expect("it is a scheme");
        self.drive_app(app, |core, now| core.connect_link(now, &url)).expect("the core takes the link");
        minted.session_id
    }

    /// Calls a tool; `None` if the host refuses.
    pub fn call(&mut self, selector: &str, tool: &str) -> Option<CallId> {
        let request = CallRequest {
            selector: Some(selector.to_owned()),
            tool: tool.to_owned(),
            args: RawJson::empty_object(),
            timeout_ms: None,
            consent: false,
            room_bytes: usize::MAX,
        };
        let now = self.now;
        let call = self.host.call(now, request).ok();
        // Before the outputs: a call may end in the mutation that starts it.
        if let Some(call) = &call {
            assert!(self.calls.insert(call.clone(), Vec::new()).is_none(), "an id is used twice");
        }
        self.drain_host();
        call
    }

    /// How a call ended; it must have ended once.
    #[must_use]
    pub fn outcome(&self, call: &CallId) -> &Outcome {
        let ends = &self.calls[call];
        assert_eq!(ends.len(), 1, "{call:?}");
        &ends[0].outcome
    }

    /// One mutation of an app, then everything that it wants done.
    pub fn drive_app<T>(&mut self, app: usize, mutate: impl FnOnce(&mut Core, Now) -> T) -> T {
        let result = mutate(&mut self.apps[app].core, self.now);
        self.drain_app(app);
        result
    }

    /// One mutation of the host, then everything that it wants done.
    pub fn drive_host<T>(&mut self, mutate: impl FnOnce(&mut Host, Now) -> T) -> T {
        let result = mutate(&mut self.host, self.now);
        self.drain_host();
        result
    }

    /// Suspends an app's process for so long.
    pub fn freeze(&mut self, app: usize, ms: u64) {
        let until = Some(Moment(self.now.mono.0 + ms));
        let app = &mut self.apps[app];
        app.frozen_until = app.frozen_until.max(until);
    }

    /// Breaks every connection.
    pub fn cut_all(&mut self) {
        for id in self.network.live() {
            self.network.cut(self.now.mono, id);
        }
    }

    /// Lets every connection go silent.
    pub fn stall_all(&mut self) {
        for id in self.network.live() {
            self.network.connection(id).is_stalled = true;
        }
    }

    /// Lets time pass.
    pub fn run(&mut self, ms: u64) {
        let end = Moment(self.now.mono.0 + ms);
        while let Some(next) = self.next().filter(|next| *next <= end) {
            self.pass(next);
            self.turn();
        }
        self.pass(end);
    }

    /// The next moment at which anything happens.
    fn next(&self) -> Option<Moment> {
        let apps = self.apps.iter().filter_map(|app| Some(app.until?.max(app.frozen_until.unwrap_or_default())));
        apps.chain(self.host_until).chain(self.network.next()).min().map(|next| next.max(self.now.mono))
    }

    fn pass(&mut self, to: Moment) {
        let passed = to.since(self.now.mono);
        self.now = Now { mono: to.max(self.now.mono), wall: self.now.wall + passed };
    }

    fn turn(&mut self) {
        let now = self.now.mono;
        while let Some((place, arrival)) = self.network.take_due(now) {
            let receiver = match &arrival {
                Arrival::OpenedAtApp(id) | Arrival::ToApp(id, _) => Some(self.network.connection(*id).app),
                Arrival::Answer(app, _) => Some(*app),
                Arrival::OpenedAtHost(_) | Arrival::ToHost(..) => None,
            };
            match receiver.and_then(|app| self.apps[app].frozen_until).filter(|until| *until > now) {
                Some(until) => self.network.put_off(until, place, arrival),
                None => self.arrive(arrival),
            }
        }
        if self.host_until.is_some_and(|until| until <= now) {
            self.drive_host(Host::handle_timeout);
            assert!(self.host_until.is_none_or(|until| until > now));
        }
        for app in 0..self.apps.len() {
            let frozen = self.apps[app].frozen_until.is_some_and(|until| until > now);
            if !frozen && self.apps[app].until.is_some_and(|until| until <= now) {
                self.drive_app(app, Core::handle_timeout);
                // Not later than `now` only where the timer's socket was refused and the backoff drew a zero.
                assert!(self.apps[app].until.is_none_or(|until| until >= now));
            }
        }
    }

    fn arrive(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::OpenedAtHost(id) => {
                let connection = self.network.connection(id);
                if connection.app_end {
                    self.drive_host(|host, now| host.handle_opened(now, id, Transport::Native));
                } else {
                    connection.host_end = false;
                }
            }
            Arrival::OpenedAtApp(id) => {
                let Some((app, socket)) = self.open_app_end(id) else { return };
                let stalls = self.network.stalls;
                self.network.connection(id).is_stalled |= stalls;
                self.drive_app(app, |core, now| core.handle_opened(now, socket));
            }
            Arrival::ToApp(id, message) => {
                let Some((app, socket)) = self.open_app_end(id) else { return };
                match message {
                    Message::Text(text) => {
                        self.drive_app(app, |core, now| core.handle_text(now, socket, &Bytes::from(text)));
                    }
                    Message::Ping => self.network.send_to_host(self.now.mono, id, Message::Pong),
                    Message::Pong => self.drive_app(app, |core, now| core.handle_pong(now, socket)),
                    Message::End(close) => {
                        self.network.connection(id).app_end = false;
                        let (code, reason) = close.map(|close| (close.code, close.reason)).unzip();
                        let loss = SocketLoss { code, reason, error: None };
                        self.drive_app(app, |core, now| core.handle_lost(now, socket, loss));
                    }
                }
            }
            Arrival::ToHost(id, message) => {
                if !self.network.connection(id).host_end {
                    return;
                }
                match message {
                    Message::Text(text) => {
                        let received = Received::decode(&Bytes::from(text));
                        self.drive_host(|host, now| host.handle_received(now, id, received));
                    }
                    Message::Ping => self.network.send_to_app(self.now.mono, id, Message::Pong),
                    Message::Pong => self.drive_host(|host, now| host.handle_pong(now, id)),
                    Message::End(close) => {
                        self.network.connection(id).host_end = false;
                        self.drive_host(|host, now| host.handle_closed(now, id, close));
                    }
                }
            }
            Arrival::Answer(app, call) => {
                let result = raw(&format!("{app}"));
                self.drive_app(app, |core, now| core.respond(now, &call, Answer::Result(result)));
            }
        }
    }

    /// Whom a message for an app reaches: nobody if its end is closed.
    fn open_app_end(&mut self, id: host::SocketId) -> Option<(usize, app::SocketId)> {
        let connection = self.network.connection(id);
        connection.app_end.then_some((connection.app, connection.app_socket))
    }

    fn drain_app(&mut self, at: usize) {
        let now = self.now.mono;
        let mut refused = None;
        loop {
            let app = &mut self.apps[at];
            match app.core.poll_output() {
                app::Output::Idle { until } => {
                    app.until = until;
                    let Some(socket) = refused.take() else { return };
                    let message = "nobody answers".to_owned();
                    let error = Some(SocketError { code: "host_unreachable", message, retryable: true });
                    app.core.handle_lost(self.now, socket, SocketLoss { code: None, reason: None, error });
                }
                app::Output::Open { socket, .. } => {
                    if !self.network.connect(now, at, socket) {
                        refused = Some(socket);
                    }
                }
                app::Output::Send { socket, text } => {
                    let id = self.network.of_app(at, socket).expect("only what was opened is sent over");
                    assert!(self.network.connection(id).app_end);
                    self.network.send_to_host(now, id, Message::Text(text));
                }
                app::Output::Ping { socket } => {
                    let id = self.network.of_app(at, socket).expect("only what was opened is pinged");
                    self.network.send_to_host(now, id, Message::Ping);
                }
                app::Output::Close { socket, close } => {
                    if let Some(id) = self.network.of_app(at, socket) {
                        self.network.connection(id).app_end = false;
                        self.network.send_to_host(now, id, Message::End(Some(close)));
                    }
                }
                app::Output::StoreLease(lease) => app.lease = Some(lease),
                app::Output::ClearLease => app.lease = None,
                app::Output::Event(ClientEvent::Session(change)) => app.changes.push(change),
                app::Output::Event(ClientEvent::State { .. } | ClientEvent::Error(_)) => {}
                app::Output::RunTool { call, .. } => {
                    let done = Moment(now.0 + app.handler_ms);
                    self.network.put(done, Arrival::Answer(at, call));
                }
                app::Output::CancelTool { reason, .. } => app.cancelled.push(reason),
                app::Output::Settled { result, .. } => app.settled.push(result.is_ok()),
            }
        }
    }

    fn drain_host(&mut self) {
        let now = self.now.mono;
        loop {
            match self.host.poll_output() {
                host::Output::Idle { until } => {
                    self.host_until = until;
                    return;
                }
                host::Output::Send { socket, text } => self.network.send_to_app(now, socket, Message::Text(text)),
                host::Output::Ping { socket } => self.network.send_to_app(now, socket, Message::Ping),
                host::Output::Close { socket, close } => {
                    self.network.send_to_app(now, socket, Message::End(Some(close)));
                    self.network.end_at_host(now, socket);
                }
                host::Output::Terminate { socket } => {
                    self.network.send_to_app(now, socket, Message::End(None));
                    self.network.end_at_host(now, socket);
                }
                host::Output::Event(_) => {}
                host::Output::Save { generation, .. } => self.host.handle_saved(self.now, generation, true),
                host::Output::CallFinished(call) => {
                    self.calls.get_mut(&call.call).expect("only what was called ends").push(call);
                }
            }
        }
    }

    /// Both ends agree: the session is active on both, with the same registry.
    pub fn check_agreement(&self, app: usize, session_id: &str) {
        let core = &self.apps[app].core;
        assert_eq!(core.state(), State::Active, "app {app}: {:?} {:?}", self.apps[app].changes, self.apps[app].settled);
        assert_eq!(core.session_id(), Some(session_id), "app {app}");
        let there = self.host.session(Some(session_id)).expect("the host has the session");
        assert!(there.suspended.is_none(), "app {app}");
        assert_eq!(core.alias(), Some(there.alias.as_str()));
        let page = self.host.list_tools(Some(session_id), &ToolQuery::default()).expect("the host has the session");
        let listed: BTreeMap<_, _> =
            page.tools.iter().map(|tool| (tool.descriptor.name.clone(), tool.descriptor.raw().clone())).collect();
        let registered: BTreeMap<_, _> =
            core.tools().into_iter().map(|tool| (tool.name.clone(), tool.raw().clone())).collect();
        assert_eq!(listed, registered, "app {app}");
    }

    /// Every call ended, once.
    pub fn check_calls(&self) {
        for (call, ends) in &self.calls {
            assert_eq!(ends.len(), 1, "{call:?} ended {} times", ends.len());
        }
    }
}
