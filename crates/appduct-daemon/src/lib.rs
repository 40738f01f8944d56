//! The Appduct daemon: one process per user that apps connect to and clients talk to.
//!
//! [`run`] is the whole of it. Inside, one task (`event_loop`) owns the state and is reached by a bounded mailbox only;
//! device sockets (`links`), control connections (`control`) and tabs of a browser
//! (`browser`) are tasks that fill it, `handlers` turn requests into
//! commands of the host. Every file is under the state directory.

mod address;
mod audit;
mod browser;
mod clock;
pub mod config;
mod control;
mod descriptors;
mod dir;
mod error;
mod event_loop;
mod events_log;
mod handlers;
mod journal;
mod key;
mod leaf;
mod leftovers;
mod links;
mod lock;
mod persistence;
mod process;
mod state;
mod validation;

use std::path::PathBuf;
use std::time::Duration;

use appduct_rpc::StateDir;

pub use clock::Clock;
pub use error::StartError;
pub use key::{KeyError, KeyKind, generate_key, generate_key_of};
pub use persistence::LastPorts;

/// What a daemon is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where everything of it lies.
    pub state_dir: StateDir,
    /// What `daemon.status` reports.
    pub version: String,
}

/// A daemon that is up.
#[derive(Clone, Debug)]
pub struct Started {
    /// This process.
    pub pid: u32,
    /// The control socket.
    pub socket: PathBuf,
    /// The bound port of the listener for native apps.
    pub wss_port: u16,
    /// The bound port of the listener for web pages, on loopback.
    pub web_port: u16,
}

/// What a test puts in the place of time.
#[derive(Clone, Debug)]
pub struct Seams {
    /// The clock of every deadline of a link, session or call.
    pub clock: Clock,
    /// How long a device may take over TLS and the WebSocket upgrade together.
    pub handshake_timeout: Duration,
    /// How long a call waits for the check of its arguments or result against a schema.
    pub validation_wait: Duration,
}

impl Default for Seams {
    fn default() -> Self {
        Self {
            clock: Clock::system(),
            handshake_timeout: Duration::from_secs(10),
            validation_wait: validation::Patience::default().wait,
        }
    }
}

/// Runs a daemon in the foreground until SIGINT, SIGTERM or `daemon.shutdown`; `on_ready` is called once everything
/// listens. Logs go to stderr, as much as `APPDUCT_LOG` asks for.
pub fn run(options: &Options, on_ready: impl FnOnce(&Started)) -> Result<(), StartError> {
    process::init_log();
    run_with(options, Seams::default(), on_ready)
}

/// [`run`], with another time and no log of its own.
pub fn run_with(options: &Options, seams: Seams, on_ready: impl FnOnce(&Started)) -> Result<(), StartError> {
    process::run(options, seams, on_ready)
}
