//! Why a request has no reply.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::spawn::SpawnError;
use crate::{RpcError, StateDirError};

/// Why a request has no reply.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing listens, and nothing was to be started.
    #[error("no Appduct daemon is running (nothing answers at {}); `appduct daemon start` starts one", socket.display())]
    Unreachable {
        /// Where it would listen.
        socket: PathBuf,
    },
    /// The state directory cannot be used.
    #[error(transparent)]
    StateDir(#[from] StateDirError),
    /// A daemon was to be started and did not come up.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The path of the control socket is longer than the system takes.
    #[error(
        "the path of the control socket is too long for this system ({} bytes): {}; \
         choose a shorter one with --state-dir <path>", socket.as_os_str().len(), socket.display()
    )]
    PathTooLong {
        /// The path.
        socket: PathBuf,
    },
    /// The daemon is there and silent.
    #[error(
        "the daemon did not answer within {:.3} s; `appduct daemon stop` ends it, its log is daemon.log in the state directory",
        after.as_secs_f64()
    )]
    Timeout {
        /// How long it had.
        after: Duration,
    },
    /// The connection ended before the reply.
    #[error("the daemon closed the connection before it answered; run the command again")]
    Closed,
    /// What the daemon sends cannot be read.
    #[error(
        "the daemon sent something that cannot be read: {0}; `appduct daemon stop` lets the next command start a fresh one"
    )]
    Malformed(String),
    /// The request is over [`MAX_LINE_BYTES`](crate::line::MAX_LINE_BYTES); it was not sent.
    #[error("the request has {bytes} bytes, over the limit of {} bytes", crate::line::MAX_LINE_BYTES)]
    TooBig {
        /// Its size.
        bytes: usize,
    },
    /// Anything else of the socket.
    #[error("cannot talk to the daemon: {0}")]
    Io(#[from] io::Error),
    /// The daemon refused.
    #[error(transparent)]
    Rpc(#[from] RpcError),
}

impl ClientError {
    /// The exit status of a command that fails with it.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unreachable { .. }
            | Self::StateDir(_)
            | Self::Spawn(_)
            | Self::PathTooLong { .. }
            | Self::Timeout { .. }
            | Self::Closed
            | Self::Malformed(_)
            | Self::Io(_) => 70,
            Self::TooBig { .. } => 65,
            Self::Rpc(error) => error.exit_code(),
        }
    }
}
