//! Scenarios: a host, its apps and its callers in virtual time. Apps speak real frame texts.

mod bounds;
mod calls;
mod claims;
mod commands;
mod crash;

mod events;
mod keepalive;
mod listeners;
mod lost_ack;
mod parked;
mod random;
mod records;
mod registries;
mod restore;
mod resumes;
mod saves;
mod show;
mod shutdown;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::*;
use crate::wire::{Close, CloseReason, DaemonFrame, DaemonReceived, RawJson, Received};
use crate::{Moment, Now, Timestamp};

const START_MS: u64 = 1_700_000_000_500;
const LINK_TTL: Duration = Duration::from_secs(300);

/// A host with a clock. Every input drains the outputs and checks what must hold of each of them.
struct World {
    host: Host,
    now: Now,
    until: Option<Moment>,
    /// What happened since the last [`World::log`], a line each.
    log: Vec<String>,
    sockets: u64,
    /// Sockets that may be written to.
    open: BTreeSet<SocketId>,
    /// The newest ack of each socket: alias and resume token.
    acks: BTreeMap<SocketId, (String, String)>,
    /// Calls in the order in which the apps got them.
    calls: Vec<String>,
    finished: Vec<FinishedCall>,
    /// The save in flight.
    saving: Option<(Generation, Records)>,
}

/// An app as a test knows it.
struct App {
    socket: SocketId,
    session: String,
}

impl World {
    fn new() -> Self {
        Self::with(Settings::default())
    }

    fn with(settings: Settings) -> Self {
        Self {
            host: Host::new(settings, [7; 32]),
            now: Now { mono: Moment(1_000), wall: Timestamp(START_MS) },
            until: None,
            log: Vec::new(),
            sockets: 0,
            open: BTreeSet::new(),
            acks: BTreeMap::new(),
            calls: Vec::new(),
            finished: Vec::new(),
            saving: None,
        }
    }

    /// A host whose acks wait for their save.
    fn persistent() -> Self {
        Self::with(Settings { persist: true, boot: Some("boot".to_owned()), ..Settings::default() })
    }

    /// The save in flight ends.
    fn saved(&mut self, ok: bool) -> Records {
        let (generation, records) = self.saving.take().unwrap();
        self.act(|host, now| host.handle_saved(now, generation, ok));
        records
    }

    /// Saves whatever there is to save by now.
    fn save_all(&mut self) {
        while self.saving.is_some() {
            self.saved(true);
        }
    }

    /// Another host takes over from these records.
    fn restart(&mut self, records: Records) {
        self.host = Host::new(self.host.settings.clone(), [8; 32]);
        self.open.clear();
        self.saving = None;
        let records = Records::decode(records.encode().as_bytes()).unwrap();
        self.act(|host, now| host.restore(now, records));
    }

    /// One mutation, then everything that it wants done.
    fn act<T>(&mut self, act: impl FnOnce(&mut Host, Now) -> T) -> T {
        let result = act(&mut self.host, self.now);
        loop {
            let output = self.host.poll_output();
            if let Output::Idle { until } = output {
                assert!(until.is_none_or(|until| until > self.now.mono), "the next deadline is in the past");
                self.until = until;
                return result;
            }
            self.carry_out(output);
        }
    }

    fn carry_out(&mut self, output: Output) {
        self.log.push(show::output(&output));
        match output {
            Output::Send { socket, text } => {
                assert!(self.open.contains(&socket), "a frame to a closed socket");
                assert!(text.len() <= crate::wire::MAX_FRAME_BYTES);
                self.note_frame(socket, text);
            }
            Output::Ping { socket } => {
                assert!(self.open.contains(&socket), "a ping to a closed socket");
                assert!(self.acks.contains_key(&socket), "a ping before the ack");
            }
            Output::Close { socket, .. } | Output::Terminate { socket } => {
                assert!(self.open.remove(&socket), "a socket is closed twice");
            }
            Output::CallFinished(call) => self.finished.push(call),
            Output::Save { generation, records } => {
                assert!(self.saving.is_none(), "two saves at once");
                self.saving = Some((generation, *records));
            }
            Output::Event(_) | Output::Idle { .. } => {}
        }
    }

    fn note_frame(&mut self, socket: SocketId, text: String) {
        let DaemonReceived::Frame { frame: Ok(Some(frame)), .. } = DaemonReceived::decode(&Bytes::from(text)) else {
            panic!("apps would not take this frame")
        };
        let is_ack = matches!(frame, DaemonFrame::Ack(_));
        assert_eq!(is_ack, !self.acks.contains_key(&socket), "the ack is the first frame and the only one of its kind");
        match frame {
            DaemonFrame::Ack(ack) => {
                self.acks.insert(socket, (ack.alias, ack.resume_token));
            }
            DaemonFrame::ToolCall { id, .. } => self.calls.push(id),
            DaemonFrame::ToolCancel { .. } => {}
        }
    }

    /// What happened since the last look.
    fn log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    #[track_caller]
    fn expect(&mut self, lines: &[&str]) {
        assert_eq!(self.log(), lines);
    }

    /// Lets time pass, waking the host whenever it wants to be woken.
    fn pass(&mut self, time: Duration) {
        let end = self.now.mono + time;
        while let Some(until) = self.until.filter(|&until| until <= end) {
            self.jump(until.since(self.now.mono));
            self.act(Host::handle_timeout);
        }
        self.jump(end.since(self.now.mono));
    }

    /// Lets time pass without waking the host.
    fn jump(&mut self, time: Duration) {
        self.now = Now { mono: self.now.mono + time, wall: self.now.wall + time };
    }

    fn link(&mut self) -> MintedLink {
        self.link_for(Transport::Native, LINK_TTL)
    }

    fn link_for(&mut self, transport: Transport, ttl: Duration) -> MintedLink {
        let endpoint = Endpoint { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 8443 };
        self.act(|host, now| host.create_link(now, &LinkRequest { transport, endpoint, ttl })).unwrap()
    }

    fn connect(&mut self) -> SocketId {
        self.connect_by(Transport::Native)
    }

    fn connect_by(&mut self, transport: Transport) -> SocketId {
        self.sockets += 1;
        let socket = SocketId(self.sockets);
        self.open.insert(socket);
        self.act(|host, now| host.handle_opened(now, socket, transport));
        socket
    }

    fn text(&mut self, socket: SocketId, text: &str) {
        let received = Received::decode(&Bytes::copy_from_slice(text.as_bytes()));
        self.act(|host, now| host.handle_received(now, socket, received));
    }

    fn fault(&mut self, socket: SocketId, fault: SocketFault) {
        self.act(|host, now| host.handle_fault(now, socket, fault));
    }

    fn pong(&mut self, socket: SocketId) {
        self.act(|host, now| host.handle_pong(now, socket));
    }

    /// The driver reports the socket gone.
    fn gone(&mut self, socket: SocketId, close: Option<Close>) {
        self.open.remove(&socket);
        self.act(|host, now| host.handle_closed(now, socket, close));
    }

    /// The network loses the socket.
    fn drop_socket(&mut self, socket: SocketId) {
        self.gone(socket, None);
    }

    fn claim(&mut self, socket: SocketId, session: &str, token: &str) {
        let claim = json!({
            "type": "session_claim", "protocol_version": 2, "session_id": session, "token": token,
            "device_model": "Pixel 8",
        });
        self.text(socket, &claim.to_string());
    }

    fn resume(&mut self, socket: SocketId, session: &str, token: &str) {
        let resume =
            json!({ "type": "session_resume", "protocol_version": 2, "session_id": session, "resume_token": token });
        self.text(socket, &resume.to_string());
    }

    /// An app that has just claimed a link of its own; the log starts after it.
    fn claimed(&mut self) -> App {
        self.claimed_by(Transport::Native)
    }

    fn claimed_by(&mut self, transport: Transport) -> App {
        let link = self.link_for(transport, LINK_TTL);
        let socket = self.connect_by(transport);
        self.claim(socket, &link.session_id, &link.bootstrap.token_text());
        self.save_all();
        self.log();
        App { socket, session: link.session_id }
    }

    /// An app with these tools.
    fn app(&mut self, tools: &[Value]) -> App {
        let app = self.claimed();
        self.frame(&app, "tool_registry_snapshot", json!({ "tools": tools }));
        self.log();
        app
    }

    /// The resume token that the app got last on its socket.
    fn token(&self, app: &App) -> String {
        self.acks[&app.socket].1.clone()
    }

    fn alias(&self, app: &App) -> String {
        self.acks[&app.socket].0.clone()
    }

    /// The app says something as its session.
    fn frame(&mut self, app: &App, kind: &str, mut fields: Value) {
        fields["type"] = kind.into();
        fields["session_id"] = app.session.as_str().into();
        self.text(app.socket, &fields.to_string());
    }

    /// The app comes back on a new socket with the newest token.
    fn reconnect(&mut self, app: &mut App) {
        let token = self.token(app);
        let socket = self.connect();
        self.resume(socket, &app.session, &token);
        self.save_all();
        app.socket = socket;
    }

    fn call(&mut self, tool: &str, args: &str) -> Result<CallId, Refusal> {
        self.request(request(tool, args))
    }

    fn request(&mut self, request: CallRequest) -> Result<CallId, Refusal> {
        self.act(|host, now| host.call(now, request))
    }

    fn result(&mut self, app: &App, call: &CallId, result: Value) {
        self.frame(app, "tool_result", json!({ "id": &*call.0, "result": result }));
    }
}

fn request(tool: &str, args: &str) -> CallRequest {
    CallRequest {
        selector: None,
        tool: tool.to_owned(),
        args: RawJson::parse(args).unwrap(),
        timeout_ms: None,
        consent: false,
        room_bytes: usize::MAX,
    }
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": format!("Does {name}") })
}

fn with(mut tool: Value, key: &str, value: impl Into<Value>) -> Value {
    tool[key] = value.into();
    tool
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
