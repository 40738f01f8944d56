//! Hosts that break a promise are caught, by that promise, and soon.

use appduct_sim::{Promise, Sabotage, run, sweep};

/// Within so many seeds. The honest host passes many times as many.
const SEEDS: u64 = 100;

/// Which promises a sabotage breaks; any of them may be the first that is noticed.
fn broken_by(sabotage: Sabotage) -> &'static [Promise] {
    match sabotage {
        Sabotage::None => &[],
        Sabotage::AnswersTwice | Sabotage::ForgetsAnAnswer | Sabotage::RepeatsCalls | Sabotage::MixesAnswersUp => {
            &[Promise::OneEnd]
        }
        Sabotage::AcksBeforeTheSave => &[Promise::SurvivesDeath],
        Sabotage::LosesADelta | Sabotage::LosesSnapshotsOfResumes => &[Promise::FreshRegistry],
        Sabotage::KeepsTokensAlive | Sabotage::ForgetsTheListener | Sabotage::ShowsATokenInAnEvent => {
            &[Promise::NobodyElse]
        }
        Sabotage::CutsGraceShort | Sabotage::NeverExpires => &[Promise::NothingLost],
        Sabotage::KeepsSockets | Sabotage::ReusesEventNumbers | Sabotage::ClosesTheWrongSocket => {
            &[Promise::OwnSocketOnly]
        }
    }
}

#[test]
fn every_sabotage_is_caught_by_the_promise_that_it_breaks() {
    let mut missed = Vec::new();
    for &sabotage in Sabotage::ALL {
        match sweep(0, SEEDS, sabotage, 1).violations.first() {
            Some(first) if broken_by(sabotage).contains(&first.promise) => {}
            Some(first) => missed.push(format!("{sabotage:?} is caught by another promise: {first}")),
            None => missed.push(format!("{sabotage:?} passes {SEEDS} seeds")),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_broken_run_breaks_the_same_way_again() {
    let caught = sweep(0, SEEDS, Sabotage::AnswersTwice, 1);
    let first = caught.violations.first().expect("it is caught").clone();
    assert_eq!(run(first.seed, Sabotage::AnswersTwice, None), Err(first));
}
