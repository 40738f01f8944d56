//! Calls on open connections, against lines over the same two hops.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use appduct_proto::wire::RawJson;
use appduct_rpc::Client;
use appduct_rpc::methods::ToolsCall;

use super::Bench;
use crate::daemon::Daemon;
use crate::fleet::{self, Fleet};
use crate::floor::Floor;
use crate::pump::{Flow, pump};
use crate::report::{Report, Row, verdict};
use crate::stats::{self, Durations};

/// Sessions that share the load where the number of calls in a second is measured.
const SESSIONS: u32 = 100;

/// As often as figures that are compared are taken, in turns; the median counts.
const RUNS: u32 = 5;

pub(crate) fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    report.add(latency(bench)?);
    report.add(throughput(bench)?);
    Ok(())
}

fn latency(bench: &Bench) -> Result<Row> {
    let daemon = Daemon::start(&bench.program)?;
    let mut client = daemon.client()?;
    let mut fleet = Fleet::new(&daemon, fleet::tools(20)?, &bench.runtime)?;
    fleet.grow_to(1, &mut client)?;
    let floor = Floor::start(1, &bench.runtime)?;
    let mut echo = Echo::connect(&floor)?;

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let calls = bench.count(4000, 20);
        ours.push(sequential(&mut client, calls, &fleet.session_ids)?.median());
        theirs.push(echo.sequential(calls)?.median());
    }
    let (ours, theirs) = (stats::median(&ours).context("runs")?, stats::median(&theirs).context("runs")?);
    Ok(Row::at_most("one call on an open connection, p50", ours, theirs, 1.5))
}

/// Calls one after the other, taking the sessions in turns.
pub(crate) fn sequential(client: &mut Client, calls: u32, session_ids: &[String]) -> Result<Durations> {
    let mut found = Durations::new();
    let args = RawJson::of(&serde_json::json!({ "a": 2, "b": 3 }))?;
    for (call, selector) in (0..calls).zip(session_ids.iter().cycle()) {
        let request = ToolsCall {
            selector: Some(selector.clone()),
            name: "sum".to_owned(),
            args: args.clone(),
            timeout_ms: None,
            caller: None,
            consent: None,
            validate: None,
            follow: None,
        };
        let start = Instant::now();
        client.request(&request, Client::REQUEST_TIMEOUT).with_context(|| format!("call {call}"))?;
        found.add(start.elapsed())?;
    }
    Ok(found)
}

/// A line client of the floor.
struct Echo {
    number: String,
    reading: BufReader<UnixStream>,
    writing: UnixStream,
}

impl Echo {
    fn connect(floor: &Floor) -> Result<Self> {
        let writing = UnixStream::connect(floor.socket())?;
        let mut reading = BufReader::new(writing.try_clone()?);
        let mut number = String::new();
        reading.read_line(&mut number)?;
        Ok(Self { number: number.trim().to_owned(), reading, writing })
    }

    fn sequential(&mut self, lines: u32) -> Result<Durations> {
        let mut found = Durations::new();
        let mut reply = String::new();
        let line = format!("0 {} {}\n", self.number, payload());
        for _ in 0..lines {
            let start = Instant::now();
            self.writing.write_all(line.as_bytes())?;
            reply.clear();
            self.reading.read_line(&mut reply)?;
            found.add(start.elapsed())?;
        }
        Ok(found)
    }
}

/// As many bytes as a small call has.
fn payload() -> &'static str {
    r#"{"jsonrpc":"2.0","id":1,"method":"tools.call","params":{"selector":"0123456789abcdef","name":"sum","args":{"a":2,"b":3}}}"#
}

/// A call as a line of the control socket.
pub(crate) fn call_line(session_id: &str, id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools.call","params":{{"selector":"{session_id}","name":"sum","args":{{"a":2,"b":3}}}}}}"#
    ) + "\n"
}

pub(crate) fn is_result(line: &str) -> bool {
    line.contains(r#""result":{"result":"#)
}

fn throughput(bench: &Bench) -> Result<Row> {
    let daemon = Daemon::start(&bench.program)?;
    let mut fleet = Fleet::new(&daemon, fleet::tools(20)?, &bench.runtime)?;
    fleet.grow_to(SESSIONS as usize, &mut daemon.client()?)?;
    let floor = Floor::start(SESSIONS, &bench.runtime)?;
    let flow = Flow { connections: 4, window: 32, requests: bench.count(20_000, 20) };

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let ids = &fleet.session_ids;
    for _ in 0..RUNS {
        let socket = daemon.state_dir().join("daemon.sock");
        let line = |_, request: u32| call_line(&ids[request as usize % ids.len()], request);
        ours.push(bench.runtime.block_on(pump(&socket, flow, false, line, is_result))?);
        let line = |number, request: u32| format!("{} {number} {}\n", request % SESSIONS, payload());
        theirs.push(bench.runtime.block_on(pump(&floor.socket(), flow, true, line, |_| true))?);
    }
    let rate = |took: Duration| f64::from(flow.total()) / took.as_secs_f64();
    let (ours, theirs) = (rate(stats::median(&ours).context("runs")?), rate(stats::median(&theirs).context("runs")?));
    let ratio = ours / theirs;
    Ok(Row {
        what: format!("calls in a second, {SESSIONS} sessions"),
        figure: format!("{ours:.0}"),
        floor: Some(format!("{theirs:.0}")),
        ratio: Some(ratio),
        target: ">= 0.5x".to_owned(),
        verdict: verdict(ratio >= 0.5),
        spread: None,
    })
}
