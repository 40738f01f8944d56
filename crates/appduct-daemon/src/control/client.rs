//! What waits to be written to one control connection.
//!
//! Replies and notifications share one queue, so they arrive in the order in which the event loop made them: a subscribe's
//! reply before its notifications, the end of a call as an event before its reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use appduct_proto::wire::RawJson;
use appduct_rpc::RpcError;
use appduct_rpc::line::MAX_BACKLOG_BYTES;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use crate::handlers::Reply;

/// A control connection; numbers are never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClientId(pub(super) u64);

/// A request's place among those that a connection may have open, until its reply is written.
#[derive(Debug)]
pub(crate) struct Slot {
    _permit: OwnedSemaphorePermit,
}

/// Something to write.
#[derive(Debug)]
pub(super) enum Outgoing {
    Reply { id: RawJson, result: Result<Reply, RpcError>, slot: Slot, written: Option<oneshot::Sender<()>> },
    Notification(Arc<str>),
}

/// The connection reads too slowly and has been dropped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooSlow;

/// The event loop's end of a control connection. Dropped, it lets the connection go once everything is written.
#[derive(Debug)]
pub(crate) struct Client {
    outgoing: mpsc::UnboundedSender<Outgoing>,
    unsent_bytes: Arc<AtomicUsize>,
    kill: Option<oneshot::Sender<()>>,
}

/// The connection's end.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) outgoing: mpsc::UnboundedReceiver<Outgoing>,
    pub(super) killed: oneshot::Receiver<()>,
    unsent_bytes: Arc<AtomicUsize>,
}

impl Client {
    pub(super) fn new() -> (Self, Queue) {
        // Replies are bounded by the connection's slots, notifications by their bytes.
        let (sender, outgoing) = mpsc::unbounded_channel();
        let (kill, killed) = oneshot::channel();
        let unsent_bytes = Arc::new(AtomicUsize::new(0));
        let queue = Queue { outgoing, killed, unsent_bytes: Arc::clone(&unsent_bytes) };
        (Self { outgoing: sender, unsent_bytes, kill: Some(kill) }, queue)
    }

    /// For the connection's own replies, to lines that are no requests. It does not keep the queue open.
    pub(super) fn sender(&self) -> mpsc::WeakUnboundedSender<Outgoing> {
        self.outgoing.downgrade()
    }

    pub(crate) fn reply(&self, id: RawJson, result: Result<Reply, RpcError>, slot: Slot) {
        self.outgoing.send(Outgoing::Reply { id, result, slot, written: None }).ok();
    }

    /// Replies; `written` hears when the reply has left, and is dropped if it cannot.
    pub(crate) fn reply_and_tell(&self, id: RawJson, reply: Reply, slot: Slot, written: oneshot::Sender<()>) {
        self.outgoing.send(Outgoing::Reply { id, result: Ok(reply), slot, written: Some(written) }).ok();
    }

    /// Queues a notification, unless too much waits already: then the connection is dropped.
    pub(crate) fn notify(&mut self, line: Arc<str>) -> Result<(), TooSlow> {
        if self.unsent_bytes.load(Ordering::Relaxed) > MAX_BACKLOG_BYTES {
            if let Some(kill) = self.kill.take() {
                tracing::warn!("dropped a control connection that reads its notifications too slowly");
                kill.send(()).ok();
            }
            return Err(TooSlow);
        }
        self.unsent_bytes.fetch_add(line.len(), Ordering::Relaxed);
        self.outgoing.send(Outgoing::Notification(line)).ok();
        Ok(())
    }
}

impl From<OwnedSemaphorePermit> for Slot {
    fn from(permit: OwnedSemaphorePermit) -> Self {
        Self { _permit: permit }
    }
}

impl Queue {
    /// A notification of that size has left.
    pub(super) fn written(unsent_bytes: &AtomicUsize, bytes: usize) {
        unsent_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn into_parts(self) -> (mpsc::UnboundedReceiver<Outgoing>, oneshot::Receiver<()>, Arc<AtomicUsize>) {
        (self.outgoing, self.killed, self.unsent_bytes)
    }
}
