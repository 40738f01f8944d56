//! A host and its model, driven side by side.

use std::time::Duration;

use appduct_proto::host::{EventBody, Host, Outcome, Output, Records, Settings, SocketId};
use appduct_proto::wire::{DaemonFrame, DaemonReceived, MAX_FRAME_BYTES};
use appduct_proto::{Moment, Now, Timestamp};
use bytes::Bytes;

use super::SETTINGS;
use super::model::{Expected, Model};

const START_MS: u64 = 1_700_000_000_000;

pub(super) struct World {
    pub(super) host: Host,
    pub(super) model: Model,
    pub(super) now: Now,
    /// Every ack so far: the session and the token.
    pub(super) tokens: Vec<(String, String)>,
    /// Every call so far.
    pub(super) calls: Vec<String>,
    until: Option<Moment>,
    /// Whether the host records its sessions. A save takes no time here, so nothing else is different.
    persist: bool,
    /// The last document.
    saved: Option<Records>,
    /// How many hosts there have been.
    hosts: u8,
    ended: usize,
    done: Expected,
}

impl World {
    pub(super) fn new(persist: bool) -> Self {
        Self {
            host: host(persist, 0),
            model: Model::default(),
            now: Now { mono: Moment(0), wall: Timestamp(START_MS) },
            tokens: Vec::new(),
            calls: Vec::new(),
            until: None,
            persist,
            saved: None,
            hosts: 1,
            ended: 0,
            done: Expected::default(),
        }
    }
    /// One mutation of both, then all that the host wants done, which must be what the model expects.
    pub(super) fn act<T>(
        &mut self,
        of_host: impl FnOnce(&mut Host, Now) -> T,
        of_model: impl FnOnce(&mut Model, &T),
    ) -> T {
        self.model.pass(self.now.mono.0);
        let result = of_host(&mut self.host, self.now);
        of_model(&mut self.model, &result);
        self.settle();
        result
    }

    fn settle(&mut self) {
        loop {
            let output = self.host.poll_output();
            if let Output::Idle { until } = output {
                assert!(until.is_none_or(|until| until > self.now.mono), "a deadline stays due");
                self.until = until;
                break;
            }
            self.carry_out(output);
        }
        let done = std::mem::take(&mut self.done);
        assert_eq!(done, self.model.take_expected(), "done, and expected");
        let expected = self.model.next_deadline().map(Moment);
        if self.persist {
            // The host also waits for the next save.
            assert!(self.until <= expected || expected.is_none(), "{:?} is after {expected:?}", self.until);
        } else {
            assert_eq!(self.until, expected, "the next deadline");
        }
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Send { socket, text } => {
                assert!(text.len() <= MAX_FRAME_BYTES);
                self.read(socket, text);
            }
            Output::Ping { socket } => assert!(self.done.pinged.insert(socket.0), "pinged twice"),
            Output::Close { socket, close } => {
                let reasons = appduct_proto::wire::CloseReason::ALL.iter();
                let reason = reasons.map(|reason| reason.as_str()).find(|reason| *reason == close.reason);
                self.close(socket, Some(reason.expect("the host closes with reasons of its own")));
            }
            Output::Terminate { socket } => self.close(socket, None),
            Output::CallFinished(call) => {
                let kind = match call.outcome {
                    Outcome::Result(_) => "result",
                    Outcome::Error(_) => "error",
                    Outcome::TimedOut(_) => "timeout",
                    Outcome::Suspended(_) => "suspended",
                    Outcome::Resumed => "resumed",
                    Outcome::SessionGone => "gone",
                };
                self.ended += 1;
                assert!(self.done.ended.insert(call.call.0.to_string(), kind).is_none(), "ended twice");
            }
            Output::Event(event) => {
                if let EventBody::AppEvent { name, payload, .. } = &event.body {
                    let payload = payload.as_ref().map_or(0, |payload| payload.as_str().len());
                    self.model.numbered(&event.session_id, event.seq, name.len() + payload);
                    assert!(self.done.posted.insert(event.session_id), "told twice");
                } else {
                    assert_eq!(event.seq, 0);
                }
            }
            Output::Save { generation, records } => {
                assert!(self.persist, "nothing was to be saved");
                assert_eq!(Records::decode(records.encode().as_bytes()).as_ref(), Ok(&*records));
                self.saved = Some(*records);
                self.model.saved();
                self.host.handle_saved(self.now, generation, true);
            }
            Output::Idle { .. } => unreachable!("a drain ends at it"),
        }
    }

    fn close(&mut self, socket: SocketId, reason: Option<&'static str>) {
        assert!(self.done.closed.insert(socket.0, reason).is_none(), "closed twice");
    }

    /// A frame as an app reads it.
    fn read(&mut self, socket: SocketId, text: String) {
        let DaemonReceived::Frame { session_id: Some(session), frame: Ok(Some(frame)), .. } =
            DaemonReceived::decode(&Bytes::from(text))
        else {
            panic!("no app takes this frame")
        };
        assert!(!self.done.closed.contains_key(&socket.0), "a frame after the close");
        // The model has seen all of the time that passed, so the socket of a call that timed out may be gone by now; the
        // end of the turn compares who was told.
        if !matches!(frame, DaemonFrame::ToolCancel { .. }) {
            let owner = self.model.session_of(socket.0).map(|session| session.id.as_str());
            assert_eq!(owner, Some(session.as_str()), "a frame to a socket that is not the session's");
        }
        match frame {
            DaemonFrame::Ack(ack) => {
                assert!(self.done.acked.insert(socket.0));
                self.model.acked(socket.0, &ack.alias, &ack.resume_token);
                self.tokens.push((session, ack.resume_token));
            }
            DaemonFrame::ToolCall { id, name, .. } => assert_eq!(self.model.tool_of(&id), Some(name.as_str())),
            DaemonFrame::ToolCancel { id, reason } => {
                assert!(!reason.is_empty());
                assert!(self.done.cancelled.insert(id, socket.0).is_none());
            }
        }
    }

    /// Lets time pass, waking the host whenever it wants to be woken.
    pub(super) fn pass(&mut self, ms: u64) {
        let end = Moment(self.now.mono.0 + ms);
        while let Some(until) = self.until.filter(|&until| until <= end) {
            // It is in the past where the host slept through it.
            self.sleep(until.0.saturating_sub(self.now.mono.0));
            self.wake();
        }
        self.sleep(end.0.saturating_sub(self.now.mono.0));
    }

    /// Lets time pass without waking the host.
    pub(super) fn sleep(&mut self, ms: u64) {
        let passed = Duration::from_millis(ms);
        self.now = Now { mono: self.now.mono + passed, wall: self.now.wall + passed };
    }

    /// The process dies, after a shutdown or without one, and another takes its place and its document.
    pub(super) fn restart(&mut self) {
        assert!(!self.host.is_saving(), "what must be on disk is not");
        self.host = host(self.persist, self.hosts);
        self.hosts = self.hosts.wrapping_add(1);
        // Nobody is told of the calls that were in flight.
        self.ended += self.model.calls_in_flight();
        self.model.asks = false;
        if let Some(records) = &self.saved {
            let document = records.encode();
            let read = Records::decode(document.as_bytes()).expect("our own document can be read");
            self.host.restore(self.now, read);
        }
        self.model.restarts(self.now.mono.0);
        self.settle();
    }

    pub(super) fn wake(&mut self) {
        self.act(Host::handle_timeout, |_, ()| ());
    }

    /// Both see the same sessions, links, sockets and calls.
    pub(super) fn compare(&mut self) {
        self.wake();
        let (host, model) = (&self.host, &self.model);
        let sessions = host.sessions();
        let shown: Vec<_> = sessions
            .iter()
            .map(|session| (&*session.session_id, &*session.alias, session.suspended.is_none(), session.tool_count))
            .collect();
        let expected: Vec<_> = model
            .sessions
            .iter()
            .map(|session| (&*session.id, &*session.alias, session.socket.is_some(), session.tools.len()))
            .collect();
        assert_eq!(shown, expected);
        assert_eq!(host.open_sockets(), model.open_sockets());
        assert_eq!(host.pending_links(self.now), model.pending_links());
        assert_eq!(host.calls_in_flight(), model.calls_in_flight());
        assert_eq!(model.calls_in_flight() + self.ended, self.calls.len(), "a call was lost");
        if let Some(saved) = self.saved.as_ref().filter(|_| !host.is_saving()) {
            assert_eq!(saved.session_count(), model.sessions.len(), "the sessions on disk");
            // A link that has expired since is not worth a save.
            assert!(saved.link_count() >= model.pending_links(), "a link is not on disk");
        }
    }
}

fn host(persist: bool, seed: u8) -> Host {
    let settings = Settings {
        grace: Duration::from_millis(SETTINGS.grace_ms),
        keepalive_interval: Duration::from_millis(SETTINGS.keepalive_ms),
        event_buffer: SETTINGS.event_buffer,
        max_unclaimed_sockets: SETTINGS.max_unclaimed,
        max_calls_per_session: SETTINGS.max_calls,
        max_tools: SETTINGS.max_tools,
        max_events: SETTINGS.max_events,
        max_registry_bytes: SETTINGS.max_registry_bytes,
        event_buffer_bytes: SETTINGS.event_buffer_bytes,
        persist,
        ..Settings::default()
    };
    Host::new(settings, [seed; 32])
}
