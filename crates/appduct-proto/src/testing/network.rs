//! Connections that are slow, break at any message, or go silent without telling anybody.

use std::collections::BTreeMap;

use crate::wire::Close;
use crate::{Moment, app, host};

/// What travels.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A frame.
    Text(String),
    /// A WebSocket ping.
    Ping,
    /// Its answer.
    Pong,
    /// The end of the connection, with the close frame if the other side sent one.
    End(Option<Close>),
}

/// Something that arrives.
#[derive(Debug)]
pub enum Arrival {
    /// The daemon accepted the connection.
    OpenedAtHost(host::SocketId),
    /// The app's end of it is open.
    OpenedAtApp(host::SocketId),
    /// A message for the daemon.
    ToHost(host::SocketId, Message),
    /// A message for the app.
    ToApp(host::SocketId, Message),
    /// A handler of this app is done.
    Answer(usize, String),
}

/// One connection. The daemon's number names it.
#[derive(Debug)]
pub struct Connection {
    /// Whose it is.
    pub app: usize,
    /// The app's number for it.
    pub app_socket: app::SocketId,
    latency_ms: u64,
    /// Silent: whatever is sent is gone, and neither end hears of it.
    pub is_stalled: bool,
    /// Whether the daemon's end is open.
    pub host_end: bool,
    /// Whether the app's end is open.
    pub app_end: bool,
}

/// Everything that is on its way, in the order in which it arrives. Messages of one connection stay in order, because its
/// latency does not change; those of different connections overtake each other.
#[derive(Debug, Default)]
pub struct Network {
    connections: BTreeMap<host::SocketId, Connection>,
    on_the_way: BTreeMap<(Moment, u64), Arrival>,
    sent: u64,
    connected: u64,
    /// How many messages have been sent over all connections, close frames not counted.
    pub messages: u64,
    /// The connection breaks at the message with this number, which is lost.
    pub break_at: Option<u64>,
    /// The latency of the next connection.
    pub latency_ms: u64,
    /// The daemon cannot be reached.
    pub is_down: bool,
    /// The connections that are made from here on go silent once they are open.
    pub stalls: bool,
}

impl Network {
    /// A network over which a message takes so long.
    #[must_use]
    pub fn new(latency_ms: u64) -> Self {
        Self { latency_ms, ..Self::default() }
    }

    /// The app dials. `false` if nobody answers.
    pub fn connect(&mut self, now: Moment, app: usize, app_socket: app::SocketId) -> bool {
        if self.is_down {
            return false;
        }
        self.connected += 1;
        let id = host::SocketId(self.connected);
        let latency_ms = self.latency_ms;
        self.connections
            .insert(id, Connection { app, app_socket, latency_ms, is_stalled: false, host_end: true, app_end: true });
        self.put(Moment(now.0 + latency_ms), Arrival::OpenedAtHost(id));
        self.put(Moment(now.0 + 2 * latency_ms), Arrival::OpenedAtApp(id));
        true
    }

    /// The app sends.
    pub fn send_to_host(&mut self, now: Moment, id: host::SocketId, message: Message) {
        if self.passes(now, id, &message) {
            let at = self.arrival(now, id);
            self.put(at, Arrival::ToHost(id, message));
        }
    }

    /// The daemon sends.
    pub fn send_to_app(&mut self, now: Moment, id: host::SocketId, message: Message) {
        if self.passes(now, id, &message) {
            let at = self.arrival(now, id);
            self.put(at, Arrival::ToApp(id, message));
        }
    }

    /// The connection breaks; both ends hear of it.
    pub fn cut(&mut self, now: Moment, id: host::SocketId) {
        let at = self.arrival(now, id);
        self.put(at, Arrival::ToHost(id, Message::End(None)));
        self.put(at, Arrival::ToApp(id, Message::End(None)));
    }

    /// The daemon's driver has closed its end and reports it gone a little later, with or without the peer's goodbye. What
    /// comes until then still reaches the host.
    pub fn end_at_host(&mut self, now: Moment, id: host::SocketId) {
        let at = self.arrival(now, id);
        self.put(at, Arrival::ToHost(id, Message::End(None)));
    }

    /// Something arrives at `at`.
    pub fn put(&mut self, at: Moment, arrival: Arrival) {
        self.sent += 1;
        self.on_the_way.insert((at, self.sent), arrival);
    }

    /// When the next thing arrives.
    #[must_use]
    pub fn next(&self) -> Option<Moment> {
        self.on_the_way.first_key_value().map(|((at, _), _)| *at)
    }

    /// What arrives next, with its place in the order of sending.
    pub fn take_due(&mut self, now: Moment) -> Option<(u64, Arrival)> {
        self.next().filter(|at| *at <= now)?;
        self.on_the_way.pop_first().map(|((_, place), arrival)| (place, arrival))
    }

    /// Something that arrived and has to wait keeps its place.
    pub fn put_off(&mut self, until: Moment, place: u64, arrival: Arrival) {
        self.on_the_way.insert((until, place), arrival);
    }

    /// The connection of this number.
    ///
    /// # Panics
    ///
    /// If there never was one.
    pub fn connection(&mut self, id: host::SocketId) -> &mut Connection {
        self.connections.get_mut(&id).expect("a connection is never forgotten")
    }

    /// The connection behind an app's socket.
    #[must_use]
    pub fn of_app(&self, app: usize, socket: app::SocketId) -> Option<host::SocketId> {
        let is_it = |connection: &Connection| connection.app == app && connection.app_socket == socket;
        self.connections.iter().find(|(_, connection)| is_it(connection)).map(|(id, _)| *id)
    }

    /// The connections that have both ends.
    #[must_use]
    pub fn live(&self) -> Vec<host::SocketId> {
        let is_live = |connection: &Connection| connection.host_end && connection.app_end;
        self.connections.iter().filter(|(_, connection)| is_live(connection)).map(|(id, _)| *id).collect()
    }

    fn passes(&mut self, now: Moment, id: host::SocketId, message: &Message) -> bool {
        if !matches!(message, Message::End(_)) {
            let number = self.messages;
            self.messages += 1;
            if self.break_at == Some(number) {
                self.cut(now, id);
                // What is sent over it afterwards goes nowhere.
                self.connection(id).is_stalled = true;
                return false;
            }
        }
        !self.connection(id).is_stalled
    }

    fn arrival(&mut self, now: Moment, id: host::SocketId) -> Moment {
        Moment(now.0 + self.connection(id).latency_ms)
    }
}
