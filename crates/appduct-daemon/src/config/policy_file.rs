//! The policy, as `config.json` has it at this moment.
//!
//! Whoever is about to use the policy calls [`PolicyFile::changed`] first, so a change counts from the next call on: there is
//! no watcher to be late, and nothing to wait for. An unchanged file costs one `stat`.
//!
//! A file that cannot be taken, for whatever key, leaves the last good policy in force; so does one that vanishes, because a
//! policy must not be lifted by an editor that moves the file away for a moment.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use appduct_proto::Timestamp;
use appduct_proto::host::Policy;
use appduct_rpc::StateDir;

use super::load::read;
use super::{Config, ConfigError};

/// The coarsest time stamps of a file system: two changes this far apart have two stamps.
const GRANULARITY: Duration = Duration::from_secs(2);

/// What is known of the file.
#[derive(Debug)]
pub(crate) struct PolicyFile {
    state_dir: StateDir,
    stamp: Option<Stamp>,
    /// Whether any later change is sure to change the stamp.
    settled: bool,
    content: Result<Option<Vec<u8>>, ConfigError>,
    fault: Option<String>,
}

/// What changes with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    /// Cannot be set back by anyone.
    changed: (i64, i64),
}

impl PolicyFile {
    /// Reads the file for the first time, the whole configuration with it.
    pub(crate) fn open(state_dir: &StateDir, now: Timestamp) -> Result<(Self, Config), ConfigError> {
        let path = state_dir.config();
        let stamp = Stamp::of(&path);
        let content = read(&path)?;
        let config = Config::of_document(state_dir, content.as_deref())?;
        let settled = Stamp::settled(stamp, now);
        let state_dir = state_dir.clone();
        Ok((Self { state_dir, stamp, settled, content: Ok(content), fault: None }, config))
    }

    /// The new policy, if the file has another than when it was last looked at, or might have.
    pub(crate) fn changed(&mut self, now: Timestamp) -> Option<Policy> {
        let path = self.state_dir.config();
        // Before the content: a change in between then shows in the next stamp.
        let stamp = Stamp::of(&path);
        if self.settled && stamp == self.stamp {
            return None;
        }
        self.stamp = stamp;
        self.settled = Stamp::settled(stamp, now);
        let content = read(&path);
        if content == self.content {
            return None;
        }
        self.content = content;
        let fault = match &self.content {
            Ok(Some(document)) => match Config::of_document(&self.state_dir, Some(document)) {
                Ok(config) => {
                    self.fault = None;
                    return Some(config.policy);
                }
                Err(error) => error.to_string(),
            },
            Ok(None) => format!("{}: the file is gone", path.display()),
            Err(error) => error.to_string(),
        };
        tracing::warn!("{fault}; the policy stays as it was");
        self.fault = Some(fault);
        None
    }

    /// Why the file as it is cannot be taken.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

impl Stamp {
    /// `None` for a file that is not there or cannot be looked at.
    fn of(path: &std::path::Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|metadata| Self::new(&metadata))
    }

    fn new(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// A file that has only just changed may change again within the same stamp.
    fn settled(stamp: Option<Self>, now: Timestamp) -> bool {
        let Some(stamp) = stamp else { return true };
        let changed_ms = u64::try_from(stamp.changed.0).unwrap_or(0).saturating_mul(1000);
        // The part of a second is left out, so one more is waited for.
        now > Timestamp(changed_ms) + (GRANULARITY + Duration::from_secs(1))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use appduct_proto::host::Decision;

    use super::*;

    /// Long after anything that a test writes.
    const LATER: Timestamp = Timestamp(u64::MAX / 2);

    struct Desk {
        directory: tempfile::TempDir,
        file: PolicyFile,
    }

    impl Desk {
        fn new(text: Option<&str>, now: Timestamp) -> Self {
            let directory = tempfile::tempdir().unwrap();
            if let Some(text) = text {
                fs::write(directory.path().join("config.json"), text).unwrap();
            }
            let (file, _) = PolicyFile::open(&StateDir::new(directory.path()), now).unwrap();
            Self { directory, file }
        }

        fn write(&self, text: &str) {
            fs::write(self.directory.path().join("config.json"), text).unwrap();
        }

        fn default_now(&mut self, now: Timestamp) -> Option<Decision> {
            self.file.changed(now).map(|policy| policy.default)
        }
    }

    #[test]
    fn a_change_counts_at_once_and_once() {
        let mut desk = Desk::new(Some(r#"{"policy":{"default":"deny"}}"#), LATER);
        assert_eq!(desk.default_now(LATER), None);
        desk.write(r#"{"policy":{"default":"prompt"}}"#);
        assert_eq!(desk.default_now(LATER), Some(Decision::Prompt));
        assert_eq!(desk.default_now(LATER), None);
    }

    #[test]
    fn changes_within_one_time_stamp_are_seen() {
        // Of one length, written in place, as fast as can be; the clock says that the file has only just changed.
        let (allow, other) = (r#"{"policy":{"default":"allow" }}"#, r#"{"policy":{"default":"prompt"}}"#);
        let mut desk = Desk::new(Some(allow), Timestamp(0));
        for _ in 0..200 {
            desk.write(other);
            assert_eq!(desk.default_now(Timestamp(0)), Some(Decision::Prompt));
            desk.write(allow);
            assert_eq!(desk.default_now(Timestamp(0)), Some(Decision::Allow));
        }
    }

    #[test]
    fn a_replaced_file_is_seen_though_its_times_are_set_back() {
        let mut desk = Desk::new(Some(r#"{"policy":{"default":"allow" }}"#), LATER);
        let path = desk.directory.path().join("config.json");
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let other = desk.directory.path().join("other");
        fs::write(&other, r#"{"policy":{"default":"prompt"}}"#).unwrap();
        fs::File::options().write(true).open(&other).unwrap().set_modified(modified).unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(desk.default_now(LATER), Some(Decision::Prompt));
    }

    #[test]
    fn what_cannot_be_taken_changes_nothing_and_says_why() {
        let mut desk = Desk::new(Some(r#"{"policy":{"default":"deny"}}"#), LATER);
        let path = desk.directory.path().join("config.json");
        for (text, word) in [
            ("{", "not JSON"),
            ("", "not JSON"),
            ("[]", "JSON object"),
            (r#"{"policy":{"default":"ask"}}"#, "policy.default"),
            (r#"{"policy":{"default":"allow"},"wssPort":-1}"#, "wssPort"),
        ] {
            desk.write(text);
            assert_eq!(desk.default_now(LATER), None, "{text}");
            let fault = desk.file.fault().unwrap();
            assert!(fault.contains(word) && fault.contains("config.json"), "{fault}");
        }
        desk.write(&format!("{}{{}}", " ".repeat(2_000_000)));
        assert_eq!(desk.default_now(LATER), None);
        assert!(desk.file.fault().unwrap().contains("longer"));
        fs::remove_file(&path).unwrap();
        assert_eq!(desk.default_now(LATER), None);
        assert!(desk.file.fault().unwrap().contains("gone"));
        fs::create_dir(&path).unwrap();
        assert_eq!(desk.default_now(LATER), None);
        assert!(desk.file.fault().unwrap().contains("no file"));
        fs::remove_dir(&path).unwrap();
        desk.write("{}");
        assert_eq!(desk.default_now(LATER), Some(Decision::Allow));
        assert_eq!(desk.file.fault(), None);
    }

    #[test]
    fn a_file_that_was_not_there_counts_when_it_comes() {
        let mut desk = Desk::new(None, LATER);
        assert_eq!(desk.default_now(LATER), None);
        assert_eq!(desk.file.fault(), None, "its absence is no fault");
        desk.write(r#"{"policy":{"default":"deny"}}"#);
        assert_eq!(desk.default_now(LATER), Some(Decision::Deny));
    }
}
