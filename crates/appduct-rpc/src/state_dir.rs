//! Where everything of one daemon lies.

use std::ffi::OsStr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A state directory. Nothing is created by naming it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir(PathBuf);

/// Why a state directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateDirError {
    /// Nothing says where it is.
    #[error("no state directory: HOME is not set; set it, or pass --state-dir <path>")]
    Nowhere,
    /// It is somebody else's.
    #[error(
        "the state directory {} belongs to user {owner}, not to you (user {user}); choose another with --state-dir <path>",
        path.display()
    )]
    NotYours {
        /// The directory.
        path: PathBuf,
        /// Its owner's user id.
        owner: u32,
        /// This process's user id.
        user: u32,
    },
    /// It is there and no directory.
    #[error("the state directory {} is not a directory; choose another with --state-dir <path>", path.display())]
    NotADirectory {
        /// What is there.
        path: PathBuf,
    },
    /// It cannot be made or looked at.
    #[error("cannot use the state directory {}: {source}; choose another with --state-dir <path>", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl StateDir {
    /// The directory at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    /// The directory that `flag` names, else the value `env` of `APPDUCT_STATE_DIR`, else `.appduct` in `home`. Nothing is
    /// expanded. An empty value is as good as none: it is what an unset variable of a shell script leaves.
    pub fn resolve(flag: Option<&Path>, env: Option<&OsStr>, home: Option<&Path>) -> Result<Self, StateDirError> {
        let named = [flag, env.map(Path::new)].into_iter().flatten().find(|path| !path.as_os_str().is_empty());
        match (named, home.filter(|home| !home.as_os_str().is_empty())) {
            (Some(path), _) => Ok(Self::new(path)),
            (None, Some(home)) => Ok(Self::new(home.join(".appduct"))),
            (None, None) => Err(StateDirError::Nowhere),
        }
    }

    /// Makes the directory where it is missing, and mode 0700 in any case. It must belong to this user.
    pub fn create(&self) -> Result<(), StateDirError> {
        let failed = |source| StateDirError::Io { path: self.0.clone(), source };
        match fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            Ok(()) | Err(_) => {}
        }
        let metadata = fs::metadata(&self.0).map_err(failed)?;
        self.check(&metadata, rustix::process::geteuid().as_raw())?;
        if metadata.permissions().mode() & 0o7777 != 0o700 {
            fs::set_permissions(&self.0, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        }
        Ok(())
    }

    /// Refuses a directory that is there and belongs to somebody else: whoever owns it may listen at its socket. The
    /// superuser may use everybody's. Refuses what is no directory, too.
    pub fn check_owner(&self) -> Result<(), StateDirError> {
        let user = rustix::process::geteuid();
        match fs::metadata(&self.0) {
            Ok(metadata) => self.check(&metadata, if user.is_root() { metadata.uid() } else { user.as_raw() }),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Err(StateDirError::NotADirectory { path: self.0.clone() })
            }
            Err(_) => Ok(()),
        }
    }

    fn check(&self, metadata: &fs::Metadata, user: u32) -> Result<(), StateDirError> {
        if !metadata.is_dir() {
            return Err(StateDirError::NotADirectory { path: self.0.clone() });
        }
        if metadata.uid() != user {
            return Err(StateDirError::NotYours { path: self.0.clone(), owner: metadata.uid(), user });
        }
        Ok(())
    }

    /// The directory itself, mode 0700.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// The control socket, mode 0600.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.0.join("daemon.sock")
    }

    /// The daemon's process id in decimal, for others to read.
    #[must_use]
    pub fn pid_file(&self) -> PathBuf {
        self.0.join("daemon.pid")
    }

    /// Held with `flock` by the daemon for life.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.0.join("daemon.lock")
    }

    /// Held while a daemon is being spawned.
    #[must_use]
    pub fn spawn_lock(&self) -> PathBuf {
        self.0.join("daemon.spawn.lock")
    }

    /// What a spawned daemon prints.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.0.join("daemon.log")
    }

    /// The one older `daemon.log` that is kept.
    #[must_use]
    pub fn log_backup(&self) -> PathBuf {
        self.0.join("daemon.log.1")
    }

    /// The daemon's own events, a line each.
    #[must_use]
    pub fn events_log(&self) -> PathBuf {
        self.0.join("events.log")
    }

    /// The claimed sessions that outlive the daemon.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.0.join("sessions.json")
    }

    /// The device ports of the last daemon.
    #[must_use]
    pub fn last_ports(&self) -> PathBuf {
        self.0.join("last-ports.json")
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.0.join("config.json")
    }

    /// The host key, unless the configuration names another.
    #[must_use]
    pub fn key(&self) -> PathBuf {
        self.0.join("key.pem")
    }

    /// Results of calls that are too large for whoever asked.
    #[must_use]
    pub fn results(&self) -> PathBuf {
        self.0.join("results")
    }

    /// The token of the MCP server over HTTP.
    #[must_use]
    pub fn mcp_token(&self) -> PathBuf {
        self.0.join("mcp-token")
    }

    /// The audit log, a file a day.
    #[must_use]
    pub fn audit(&self) -> PathBuf {
        self.0.join("audit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_beats_the_environment_and_that_beats_home() {
        let (flag, env, home) = (Path::new("/flag"), OsStr::new("/env"), Path::new("/home/me"));
        for (flag, env, home, root) in [
            (Some(flag), Some(env), Some(home), "/flag"),
            (None, Some(env), Some(home), "/env"),
            (None, None, Some(home), "/home/me/.appduct"),
            (Some(Path::new("")), Some(OsStr::new("")), Some(home), "/home/me/.appduct"),
            (None, Some(OsStr::new("~/x")), None, "~/x"),
        ] {
            assert_eq!(StateDir::resolve(flag, env, home).unwrap().root(), Path::new(root));
        }
        for home in [None, Some(Path::new(""))] {
            let error = StateDir::resolve(None, None, home).unwrap_err().to_string();
            assert!(error.contains("--state-dir"), "{error}");
        }
    }

    #[test]
    fn the_directory_is_made_with_its_parents_and_closed_to_others() {
        let temp = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(temp.path().join("a/b"));
        let mode = || fs::metadata(state_dir.root()).unwrap().permissions().mode() & 0o7777;
        state_dir.create().unwrap();
        assert_eq!(mode(), 0o700);
        fs::set_permissions(state_dir.root(), fs::Permissions::from_mode(0o755)).unwrap();
        state_dir.create().unwrap();
        assert_eq!(mode(), 0o700);
    }

    #[test]
    fn a_directory_of_another_user_is_refused_with_both_names() {
        let temp = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(temp.path());
        let metadata = fs::metadata(temp.path()).unwrap();
        state_dir.check(&metadata, metadata.uid()).unwrap();
        let error = state_dir.check(&metadata, metadata.uid() + 1).unwrap_err();
        assert!(matches!(error, StateDirError::NotYours { owner, user, .. } if owner + 1 == user));
        assert!(error.to_string().contains(&temp.path().display().to_string()), "{error}");
    }

    #[test]
    fn a_file_in_the_place_of_the_directory_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = StateDir::new(file.path()).create().unwrap_err();
        assert!(matches!(error, StateDirError::NotADirectory { .. } | StateDirError::Io { .. }), "{error}");
    }

    #[test]
    fn a_file_is_no_state_directory() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = StateDir::new(&path).check_owner().unwrap_err().to_string();
            assert!(error.contains(&path.display().to_string()), "{error}");
            assert!(error.contains("--state-dir <path>"), "{error}");
        }
        StateDir::new(temp.path()).check_owner().unwrap();
        StateDir::new(temp.path().join("missing")).check_owner().unwrap();
    }
}
