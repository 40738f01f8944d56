//! What waits to be written to one device.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use appduct_proto::wire::Close;
use tokio::sync::{mpsc, oneshot};

/// A message for the device.
#[derive(Debug)]
pub(super) enum Item {
    Text(String),
    Ping,
}

/// How the daemon ends a connection.
#[derive(Debug)]
pub(super) enum Ending {
    /// With a close frame; after what waits, unless there is too much of it.
    Close { close: Close, discard_queue: bool },
    /// At once.
    Abort,
}

/// Too many bytes wait to be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overfull;

/// The event loop's end of a device socket. Dropped, it aborts the connection.
#[derive(Debug)]
pub(crate) struct Outbox {
    items: mpsc::UnboundedSender<Item>,
    ending: Option<oneshot::Sender<Ending>>,
    queued_bytes: Arc<AtomicUsize>,
    max_bytes: usize,
    overfull: bool,
}

/// The socket's end.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) items: mpsc::UnboundedReceiver<Item>,
    pub(super) ending: oneshot::Receiver<Ending>,
    queued_bytes: Arc<AtomicUsize>,
}

impl Outbox {
    /// Both ends of a queue that takes `max_bytes` of text.
    pub(super) fn new(max_bytes: usize) -> (Self, Queue) {
        // Bounded by bytes, which the number of items does not tell; pings are bounded by keepalive.
        let (items, receiver) = mpsc::unbounded_channel();
        let (ending, ended) = oneshot::channel();
        let queued_bytes = Arc::new(AtomicUsize::new(0));
        let queue = Queue { items: receiver, ending: ended, queued_bytes: Arc::clone(&queued_bytes) };
        (Self { items, ending: Some(ending), queued_bytes, max_bytes, overfull: false }, queue)
    }

    /// Queues a message. Once too much waits, everything that waits is given up.
    pub(crate) fn send(&mut self, text: String) -> Result<(), Overfull> {
        let length = text.len();
        let before = self.queued_bytes.fetch_add(length, Ordering::Relaxed);
        if self.overfull || before + length > self.max_bytes {
            self.queued_bytes.fetch_sub(length, Ordering::Relaxed);
            self.overfull = true;
            return Err(Overfull);
        }
        // A socket that is gone reports so by itself.
        self.items.send(Item::Text(text)).ok();
        Ok(())
    }

    /// How many bytes may still wait, less a share for what cannot be refused: acks and cancels.
    pub(crate) fn room(&self) -> usize {
        let share = self.max_bytes / 16;
        (self.max_bytes - share).saturating_sub(self.queued_bytes.load(Ordering::Relaxed))
    }

    pub(crate) fn ping(&self) {
        self.items.send(Item::Ping).ok();
    }

    /// Closes the connection after what waits.
    pub(crate) fn close(&mut self, close: Close) {
        let discard_queue = self.overfull;
        self.end(Ending::Close { close, discard_queue });
    }

    /// Drops the connection.
    pub(crate) fn abort(&mut self) {
        self.end(Ending::Abort);
    }

    /// Whether the daemon has ended the connection.
    pub(crate) fn has_ended(&self) -> bool {
        self.ending.is_none()
    }

    fn end(&mut self, ending: Ending) {
        if let Some(sender) = self.ending.take() {
            sender.send(ending).ok();
        }
    }
}

impl Queue {
    /// That much has left the process.
    pub(super) fn written(&self, bytes: usize) {
        self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Item {
    pub(super) fn len_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Ping => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_bounded_and_come_free_when_written() {
        let (mut outbox, mut queue) = Outbox::new(10);
        assert_eq!(outbox.send("12345".to_owned()), Ok(()));
        assert_eq!(outbox.send("67890".to_owned()), Ok(()));
        let written = queue.items.try_recv().unwrap().len_bytes();
        queue.written(written);
        assert_eq!(outbox.send("12345".to_owned()), Ok(()));
        assert_eq!(outbox.send("1".to_owned()), Err(Overfull));
    }

    #[test]
    fn room_leaves_a_share_for_what_cannot_be_refused() {
        let (mut outbox, queue) = Outbox::new(160);
        assert_eq!(outbox.room(), 150);
        outbox.send("x".repeat(155)).unwrap();
        assert_eq!(outbox.room(), 0);
        queue.written(105);
        assert_eq!(outbox.room(), 100);
    }

    #[test]
    fn an_overfull_queue_is_given_up() {
        let (mut outbox, mut queue) = Outbox::new(3);
        assert_eq!(outbox.send("1234".to_owned()), Err(Overfull));
        assert_eq!(outbox.send("1".to_owned()), Err(Overfull));
        outbox.close(Close { code: 1011, reason: "send_failed".to_owned() });
        assert!(matches!(queue.ending.try_recv(), Ok(Ending::Close { discard_queue: true, .. })));
        assert!(outbox.has_ended());
    }
}
