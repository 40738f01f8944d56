//! The daemon's control socket: newline-delimited JSON-RPC 2.0 over a Unix socket.
//!
//! * [`methods`] has a type per method: its parameters, checked on the daemon's side and written on the client's, and its
//!   reply.
//! * [`RpcError`] is the one list of error types, with the exit status and the hint that belong to each.
//! * [`line`](mod@line) turns requests, replies and notifications to and from lines; both ends use it.
//! * [`Client`] is a blocking client: no async runtime is started for a one-shot command.
//! * [`StateDir`] says where everything of one daemon lies, [`pid_file`] who runs it.
//! * [`spawn`] starts a daemon where none answers, once, however many clients ask.
//! * [`version_guard`] replaces an older daemon where nothing is lost by it, and [`stop`] ends one.

#![warn(missing_docs)]

mod client;
mod error;
pub mod line;
pub mod methods;
pub mod pid_file;
pub mod spawn;
mod state_dir;
pub mod stop;
pub mod version_guard;

pub use client::{Client, ClientError, DaemonLauncher, Kept};
pub use error::{ErrorName, ErrorType, RpcError};
pub use state_dir::{StateDir, StateDirError};
