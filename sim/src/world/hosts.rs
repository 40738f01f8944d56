//! The daemon's driver: what reaches the host, and what it wants done.

use appduct_proto::host::{Host, Output, SocketFault, SocketId, Transport};
use appduct_proto::wire::{Close, CloseReason, DaemonFrame, DaemonReceived, Hello, Received};
use appduct_proto::{Now, host};
use bytes::Bytes;

use super::World;
use crate::disk::Taken;
use crate::network::{ConnectionNo, Message, Peer, Way};
use crate::oracle::Promise;
use crate::queue::Happening;

/// How long an ack waits for its save at most, as the host documents it.
const PATIENCE_MS: u64 = 3_000;

/// Closes that no app of ours ever deserves: its core keeps the protocol.
const UNDESERVED: &[CloseReason] = &[
    CloseReason::BinaryFrameNotSupported,
    CloseReason::InvalidUtf8,
    CloseReason::InvalidJson,
    CloseReason::ExpectedClaimOrResume,
    CloseReason::UnknownMessageType,
    CloseReason::SessionMismatch,
    CloseReason::InvalidRegistry,
    CloseReason::InvalidMessage,
    CloseReason::InvalidToken,
    CloseReason::WrongTransport,
    CloseReason::ClaimAttemptsExceeded,
    CloseReason::MessageTooBig,
];

impl World<'_> {
    /// One mutation of the host, then everything that it wants done. `None` if there is no host.
    pub(super) fn drive_host<T>(&mut self, mutate: impl FnOnce(&mut Host, Now) -> T) -> Option<T> {
        let now = self.daemon.clocks(self.now);
        let result = mutate(self.daemon.host.as_mut()?, now);
        self.drain_host();
        Some(result)
    }

    pub(super) fn drain_host(&mut self) {
        loop {
            let Some(host) = &mut self.daemon.host else { return };
            let output = host.poll_output();
            if let Output::Idle { until } = output {
                let until = until.map(|until| until.0 + self.daemon.booted - 1);
                let is_ahead = until.is_none_or(|until| until > self.now);
                self.daemon.until = until;
                self.oracle
                    .require(is_ahead, Promise::SoundMachines, || "a deadline of the host has passed".to_owned());
                return self.check_books();
            }
            for output in self.daemon.saboteur.outgoing(output) {
                self.carry_out(output);
            }
        }
    }

    /// What the host counts is what its driver and its callers count.
    fn check_books(&mut self) {
        let Some(host) = &self.daemon.host else { return };
        let (known, there) = (host.known_sockets(), self.network.at_host(self.daemon.life));
        let (in_flight, waiting) = (host.calls_in_flight(), self.callers.waiting.len());
        let (admitted, unsaved) = (host.unsaved_acks(), self.oracle.unsaved_acks);
        self.oracle.require(known == there, Promise::OwnSocketOnly, || {
            format!("the host knows {known} sockets, and there are {there}")
        });
        self.oracle.require(in_flight == waiting, Promise::OneEnd, || {
            format!("{waiting} callers wait, and {in_flight} calls are in flight")
        });
        self.oracle.require(admitted >= unsaved, Promise::NothingLost, || {
            format!("{unsaved} acks left without their save, and the host admits {admitted}")
        });
    }

    fn carry_out(&mut self, output: Output) {
        self.note(&output);
        match output {
            Output::Send { socket, text } => self.host_sends(socket, text),
            Output::Ping { socket } => self.send(ConnectionNo(socket.0), Way::Down, Message::Ping),
            Output::Close { socket, close } => self.host_closes(socket, Some(close)),
            Output::Terminate { socket } => self.host_closes(socket, None),
            Output::Event(event) => self.oracle.event(&event),
            Output::CallFinished(call) => self.finish_call(&call),
            Output::Save { generation, records } => {
                let life = self.daemon.life;
                let taken = Taken {
                    set_by_ms: self.daemon.set_by_ms,
                    boot: self.daemon.boot,
                    is_last: self.daemon.is_stopping,
                };
                let ends = self.daemon.disk.begin(self.now, taken, &records, &mut self.random);
                let text = records.encode();
                self.oracle.shows("the records", &text);
                self.queue.put(ends, Happening::Saved { life, generation });
                if self.daemon.saboteur.saves_late() {
                    let now = self.daemon.clocks(self.now);
                    if let Some(host) = &mut self.daemon.host {
                        host.handle_saved(now, generation, true);
                    }
                }
            }
            Output::Idle { .. } => {}
        }
    }

    /// Notes an output, which must show no token.
    fn note(&mut self, output: &Output) {
        use std::fmt::Write as _;
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        write!(text, "host {output:?}").expect("a string takes everything");
        if !matches!(output, Output::Save { .. }) {
            self.oracle.shows("an output of the host", &text);
        }
        self.say(format_args!("{text}"));
        self.text = text;
    }

    fn host_sends(&mut self, socket: SocketId, text: String) {
        let no = ConnectionNo(socket.0);
        let is_open = self.connection(no).is_some_and(|connection| connection.host_end && !connection.host_closed);
        self.oracle.require(is_open, Promise::SoundMachines, || format!("a frame for {socket:?}, which is closed"));
        if !is_open {
            return;
        }
        self.trace.secret(&text);
        if let DaemonReceived::Frame { session_id: Some(session), frame: Ok(Some(DaemonFrame::Ack(ack))), .. } =
            DaemonReceived::decode(&Bytes::copy_from_slice(text.as_bytes()))
        {
            let connection = self.network.get(no);
            self.oracle.acked(connection, &session, &ack.resume_token, &self.daemon.disk, PATIENCE_MS);
            self.network.get_mut(no).acked = Some(ack.resume_token);
        } else {
            self.oracle.shows("a frame of the host", &text);
        }
        self.send(no, Way::Down, Message::Text(text));
    }

    fn host_closes(&mut self, socket: SocketId, close: Option<Close>) {
        let no = ConnectionNo(socket.0);
        let is_open = self.connection(no).is_some_and(|connection| connection.host_end && !connection.host_closed);
        self.oracle.require(is_open, Promise::SoundMachines, || format!("{socket:?} is closed twice"));
        if !is_open {
            return;
        }
        let connection = self.network.get_mut(no);
        connection.host_closed = true;
        let is_app = connection.peer != Peer::Intruder;
        let undeserved =
            close.as_ref().filter(|close| is_app && UNDESERVED.iter().any(|&reason| **close == reason.into()));
        if let Some(close) = undeserved {
            self.oracle.violate(Promise::OwnSocketOnly, format!("an app is closed with {close:?}"));
        }
        if !is_app && close.as_ref().is_some_and(|close| *close == CloseReason::ClaimAttemptsExceeded.into()) {
            self.note_burned_link(no);
        }
        self.send(no, Way::Down, Message::End(close));
        let done = self.now + self.random.within((0, 2_000));
        self.queue.put(done, Happening::HostIsDone(no));
    }

    pub(super) fn wake_host(&mut self) {
        self.drive_host(Host::handle_timeout);
    }

    pub(super) fn end_save(&mut self, life: u64, generation: host::Generation) {
        if life != self.daemon.life || self.daemon.host.is_none() {
            return;
        }
        if !self.daemon.is_awake(self.now) {
            self.queue.put(self.daemon.asleep_until, Happening::Saved { life, generation });
            return;
        }
        let ok = self.daemon.disk.end(&mut self.random);
        self.say(format_args!("disk {generation:?} {ok}"));
        self.drive_host(|host, now| host.handle_saved(now, generation, ok));
        self.daemon.disk.forget_failure();
        let is_done = self.daemon.host.as_ref().is_some_and(|host| !host.is_saving());
        if self.daemon.is_stopping && is_done {
            self.exit(life);
        }
    }

    /// A message of a connection arrives at the daemon's machine.
    pub(super) fn reach_host(&mut self, no: ConnectionNo) {
        let Some(connection) = self.connection(no) else { return };
        let is_there = connection.daemon == self.daemon.life && self.daemon.host.is_some();
        if !is_there {
            // Nobody is there to whom it belongs.
            if self.network.take(no, Way::Up).is_some() && self.app_behind(no).is_some() {
                self.network.vanish(self.now, no, Way::Down, &mut self.random, &mut self.queue);
            }
            return;
        }
        if !self.daemon.is_awake(self.now) {
            self.queue.put(self.daemon.asleep_until, Happening::ToHost(no));
            return;
        }
        let Some(message) = self.network.take(no, Way::Up) else { return };
        let socket = SocketId(no.0);
        if let Message::Opened = message {
            self.network.get_mut(no).host_end = true;
            self.say(format_args!("{no:?} opens at the host"));
            let connection = self.network.get(no);
            let is_disguised = self.daemon.saboteur.ignores_listeners() && connection.peer == Peer::Intruder;
            let transport = if is_disguised { other(connection.transport) } else { connection.transport };
            self.send(no, Way::Down, Message::Opened);
            self.drive_host(|host, now| host.handle_opened(now, socket, transport));
            return;
        }
        if !self.network.get(no).host_end {
            return;
        }
        match message {
            Message::Opened => {}
            Message::Text(text) => self.host_hears(no, text),
            Message::Binary => {
                self.drive_host(|host, now| host.handle_fault(now, socket, SocketFault::Binary));
            }
            Message::Ping => self.send(no, Way::Down, Message::Pong),
            Message::Pong => {
                self.drive_host(|host, now| host.handle_pong(now, socket));
            }
            Message::End(close) => {
                // An ack that was due before may make a goodbye of it.
                self.drive_host(Host::handle_timeout);
                let connection = self.network.get(no);
                let is_goodbye = close == Some(CloseReason::ClientClose.into()) && connection.acked.is_some();
                if let Some((hello, _)) = connection.hello.as_ref().filter(|_| is_goodbye) {
                    let (Hello::Claim { session_id, .. } | Hello::Resume { session_id, .. }) = hello;
                    self.oracle.said_goodbye(session_id);
                }
                self.host_end_is_gone(no, close);
            }
        }
    }

    fn host_hears(&mut self, no: ConnectionNo, text: String) {
        let received = Received::decode(&Bytes::from(text));
        let is_app = self.network.get(no).peer != Peer::Intruder;
        if let Received::Hello(hello) = &received {
            if !is_app && self.is_not_to_be_shown(no, hello) {
                // What was dead when it was sent has come alive again, by a crash. It is nobody's to show.
                self.network.tear(self.now, no, &mut self.random, &mut self.queue);
                return;
            }
            let (hello, now) = (hello.clone(), self.now);
            if is_app {
                let (Hello::Claim { session_id, .. } | Hello::Resume { session_id, .. }) = &hello;
                self.oracle.hello_came(session_id, no);
                self.network.release_older(now, no, &mut self.random, &mut self.queue);
            }
            let connection = self.network.get_mut(no);
            connection.hello.get_or_insert((hello, now));
        }
        let is_registry = matches!(&received, Received::Frame { is_registry: true, .. });
        let session = match &received {
            Received::Frame { session_id, frame: Ok(_), .. } => session_id.clone(),
            Received::Frame { .. } | Received::Hello(_) | Received::NotAnObject | Received::Unknown => None,
        };
        let connection = self.network.get(no);
        let proof = connection.acked.clone().filter(|_| is_app && !connection.host_closed).zip(session.clone());
        self.say(format_args!("{no:?} tells the host {received:?}"));
        if let Some((socket, received)) = self.daemon.saboteur.incoming(SocketId(no.0), received) {
            self.drive_host(|host, now| host.handle_received(now, socket, received));
        }
        if let Some((token, session)) = proof {
            self.oracle.proven(&session, &token);
        }
        if is_registry && let Some(session) = session {
            self.compare_after(no, &session);
        }
    }

    /// The daemon hears of the end of a connection.
    fn host_end_is_gone(&mut self, no: ConnectionNo, close: Option<Close>) {
        self.say(format_args!("{no:?} ends at the host {close:?}"));
        self.network.get_mut(no).host_end = false;
        if self.daemon.saboteur.hears_of_the_end() || !self.network.get(no).host_closed {
            self.drive_host(|host, now| host.handle_closed(now, SocketId(no.0), close));
        } else {
            self.check_books();
        }
    }

    pub(super) fn host_loses(&mut self, no: ConnectionNo) {
        let Some(connection) = self.connection(no).filter(|connection| connection.host_end) else { return };
        if connection.daemon != self.daemon.life || self.daemon.host.is_none() {
            return;
        }
        if self.daemon.is_awake(self.now) {
            self.host_end_is_gone(no, None);
        } else {
            self.queue.put(self.daemon.asleep_until, Happening::HostLoses(no));
        }
    }

    pub(super) fn host_is_done(&mut self, no: ConnectionNo) {
        self.host_loses(no);
    }
}

pub(super) fn other(transport: Transport) -> Transport {
    match transport {
        Transport::Native => Transport::Web,
        Transport::Web => Transport::Native,
    }
}
