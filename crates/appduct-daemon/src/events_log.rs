//! `events.log`: what the daemon did and saw, a line of JSON each; what apps posted is not in it.
//!
//! A file that has grown over its bound becomes `events.log.1`. A failure is reported once until a write succeeds again,
//! and costs the lines that it hit.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use appduct_rpc::StateDir;

use crate::journal::{Full, Journal, append};

/// How long lines are gathered for one write: nobody reads the log faster.
const GATHER: Duration = Duration::from_millis(50);

/// The log. Lines are written in order by a thread of its own.
#[derive(Debug)]
pub(crate) struct EventsLog {
    journal: Journal<String>,
    path: PathBuf,
    /// A line was lost since the queue last took one.
    losing: bool,
}

impl EventsLog {
    /// Opens the log, which may grow to `max_bytes`. The file is made with its first line.
    pub(crate) fn start(state_dir: &StateDir, max_bytes: u64) -> io::Result<Self> {
        let path = state_dir.events_log();
        let mut file = LogFile { path: path.clone(), max_bytes, failing: false };
        let journal = Journal::start("events.log", GATHER, move |lines| file.write(&lines))?;
        Ok(Self { journal, path, losing: false })
    }

    /// Queues an event, which must be one JSON object without line breaks. Never waits: with the queue full the line is lost.
    pub(crate) fn record(&mut self, mut event: String) {
        event.push('\n');
        let bytes = event.len();
        match self.journal.push(event, bytes) {
            Ok(()) => self.losing = false,
            Err(Full) => {
                if !std::mem::replace(&mut self.losing, true) {
                    tracing::warn!("{} cannot be written as fast as events come: lines are lost", self.path.display());
                }
            }
        }
    }

    /// Waits until every event that was recorded is written, or could not be.
    pub(crate) async fn flush(&self) {
        self.journal.flush().await;
    }
}

/// The file, as its thread has it.
struct LogFile {
    path: PathBuf,
    max_bytes: u64,
    failing: bool,
}

impl LogFile {
    fn write(&mut self, lines: &[String]) {
        let mut rest = lines;
        while !rest.is_empty() {
            let room = self.room();
            // As many as fit, and the one that does not: the file is put away after it.
            let ends = rest.iter().scan(0, |bytes, line| {
                *bytes += line.len() as u64;
                Some(*bytes)
            });
            let fitting = ends.take_while(|&end| end <= room).count();
            let (now, later) = rest.split_at(rest.len().min(fitting + 1));
            rest = later;
            match self.write_and_rotate(&now.concat()) {
                Ok(()) => self.failing = false,
                Err(error) => {
                    if !std::mem::replace(&mut self.failing, true) {
                        tracing::warn!("{}: {} lines could not be written: {error}", self.path.display(), now.len());
                    }
                }
            }
        }
    }

    /// How many bytes the file may take before it is over its bound.
    fn room(&self) -> u64 {
        let size = fs::metadata(&self.path).map_or(0, |metadata| metadata.len());
        self.max_bytes.saturating_sub(size)
    }

    fn write_and_rotate(&self, lines: &str) -> io::Result<()> {
        let size = append(&self.path, lines)?;
        if size > self.max_bytes {
            fs::rename(&self.path, backup(&self.path))?;
        }
        Ok(())
    }
}

/// The one older log that is kept.
fn backup(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Rig {
        _directory: tempfile::TempDir,
        state_dir: StateDir,
    }

    impl Rig {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let state_dir = StateDir::new(directory.path());
            Self { _directory: directory, state_dir }
        }

        fn log(&self, max_bytes: u64) -> EventsLog {
            EventsLog::start(&self.state_dir, max_bytes).unwrap()
        }

        fn current(&self) -> String {
            fs::read_to_string(self.state_dir.events_log()).unwrap_or_default()
        }

        fn older(&self) -> String {
            fs::read_to_string(backup(&self.state_dir.events_log())).unwrap_or_default()
        }
    }

    #[tokio::test]
    async fn events_are_lines_in_their_order_that_only_the_user_can_read() {
        let rig = Rig::new();
        let mut log = rig.log(1000);
        log.record(r#"{"a":1}"#.to_owned());
        log.record(r#"{"b":2}"#.to_owned());
        log.flush().await;
        assert_eq!(rig.current(), "{\"a\":1}\n{\"b\":2}\n");
        let mode = fs::metadata(rig.state_dir.events_log()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(rig.older(), "");
    }

    #[tokio::test]
    async fn a_log_over_its_bound_is_put_away() {
        let rig = Rig::new();
        let mut log = rig.log(8);
        for line in ["one", "two", "three", "four"] {
            log.record(line.to_owned());
        }
        log.flush().await;
        // Exactly the bound is within it.
        assert_eq!((rig.older().as_str(), rig.current().as_str()), ("one\ntwo\nthree\n", "four\n"));
        log.record("a line that is over the bound by itself".to_owned());
        log.flush().await;
        assert_eq!(rig.current(), "");
        assert_eq!(rig.older(), "four\na line that is over the bound by itself\n");
        let mode = fs::metadata(backup(&rig.state_dir.events_log())).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[tokio::test]
    async fn a_failure_costs_its_line_and_no_other() {
        let rig = Rig::new();
        fs::create_dir(rig.state_dir.events_log()).unwrap();
        let mut log = rig.log(1000);
        log.record("lost".to_owned());
        log.flush().await;
        fs::remove_dir(rig.state_dir.events_log()).unwrap();
        log.record("kept".to_owned());
        log.flush().await;
        assert_eq!(rig.current(), "kept\n");
    }
}
