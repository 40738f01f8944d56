//! What the world around a core can see, and what it holds the core to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use appduct_proto::app::{
    Answer, AttemptId, ClientEvent, ConnectInput, Core, Jitter, Lease, Output, Registration, SocketId, SocketLoss,
    State,
};
use appduct_proto::wire::{MAX_FRAME_BYTES, ToolErrorType};
use appduct_proto::{Moment, Now, Timestamp};
use bytes::Bytes;
use serde_json::Value;

use super::samples::{SESSION, START_MS, ack, descriptor, failure, input, lease, options, raw};
use super::step::Step;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Socket {
    Asked,
    Open,
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Running,
    Answered,
    Ended,
}

/// What the world around a core can see, and what it holds the core to.
pub(super) struct World {
    core: Core,
    now: Now,
    until: Option<Moment>,
    sockets: BTreeMap<SocketId, Socket>,
    last: SocketId,
    calls: BTreeMap<String, Call>,
    waiting: BTreeSet<AttemptId>,
    lease: Option<Lease>,
    /// The registry that a daemon has after the frames that were sent.
    tools_there: Vec<String>,
    registrations: Vec<Registration>,
    /// The newest socket is being reported gone: what late timers wanted to send over it is not sent.
    is_losing: bool,
    is_in_background: bool,
    /// A lease is being restored, which connects in the background too.
    is_restoring: bool,
    /// When a session without a socket must be over.
    grace_end: Option<Timestamp>,
}

impl World {
    pub(super) fn new(seed: u64, pings: bool) -> Self {
        Self {
            core: Core::new(options(Jitter::Seeded(seed), pings)),
            now: Now { mono: Moment(0), wall: Timestamp(START_MS) },
            until: None,
            sockets: BTreeMap::new(),
            last: SocketId(0),
            calls: BTreeMap::new(),
            waiting: BTreeSet::new(),
            lease: None,
            tools_there: Vec::new(),
            registrations: Vec::new(),
            is_losing: false,
            is_in_background: false,
            is_restoring: false,
            grace_end: None,
        }
    }

    /// Applies a step; nothing is checked after one that does not reach the core.
    pub(super) fn take(&mut self, step: Step<'_>) {
        let now = self.now;
        self.is_losing = matches!(step, Step::Lost { back, .. } if self.socket(back) == self.last);
        self.is_restoring = matches!(step, Step::Restore { .. });
        // What a late timer does as the app goes to the background comes before that.
        let goes_to_background = matches!(step, Step::Background);
        self.is_in_background &= !matches!(step, Step::Foreground);
        match step {
            Step::Connect { supersede, session, expires_in_s } => {
                let input = ConnectInput {
                    session_id: format!("session-{}", session + 1),
                    expires_at: now.wall.unix_seconds() + expires_in_s,
                    ..input()
                };
                if let Ok(attempt) = self.core.connect(now, input, supersede) {
                    assert!(self.waiting.insert(attempt));
                }
            }
            Step::Disconnect => self.core.disconnect(now),
            Step::ShutDown => self.core.shut_down(now),
            Step::Restore { lost_ms_ago } => {
                let disconnected_at = lost_ms_ago.map(|ms| Timestamp(now.wall.0 - ms));
                self.core.restore_session(now, Some(Lease { disconnected_at, ..lease() }));
            }
            Step::Background => self.core.handle_background(now),
            Step::Foreground => self.core.handle_foreground(now),
            Step::RegisterTool(name) => {
                let registration =
                    self.core.register_tool(now, &descriptor(&format!("t{name}"))).expect("it is a descriptor");
                self.registrations.push(registration);
            }
            Step::RegisterEvent(name) => {
                let registration =
                    self.core.register_event(now, &descriptor(&format!("e{name}"))).expect("it is a descriptor");
                self.registrations.push(registration);
            }
            Step::UnregisterTool(which) => {
                let Some(registration) = self.registrations.get(which) else { return };
                self.core.unregister_tool(now, *registration);
            }
            Step::UnregisterEvent(which) => {
                let Some(registration) = self.registrations.get(which) else { return };
                self.core.unregister_event(now, *registration);
            }
            Step::Post => {
                let is_active = self.core.post_event(now, "e", None).is_ok();
                assert_eq!(is_active, self.core.state() == State::Active);
            }
            Step::Respond { call, answer } => {
                let answer = match answer {
                    0 => Answer::Result(raw("null")),
                    1 => Answer::NotJson,
                    2 => Answer::Result(raw(&format!("\"{}\"", "x".repeat(MAX_FRAME_BYTES)))),
                    _ => {
                        Answer::Error { kind: ToolErrorType::ToolExecutionError, message: String::new(), details: None }
                    }
                };
                self.core.respond(now, &format!("call-{call}"), answer);
            }
            Step::Progress { call } => {
                self.core.report_progress(now, &format!("call-{call}"), Some(f64::NAN), Some("m"));
            }
            Step::Opened { back } => {
                let socket = self.socket(back);
                if self.sockets.get(&socket) != Some(&Socket::Asked) {
                    return;
                }
                self.sockets.insert(socket, Socket::Open);
                self.core.handle_opened(now, socket);
            }
            Step::Lost { back, code, can_retry } => {
                let socket = self.socket(back);
                let loss = match code {
                    Some(code) => SocketLoss { code: Some(code), reason: None, error: None },
                    None => failure("connection_failed", can_retry),
                };
                // Also for sockets that are gone already: drivers may report a loss twice.
                if !self.sockets.contains_key(&socket) {
                    return;
                }
                self.sockets.insert(socket, Socket::Gone);
                self.core.handle_lost(now, socket, loss);
            }
            Step::Ack { takes_events, grace_s } => {
                let session = self.core.session_id().unwrap_or(SESSION).to_owned();
                let more = if takes_events { r#","event_registry":true"# } else { "" };
                self.receive(&ack(&session, grace_s, more));
            }
            Step::Call { call, tool } => {
                self.frame("tool_call", &format!(r#""id":"call-{call}","name":"t{tool}","args":{{}}"#))
            }
            Step::Cancel { call } => self.frame("tool_cancel", &format!(r#""id":"call-{call}","reason":"r""#)),
            Step::Garbage(kind) => self.receive(["{}", "[]", r#"{"reason":"r"}"#, "x"][kind]),
            Step::Bytes(bytes) => {
                let socket = self.last;
                self.core.handle_text(now, socket, &Bytes::copy_from_slice(bytes));
            }
            Step::Binary { back } => self.core.handle_binary(now, self.socket(back)),
            Step::Pong { back } => self.core.handle_pong(now, self.socket(back)),
            Step::SendFailed { back } => self.core.handle_send_failed(now, self.socket(back)),
            Step::Advance(ms) => {
                let end = Moment(now.mono.0 + ms);
                while let Some(until) = self.until.filter(|until| *until <= end) {
                    self.pass(until);
                    self.core.handle_timeout(self.now);
                    self.drain();
                    assert!(self.until.is_none_or(|until| until > self.now.mono), "a deadline stays due");
                }
                self.pass(end);
            }
            Step::Freeze(ms) => return self.pass(Moment(now.mono.0 + ms)),
        }
        self.drain();
        self.is_in_background |= goes_to_background;
        self.check();
    }

    /// The app gives up; nothing may be left.
    pub(super) fn end(&mut self) {
        self.take(Step::Disconnect);
        assert!(self.lease.is_none() && self.waiting.is_empty());
    }

    fn socket(&self, back: u64) -> SocketId {
        SocketId(self.last.0.saturating_sub(back))
    }

    fn frame(&mut self, kind: &str, fields: &str) {
        let session = self.core.session_id().unwrap_or(SESSION).to_owned();
        self.receive(&format!(r#"{{"type":"{kind}","session_id":"{session}",{fields}}}"#));
    }

    fn receive(&mut self, text: &str) {
        // A text over a socket that is not open is stale, and no less an input.
        self.core.handle_text(self.now, self.last, &Bytes::copy_from_slice(text.as_bytes()));
    }

    fn pass(&mut self, to: Moment) {
        let wall = self.now.wall + to.since(self.now.mono);
        self.now = Now { mono: to.max(self.now.mono), wall };
    }

    fn drain(&mut self) {
        loop {
            let output = self.core.poll_output();
            let shown = format!("{output:?}");
            assert!(!shown.contains("token"), "{shown}");
            if let Output::Idle { until } = output {
                self.until = until;
                return;
            }
            self.carry_out(output);
        }
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Open { socket, pins, .. } => {
                assert!(!pins.is_empty());
                assert!(socket > self.last, "a number is used twice");
                assert!(self.sockets.values().all(|socket| *socket == Socket::Gone), "two sockets at once");
                self.sockets.insert(socket, Socket::Asked);
                self.last = socket;
                let may_open = !self.is_in_background || self.is_restoring || self.core.state() != State::Reconnecting;
                assert!(may_open, "a session connects in the background");
            }
            Output::Send { socket, text } => {
                assert_eq!(self.sockets.get(&socket), Some(&Socket::Open), "{text}");
                assert!(text.len() <= MAX_FRAME_BYTES);
                self.read(&text);
            }
            Output::Ping { socket } => assert_eq!(self.sockets.get(&socket), Some(&Socket::Open)),
            Output::Close { socket, .. } => {
                let before = self.sockets.insert(socket, Socket::Gone);
                assert!(matches!(before, Some(Socket::Asked | Socket::Open)), "closed twice");
            }
            Output::StoreLease(lease) => {
                let grace = Duration::from_secs_f64(lease.grace_s);
                self.grace_end = lease.disconnected_at.map(|since| since + grace);
                self.lease = Some(lease);
            }
            Output::ClearLease => self.lease = None,
            Output::Event(ClientEvent::State { state, reason }) => {
                if reason.as_deref() == Some("grace_expired") {
                    assert!(self.grace_end.is_some_and(|end| end <= self.now.wall), "grace ends early");
                }
                // One mutation may pass through several states; the last one is where it stands.
                assert_ne!(state, State::Idle, "nothing goes back to idle");
            }
            Output::Event(_) => {}
            Output::RunTool { call, .. } => {
                let before = self.calls.insert(call, Call::Running);
                assert_ne!(before, Some(Call::Running), "run while it runs");
            }
            Output::CancelTool { call, reason } => {
                let before = self.calls.insert(call, Call::Ended);
                let is_answered = reason != "session_suspended" && !self.is_losing;
                let expected = if is_answered { Call::Answered } else { Call::Running };
                assert_eq!(before, Some(expected), "{reason}");
            }
            Output::Settled { attempt, .. } => assert!(self.waiting.remove(&attempt), "settled twice"),
            Output::Idle { .. } => unreachable!("a drain ends at it"),
        }
    }

    /// A frame as the daemon reads it.
    fn read(&mut self, text: &str) {
        let frame: Value = serde_json::from_str(text).expect("a frame is JSON");
        let name_of = |value: &Value| string(value, "name").to_owned();
        match string(&frame, "type") {
            "tool_registry_snapshot" => {
                self.tools_there = frame["tools"].as_array().into_iter().flatten().map(name_of).collect();
            }
            "tool_registry_delta" if frame["operation"] == "remove" => {
                let gone = name_of(&frame);
                self.tools_there.retain(|name| *name != gone);
            }
            "tool_registry_delta" => {
                let new = name_of(&frame["tool"]);
                if !self.tools_there.contains(&new) {
                    self.tools_there.push(new);
                }
            }
            "tool_error" if frame["error"]["type"] == "tool_not_found" => {
                assert_ne!(self.calls.get(string(&frame, "id")), Some(&Call::Running));
            }
            "tool_result" | "tool_error" => {
                let before = self.calls.insert(string(&frame, "id").to_owned(), Call::Answered);
                assert_eq!(before, Some(Call::Running), "answered twice, or never run");
            }
            "tool_call_progress" => {
                assert_eq!(self.calls.get(string(&frame, "id")), Some(&Call::Running));
            }
            _ => {}
        }
    }

    fn check(&self) {
        let live = self.sockets.values().filter(|socket| **socket != Socket::Gone).count();
        let running = self.calls.values().any(|call| *call == Call::Running);
        assert!(self.until.is_none_or(|until| until >= self.now.mono), "a deadline in the past");
        match self.core.state() {
            State::Idle | State::Closed => {
                assert_eq!((self.until, live, self.core.session_id()), (None, 0, None));
            }
            State::Connecting => assert!(self.until.is_some() && self.lease.is_none()),
            State::Reconnecting => {
                assert!(self.until.is_some());
                assert!(self.lease.as_ref().is_some_and(|lease| lease.disconnected_at.is_some()));
                assert!(self.grace_end.is_some_and(|end| end > self.now.wall), "grace does not end");
            }
            State::Active => {
                assert_eq!(live, 1);
                assert!(self.lease.as_ref().is_some_and(|lease| lease.disconnected_at.is_none()));
                let here: BTreeSet<_> = self.core.tools().iter().map(|tool| tool.name.to_string()).collect();
                assert_eq!(self.tools_there.iter().cloned().collect::<BTreeSet<_>>(), here);
            }
        }
        assert!(!running || self.core.state() == State::Active, "a call outlives its socket");
        assert_eq!(self.waiting.len(), usize::from(self.core.state() == State::Connecting));
    }
}

fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().expect("it is a string in every frame")
}
