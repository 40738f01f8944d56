//! A daemon that is killed again and again, at any moment, while apps claim, resume, answer and post, and clients call.
//!
//! Chance comes from one seed; how threads meet does not, so a seed names a load and not a run. Longer runs:
//! `cargo xtask crash --kills 200`.

mod apps;
mod callers;
mod ledger;

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};

use appduct_rpc::StateDir;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Control, PATIENCE, Process, ReservedPort, eventually, state_dir};
use apps::{RawApp, SdkApp};
use ledger::{AuditFile, Ledger};

/// How often the daemon dies where nobody says.
const KILLS: u64 = 40;
const SEED: u64 = 1;

const RAW_APPS: u64 = 6;
const SDK_APPS: u64 = 2;
const CALLERS: u64 = 3;

/// What everybody who takes part knows.
struct Stage {
    paths: StateDir,
    port: u16,
    life: Life,
    ledger: Arc<Ledger>,
    /// An app has its ack, has a call, or a client has its result or an event.
    steps: Mutex<Sender<()>>,
}

impl Stage {
    fn step(&self) {
        self.steps.lock().unwrap().send(()).ok();
    }
}

/// Which daemon is up, from 1; 0 says that all is over.
struct Life {
    number: Mutex<u64>,
    changed: Condvar,
}

impl Life {
    fn set(&self, number: u64) {
        *self.number.lock().unwrap() = number;
        self.changed.notify_all();
    }

    fn now(&self) -> u64 {
        *self.number.lock().unwrap()
    }

    /// The number of a daemon that is not `known`; `None` when all is over.
    fn next(&self, known: u64) -> Option<u64> {
        let number = self.number.lock().unwrap();
        let waited = self.changed.wait_timeout_while(number, PATIENCE, |number| *number == known).unwrap();
        assert!(!waited.1.timed_out(), "no other daemon came up");
        Some(*waited.0).filter(|&number| number != 0)
    }
}

/// Numbers that follow from a seed.
pub(super) struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        // Xorshift, multiplied.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

fn asked(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn a_daemon_that_is_killed_at_any_moment_loses_no_session_runs_no_call_twice_and_leaves_a_state_that_can_be_read() {
    let kills = asked("APPDUCT_TEST_KILLS", KILLS);
    let seed = asked("APPDUCT_TEST_SEED", SEED);
    let port = ReservedPort::new();
    let config = json!({"wssPort": port.number, "advertisedIp": "127.0.0.1", "graceSeconds": 86_400});
    let directory = state_dir(&config.to_string());
    let ledger = Arc::<Ledger>::default();
    let (steps, stepped) = channel();
    let stage = Stage {
        paths: StateDir::new(directory.path().to_owned()),
        port: port.number,
        life: Life { number: Mutex::new(u64::MAX), changed: Condvar::new() },
        ledger: Arc::clone(&ledger),
        steps: Mutex::new(steps),
    };
    let mut chance = Chance::new(seed);
    let mut audit = AuditFile::default();

    let (mut raw_apps, sdk_apps): (Vec<RawApp>, Vec<SdkApp>) = std::thread::scope(|scope| {
        let stage = &stage;
        let apps: Vec<_> = (0..RAW_APPS)
            .map(|n| scope.spawn(move || RawApp::new(n).run(stage, &mut Chance::new(seed ^ (n + 100)))))
            .collect();
        for n in 0..CALLERS {
            scope.spawn(move || callers::run(stage, n, &mut Chance::new(seed ^ (n + 200))));
        }
        scope.spawn(move || callers::listen(stage));
        let mut sdk_apps: Vec<SdkApp> = Vec::new();
        for life in 1..=kills {
            let mut process = Process::begin(directory.path());
            // Now and then it dies before it is up.
            if life > 1 && chance.percent(10) {
                spin(chance.below(20_000));
            } else {
                assert!(process.comes_up(), "daemon {life} ended before it was up");
                if sdk_apps.is_empty() {
                    sdk_apps.extend((0..SDK_APPS).map(|n| SdkApp::pair(stage, n)));
                }
                stage.life.set(life);
                await_steps(&stepped, chance.below(150));
                spin(chance.below(2_000));
            }
            process.signal(Signal::KILL);
            process.wait();
            audit.check(&stage.paths, &ledger);
            no_broken_state(directory.path());
        }
        stage.life.set(0);
        let apps: Vec<_> = apps.into_iter().map(|thread| thread.join().unwrap()).collect();
        (apps, sdk_apps)
    });

    // Everyone finds their sessions again, and calls are answered.
    let mut process = Process::begin(directory.path());
    assert!(process.comes_up());
    let mut resumed = 0;
    for app in &mut raw_apps {
        resumed += app.resume_everything(&stage);
    }
    let mut control = Control::connect(&stage.paths.socket());
    for app in &sdk_apps {
        eventually("the SDK's app is back", || {
            control.call("sessions.describe", json!({"selector": app.session_id})).unwrap()["state"] == "active"
        });
    }
    let status = control.call("daemon.status", json!({})).unwrap();
    let failures = |status: &Value| (status["failedSaves"].clone(), status["audit"]["failedWrites"].clone());
    assert_eq!(failures(&status), (json!(0), json!(0)));
    for app in &sdk_apps {
        callers::call_once(&stage, &mut control, &app.session_id);
    }
    drop(control);
    process.signal(Signal::TERM);
    assert_eq!(process.wait().code(), Some(0));
    audit.check(&stage.paths, &ledger);
    no_broken_state(directory.path());
    ledger.no_call_ran_twice();
    println!("seed {seed}, {kills} kills: {resumed} sessions resumed, {}, {}", ledger.summary(), audit.summary());
    assert!(ledger.answered() > kills, "hardly a call was answered: {}", ledger.summary());
}

fn spin(turns: u64) {
    (0..turns).for_each(|_| std::hint::spin_loop());
}

/// Waits until so much more has happened.
fn await_steps(stepped: &Receiver<()>, steps: u64) {
    stepped.try_iter().for_each(drop);
    for _ in 0..steps {
        stepped.recv_timeout(PATIENCE).expect("something happens while a daemon is up");
    }
}

fn no_broken_state(root: &Path) {
    let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let broken: Vec<_> = names.filter(|name| name.contains("broken")).collect();
    assert!(broken.is_empty(), "{broken:?}");
}
