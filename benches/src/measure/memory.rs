//! Memory that the daemon has for itself, and what a bare TLS connection takes.

use anyhow::Result;

use super::Bench;
use crate::daemon::Daemon;
use crate::report::{Report, Row, size};

/// The daemon with nobody connected.
const IDLE: u64 = 10_000_000;

pub(crate) fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let daemon = Daemon::start(&bench.program)?;
    // One request, so that what is made on first use is there.
    daemon.client()?.request(&appduct_rpc::methods::SessionsList, appduct_rpc::Client::REQUEST_TIMEOUT)?;
    let idle = daemon.usage()?.resident_bytes;
    report.add(Row::plain("resident memory of the daemon, idle", size(idle), "<= 10 MB", idle <= IDLE));
    Ok(())
}
