//! A long run of apps over a network that does its worst, as the choices have it.

use super::Choices;
use super::pair::{Pair, tool};
use crate::app::{Core, Registration, SessionChange};
use crate::host::Outcome;

const APPS: usize = 3;

/// How long a storm may keep apps from the daemon in all, in milliseconds. With the steps between, less than a session's
/// grace and a link's life: whatever else happens, every app must be back afterwards.
const LONGEST_ABSENCE_MS: u64 = 100_000;

/// The most steps of a storm; of at most four seconds each, so that the links outlive them.
pub const MAX_STEPS: usize = 45;

struct Storm<'a, 'b> {
    choices: &'a mut Choices<'b>,
    pair: Pair,
    sessions: Vec<String>,
    registrations: Vec<(usize, Registration)>,
    absent_ms: u64,
}

/// Runs a storm of at most [`MAX_STEPS`] and checks what holds after it: both ends of each app agree, every call ended once
/// and with an answer of its own app, no session was lost. Returns how many calls came through while it lasted.
///
/// # Panics
///
/// If something of that does not hold.
pub fn storm(seed: u64, choices: &mut Choices<'_>) -> usize {
    let mut storm = Storm::new(seed, choices);
    for _ in 0..MAX_STEPS {
        if storm.choices.are_over() {
            break;
        }
        storm.step();
    }
    storm.end()
}

impl<'a, 'b> Storm<'a, 'b> {
    fn new(seed: u64, choices: &'a mut Choices<'b>) -> Self {
        let mut pair = Pair::new(seed);
        let mut sessions = Vec::new();
        for app in 0..APPS {
            pair.add_app("X", seed.wrapping_mul(31).wrapping_add(app as u64));
            sessions.push(pair.link(app));
        }
        Self { choices, pair, sessions, registrations: Vec::new(), absent_ms: 0 }
    }

    fn step(&mut self) {
        self.pair.network.latency_ms = 1 + self.choices.below(900);
        match self.choices.below(12) {
            0 => self.pair.cut_all(),
            1 => self.pair.stall_all(),
            2 => {
                self.pair.network.break_at = Some(self.pair.network.messages + self.choices.below(6));
            }
            3 => {
                let app = self.choices.place(APPS);
                let ms = self.absence(40_000);
                self.pair.freeze(app, ms);
            }
            4 => {
                let app = self.choices.place(APPS);
                let ms = self.absence(30_000);
                self.pair.drive_app(app, Core::handle_background);
                self.pair.run(ms);
                self.pair.drive_app(app, Core::handle_foreground);
            }
            5 => {
                let ms = self.absence(20_000);
                self.pair.network.is_down = true;
                self.pair.run(ms);
                self.pair.network.is_down = false;
            }
            6 | 7 => {
                let (app, name) = (self.choices.place(APPS), format!("t{}", self.choices.below(6)));
                let registration = self.pair.drive_app(app, |core, now| core.register_tool(now, &tool(&name)));
                self.registrations.push((app, registration.expect("it is a descriptor")));
            }
            8 if !self.registrations.is_empty() => {
                let at = self.choices.place(self.registrations.len());
                let (app, registration) = self.registrations.swap_remove(at);
                self.pair.drive_app(app, |core, now| core.unregister_tool(now, registration));
            }
            _ => self.call(),
        }
        let ms = self.choices.below(4_000);
        self.pair.run(ms);
    }

    /// A time below `end` and within what is left of [`LONGEST_ABSENCE_MS`].
    fn absence(&mut self, end: u64) -> u64 {
        let ms = self.choices.below(end).min(LONGEST_ABSENCE_MS - self.absent_ms);
        self.absent_ms += ms;
        ms
    }

    fn call(&mut self) {
        let app = self.choices.place(APPS);
        self.pair.apps[app].handler_ms = self.choices.below(12_000);
        let call = self.pair.call(&self.sessions[app], "who");
        if let Some(call) = call
            && self.choices.below(5) == 1
        {
            self.pair.drive_host(|host, now| host.abandon(now, &call));
        }
    }

    /// The weather clears.
    fn end(mut self) -> usize {
        let pair = &mut self.pair;
        pair.network.break_at = None;
        pair.network.latency_ms = 10;
        pair.run(120_000);
        pair.check_calls();
        let results = self.results();
        for (app, session) in self.sessions.iter().enumerate() {
            let pair = &mut self.pair;
            pair.check_agreement(app, session);
            let changes = &pair.apps[app].changes;
            assert!(!changes.iter().any(|change| matches!(change, SessionChange::Lost { .. })), "{changes:?}");
            pair.apps[app].handler_ms = 10;
            let call = pair.call(session, "who").expect("the session is active");
            // The connection may be one of the slow ones.
            pair.run(5_000);
            let outcome = pair.outcome(&call);
            assert!(matches!(outcome, Outcome::Result(result) if result.as_str() == app.to_string()), "{outcome:?}");
        }
        results
    }

    /// How many calls have a result; each must be of the app that was called.
    fn results(&self) -> usize {
        let mut results = 0;
        for ends in self.pair.calls.values() {
            if let Outcome::Result(result) = &ends[0].outcome {
                let alias_of = |session: &str| self.pair.host.session(Some(session)).map(|session| session.alias);
                let app = self.sessions.iter().position(|session| alias_of(session).as_ref() == Ok(&ends[0].alias));
                assert_eq!(
                    Some(result.as_str()),
                    app.map(|app| app.to_string()).as_deref(),
                    "an answer of another app"
                );
                results += 1;
            }
        }
        results
    }
}
