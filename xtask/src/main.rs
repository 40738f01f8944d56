//! The project's own commands. `cargo xtask --help` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "every command here talks to the person who typed it")]

mod bench;
mod ci;
mod crash;
mod demo;
mod dist;
mod fuzz;
mod js_client;
mod mcp_peers;
mod process;
mod sim;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own commands", disable_help_subcommand = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs everything that must be green, or the named steps
    #[command(after_help = ci::steps_help())]
    Ci {
        /// Steps to run; all of them if none is named
        #[arg(value_parser = ci::step_names())]
        steps: Vec<String>,
    },
    /// Runs every test of the project, or the named suites, installing what they need
    #[command(after_help = test::suites_help())]
    Test {
        /// Suites to run; all of them if none is named
        #[arg(value_parser = test::suite_names())]
        suites: Vec<String>,
    },
    /// Looks for inputs that break what must hold, in all fuzz targets or the named ones
    Fuzz {
        /// Targets to run; all of them if none is named
        targets: Vec<String>,
        /// How long each runs
        #[arg(long, default_value_t = fuzz::SECONDS)]
        seconds: u32,
        /// Where the fuzzer starts; from the clock if not given
        #[arg(long)]
        seed: Option<u32>,
        /// Puts what reaches new code into the committed corpus
        #[arg(long)]
        keep: bool,
    },
    /// Checks the rules that no compiler checks
    #[command(after_help = tidy::rules_help())]
    Tidy,
    /// Runs both ends of the link under faults, in virtual time, from many seeds
    Sim(sim::Runs),
    /// Kills a daemon under load again and again, and looks for what was lost
    Crash(crash::Loop),
    /// Runs the checks of real MCP clients, or of the named ones, installing what they need
    #[command(after_help = mcp_peers::peers_help())]
    McpPeers {
        /// Clients to run; all of them if none is named
        #[arg(value_parser = mcp_peers::peer_names())]
        peers: Vec<String>,
    },
    /// Runs the tests of the client for test runners, installing what they need
    JsClient,
    /// Packs what a person can install: a tarball, a Homebrew formula, a Debian and an npm package
    Dist,
    /// Measures how fast and how small everything is, against floors measured in the same run
    Bench(bench::Measurements),
    /// Holds many sessions on one daemon and calls their tools at a steady rate
    Load(bench::Load),
    /// Shows the whole loop: a daemon, an app, and the commands that reach its tools
    Demo,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = Workspace::find().and_then(|workspace| match args.command {
        Command::Ci { steps } => ci::run(&workspace, &steps),
        Command::Test { suites } => test::run(&workspace, &suites),
        Command::Fuzz { targets, seconds, seed, keep } => {
            fuzz::run(&workspace, &fuzz::Options { targets, seconds, seed, keep })
        }
        Command::Tidy => tidy::run(&workspace),
        Command::Sim(runs) => sim::run(&workspace, &runs),
        Command::Crash(crash_loop) => crash::run(&workspace, &crash_loop),
        Command::McpPeers { peers } => mcp_peers::run(&workspace, &peers),
        Command::JsClient => js_client::run(&workspace),
        Command::Dist => dist::run(&workspace),
        Command::Bench(measurements) => bench::run(&workspace, &measurements),
        Command::Load(load) => bench::load(&workspace, &load),
        Command::Demo => demo::run(&workspace),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
