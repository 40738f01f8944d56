//! Any order of inputs keeps the promises of the core.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::Value;

use super::rig::{SESSION, START_MS, ack, event, failure, input, lease, options, raw, tool};
use crate::app::{
    Answer, AttemptId, ClientEvent, ConnectInput, Core, Jitter, Lease, Options, Output, Registration, SocketId,
    SocketLoss, State,
};
use crate::wire::ToolErrorType;
use crate::{Moment, Now, Timestamp};

#[derive(Clone, Debug)]
enum Step {
    Connect { supersede: bool, session: u8, expires_in_s: u64 },
    Disconnect,
    ShutDown,
    Restore { lost_ms_ago: Option<u64> },
    Background,
    Foreground,
    RegisterTool(u8),
    UnregisterTool(usize),
    RegisterEvent(u8),
    UnregisterEvent(usize),
    Post,
    Respond { call: u8, answer: u8 },
    Progress { call: u8 },
    Opened { back: u64 },
    Lost { back: u64, code: Option<u16>, can_retry: bool },
    Ack { takes_events: bool, grace_s: u8 },
    Call { call: u8, tool: u8 },
    Cancel { call: u8 },
    Garbage(u8),
    Bytes(Vec<u8>),
    Binary { back: u64 },
    Pong { back: u64 },
    SendFailed { back: u64 },
    Advance(u64),
    Freeze(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let codes = prop::option::of(prop::sample::select(vec![1000_u16, 1001, 1003, 1006, 1008, 1011, 4000]));
    prop_oneof![
        4 => (any::<bool>(), 0..2_u8, prop_oneof![Just(0_u64), 1..100_u64])
            .prop_map(|(supersede, session, expires_in_s)| Step::Connect { supersede, session, expires_in_s }),
        1 => Just(Step::Disconnect),
        1 => Just(Step::ShutDown),
        1 => prop::option::of(0..20_000_u64).prop_map(|lost_ms_ago| Step::Restore { lost_ms_ago }),
        1 => Just(Step::Background),
        1 => Just(Step::Foreground),
        3 => (0..6_u8).prop_map(Step::RegisterTool),
        2 => (0..20_usize).prop_map(Step::UnregisterTool),
        1 => (0..6_u8).prop_map(Step::RegisterEvent),
        1 => (0..20_usize).prop_map(Step::UnregisterEvent),
        1 => Just(Step::Post),
        3 => (0..6_u8, 0..4_u8).prop_map(|(call, answer)| Step::Respond { call, answer }),
        1 => (0..6_u8).prop_map(|call| Step::Progress { call }),
        10 => prop_oneof![9 => Just(0_u64), 1 => 0..3_u64].prop_map(|back| Step::Opened { back }),
        3 => (0..3_u64, codes, any::<bool>()).prop_map(|(back, code, can_retry)| Step::Lost { back, code, can_retry }),
        10 => (any::<bool>(), 1..40_u8).prop_map(|(takes_events, grace_s)| Step::Ack { takes_events, grace_s }),
        6 => (0..6_u8, 0..6_u8).prop_map(|(call, tool)| Step::Call { call, tool }),
        1 => (0..6_u8).prop_map(|call| Step::Cancel { call }),
        1 => (0..4_u8).prop_map(Step::Garbage),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Step::Bytes),
        1 => (0..3_u64).prop_map(|back| Step::Binary { back }),
        3 => (0..3_u64).prop_map(|back| Step::Pong { back }),
        1 => (0..3_u64).prop_map(|back| Step::SendFailed { back }),
        6 => (0..20_000_u64).prop_map(Step::Advance),
        1 => (0..60_000_u64).prop_map(Step::Freeze),
    ]
}

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
struct World {
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
    /// A socket is being reported gone: what late timers wanted to send over it is not sent.
    is_losing: bool,
}

impl World {
    fn new(seed: u64, pings: bool) -> Self {
        Self {
            core: Core::new(Options { jitter: Jitter::Seeded(seed), pings, ..options() }),
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
        }
    }

    /// Applies a step; nothing is checked after one that does not reach the core.
    fn take(&mut self, step: Step) {
        let now = self.now;
        self.is_losing = matches!(step, Step::Lost { .. });
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
                let registration = self.core.register_tool(now, &tool(&format!("t{name}"))).unwrap();
                self.registrations.push(registration);
            }
            Step::RegisterEvent(name) => {
                let registration = self.core.register_event(now, &event(&format!("e{name}"))).unwrap();
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
                    2 => Answer::Result(raw(&format!("\"{}\"", "x".repeat(262_144)))),
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
                let text = ack("resume-token", more)
                    .replace(SESSION, &session)
                    .replace(r#""grace_s":10"#, &format!(r#""grace_s":{grace_s}"#));
                self.receive(&text);
            }
            Step::Call { call, tool } => {
                self.frame("tool_call", &format!(r#""id":"call-{call}","name":"t{tool}","args":{{}}"#))
            }
            Step::Cancel { call } => self.frame("tool_cancel", &format!(r#""id":"call-{call}","reason":"r""#)),
            Step::Garbage(kind) => self.receive(["{}", "[]", r#"{"reason":"r"}"#, "x"][usize::from(kind)]),
            Step::Bytes(bytes) => {
                let socket = self.last;
                self.core.handle_text(now, socket, &Bytes::from(bytes));
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
        self.check();
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
            }
            Output::Send { socket, text } => {
                assert_eq!(self.sockets.get(&socket), Some(&Socket::Open), "{text}");
                assert!(text.len() <= 262_144);
                self.read(&text);
            }
            Output::Ping { socket } => assert_eq!(self.sockets.get(&socket), Some(&Socket::Open)),
            Output::Close { socket, .. } => {
                let before = self.sockets.insert(socket, Socket::Gone);
                assert!(matches!(before, Some(Socket::Asked | Socket::Open)), "closed twice");
            }
            Output::StoreLease(lease) => self.lease = Some(lease),
            Output::ClearLease => self.lease = None,
            Output::Event(ClientEvent::State { state, .. }) => {
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
        let frame: Value = serde_json::from_str(text).unwrap();
        let name_of = |value: &Value| value["name"].as_str().unwrap().to_owned();
        match frame["type"].as_str().unwrap() {
            "tool_registry_snapshot" => {
                self.tools_there = frame["tools"].as_array().unwrap().iter().map(name_of).collect();
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
                assert_ne!(self.calls.get(frame["id"].as_str().unwrap()), Some(&Call::Running));
            }
            "tool_result" | "tool_error" => {
                let before = self.calls.insert(frame["id"].as_str().unwrap().to_owned(), Call::Answered);
                assert_eq!(before, Some(Call::Running), "answered twice, or never run");
            }
            "tool_call_progress" => {
                assert_eq!(self.calls.get(frame["id"].as_str().unwrap()), Some(&Call::Running));
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_inputs_keeps_the_promises(
        seed in any::<u64>(),
        pings in any::<bool>(),
        steps in prop::collection::vec(step(), 0..120),
    ) {
        let mut world = World::new(seed, pings);
        for step in steps {
            world.take(step);
        }
        world.take(Step::Disconnect);
        prop_assert!(world.lease.is_none());
        prop_assert!(world.waiting.is_empty());
    }

    #[test]
    fn any_bytes_as_a_first_or_a_later_message_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut world = World::new(1, true);
        world.take(Step::Connect { supersede: false, session: 0, expires_in_s: 10 });
        world.take(Step::Opened { back: 0 });
        world.take(Step::Bytes(bytes.clone()));
        world.take(Step::Connect { supersede: true, session: 0, expires_in_s: 10 });
        world.take(Step::Opened { back: 0 });
        world.take(Step::Ack { takes_events: true, grace_s: 10 });
        world.take(Step::Bytes(bytes));
    }
}
