//! The threads that check what may take long.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

/// How many checks run at once.
const THREADS: usize = 2;

/// How many checks may wait.
const MAX_WAITING: usize = 256;

/// The stack of each thread. Only what is used takes memory.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// How much of it a check may use; compiling a schema needs less.
pub(super) const USABLE_STACK_BYTES: usize = STACK_BYTES / 2;

type Job = Box<dyn FnOnce() + Send>;

/// The threads, started with the first check.
#[derive(Debug, Default)]
pub(super) struct Workers(OnceLock<SyncSender<Job>>);

/// Too many checks wait.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Busy;

impl Workers {
    pub(super) fn run(&self, job: impl FnOnce() + Send + 'static) -> Result<(), Busy> {
        match self.0.get_or_init(start).try_send(Box::new(job)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Err(Busy),
        }
    }
}

/// Starts the threads. They end when the sender is dropped. Without threads nothing is ever checked on them.
fn start() -> SyncSender<Job> {
    let (sender, receiver) = sync_channel(MAX_WAITING);
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..THREADS {
        let jobs = Arc::clone(&receiver);
        let thread = thread::Builder::new().name("validation".to_owned()).stack_size(STACK_BYTES);
        if let Err(error) = thread.spawn(move || work(&jobs)) {
            tracing::warn!("no thread for the validation of arguments: {error}");
        }
    }
    sender
}

fn work(jobs: &Mutex<Receiver<Job>>) {
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match next {
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn jobs_run_and_what_is_too_much_is_refused() {
        let workers = Workers::default();
        let (done, results) = channel();
        let (go, gate) = channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let mut accepted = 0;
        loop {
            let (done, gate) = (done.clone(), Arc::clone(&gate));
            let job = move || {
                gate.lock().unwrap().recv().ok();
                done.send(()).unwrap();
            };
            match workers.run(job) {
                Ok(()) => accepted += 1,
                Err(Busy) => break,
            }
        }
        assert!((MAX_WAITING..=MAX_WAITING + THREADS).contains(&accepted), "{accepted}");
        drop((go, done));
        assert_eq!(results.iter().count(), accepted);
    }
}
