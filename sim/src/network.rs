//! Connections that are slow, break, go silent in one direction or in both, and hold messages back.

use std::collections::{BTreeMap, VecDeque};

use appduct_proto::app;
use appduct_proto::host::Transport;
use appduct_proto::wire::{Close, Hello};

use crate::queue::{Happening, Queue};
use crate::random::Random;

/// A connection; the daemon's number for the socket is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionNo(pub(crate) u64);

/// What travels.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    /// The connection is open.
    Opened,
    /// A frame.
    Text(String),
    /// A binary message.
    Binary,
    /// A WebSocket ping.
    Ping,
    /// Its answer.
    Pong,
    /// The end, with the close frame if there is one.
    End(Option<Close>),
}

/// Who dialled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    App { app: usize, life: u64, socket: app::SocketId },
    Intruder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) peer: Peer,
    pub(crate) transport: Transport,
    /// Which daemon was dialled.
    pub(crate) daemon: u64,
    /// From the daemon's accept until its driver reports the socket gone.
    pub(crate) host_end: bool,
    /// The daemon closed it: it sends nothing more, and nothing more counts.
    pub(crate) host_closed: bool,
    /// From the app's dial until it closes or hears of the end.
    pub(crate) app_end: bool,
    /// The first frame of the app, and when it reached the daemon.
    pub(crate) hello: Option<(Hello, u64)>,
    /// The token of the ack.
    pub(crate) acked: Option<String>,
    broken: bool,
    up: Pipe,
    down: Pipe,
}

/// One direction: in order, whatever happens.
#[derive(Debug, Default)]
struct Pipe {
    on_the_way: VecDeque<Message>,
    /// When the last of them arrives.
    last: u64,
    /// Nothing that is sent arrives before.
    held_until: u64,
    /// What is sent is gone, and nobody hears of it.
    is_deaf: bool,
}

/// How bad it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    /// The latency of a message in milliseconds, from and up to.
    pub(crate) latency: (u64, u64),
    /// How often a break is not heard of at one end, in percent.
    pub(crate) unheard: u64,
    /// How often nobody answers a dial, in percent.
    pub(crate) unreachable: u64,
    /// How often a connection opens and then holds back what the app says, in percent.
    pub(crate) stuck: u64,
}

impl Weather {
    pub(crate) const CALM: Self = Self { latency: (1, 40), unheard: 0, unreachable: 0, stuck: 0 };

    pub(crate) fn bad(random: &mut Random) -> Self {
        let latency = match random.below(4) {
            0 => (1, 10),
            1 => (5, 200),
            2 => (100, 900),
            _ => (1, 3_000),
        };
        let unreachable = if random.percent(30) { random.below(60) } else { 0 };
        let stuck = if random.percent(50) { random.below(80) } else { 0 };
        Self { latency, unheard: random.below(40), unreachable, stuck }
    }
}

#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) weather: Weather,
    connections: BTreeMap<ConnectionNo, Connection>,
    count: u64,
}

impl Network {
    pub(crate) fn new() -> Self {
        Self { weather: Weather::CALM, connections: BTreeMap::new(), count: 0 }
    }

    /// Somebody dials a daemon that runs.
    pub(crate) fn connect(&mut self, peer: Peer, transport: Transport, daemon: u64) -> ConnectionNo {
        self.count += 1;
        let no = ConnectionNo(self.count);
        let connection = Connection {
            peer,
            transport,
            daemon,
            host_end: false,
            host_closed: false,
            app_end: true,
            hello: None,
            acked: None,
            broken: false,
            up: Pipe::default(),
            down: Pipe::default(),
        };
        self.connections.insert(no, connection);
        no
    }

    /// The connection, if anything of it is left.
    pub(crate) fn find(&self, no: ConnectionNo) -> Option<&Connection> {
        self.connections.get(&no)
    }

    pub(crate) fn get(&self, no: ConnectionNo) -> &Connection {
        self.connections.get(&no).expect("a connection is forgotten when nothing of it is left")
    }

    pub(crate) fn get_mut(&mut self, no: ConnectionNo) -> &mut Connection {
        self.connections.get_mut(&no).expect("a connection is forgotten when nothing of it is left")
    }

    /// The connection behind an app's socket.
    pub(crate) fn of_app(&self, app: usize, life: u64, socket: app::SocketId) -> Option<ConnectionNo> {
        let peer = Peer::App { app, life, socket };
        self.connections.iter().rev().find(|(_, connection)| connection.peer == peer).map(|(&no, _)| no)
    }

    /// Those that are open at one end at least.
    pub(crate) fn open(&self) -> Vec<ConnectionNo> {
        let open = self.connections.iter().filter(|(_, connection)| connection.host_end || connection.app_end);
        open.map(|(&no, _)| no).collect()
    }

    /// How many sockets the driver of this daemon has not reported gone.
    pub(crate) fn at_host(&self, daemon: u64) -> usize {
        self.connections.values().filter(|connection| connection.host_end && connection.daemon == daemon).count()
    }

    pub(crate) fn latency(&self, random: &mut Random) -> u64 {
        random.within(self.weather.latency)
    }

    pub(crate) fn send(
        &mut self,
        now: u64,
        no: ConnectionNo,
        way: Way,
        message: Message,
        random: &mut Random,
        queue: &mut Queue,
    ) {
        let latency = self.latency(random);
        let connection = self.get_mut(no);
        if connection.broken || connection.pipe(way).is_deaf {
            return;
        }
        let pipe = connection.pipe_mut(way);
        pipe.last = pipe.last.max(pipe.held_until).max(now + latency);
        pipe.on_the_way.push_back(message);
        queue.put(
            pipe.last,
            match way {
                Way::Up => Happening::ToHost(no),
                Way::Down => Happening::ToApp(no),
            },
        );
    }

    /// The message that arrives; `None` if a break took it.
    pub(crate) fn take(&mut self, no: ConnectionNo, way: Way) -> Option<Message> {
        self.connections.get_mut(&no)?.pipe_mut(way).on_the_way.pop_front()
    }

    /// Whether everything that was sent has arrived.
    pub(crate) fn is_empty(&self, no: ConnectionNo, way: Way) -> bool {
        self.get(no).pipe(way).on_the_way.is_empty()
    }

    /// Whether what was sent may have been lost without a trace.
    pub(crate) fn is_lossy(&self, no: ConnectionNo) -> bool {
        let connection = self.get(no);
        connection.broken || connection.up.is_deaf
    }

    /// The connection breaks, with all that is on its way. Each end hears of it after a while, or never.
    pub(crate) fn tear(&mut self, now: u64, no: ConnectionNo, random: &mut Random, queue: &mut Queue) {
        self.get_mut(no).tear();
        for happening in [Happening::HostLoses(no), Happening::AppLoses(no)] {
            if self.is_heard(no, random) {
                queue.put(now + self.latency(random), happening);
            }
        }
    }

    /// One end is gone without a goodbye; the other hears of it after a while, or never.
    pub(crate) fn vanish(&mut self, now: u64, no: ConnectionNo, end: Way, random: &mut Random, queue: &mut Queue) {
        self.get_mut(no).tear();
        if self.is_heard(no, random) {
            let happening = match end {
                Way::Up => Happening::HostLoses(no),
                Way::Down => Happening::AppLoses(no),
            };
            queue.put(now + self.latency(random), happening);
        }
    }

    /// Nothing of a direction arrives any more, and nobody hears of it. Loopback never does this.
    pub(crate) fn silence(&mut self, no: ConnectionNo, way: Way) {
        if self.get(no).transport == Transport::Native {
            self.get_mut(no).pipe_mut(way).is_deaf = true;
        }
    }

    /// What is sent from here on waits until then.
    pub(crate) fn hold(&mut self, no: ConnectionNo, way: Way, until: u64) {
        let pipe = self.get_mut(no).pipe_mut(way);
        pipe.held_until = pipe.held_until.max(until);
    }

    /// What older connections of this app still hold back comes now, one message of each: the worst moment there is.
    pub(crate) fn release_older(&self, now: u64, no: ConnectionNo, random: &mut Random, queue: &mut Queue) {
        let Peer::App { app, life, .. } = self.get(no).peer else { return };
        for (&older, connection) in self.connections.range(..no) {
            let is_of_app = matches!(connection.peer, Peer::App { app: of, life: at, .. } if of == app && at == life);
            if is_of_app && !connection.up.on_the_way.is_empty() && random.percent(50) {
                queue.put(now + self.latency(random), Happening::ToHost(older));
            }
        }
    }

    /// Forgets connections that are closed at both ends. A message on its way still finds nothing to reach.
    pub(crate) fn forget_closed(&mut self) {
        self.connections.retain(|_, connection| connection.host_end || connection.app_end || !connection.is_quiet());
    }

    fn is_heard(&self, no: ConnectionNo, random: &mut Random) -> bool {
        !random.percent(self.weather.unheard) || self.get(no).transport == Transport::Web
    }
}

impl Connection {
    fn pipe(&self, way: Way) -> &Pipe {
        match way {
            Way::Up => &self.up,
            Way::Down => &self.down,
        }
    }

    fn pipe_mut(&mut self, way: Way) -> &mut Pipe {
        match way {
            Way::Up => &mut self.up,
            Way::Down => &mut self.down,
        }
    }

    fn tear(&mut self) {
        self.broken = true;
        self.up.on_the_way.clear();
        self.down.on_the_way.clear();
    }

    fn is_quiet(&self) -> bool {
        self.up.on_the_way.is_empty() && self.down.on_the_way.is_empty()
    }
}
