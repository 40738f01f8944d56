//! Signals that end what a command waits for.

use std::ffi::c_int;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::iterator::{Handle, Signals};

use crate::error::Failure;

/// Watches for signals until it is dropped; when one comes, the connection that it knows is ended.
pub(super) struct Interrupt {
    shared: Arc<Shared>,
    handle: Handle,
}

#[derive(Default)]
struct Shared {
    came: AtomicBool,
    connection: Mutex<Option<UnixStream>>,
    waiter: Mutex<Option<Waiter>>,
}

/// Tells somebody that there is nothing to wait for any more.
type Waiter = Box<dyn FnOnce() + Send>;

impl Shared {
    fn end(&self) {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = connection.as_ref() {
            // A connection that is closed already is ended too.
            drop(connection.shutdown(Shutdown::Both));
        }
        let waiter = self.waiter.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waiter) = waiter {
            waiter();
        }
    }
}

impl Interrupt {
    /// Starts to watch for these.
    pub(super) fn watch(signals: &[c_int]) -> Result<Self, Failure> {
        let mut signals =
            Signals::new(signals).map_err(|error| Failure::internal(format!("Signals cannot be watched: {error}.")))?;
        let handle = signals.handle();
        let shared = Arc::new(Shared::default());
        let watcher = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("interrupt".to_owned())
            .spawn(move || {
                for _ in signals.forever() {
                    watcher.came.store(true, Ordering::SeqCst);
                    watcher.end();
                }
            })
            .map_err(|error| Failure::internal(format!("Signals cannot be watched: {error}.")))?;
        Ok(Self { shared, handle })
    }

    /// Ends this connection when a signal comes, or now if one has come.
    pub(super) fn ends(&self, connection: UnixStream) {
        *self.shared.connection.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
        if self.came() {
            self.shared.end();
        }
    }

    /// What `work` comes to; `None` if a signal comes before. The work is left behind then, for the process to end.
    pub(super) fn unless_it_comes<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Option<T>, Failure> {
        let (done, outcome) = channel();
        let came: Sender<Option<T>> = done.clone();
        let waiter: Waiter = Box::new(move || came.send(None).unwrap_or_default());
        *self.shared.waiter.lock().unwrap_or_else(PoisonError::into_inner) = Some(waiter);
        if self.came() {
            return Ok(None);
        }
        std::thread::Builder::new()
            .name("input".to_owned())
            .spawn(move || done.send(Some(work())).unwrap_or_default())
            .map_err(|error| Failure::internal(format!("The input cannot be waited for: {error}.")))?;
        Ok(outcome.recv().unwrap_or_default())
    }

    /// Whether a signal came.
    pub(super) fn came(&self) -> bool {
        self.shared.came.load(Ordering::SeqCst)
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.handle.close();
    }
}
