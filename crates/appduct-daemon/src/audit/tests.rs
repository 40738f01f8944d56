//! The log as a whole: what is called, what is in the files, what is counted.

use std::fs;
use std::path::Path;

use appduct_proto::wire::RawJson;
use appduct_rpc::ErrorType;

use super::*;

/// 2026-09-05 00:00 UTC.
const MIDNIGHT: Timestamp = Timestamp(1_788_566_400_000);

struct Rig {
    _directory: tempfile::TempDir,
    state_dir: StateDir,
    audit: Audit,
}

impl Rig {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(directory.path());
        let audit = Audit::start(&state_dir, 30).unwrap();
        Self { _directory: directory, state_dir, audit }
    }

    fn file(&self, day: &str) -> PathBuf {
        self.state_dir.audit().join(format!("{day}.jsonl"))
    }

    fn lines(&self, day: &str) -> Vec<String> {
        lines(&self.file(day))
    }
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

fn attempt(at: Timestamp, tool: &str) -> Attempt {
    Attempt {
        at,
        session_id: "s1".to_owned(),
        alias: "pixel-8".to_owned(),
        tool: tool.to_owned(),
        args: RawJson::empty_object(),
        end: End::Error(ErrorType::ToolNotFound),
        duration: Duration::ZERO,
        caller: None,
        consent: false,
    }
}

fn at(mono_ms: u64, wall: Timestamp) -> Now {
    Now { mono: Moment(mono_ms), wall }
}

#[tokio::test]
async fn every_attempt_is_a_line_of_its_day() {
    let rig = Rig::new();
    let before = Timestamp(MIDNIGHT.0 - 1);
    for (at, tool) in [(before, "a"), (MIDNIGHT, "b"), (before, "c"), (MIDNIGHT, "d")] {
        rig.audit.record(attempt(at, tool));
    }
    rig.audit.flush().await;
    let tools = |day| -> Vec<String> {
        let value = |line: &String| serde_json::from_str::<serde_json::Value>(line).unwrap();
        rig.lines(day).iter().map(|line| value(line)["tool"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(tools("2026-09-04"), ["a", "c"]);
    assert_eq!(tools("2026-09-05"), ["b", "d"]);
    let status = rig.audit.status();
    assert_eq!((status.failed_writes, status.failed_prunes), (0, Some(0)));
    assert_eq!(status.files, Some(2));
    assert_eq!(status.retention_days, Some(30));
    assert_eq!(status.path, rig.state_dir.audit().display().to_string());
}

#[tokio::test]
async fn what_cannot_be_written_is_counted_and_the_next_line_is_written() {
    let rig = Rig::new();
    let file = rig.file("2026-09-05");
    fs::create_dir(&file).unwrap();
    rig.audit.record(attempt(MIDNIGHT, "a"));
    rig.audit.record(attempt(MIDNIGHT, "b"));
    rig.audit.flush().await;
    assert_eq!(rig.audit.status().failed_writes, 2);
    fs::remove_dir(&file).unwrap();
    rig.audit.record(attempt(MIDNIGHT, "c"));
    rig.audit.flush().await;
    assert_eq!(rig.lines("2026-09-05").len(), 1);
    assert_eq!(rig.audit.status().failed_writes, 2);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_full_disk_is_counted_and_delays_nobody() {
    let rig = Rig::new();
    std::os::unix::fs::symlink("/dev/full", rig.file("2026-09-05")).unwrap();
    for _ in 0..10 {
        rig.audit.record(attempt(MIDNIGHT, "a"));
    }
    rig.audit.flush().await;
    assert_eq!(rig.audit.status().failed_writes, 10);
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_costs_lines_only() {
    let directory = tempfile::tempdir().unwrap();
    let state_dir = StateDir::new(directory.path());
    fs::write(state_dir.audit(), "a file in its place").unwrap();
    let mut audit = Audit::start(&state_dir, 30).unwrap();
    audit.record(attempt(MIDNIGHT, "a"));
    audit.prune_if_due(at(0, MIDNIGHT));
    audit.flush().await;
    let status = audit.status();
    assert_eq!((status.failed_writes, status.failed_prunes), (1, Some(1)));
    assert_eq!((status.files, status.bytes), (None, None));
}

#[tokio::test]
async fn old_files_go_at_the_start_and_every_day() {
    let mut rig = Rig::new();
    let day_ms = 24 * 60 * 60 * 1000;
    for day in ["2026-08-05", "2026-08-06"] {
        fs::write(rig.file(day), "{}\n").unwrap();
    }
    rig.audit.prune_if_due(at(5, MIDNIGHT));
    rig.audit.flush().await;
    assert_eq!((rig.file("2026-08-05").exists(), rig.file("2026-08-06").exists()), (false, true));
    rig.audit.prune_if_due(at(4 + day_ms, Timestamp(MIDNIGHT.0 + day_ms)));
    rig.audit.flush().await;
    assert!(rig.file("2026-08-06").exists(), "a day has not passed");
    rig.audit.prune_if_due(at(5 + day_ms, Timestamp(MIDNIGHT.0 + day_ms)));
    rig.audit.flush().await;
    assert!(!rig.file("2026-08-06").exists());
}
