//! `load`: many sessions held by one daemon, their tools called at a steady rate, and every call accounted for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::runtime::Handle;

use crate::SOON;
use crate::daemon::Daemon;
use crate::fleet::{self, Fleet};
use crate::measure::calls::{call_line, is_result};
use crate::report::{size, time};
use crate::stats::Durations;

#[derive(Args)]
pub(crate) struct Load {
    /// The `appduct` command, built for release
    #[arg(long)]
    program: PathBuf,
    /// How many apps are connected
    #[arg(long, default_value_t = 1000)]
    sessions: usize,
    /// How many tools each has
    #[arg(long, default_value_t = 20)]
    tools: usize,
    /// How many calls start in a second, over all of them
    #[arg(long, default_value_t = 1000)]
    calls_per_second: u32,
    /// For how long
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Drops all sockets at once after that
    #[arg(long)]
    drop: bool,
}

pub(crate) fn run(load: &Load, runtime: &Handle) -> Result<()> {
    let daemon = Daemon::start(&load.program)?;
    let idle = daemon.usage()?;
    let mut client = daemon.client()?;
    let mut fleet = Fleet::new(&daemon, fleet::tools(load.tools)?, runtime)?;
    let start = Instant::now();
    fleet.grow_to(load.sessions, &mut client)?;
    let held = daemon.usage()?;
    println!("{} sessions paired in {}", load.sessions, time(start.elapsed()));
    println!(
        "memory   {} idle, {} now, {} for a session",
        size(idle.resident_bytes),
        size(held.resident_bytes),
        size(held.resident_bytes.saturating_sub(idle.resident_bytes) / load.sessions as u64)
    );

    let before = daemon.usage()?.cpu;
    let found = runtime.block_on(steady(load, &daemon, &fleet))?;
    let cpu = daemon.usage()?.cpu.saturating_sub(before);
    let calls = load.calls_per_second * load.seconds;
    println!("calls    {calls} answered, each once");
    println!(
        "latency  {} p50, {} p90, {} p99, {} at most",
        time(found.median()),
        time(found.percentile(90.0)),
        time(found.percentile(99.0)),
        time(found.percentile(100.0))
    );
    println!("CPU      {:.0} % of one core", cpu.as_secs_f64() / f64::from(load.seconds) * 100.0);
    if load.drop {
        println!("resumed  all in {} after all sockets were dropped at once", time(fleet.drop_all_sockets()?));
    }
    Ok(())
}

/// Starts calls at their moments, whether earlier ones have ended or not: a daemon that falls behind shows it.
async fn steady(load: &Load, daemon: &Daemon, fleet: &Fleet) -> Result<Durations> {
    let (reading, mut writing) = UnixStream::connect(daemon.state_dir().join("daemon.sock")).await?.into_split();
    let calls = load.calls_per_second * load.seconds;
    let answered = fleet.answered();
    let start = Instant::now();
    let gap = Duration::from_secs(1) / load.calls_per_second;
    let ids: Arc<[String]> = fleet.session_ids.clone().into();
    let write = async {
        for call in 0..calls {
            tokio::time::sleep_until((start + gap * call).into()).await;
            writing.write_all(call_line(&ids[call as usize % ids.len()], call).as_bytes()).await?;
        }
        anyhow::Ok(())
    };
    let read = async {
        let mut found = Durations::new();
        let mut lines = BufReader::new(reading).lines();
        for _ in 0..calls {
            let line = tokio::time::timeout(SOON, lines.next_line()).await?;
            let line = line?.context("the daemon answers every call")?;
            ensure!(is_result(&line), "an unexpected reply: {line}");
            let id = line.split("\"id\":").nth(1).and_then(|rest| rest.split(',').next());
            let call = id.context("a reply has an id")?.parse::<u32>()?;
            // From the moment at which it should have started.
            found.add(start.elapsed().saturating_sub(gap * call))?;
        }
        anyhow::Ok(found)
    };
    let ((), found) = tokio::try_join!(write, read)?;
    ensure!(fleet.answered() - answered == calls as usize, "the apps have run {} calls", fleet.answered() - answered);
    Ok(found)
}
