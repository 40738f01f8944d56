//! Why a daemon does not start.

use std::io;
use std::path::PathBuf;

use crate::config::ConfigError;
use crate::key::KeyError;

/// Why a daemon did not start. Whatever it had acquired by then has been given back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another one owns the state directory.
    #[error("an appduct daemon is already running (pid {})", pid.map_or_else(|| "unknown".to_owned(), |pid| pid.to_string()))]
    AlreadyRunning {
        /// Its process, where the pid file says.
        pid: Option<u32>,
    },
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The host key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Something else listens on the device port.
    #[error("port {port} is already in use: end what listens there, or set \"wssPort\" in {} to another port (0 lets the system choose one)", config.display())]
    PortInUse {
        /// The port.
        port: u16,
        /// Where another can be set.
        config: PathBuf,
    },
    /// The state directory belongs to somebody else.
    #[error("the state directory {} belongs to another user (uid {owner}): choose another with --state-dir or APPDUCT_STATE_DIR", path.display())]
    ForeignStateDir {
        /// The directory.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
    },
    /// Anything else of the system.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried, with the path or port.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The certificate cannot be made.
    #[error("cannot make the TLS certificate: {0}")]
    Certificate(String),
}

impl StartError {
    /// For `map_err` on what the system refuses.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
