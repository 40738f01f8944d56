//! The audit log: one line for every attempted call that found its session, in a file for each UTC day.
//!
//! A thread of its own hashes the arguments and writes, so the log delays no reply. Whatever it cannot write or delete is
//! counted, and `daemon.status` shows the counts. The arguments themselves are never written.

mod day;
mod files;
mod line;

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use appduct_proto::{Moment, Now, Timestamp};
use appduct_rpc::{StateDir, methods};

use crate::journal::{Full, Journal};
use files::Files;
pub(crate) use line::{Attempt, Denied, End};

/// How often old files are deleted.
const PRUNE_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// How long lines are gathered for one write, and so how many are lost if the process is killed.
const GATHER: Duration = Duration::from_millis(5);

/// The audit log.
#[derive(Debug)]
pub(crate) struct Audit {
    journal: Journal<Task>,
    directory: PathBuf,
    retention_days: u64,
    counts: Arc<Counts>,
    prune_at: Option<Moment>,
}

#[derive(Debug)]
enum Task {
    Record(Attempt),
    /// Delete what is too old at this time.
    Prune(Timestamp),
}

/// What went wrong so far.
#[derive(Debug, Default)]
struct Counts {
    failed_writes: AtomicU64,
    failed_prunes: AtomicU64,
    /// The last line could not be written. One warning stands for all that follow.
    failing: AtomicBool,
}

impl Audit {
    /// Opens the log and makes its directory. A directory that cannot be made costs lines, not the daemon.
    pub(crate) fn start(state_dir: &StateDir, retention_days: u64) -> io::Result<Self> {
        let directory = state_dir.audit();
        let counts = Arc::new(Counts::default());
        let files = Files::new(directory.clone());
        if let Err(error) = files.prepare() {
            tracing::warn!("the audit directory {} cannot be used: {error}", directory.display());
        }
        let counted = Arc::clone(&counts);
        let journal = Journal::start("audit", GATHER, move |tasks| work(&files, &counted, retention_days, tasks))?;
        Ok(Self { journal, directory, retention_days, counts, prune_at: None })
    }

    /// Queues a line. Never waits: with the queue full the line is lost and counted.
    pub(crate) fn record(&self, attempt: Attempt) {
        let bytes = attempt.size_bytes();
        if self.journal.push(Task::Record(attempt), bytes) == Err(Full) {
            self.counts.failed(1, &self.directory, &"more calls come than can be written");
        }
    }

    /// Has old files deleted, if it has not been done for a day. To be called at the start and often.
    pub(crate) fn prune_if_due(&mut self, now: Now) {
        if self.prune_at.is_some_and(|at| now.mono < at) {
            return;
        }
        // With the queue full the next turn tries again.
        if self.journal.push(Task::Prune(now.wall), 0).is_ok() {
            self.prune_at = Some(now.mono + PRUNE_INTERVAL);
        }
    }

    /// Waits until every attempt that was recorded is written, or could not be.
    pub(crate) async fn flush(&self) {
        self.journal.flush().await;
    }

    /// What `daemon.status` says of the log; the files are measured for it.
    pub(crate) fn status(&self) -> methods::Audit {
        let measured = Files::new(self.directory.clone()).measure();
        methods::Audit {
            path: self.directory.display().to_string(),
            failed_writes: self.counts.failed_writes.load(Ordering::Relaxed),
            failed_prunes: Some(self.counts.failed_prunes.load(Ordering::Relaxed)),
            retention_days: Some(self.retention_days),
            files: measured.map(|measured| measured.files),
            bytes: measured.map(|measured| measured.bytes),
        }
    }
}

impl Counts {
    fn failed(&self, lines: u64, directory: &Path, why: &dyn Display) {
        self.failed_writes.fetch_add(lines, Ordering::Relaxed);
        if !self.failing.swap(true, Ordering::Relaxed) {
            tracing::warn!("{lines} audit lines could not be written to {}: {why}", directory.display());
        }
    }
}

/// Carries tasks out in their order; the lines of one day that follow each other are one write.
fn work(files: &Files, counts: &Counts, retention_days: u64, tasks: Vec<Task>) {
    let mut lines: Option<Lines> = None;
    for task in tasks {
        match task {
            Task::Record(attempt) => {
                let day = day::of(attempt.at);
                let batch = match lines.take() {
                    Some(batch) if batch.day == day => batch,
                    other => {
                        other.into_iter().for_each(|batch| batch.write(files, counts));
                        Lines { day, text: String::new(), count: 0 }
                    }
                };
                lines = Some(batch.with(&attempt));
            }
            Task::Prune(now) => {
                lines.take().into_iter().for_each(|batch| batch.write(files, counts));
                let failed = files.prune(day::of(now), retention_days);
                counts.failed_prunes.fetch_add(failed, Ordering::Relaxed);
            }
        }
    }
    lines.into_iter().for_each(|batch| batch.write(files, counts));
}

/// Lines of one day.
struct Lines {
    day: jiff::civil::Date,
    text: String,
    count: u64,
}

impl Lines {
    fn with(mut self, attempt: &Attempt) -> Self {
        self.text.push_str(&attempt.line());
        self.text.push('\n');
        self.count += 1;
        self
    }

    fn write(self, files: &Files, counts: &Counts) {
        match files.append(self.day, &self.text) {
            Ok(()) => counts.failing.store(false, Ordering::Relaxed),
            Err(error) => counts.failed(self.count, files.directory(), &error),
        }
    }
}

#[cfg(test)]
mod tests;
