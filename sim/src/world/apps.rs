//! The apps' drivers: what reaches a core, what it wants done, and what its developer's handlers do.

use appduct_proto::Now;
use appduct_proto::app::{Answer, ClientEvent, Core, Output, SessionChange, SocketError, SocketId, SocketLoss, State};
use appduct_proto::host::Transport;
use appduct_proto::wire::{MAX_FRAME_BYTES, RawJson, ToolErrorType};
use bytes::Bytes;

use super::World;
use crate::daemon::clocks;
use crate::network::{ConnectionNo, Message, Peer, Way};
use crate::oracle::{Answered, Promise};
use crate::queue::{HandlerStep, Happening};

impl World<'_> {
    /// One mutation of an app's core, then everything that it wants done. `None` if no process runs.
    pub(super) fn drive_app<T>(&mut self, app: usize, mutate: impl FnOnce(&mut Core, Now) -> T) -> Option<T> {
        let now = self.app_clocks(app);
        let result = mutate(self.apps[app].core.as_mut()?, now);
        self.drain_app(app);
        Some(result)
    }

    pub(super) fn app_clocks(&self, app: usize) -> Now {
        clocks(self.now, 0, self.apps[app].set_by_ms)
    }

    /// Whether the app and the machine that minted its link may tell different times.
    pub(super) fn clocks_differ(&self, app: usize) -> bool {
        self.apps[app].set_by_ms != 0 || self.daemon.set_by_ms != 0
    }

    pub(super) fn drain_app(&mut self, app: usize) {
        loop {
            let Some(core) = &mut self.apps[app].core else { return };
            let output = core.poll_output();
            if let Output::Idle { until } = output {
                self.apps[app].until = until.map(|until| until.0 - 1);
                return;
            }
            self.note_app(app, &output);
            self.carry_out_app(app, output);
        }
    }

    fn note_app(&mut self, app: usize, output: &Output) {
        use std::fmt::Write as _;
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        write!(text, "app {app} {output:?}").expect("a string takes everything");
        self.oracle.shows("an output of an app", &text);
        self.say(format_args!("{text}"));
        self.text = text;
    }

    fn carry_out_app(&mut self, app: usize, output: Output) {
        let life = self.apps[app].life;
        match output {
            Output::Open { socket, .. } => self.dial(app, socket),
            Output::Send { socket, text } => {
                let is_hello =
                    text.contains(r#""type":"session_claim""#) || text.contains(r#""type":"session_resume""#);
                if is_hello {
                    self.trace.secret(&text);
                } else {
                    self.oracle.shows("a frame of an app", &text);
                }
                self.app_sends(app, socket, Message::Text(text));
            }
            Output::Ping { socket } => self.app_sends(app, socket, Message::Ping),
            Output::Close { socket, close } => {
                if let Some(no) = self.network.of_app(app, life, socket) {
                    self.send(no, Way::Up, Message::End(Some(close)));
                    self.network.get_mut(no).app_end = false;
                }
            }
            Output::StoreLease(lease) => {
                self.apps[app].clock_was_set &= lease.disconnected_at.is_some();
                self.apps[app].lease = Some(lease);
            }
            Output::ClearLease => self.apps[app].lease = None,
            Output::Event(event) => self.app_hears(app, event),
            Output::RunTool { call, args, .. } => self.run_tool(app, call, args),
            Output::CancelTool { .. } => {}
            Output::Settled { attempt, result } => {
                if let Some((session, _)) = self.apps[app].claims.remove(&attempt)
                    && let Err(fault) = result
                {
                    let clocks_differ = self.clocks_differ(app);
                    self.oracle.claim_failed(&session, &fault, clocks_differ);
                }
            }
            Output::Idle { .. } => {}
        }
    }

    fn app_sends(&mut self, app: usize, socket: SocketId, message: Message) {
        let life = self.apps[app].life;
        let no = self.network.of_app(app, life, socket).filter(|&no| self.network.get(no).app_end);
        match no {
            Some(no) => self.send(no, Way::Up, message),
            None => {
                self.oracle.violate(Promise::SoundMachines, format!("app {app} sends over {socket:?}, which is gone"))
            }
        }
    }

    fn dial(&mut self, app: usize, socket: SocketId) {
        let (life, transport) = (self.apps[app].life, self.apps[app].transport);
        let latency = self.network.latency(&mut self.random);
        let is_web = transport == Transport::Web;
        if self.daemon.host.is_none() || self.daemon.is_stopping {
            self.queue.put(self.now + latency, Happening::Refused { app, life, socket });
            return;
        }
        let peer = Peer::App { app, life, socket };
        let no = self.network.connect(peer, transport, self.daemon.life);
        if !is_web && self.random.percent(self.network.weather.unreachable) {
            self.network.silence(no, Way::Up);
        }
        self.send(no, Way::Up, Message::Opened);
        if self.random.percent(self.network.weather.stuck) {
            // An app waits ten seconds for its ack: what comes about then meets its successor.
            let span = if self.random.percent(50) { (0, 9_000) } else { (9_500, 12_000) };
            let until = self.now + self.random.within(span);
            self.network.hold(no, Way::Up, until);
        }
    }

    pub(super) fn refuse_dial(&mut self, app: usize, life: u64, socket: SocketId) {
        if self.apps[app].life != life || self.apps[app].core.is_none() {
            return;
        }
        if !self.apps[app].is_awake(self.now) {
            self.queue.put(self.apps[app].frozen_until, Happening::Refused { app, life, socket });
            return;
        }
        let message = "nobody answers".to_owned();
        let error = Some(SocketError { code: "host_unreachable", message, retryable: true });
        self.drive_app(app, |core, now| core.handle_lost(now, socket, SocketLoss { code: None, reason: None, error }));
    }

    pub(super) fn wake_app(&mut self, app: usize) {
        self.drive_app(app, Core::handle_timeout);
        let is_ahead = self.apps[app].until.is_none_or(|until| until >= self.now);
        self.oracle.require(is_ahead, Promise::SoundMachines, || format!("a deadline of app {app} has passed"));
    }

    /// A message of a connection arrives at the app's device.
    pub(super) fn reach_app(&mut self, no: ConnectionNo) {
        let Some((app, socket)) = self.app_behind(no) else {
            if self.connection(no).is_some() {
                self.network.take(no, Way::Down);
            }
            return;
        };
        if !self.apps[app].is_awake(self.now) {
            self.queue.put(self.apps[app].frozen_until.max(self.now), Happening::ToApp(no));
            return;
        }
        let Some(message) = self.network.take(no, Way::Down) else { return };
        match message {
            Message::Opened => {
                self.drive_app(app, |core, now| core.handle_opened(now, socket));
            }
            Message::Text(text) => {
                self.drive_app(app, |core, now| core.handle_text(now, socket, &Bytes::from(text)));
            }
            Message::Binary => {
                self.drive_app(app, |core, now| core.handle_binary(now, socket));
            }
            Message::Ping => self.send(no, Way::Up, Message::Pong),
            Message::Pong => {
                self.drive_app(app, |core, now| core.handle_pong(now, socket));
            }
            Message::End(close) => {
                let (code, reason) = close.map(|close| (close.code, close.reason)).unzip();
                self.app_end_is_gone(no, app, socket, SocketLoss { code, reason, error: None });
            }
        }
    }

    fn app_end_is_gone(&mut self, no: ConnectionNo, app: usize, socket: SocketId, loss: SocketLoss) {
        self.say(format_args!("{no:?} ends at app {app} {:?} {:?}", loss.code, loss.reason));
        self.network.get_mut(no).app_end = false;
        self.drive_app(app, |core, now| core.handle_lost(now, socket, loss));
    }

    pub(super) fn app_loses(&mut self, no: ConnectionNo) {
        let Some((app, socket)) = self.app_behind(no) else { return };
        if self.apps[app].is_awake(self.now) {
            self.app_end_is_gone(no, app, socket, SocketLoss::default());
        } else {
            self.queue.put(self.apps[app].frozen_until.max(self.now), Happening::AppLoses(no));
        }
    }

    fn app_hears(&mut self, at: usize, event: ClientEvent) {
        let app = &mut self.apps[at];
        match event {
            ClientEvent::State { state, .. } => {
                if state == State::Reconnecting {
                    app.lost_at.get_or_insert(self.now);
                } else if state == State::Active {
                    app.lost_at = None;
                    app.gave_up = false;
                }
            }
            ClientEvent::Session(SessionChange::Lost { reason }) => {
                let session = app.held.take().unwrap_or_default();
                let (lost_at, clock_was_set, gave_up) = (app.lost_at, app.clock_was_set, app.gave_up);
                self.oracle.app_lost(&session, &reason, lost_at, clock_was_set, gave_up);
            }
            ClientEvent::Session(
                SessionChange::Claimed { session_id, .. } | SessionChange::Resumed { session_id, .. },
            ) => app.held = Some(session_id),
            ClientEvent::Error(_) => {}
        }
    }

    /// A handler begins; what it will do is decided here.
    fn run_tool(&mut self, app: usize, call: String, args: RawJson) {
        let life = self.apps[app].life;
        let session = self.apps[app].session().map(str::to_owned);
        self.oracle.call_ran(&call, session.as_deref());
        // What a handler sees of its arguments is what its caller gave.
        self.oracle.require(args.is_object(), Promise::OneEnd, || format!("{call} has arguments of no kind"));
        let first = self.now + if self.random.percent(60) { self.random.below(50) } else { self.random.below(15_000) };
        let step = match self.random.below(20) {
            0 | 1 => return,
            2 => HandlerStep::Fail,
            3 => HandlerStep::NotJson,
            4 if self.random.percent(10) => HandlerStep::TooBig,
            5 | 6 => {
                let progress = self.now + self.random.below(first - self.now + 1);
                self.put_step(progress, app, life, &call, HandlerStep::Progress);
                HandlerStep::Result
            }
            7 => {
                self.put_step(first + 1, app, life, &call, HandlerStep::ResultAgain);
                HandlerStep::Result
            }
            _ => HandlerStep::Result,
        };
        self.put_step(first, app, life, &call, step);
    }

    fn put_step(&mut self, at: u64, app: usize, life: u64, call: &str, step: HandlerStep) {
        self.queue.put(at, Happening::Handler { app, life, call: call.to_owned(), step });
    }

    pub(super) fn step_handler(&mut self, app: usize, life: u64, call: String, step: HandlerStep) {
        if self.apps[app].life != life || self.apps[app].core.is_none() {
            return;
        }
        if !self.apps[app].is_awake(self.now) {
            self.put_step(self.apps[app].frozen_until, app, life, &call, step);
            return;
        }
        let answer = match step {
            HandlerStep::Progress => {
                self.drive_app(app, |core, now| core.report_progress(now, &call, Some(0.5), Some("half")));
                return;
            }
            HandlerStep::Result => Answer::Result(result_of(&call, app)),
            HandlerStep::ResultAgain => Answer::Result(RawJson::null()),
            HandlerStep::Fail => {
                let kind = ToolErrorType::ToolExecutionError;
                Answer::Error { kind, message: "it broke".to_owned(), details: None }
            }
            HandlerStep::NotJson => Answer::NotJson,
            HandlerStep::TooBig => {
                let text = format!("\"{}\"", "x".repeat(MAX_FRAME_BYTES));
                Answer::Result(RawJson::parse(&text).expect("it is a string"))
            }
        };
        let told = match (&answer, step) {
            (_, HandlerStep::TooBig) | (Answer::NotJson, _) => Answered::Failure(ToolErrorType::ToolSerializationError),
            (Answer::Error { kind, .. }, _) => Answered::Failure(*kind),
            (Answer::Result(result), _) => Answered::Result(result.clone()),
        };
        self.oracle.call_answered(&call, told);
        self.drive_app(app, |core, now| core.respond(now, &call, answer));
    }
}

/// Another one for every call and app.
fn result_of(call: &str, app: usize) -> RawJson {
    RawJson::parse(&format!(r#"{{"app":{app},"call":"{call}"}}"#)).expect("it is an object")
}
