//! Long random runs over a network that does its worst, each from a seed.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::pair::{Pair, tool};
use crate::app::{Core, Registration, SessionChange};
use crate::host::Outcome;

const APPS: usize = 3;
const STEPS: usize = 150;
const SEEDS: u64 = 60;

struct Dice(ChaCha8Rng);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    fn app(&mut self) -> usize {
        self.below(APPS as u64) as usize
    }
}

/// How many calls came through.
fn storm(seed: u64) -> usize {
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
    let mut pair = Pair::new(seed);
    let mut sessions = Vec::new();
    let mut registrations: Vec<(usize, Registration)> = Vec::new();
    for app in 0..APPS {
        pair.add_app("X", seed.wrapping_mul(31).wrapping_add(app as u64));
        sessions.push(pair.link(app));
    }
    for _ in 0..STEPS {
        pair.network.latency_ms = 1 + dice.below(900);
        match dice.below(12) {
            0 => pair.cut_all(),
            1 => pair.stall_all(),
            2 => pair.network.break_at = Some(pair.network.messages + dice.below(6)),
            3 => {
                let app = dice.app();
                let ms = dice.below(40_000);
                pair.freeze(app, ms);
            }
            4 => {
                let app = dice.app();
                pair.drive_app(app, Core::handle_background);
                pair.run(dice.below(30_000));
                pair.drive_app(app, Core::handle_foreground);
            }
            5 => {
                pair.network.is_down = true;
                pair.run(dice.below(20_000));
                pair.network.is_down = false;
            }
            6 | 7 => {
                let (app, name) = (dice.app(), format!("t{}", dice.below(6)));
                let registration = pair.drive_app(app, |core, now| core.register_tool(now, &tool(&name))).unwrap();
                registrations.push((app, registration));
            }
            8 if !registrations.is_empty() => {
                let at = dice.below(registrations.len() as u64) as usize;
                let (app, registration) = registrations.swap_remove(at);
                pair.drive_app(app, |core, now| core.unregister_tool(now, registration));
            }
            _ => {
                let app = dice.app();
                pair.apps[app].handler_ms = dice.below(12_000);
                let session = sessions[app].clone();
                if let Some(call) = pair.call(&session, "who")
                    && dice.below(5) == 0
                {
                    pair.drive_host(|host, now| host.abandon(now, &call));
                }
            }
        }
        pair.run(dice.below(4_000));
    }
    pair.network.break_at = None;
    pair.network.latency_ms = 10;
    pair.run(120_000);
    pair.check_calls();
    let mut results = 0;
    for (app, session) in sessions.iter().enumerate() {
        pair.check_agreement(app, session);
        let changes = &pair.apps[app].changes;
        assert!(!changes.iter().any(|change| matches!(change, SessionChange::Lost { .. })), "{changes:?}");
        pair.apps[app].handler_ms = 10;
        let call = pair.call(session, "who").unwrap();
        // The connection may be one of the slow ones.
        pair.run(5_000);
        assert!(matches!(pair.outcome(&call), Outcome::Result(result) if result.as_str() == app.to_string()));
    }
    for ends in pair.calls.values() {
        if let Outcome::Result(result) = &ends[0].outcome {
            let app =
                sessions.iter().position(|session| pair.host.session(Some(session)).unwrap().alias == ends[0].alias);
            assert_eq!(Some(result.as_str()), app.map(|app| app.to_string()).as_deref(), "an answer of another app");
            results += 1;
        }
    }
    results
}

#[test]
fn after_any_storm_both_ends_agree_and_every_call_has_ended_once() {
    let mut results = 0;
    for seed in 0..SEEDS {
        let run = std::panic::catch_unwind(|| storm(seed));
        results += run.unwrap_or_else(|_| panic!("seed {seed}"));
    }
    // Three of each run come after its storm.
    assert!(results > 10 * SEEDS as usize, "hardly a call came through: {results}");
}
