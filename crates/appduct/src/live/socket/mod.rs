//! The sockets that the core asked for, each a task of its own.

mod connection;
mod tls;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use appduct_proto::app::{SocketId, SocketLoss};
use appduct_proto::wire::{Close, Pin};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use connection::Connection;

/// How long a socket may take to open: TCP, TLS and the WebSocket's handshake.
const OPENING_TIME: Duration = Duration::from_secs(15);

/// How long a close may take, from the last frames before it to the peer's answer.
pub(super) const CLOSING_TIME: Duration = Duration::from_secs(2);

/// How many bytes of frames may wait for a slow network. Over it the socket counts as failed.
const MAX_QUEUED_BYTES: usize = 4 * 1024 * 1024;

/// How many events of sockets may wait for the driver before reading pauses.
const MAX_QUEUED_EVENTS: usize = 64;

/// What a socket tells the driver.
pub(super) enum SocketEvent {
    Opened,
    Text(Bytes),
    Binary,
    Pong,
    SendFailed,
    Lost(SocketLoss),
}

/// What the driver tells a socket.
enum Order {
    Text(String),
    Ping,
    Close(Close),
}

pub(super) struct Sockets {
    open: BTreeMap<SocketId, Handle>,
    events: mpsc::Sender<(SocketId, SocketEvent)>,
    /// Held by every task until it ends.
    alive: mpsc::Sender<()>,
    all_closed: mpsc::Receiver<()>,
}

struct Handle {
    /// Bounded by `queued_bytes`.
    orders: mpsc::UnboundedSender<Order>,
    queued_bytes: Arc<AtomicUsize>,
    /// Gone with the handle: from then on the task has [`CLOSING_TIME`] left, however slow the network is.
    _held: oneshot::Sender<()>,
}

impl Sockets {
    pub(super) fn new() -> (Self, mpsc::Receiver<(SocketId, SocketEvent)>) {
        let (events, events_out) = mpsc::channel(MAX_QUEUED_EVENTS);
        let (alive, all_closed) = mpsc::channel(1);
        (Self { open: BTreeMap::new(), events, alive, all_closed }, events_out)
    }

    pub(super) fn open(&mut self, socket: SocketId, address: SocketAddr, pins: &[Pin]) {
        let (orders, orders_out) = mpsc::unbounded_channel();
        let queued_bytes = Arc::new(AtomicUsize::new(0));
        let (held, released) = oneshot::channel();
        self.open.insert(socket, Handle { orders, queued_bytes: Arc::clone(&queued_bytes), _held: held });
        let connection = Connection::new(socket, self.events.clone(), orders_out, queued_bytes);
        let (tls, alive) = (tls::connector(pins), self.alive.clone());
        tokio::spawn(async move {
            let overdue = async {
                drop(released.await);
                sleep(CLOSING_TIME).await;
            };
            tokio::select! {
                () = connection.run(address, tls) => {}
                () = overdue => {}
            }
            drop(alive);
        });
    }

    /// Queues a frame. `false` if too much waits already.
    pub(super) fn send(&self, socket: SocketId, text: String) -> bool {
        // A socket that is gone has said so, and the core will hear of it.
        let Some(handle) = self.open.get(&socket) else { return true };
        let bytes = text.len();
        if handle.queued_bytes.load(Ordering::Relaxed).saturating_add(bytes) > MAX_QUEUED_BYTES {
            return false;
        }
        handle.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        handle.order(Order::Text(text));
        true
    }

    pub(super) fn ping(&self, socket: SocketId) {
        if let Some(handle) = self.open.get(&socket) {
            handle.order(Order::Ping);
        }
    }

    pub(super) fn close(&mut self, socket: SocketId, close: Close) {
        if let Some(handle) = self.open.remove(&socket) {
            handle.order(Order::Close(close));
        }
    }

    /// A socket is gone.
    pub(super) fn forget(&mut self, socket: SocketId) {
        self.open.remove(&socket);
    }

    /// Waits until the last socket is closed. No socket opens after this.
    pub(super) async fn closed(self) {
        let Self { open, events, alive, mut all_closed } = self;
        drop((open, events, alive));
        // Nothing is ever sent: the channel only ends.
        all_closed.recv().await.unwrap_or_default();
    }
}

impl Handle {
    fn order(&self, order: Order) {
        // A task that has ended has told the driver.
        self.orders.send(order).unwrap_or_default();
    }
}
