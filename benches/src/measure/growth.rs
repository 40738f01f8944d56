//! What calls and sessions cost as sessions grow, and whether all of them come back at once.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use appduct_rpc::Client;
use appduct_rpc::methods::{DaemonStatus, Status};

use super::Bench;
use super::calls::{call_line, is_result, sequential};
use crate::daemon::Daemon;
use crate::fleet::{self, Fleet};
use crate::pump::{Flow, pump};
use crate::report::{Point, Report, Row, size, time, verdict};

/// How long all may take to come back.
const STORM: Duration = Duration::from_secs(30);

/// How long the daemon is watched with no calls, to know what its sessions cost by themselves.
const QUIET: Duration = Duration::from_secs(5);

/// How much memory one session may take.
const SESSION_BYTES: f64 = 48.0 * 1024.0;

pub(crate) fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let steps: &[usize] = if bench.is_quick { &[1, 10, 100] } else { &[1, 10, 100, 1000, 3000, 10_000] };
    let daemon = Daemon::start(&bench.program)?;
    let mut client = daemon.client()?;
    let idle = daemon.usage()?.resident_bytes;
    let mut fleet = Fleet::new(&daemon, fleet::tools(20)?, &bench.runtime)?;
    for sessions in steps {
        fleet.grow_to(*sessions, &mut client)?;
        report.growth.push(point(bench, &daemon, &fleet, idle)?);
    }
    for row in rows(&report.growth)? {
        report.add(row);
    }
    report.add(storm(&daemon, &fleet, &mut client)?);
    Ok(())
}

fn point(bench: &Bench, daemon: &Daemon, fleet: &Fleet, idle: u64) -> Result<Point> {
    let mut client = daemon.client()?;
    let sessions = fleet.session_ids.len();
    let resident = daemon.usage()?.resident_bytes.saturating_sub(idle);
    let found = sequential(&mut client, bench.count(5000, 20), &fleet.session_ids)?;

    let before = daemon.usage()?.cpu;
    std::thread::sleep(QUIET);
    let quiet = daemon.usage()?.cpu.saturating_sub(before).as_secs_f64() / QUIET.as_secs_f64();

    let flow = Flow { connections: 2, window: 8, requests: bench.count(20_000, 20) };
    let socket = daemon.state_dir().join("daemon.sock");
    let ids = &fleet.session_ids;
    let line = |_, request: u32| call_line(&ids[request as usize % ids.len()], request);
    let (answered, before) = (fleet.answered(), daemon.usage()?.cpu);
    let took = bench.runtime.block_on(pump(&socket, flow, false, line, is_result))?;
    let used = daemon.usage()?.cpu.saturating_sub(before).as_secs_f64() - quiet * took.as_secs_f64();
    let calls = flow.total();
    ensure!(fleet.answered() - answered == calls as usize, "every call is run once");

    let micros = |percent: f64| found.percentile(percent).as_secs_f64() * 1e6;
    Ok(Point {
        sessions,
        p50_us: micros(50.0),
        p90_us: micros(90.0),
        p99_us: micros(99.0),
        cpu_per_call_us: used / f64::from(calls) * 1e6,
        resident_per_session: resident as f64 / sessions as f64,
    })
}

fn rows(points: &[Point]) -> Result<Vec<Row>> {
    let first = points.first().context("a run has a first point")?;
    let last = points.last().context("a run has a last point")?;
    let micros = |value: f64| Duration::from_secs_f64(value / 1e6);
    // The number that its target is about, or the most that a quick run has.
    let thousand = points.iter().rfind(|point| point.sessions <= 1000).context("a run has a point")?;
    let p99 = Row::at_most(
        &format!("p99 of a call at {} sessions, against p50 at 1", thousand.sessions),
        micros(thousand.p99_us),
        micros(first.p50_us),
        5.0,
    );
    let cpu = Row::at_most(
        &format!("CPU of a call at {} sessions, against 1", last.sessions),
        micros(last.cpu_per_call_us),
        micros(first.cpu_per_call_us),
        1.3,
    );
    let bytes = last.resident_per_session;
    let memory = Row::plain(
        &format!("memory of an idle session with 20 tools, of {}", last.sessions),
        size(bytes as u64),
        &format!("<= {}", size(SESSION_BYTES as u64)),
        bytes <= SESSION_BYTES,
    );
    Ok(vec![p99, cpu, memory])
}

fn storm(daemon: &Daemon, fleet: &Fleet, client: &mut Client) -> Result<Row> {
    let start = Instant::now();
    let apps = fleet.drop_all_sockets()?;
    // The apps believe it; the daemon has to say so too.
    let sessions = fleet.session_ids.len();
    loop {
        let status: Status = client.request(&DaemonStatus, STORM)?;
        let active = status.sessions.iter().filter(|session| session.state == "active").count();
        ensure!(status.sessions.len() == sessions, "{} of {sessions} sessions are left", status.sessions.len());
        if active == sessions {
            break;
        }
        ensure!(start.elapsed() < STORM * 4, "{active} of {sessions} sessions are active");
    }
    let took = start.elapsed().max(apps);
    let calls = u32::try_from(sessions)?.min(1000);
    sequential(client, calls, &fleet.session_ids)?;
    ensure!(daemon.usage()?.resident_bytes > 0, "the same daemon is there");
    Ok(Row {
        verdict: verdict(took <= STORM),
        ..Row::plain(
            &format!("{sessions} sessions dropped at once, all active again"),
            time(took),
            &format!("<= {}", time(STORM)),
            took <= STORM,
        )
    })
}
