//! `appduct-sim`: runs seeds, and shows one that breaks a promise.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to the person who typed it")]

use std::collections::VecDeque;
use std::process::ExitCode;
use std::time::Instant;

use appduct_sim::{Sabotage, run, sweep};
use clap::Parser;

/// How many lines of a broken run are shown.
const TAIL: usize = 60;

/// How many seeds run where nobody says how many.
const SEEDS: u64 = 2_000;

#[derive(Parser)]
#[command(name = "appduct-sim", about = "Both ends of the link under faults, in virtual time, from seeds")]
struct Args {
    /// How many seeds to run
    #[arg(long)]
    seeds: Option<u64>,
    /// The first seed; without --seeds the only one
    #[arg(long)]
    seed: Option<u64>,
    /// Shows every line of the run; for one seed
    #[arg(long, requires = "seed")]
    verbose: bool,
    /// Goes on after broken runs, up to so many
    #[arg(long, default_value_t = 1)]
    enough: usize,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.verbose {
        return one(args.seed.unwrap_or_default());
    }
    let seeds = args.seeds.unwrap_or(if args.seed.is_some() { 1 } else { SEEDS });
    let start = Instant::now();
    let sweep = sweep(args.seed.unwrap_or_default(), seeds, Sabotage::None, args.enough);
    let took = start.elapsed().as_secs_f64();
    println!("{} seeds in {took:.1} s, {} lines\n{:#?}", sweep.runs, sweep.lines, sweep.counts);
    let Some(first) = sweep.violations.first() else { return ExitCode::SUCCESS };
    eprintln!("{}", sweep.broken());
    let mut tail = VecDeque::new();
    let mut listen = |line: &str| {
        if tail.len() == TAIL {
            tail.pop_front();
        }
        tail.push_back(line.to_owned());
    };
    let again = run(first.seed, Sabotage::None, Some(&mut listen));
    eprintln!("\nthe end of seed {}:", first.seed);
    tail.iter().for_each(|line| eprintln!("{line}"));
    if again.as_ref().err() != Some(first) {
        eprintln!("and this time it came to {again:?}: it does not follow from the seed");
    }
    ExitCode::FAILURE
}

fn one(seed: u64) -> ExitCode {
    match run(seed, Sabotage::None, Some(&mut |line| println!("{line}"))) {
        Ok(report) => {
            println!("{report:#?}");
            ExitCode::SUCCESS
        }
        Err(violation) => {
            eprintln!("{violation}");
            ExitCode::FAILURE
        }
    }
}
