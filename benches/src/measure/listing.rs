//! A page of a large registry.

use std::time::{Duration, Instant};

use anyhow::Result;
use appduct_proto::wire::RawJson;
use appduct_rpc::Client;
use serde_json::json;

use super::Bench;
use crate::daemon::Daemon;
use crate::fleet::{self, Fleet};
use crate::report::{Report, Row, time};
use crate::stats::Durations;

/// As many as a registry may hold, within what a frame holds: the rest comes as deltas.
const TOOLS: usize = 10_000;

const TARGET: Duration = Duration::from_millis(3);

pub(crate) fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let daemon = Daemon::start(&bench.program)?;
    let mut client = daemon.client()?;
    let tools = if bench.is_quick { 500 } else { TOOLS };
    let mut fleet = Fleet::new(&daemon, Vec::new(), &bench.runtime)?;
    fleet.grow_to(1, &mut client)?;
    fleet.register_later(fleet::tools(tools)?);
    let count = |client: &mut Client| -> Result<u64> {
        let reply = client.call("tools.list", &RawJson::of(&json!({ "limit": 1 }))?, Client::REQUEST_TIMEOUT)?;
        let reply: serde_json::Value = serde_json::from_str(reply.as_str())?;
        Ok(reply["total"].as_u64().unwrap_or_default())
    };
    let start = Instant::now();
    while count(&mut client)? < tools as u64 {
        anyhow::ensure!(start.elapsed() < Duration::from_secs(60), "the registry does not fill");
        std::thread::sleep(Duration::from_millis(5));
    }

    let mut found = Durations::new();
    let page = json!({ "group": "group_3", "filter": "numbers", "limit": 50, "offset": 100 });
    let page = RawJson::of(&page)?;
    for _ in 0..bench.count(200, 10) {
        let start = Instant::now();
        client.call("tools.list", &page, Client::REQUEST_TIMEOUT)?;
        found.add(start.elapsed())?;
    }
    report.add(Row::plain(
        &format!("a page of `tools.list` with group and filter, of {tools} tools"),
        time(found.median()),
        &format!("<= {}", time(TARGET)),
        found.median() <= TARGET,
    ));
    Ok(())
}
