//! Honest hosts and cores.

use appduct_sim::{Sabotage, run, sweep};

/// As many as must pass before a change goes in.
const SEEDS: u64 = 2_000;

#[test]
fn every_promise_holds_in_every_run() {
    let sweep = sweep(0, SEEDS, Sabotage::None, 3);
    assert!(sweep.violations.is_empty(), "{}", sweep.broken());
    assert_eq!(sweep.runs, SEEDS);
    // A run in which little happens proves little.
    let counts = sweep.counts;
    for (what, count, least) in [
        ("claims", counts.claims, 2),
        ("resumes", counts.resumes, 5),
        ("calls", counts.calls, 5),
        ("results", counts.results, 2),
        ("kills", counts.kills, 1),
        ("stops", counts.stops, 1),
        ("intrusions", counts.intrusions, 2),
        ("comparisons", counts.comparisons, 8),
    ] {
        assert!(count >= least * SEEDS, "too few {what}: {count}");
    }
    assert!(counts.late_hellos > 0, "nothing came late");
    assert!(counts.forfeits < counts.claims, "too much is excused: {counts:?}");
}

#[test]
fn a_seed_makes_the_same_run_every_time_and_another_seed_another() {
    let mut hashes = Vec::new();
    for seed in [1, 7, 1_000_003, u64::MAX] {
        let mut lines = Vec::new();
        let first = run(seed, Sabotage::None, Some(&mut |line| lines.push(line.to_owned()))).unwrap();
        let again = run(seed, Sabotage::None, None).unwrap();
        assert_eq!(first, again);
        assert_eq!(lines.len() as u64, first.lines);
        hashes.push(first.hash);
    }
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 4);
}
