//! A driver in virtual time that writes down what a core asks for.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use bytes::Bytes;

use crate::app::{
    Answer, ClientError, ClientEvent, ConnectInput, Core, Jitter, Lease, Options, Output, Secret, SessionChange,
    SocketError, SocketId, SocketLoss, Trust,
};
use crate::wire::{Device, Pin, RawJson};
use crate::{Moment, Now, Timestamp};

pub(super) const START_MS: u64 = 1_700_000_000_000;
pub(super) const EXPIRES_AT: u64 = 1_700_000_300;
pub(super) const SESSION: &str = "session-1";
pub(super) const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 1, 2));
pub(super) const PORT: u16 = 8443;

pub(super) fn pin(text: &str) -> Pin {
    Pin::of_spki(text.as_bytes())
}

pub(super) fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

pub(super) fn tool(name: &str) -> RawJson {
    raw(&format!(r#"{{"name":"{name}","description":"d"}}"#))
}

pub(super) fn event(name: &str) -> RawJson {
    raw(&format!(r#"{{"name":"{name}","description":"d"}}"#))
}

pub(super) fn options() -> Options {
    Options {
        device: Device { manufacturer: Some("Acme".into()), model: Some("Phone".into()), os: Some("OS 1".into()) },
        trust: Trust { embedded_pins: Vec::new(), mode: None, allow_private_lan_only: true },
        jitter: Jitter::Fixed(0.5),
        pings: true,
    }
}

pub(super) fn input() -> ConnectInput {
    ConnectInput {
        address: ADDRESS,
        port: PORT,
        session_id: SESSION.into(),
        secret: Secret::Token("link-token".into()),
        expires_at: EXPIRES_AT,
        device: Device::default(),
        link_pin: Some(pin("daemon")),
    }
}

pub(super) fn lease() -> Lease {
    Lease {
        session_id: SESSION.into(),
        resume_token: "resume-0".into(),
        alias: "phone".into(),
        address: ADDRESS,
        port: PORT,
        keepalive_interval_s: 15.0,
        grace_s: 10.0,
        disconnected_at: None,
        link_pin: Some(pin("daemon")),
    }
}

pub(super) struct Rig {
    pub(super) core: Core,
    pub(super) now: Now,
    pub(super) until: Option<Moment>,
    /// What the core asked for and nobody has looked at.
    pub(super) outputs: VecDeque<Output>,
    /// The socket that was asked for last.
    pub(super) socket: SocketId,
    /// Whether sockets open as soon as they are asked for.
    pub(super) opens: bool,
    /// How the next socket fails instead of opening.
    pub(super) next_failure: Option<SocketLoss>,
}

impl Rig {
    pub(super) fn new() -> Self {
        Self::with(options())
    }

    pub(super) fn with(options: Options) -> Self {
        Self::of(Core::new(options), START_MS)
    }

    pub(super) fn of(core: Core, start_ms: u64) -> Self {
        let now = Now { mono: Moment(5_000), wall: Timestamp(start_ms) };
        Self { core, now, until: None, outputs: VecDeque::new(), socket: SocketId(0), opens: true, next_failure: None }
    }

    /// A rig whose session is active, with nothing left to look at.
    pub(super) fn active() -> Self {
        let mut rig = Self::new();
        rig.activate();
        rig
    }

    /// A rig with the tool `ping`, whose session is active.
    pub(super) fn active_with_tool() -> Self {
        let mut rig = Self::new();
        rig.drive(|core, now| core.register_tool(now, &tool("ping"))).unwrap();
        rig.activate();
        rig
    }

    pub(super) fn activate(&mut self) {
        self.connect(input()).unwrap();
        self.ack("resume-1");
        self.take();
    }

    /// One mutation, then everything that comes of it.
    pub(super) fn drive<T>(&mut self, mutate: impl FnOnce(&mut Core, Now) -> T) -> T {
        let result = mutate(&mut self.core, self.now);
        self.drain();
        result
    }

    fn drain(&mut self) {
        let mut asked = None;
        loop {
            let output = self.core.poll_output();
            if let Output::Idle { until } = output {
                self.until = until;
                break;
            }
            if let Output::Open { socket, .. } = output {
                asked = Some(socket);
            }
            self.outputs.push_back(output);
        }
        let Some(socket) = asked else { return };
        self.socket = socket;
        match self.next_failure.take() {
            Some(loss) => self.drive(|core, now| core.handle_lost(now, socket, loss)),
            None if self.opens => self.drive(|core, now| core.handle_opened(now, socket)),
            None => {}
        }
    }

    pub(super) fn connect(&mut self, input: ConnectInput) -> Result<crate::app::AttemptId, crate::app::ConnectFault> {
        self.drive(|core, now| core.connect(now, input, false))
    }

    pub(super) fn receive(&mut self, text: &str) {
        let (socket, text) = (self.socket, Bytes::copy_from_slice(text.as_bytes()));
        self.drive(|core, now| core.handle_text(now, socket, &text));
    }

    pub(super) fn ack(&mut self, resume_token: &str) {
        self.receive(&ack(resume_token, ""));
    }

    pub(super) fn call(&mut self, id: &str, tool: &str) {
        self.receive(&format!(
            r#"{{"type":"tool_call","session_id":"{SESSION}","id":"{id}","name":"{tool}","args":{{}}}}"#
        ));
    }

    pub(super) fn respond(&mut self, call: &str, answer: Answer) {
        self.drive(|core, now| core.respond(now, call, answer));
    }

    pub(super) fn close(&mut self, code: u16, reason: &str) {
        self.lose(SocketLoss { code: Some(code), reason: Some(reason.into()), error: None });
    }

    pub(super) fn drop_socket(&mut self) {
        self.lose(SocketLoss::default());
    }

    pub(super) fn lose(&mut self, loss: SocketLoss) {
        let socket = self.socket;
        self.drive(|core, now| core.handle_lost(now, socket, loss));
    }

    /// Time passes; every deadline on the way comes at its own moment.
    pub(super) fn advance(&mut self, ms: u64) {
        let end = Moment(self.now.mono.0 + ms);
        while let Some(until) = self.until.filter(|until| *until <= end) {
            self.pass(until);
            self.drive(|core, now| core.handle_timeout(now));
        }
        self.pass(end);
    }

    /// Time passes in which the driver does nothing.
    pub(super) fn freeze(&mut self, ms: u64) {
        self.pass(Moment(self.now.mono.0 + ms));
    }

    fn pass(&mut self, to: Moment) {
        let passed: Duration = to.since(self.now.mono);
        self.now = Now { mono: to.max(self.now.mono), wall: self.now.wall + passed };
    }

    /// What came out since the last time, a line each.
    pub(super) fn take(&mut self) -> Vec<String> {
        self.outputs.drain(..).map(|output| line(&output)).collect()
    }

    /// The same without errors, whose words nothing pins.
    pub(super) fn take_without_errors(&mut self) -> Vec<String> {
        self.take().into_iter().filter(|line| !line.starts_with("error")).collect()
    }

    /// The errors of what came out.
    pub(super) fn take_errors(&mut self) -> Vec<ClientError> {
        let mut errors = Vec::new();
        for output in self.outputs.drain(..) {
            if let Output::Event(ClientEvent::Error(error)) = output {
                errors.push(error);
            }
        }
        errors
    }

    /// The frames of what came out.
    pub(super) fn take_sent(&mut self) -> Vec<String> {
        let mut sent = Vec::new();
        for output in self.outputs.drain(..) {
            if let Output::Send { text, .. } = output {
                sent.push(text);
            }
        }
        sent
    }

    /// The pins of the sockets that were asked for and that nobody has looked at.
    pub(super) fn pins(&self) -> Vec<Vec<Pin>> {
        let mut all = Vec::new();
        for output in &self.outputs {
            if let Output::Open { pins, .. } = output {
                all.push(pins.clone());
            }
        }
        all
    }
}

/// An ack for [`SESSION`]; `more` goes in behind the last field.
pub(super) fn ack(resume_token: &str, more: &str) -> String {
    format!(
        r#"{{"type":"session_ack","session_id":"{SESSION}","status":"ok","alias":"phone","resume_token":"{resume_token}","keepalive_interval_s":15,"grace_s":10{more}}}"#
    )
}

pub(super) fn failure(code: &'static str, retryable: bool) -> SocketLoss {
    let error = SocketError { code, message: format!("{code} happened"), retryable };
    SocketLoss { code: None, reason: None, error: Some(error) }
}

fn line(output: &Output) -> String {
    match output {
        Output::Open { socket, address, port, .. } => format!("open {} {address} {port}", socket.0),
        Output::Send { text, .. } => {
            let frame: serde_json::Value = serde_json::from_str(text).unwrap();
            let part = |key: &str| frame[key].as_str().map(|part| format!(" {part}")).unwrap_or_default();
            let parts: String =
                ["token", "resume_token", "operation", "id", "name"].iter().map(|key| part(key)).collect();
            let names: String = ["tools", "events"]
                .iter()
                .filter_map(|key| frame[*key].as_array())
                .map(|all| format!(" {:?}", all.iter().map(|one| one["name"].as_str().unwrap()).collect::<Vec<_>>()))
                .collect();
            let error = frame["error"]["type"].as_str().map(|kind| format!(" {kind}")).unwrap_or_default();
            format!("send {}{parts}{names}{error}", frame["type"].as_str().unwrap())
        }
        Output::Ping { .. } => "ping".into(),
        Output::Close { socket, close } => format!("close {} {} {}", socket.0, close.code, close.reason),
        Output::StoreLease(lease) => {
            let lost = lease
                .disconnected_at
                .map(|at| format!(" lost at {}", at.0 as i64 - START_MS as i64))
                .unwrap_or_default();
            format!("lease {}{lost}", lease.resume_token)
        }
        Output::ClearLease => "no lease".into(),
        Output::Event(ClientEvent::State { state, reason }) => {
            format!("state {state}{}", reason.as_ref().map(|reason| format!(" {reason}")).unwrap_or_default())
        }
        Output::Event(ClientEvent::Session(change)) => match change {
            SessionChange::Claimed { session_id, alias } => format!("claimed {session_id} {alias}"),
            SessionChange::Resumed { session_id, alias } => format!("resumed {session_id} {alias}"),
            SessionChange::Lost { reason } => format!("lost {reason}"),
        },
        Output::Event(ClientEvent::Error(error)) => format!("error {}: {}", error.phase.as_str(), error.message),
        Output::RunTool { call, name, args, .. } => format!("run {call} {name} {}", args.as_str()),
        Output::CancelTool { call, reason } => format!("cancel {call} {reason}"),
        Output::Settled { attempt, result } => match result {
            Ok(()) => format!("settled {} ok", attempt.0),
            Err(fault) => format!("settled {} {}", attempt.0, fault.code()),
        },
        Output::Idle { .. } => unreachable!("a drain ends at it"),
    }
}
