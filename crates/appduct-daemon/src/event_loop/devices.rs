//! The device sockets, as far as the event loop knows them.

use std::collections::BTreeMap;

use appduct_proto::host::SocketId;
use appduct_proto::wire::Close;

use crate::links::{Outbox, Overfull};

/// Every socket that has not reported its end.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    outboxes: BTreeMap<SocketId, Outbox>,
    /// Sockets that have just become overfull; the host is still to hear of them.
    overfull: Vec<SocketId>,
}

impl Devices {
    pub(super) fn insert(&mut self, socket: SocketId, outbox: Outbox) {
        self.outboxes.insert(socket, outbox);
    }

    pub(super) fn remove(&mut self, socket: SocketId) {
        self.outboxes.remove(&socket);
    }

    /// How many bytes of calls may still be queued for a socket.
    pub(crate) fn room(&self, socket: SocketId) -> usize {
        self.outboxes.get(&socket).map_or(usize::MAX, Outbox::room)
    }

    pub(super) fn send(&mut self, socket: SocketId, text: String) {
        if let Some(outbox) = self.outboxes.get_mut(&socket).filter(|outbox| !outbox.has_ended())
            && outbox.send(text) == Err(Overfull)
        {
            self.overfull.push(socket);
        }
    }

    pub(super) fn ping(&self, socket: SocketId) {
        if let Some(outbox) = self.outboxes.get(&socket) {
            outbox.ping();
        }
    }

    pub(super) fn close(&mut self, socket: SocketId, close: Close) {
        if let Some(outbox) = self.outboxes.get_mut(&socket) {
            outbox.close(close);
        }
    }

    pub(super) fn terminate(&mut self, socket: SocketId) {
        if let Some(outbox) = self.outboxes.get_mut(&socket) {
            outbox.abort();
        }
    }

    pub(super) fn take_overfull(&mut self) -> Option<SocketId> {
        self.overfull.pop()
    }
}
