//! `appduct-bench`: every figure of the project's targets, each against a floor that is measured in the same run.
//!
//! Times on a shared machine mean little by themselves, ratios more. A figure is the median of several runs that take
//! turns with its floor. `cargo xtask bench` builds everything and runs this.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people at a terminal")]

mod app;
mod chart;
mod clock;
mod daemon;
mod fleet;
mod floor;
mod measure;
mod pump;
mod report;
mod socket;
mod stats;
mod tls;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, Parser, Subcommand};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::measure::{Bench, calls, growth, listing, memory, processes, sizes};
use crate::report::Report;

#[derive(Parser)]
#[command(about = "How fast and how small Appduct is")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures everything
    Run(Run),
    /// Holds many sessions, and calls their tools at a steady rate
    Load(load::Load),
    /// The floor's middle process; for `run`
    #[command(hide = true)]
    Forward { socket: PathBuf },
}

mod load;

#[derive(Args)]
struct Run {
    /// The `appduct` command, built for release
    #[arg(long)]
    program: PathBuf,
    /// Writes all figures as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// Draws what calls and sessions cost as sessions grow
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Fewer repetitions and sessions: shows that it works, not how fast it is
    #[arg(long)]
    quick: bool,
    /// Only these measurements
    #[arg(long, value_delimiter = ',', value_parser = MEASURES.map(|(name, _)| name))]
    only: Vec<String>,
}

type Measure = fn(&Bench, &mut Report) -> Result<()>;

const MEASURES: [(&str, Measure); 6] = [
    ("processes", processes::run),
    ("calls", calls::run),
    ("listing", listing::run),
    ("memory", memory::run),
    ("sizes", sizes::run),
    ("growth", growth::run),
];

fn main() -> Result<()> {
    let command = Cli::parse().command;
    raise_descriptors();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match command {
        Command::Run(run) => measure_all(run, runtime.handle()),
        Command::Load(load) => load::run(&load, runtime.handle()),
        Command::Forward { socket } => runtime.block_on(floor::forward(&socket)),
    }
}

/// Thousands of apps live in this process.
fn raise_descriptors() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where that is refused, a run with many sessions says so.
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap_or_default();
}

fn measure_all(run: Run, runtime: &tokio::runtime::Handle) -> Result<()> {
    let hello = std::env::current_exe()?.with_file_name("hello");
    let bench = Bench { program: run.program, hello, runtime: runtime.clone(), is_quick: run.quick };
    let mut report = Report { machine: machine(), rows: Vec::new(), growth: Vec::new() };
    for (name, measure) in MEASURES {
        if run.only.is_empty() || run.only.iter().any(|only| only == name) {
            eprintln!("measuring {name}");
            measure(&bench, &mut report).with_context(|| format!("measuring {name}"))?;
        }
    }
    println!("{}", report.table());
    if let Some(path) = &run.json {
        fs::write(path, serde_json::to_string_pretty(&report)?)?;
    }
    if let Some(path) = &run.svg
        && !report.growth.is_empty()
    {
        chart::draw(&report.growth, path)?;
    }
    Ok(())
}

/// What this runs on, for whoever reads the figures later.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = fs::read_to_string(Path::new("/proc/cpuinfo")).unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let model = model.trim_start_matches([' ', '\t', ':']);
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy().into_owned();
    let name = if model.is_empty() { std::env::consts::ARCH } else { model };
    format!("{cores} cores of {name}, {} {release}", std::env::consts::OS)
}

/// How long something that should happen soon may take.
const SOON: Duration = Duration::from_secs(60);
