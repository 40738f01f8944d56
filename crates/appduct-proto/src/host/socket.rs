//! Device sockets: what each of them may send next.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::saves::Generation;
use super::sessions::SessionNo;

/// A device socket; the driver numbers them and never uses a number twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketId(pub u64);

/// The listener that a socket came in by, and that a link is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Pinned TLS, for native apps.
    #[default]
    Native,
    /// Plain WebSocket on loopback, for web pages.
    Web,
}

/// What went wrong on a socket below the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketFault {
    /// A message over the frame limit.
    TooBig,
    /// A binary message.
    Binary,
    /// A text message that is not UTF-8.
    InvalidUtf8,
    /// A write failed, or too many bytes wait to be written.
    SendFailed,
}

/// What a socket awaits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaits {
    /// A claim or resume.
    Hello(Transport),
    /// The save that has its token; until then it is nobody's.
    Save(Generation),
    /// Frames of this session.
    Frames(SessionNo),
    /// Its end: we have closed it, and nothing more of it counts.
    End,
}

/// A socket's place in the order in which sockets opened. The default is before all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn(u64);

#[derive(Clone, Copy, Debug)]
struct Socket {
    turn: Turn,
    awaits: Awaits,
}

/// Every socket that the driver has not reported gone.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    by_id: BTreeMap<SocketId, Socket>,
    opened: u64,
    unclaimed: usize,
    ended: usize,
}

impl Sockets {
    /// `false` if the number was used before.
    pub(super) fn open(&mut self, socket: SocketId, transport: Transport) -> bool {
        if self.by_id.contains_key(&socket) {
            return false;
        }
        self.opened += 1;
        self.by_id.insert(socket, Socket { turn: Turn(self.opened), awaits: Awaits::Hello(transport) });
        self.unclaimed += 1;
        true
    }

    /// What the socket awaits; `None` for one that is not there.
    pub(super) fn awaits(&self, socket: SocketId) -> Option<Awaits> {
        self.by_id.get(&socket).map(|socket| socket.awaits)
    }

    /// When the socket opened; the default for one that is not there.
    pub(super) fn turn(&self, socket: SocketId) -> Turn {
        self.by_id.get(&socket).map_or(Turn::default(), |socket| socket.turn)
    }

    /// The session that the socket carries.
    pub(super) fn session(&self, socket: SocketId) -> Option<SessionNo> {
        match self.awaits(socket)? {
            Awaits::Frames(session) => Some(session),
            Awaits::Hello(_) | Awaits::Save(_) | Awaits::End => None,
        }
    }

    /// The claim or resume of a socket was accepted; its ack waits for a save.
    pub(super) fn park(&mut self, socket: SocketId, generation: Generation) {
        self.set(socket, Awaits::Save(generation));
    }

    /// The ack of a socket leaves.
    pub(super) fn bind(&mut self, socket: SocketId, session: SessionNo) {
        self.set(socket, Awaits::Frames(session));
    }

    /// We close the socket. Returns what it awaited; `None` if it is closed already or not there.
    pub(super) fn end(&mut self, socket: SocketId) -> Option<Awaits> {
        if self.awaits(socket)? == Awaits::End {
            return None;
        }
        self.set(socket, Awaits::End)
    }

    /// The socket is gone. Returns what it awaited.
    pub(super) fn remove(&mut self, socket: SocketId) -> Option<Awaits> {
        let awaited = self.by_id.remove(&socket).map(|socket| socket.awaits);
        self.uncount(awaited);
        awaited
    }

    pub(super) fn unclaimed(&self) -> usize {
        self.unclaimed
    }

    pub(super) fn open_count(&self) -> usize {
        self.by_id.len() - self.ended
    }

    pub(super) fn known_count(&self) -> usize {
        self.by_id.len()
    }

    /// Those that we have not closed.
    pub(super) fn all_open(&self) -> Vec<SocketId> {
        self.by_id.iter().filter(|(_, socket)| socket.awaits != Awaits::End).map(|(&socket, _)| socket).collect()
    }

    fn set(&mut self, socket: SocketId, awaits: Awaits) -> Option<Awaits> {
        let known = self.by_id.get_mut(&socket)?;
        let awaited = std::mem::replace(&mut known.awaits, awaits);
        self.uncount(Some(awaited));
        if awaits == Awaits::End {
            self.ended += 1;
        }
        Some(awaited)
    }

    fn uncount(&mut self, awaited: Option<Awaits>) {
        match awaited {
            Some(Awaits::Hello(_)) => self.unclaimed -= 1,
            Some(Awaits::End) => self.ended -= 1,
            Some(Awaits::Save(_) | Awaits::Frames(_)) | None => {}
        }
    }
}
