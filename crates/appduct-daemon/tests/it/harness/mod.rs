//! A daemon, a client of it and an app, each as small as it can be.

mod app;
mod browser;
mod control;
mod daemon;
#[cfg(target_os = "linux")]
mod mounts;
mod port;
mod process;

pub(crate) use app::{App, TlsOptions, WebApp, claim, resume, tls_stream, web_upgrade};
pub(crate) use browser::{Browser, Heard, Sdk, Tab};
pub(crate) use control::Control;
pub(crate) use daemon::{Daemon, state_dir};
#[cfg(target_os = "linux")]
pub(crate) use mounts::Secluded;
pub(crate) use port::ReservedPort;
pub(crate) use process::{Process, STATE_DIR, WAIT_FOR_START};

use std::time::{Duration, Instant};

/// No wait for a condition takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Asks until the answer is yes.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not in time");
        std::thread::yield_now();
    }
}
