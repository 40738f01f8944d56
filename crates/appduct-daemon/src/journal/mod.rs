//! Files that grow by a line at a time, written by a thread of their own: whoever has something to write never waits.

mod append;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

pub(crate) use append::append;

/// How many records may wait to be written.
const MAX_RECORDS: usize = 4096;

/// How much may wait to be written.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How many records are handed over at once.
const BATCH: usize = 256;

/// A queue of records and the thread that writes them. The thread ends when the journal is dropped and the queue is empty.
pub(crate) struct Journal<T> {
    sender: mpsc::Sender<Entry<T>>,
    queued_bytes: Arc<AtomicUsize>,
}

/// The queue is full, or its thread is gone; the record is lost.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

enum Entry<T> {
    Record {
        record: T,
        bytes: usize,
    },
    /// Everything before it is written.
    Mark(oneshot::Sender<()>),
}

impl<T> fmt::Debug for Journal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("queued_bytes", &self.queued_bytes).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Journal<T> {
    /// Starts the thread. `write` gets the records in order, as many at a time as have come within `gather` of the first:
    /// a wake and a write for every record would cost more than whatever the record tells of.
    pub(crate) fn start(
        name: &str,
        gather: Duration,
        mut write: impl FnMut(Vec<T>) + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, mut receiver) = mpsc::channel(MAX_RECORDS);
        let queued_bytes = Arc::new(AtomicUsize::new(0));
        let queued = Arc::clone(&queued_bytes);
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            let mut entries = Vec::new();
            while let Some(first) = receiver.blocking_recv() {
                let is_awaited = matches!(first, Entry::Mark(_));
                entries.push(first);
                if !is_awaited {
                    thread::sleep(gather);
                }
                while entries.len() < BATCH
                    && let Ok(next) = receiver.try_recv()
                {
                    entries.push(next);
                }
                let mut records = Vec::with_capacity(entries.len());
                let mut taken = 0;
                for entry in entries.drain(..) {
                    match entry {
                        Entry::Record { record, bytes } => {
                            records.push(record);
                            taken += bytes;
                        }
                        Entry::Mark(written) => {
                            write(std::mem::take(&mut records));
                            // Whoever asked may have stopped waiting.
                            written.send(()).ok();
                        }
                    }
                }
                write(records);
                queued.fetch_sub(taken, Ordering::Relaxed);
            }
        })?;
        Ok(Self { sender, queued_bytes })
    }

    /// Queues a record that holds about `bytes` bytes. Never waits.
    pub(crate) fn push(&self, record: T, bytes: usize) -> Result<(), Full> {
        let queued = self.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        // A record is always taken when nothing else waits, however large it is.
        let fits = queued == 0 || queued.saturating_add(bytes) <= MAX_BYTES;
        if fits && self.sender.try_send(Entry::Record { record, bytes }).is_ok() {
            return Ok(());
        }
        self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
        Err(Full)
    }

    /// Waits until everything that was queued before has been written, or could not be.
    pub(crate) async fn flush(&self) {
        let (written, told) = oneshot::channel();
        if self.sender.send(Entry::Mark(written)).await.is_ok() {
            told.await.ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::*;

    #[tokio::test]
    async fn records_come_in_order_and_a_flush_waits_for_them() {
        let written = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&written);
        let journal =
            Journal::start("test", Duration::ZERO, move |records| sink.lock().unwrap().extend(records)).unwrap();
        for record in 0..1000 {
            journal.push(record, 1).unwrap();
        }
        journal.flush().await;
        assert_eq!(*written.lock().unwrap(), (0..1000).collect::<Vec<_>>());
        assert_eq!(journal.push(1000, 1), Ok(()));
    }

    #[tokio::test]
    async fn a_stuck_disk_fills_the_queue_and_delays_nobody() {
        let (unstick, stuck) = channel::<()>();
        let journal = Journal::start("test", Duration::ZERO, move |_: Vec<u32>| {
            stuck.recv().ok();
        })
        .unwrap();
        journal.push(0, MAX_BYTES + 1).unwrap();
        assert_eq!(journal.push(1, 1), Err(Full), "too many bytes");
        drop(unstick);
        journal.flush().await;
        while journal.push(2, 1) == Err(Full) {
            tokio::task::yield_now().await;
        }

        let (_unstick, stuck) = channel::<()>();
        let journal = Journal::start("test", Duration::ZERO, move |_: Vec<u32>| {
            stuck.recv().ok();
        })
        .unwrap();
        // The thread itself may hold one batch.
        let taken = (0..2 * MAX_RECORDS as u32).take_while(|&record| journal.push(record, 1).is_ok()).count();
        assert!((MAX_RECORDS..=MAX_RECORDS + BATCH).contains(&taken), "{taken}");
    }

    #[tokio::test]
    async fn nobody_waits_for_a_writer_that_has_died() {
        let journal = Journal::start("test", Duration::ZERO, |records: Vec<u32>| {
            std::panic::resume_unwind(Box::new(records));
        })
        .unwrap();
        journal.push(0, 1).unwrap();
        journal.flush().await;
        journal.flush().await;
    }
}
