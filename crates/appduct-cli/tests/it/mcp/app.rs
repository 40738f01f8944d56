//! A daemon and the demo app, whose lines can be waited for.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::process::Stdio;
use std::sync::mpsc::{self, Receiver};

use appduct_rpc::methods::{EventKind, EventsSubscribe};
use appduct_rpc::{Client, DaemonLauncher, StateDir};
use serde_json::{Value, json};

use crate::run::Place;
use crate::transcripts::{PATIENCE, Running, start_daemon, wait_for_tools};

/// A state directory with a configuration.
pub(crate) fn place_with(policy: Value) -> Place {
    let place = Place::new();
    fs::DirBuilder::new().mode(0o700).create(place.state_dir()).unwrap();
    let config = place.state_dir().join("config.json");
    fs::write(&config, json!({"wssPort": 0, "advertisedIp": "127.0.0.1", "policy": policy}).to_string()).unwrap();
    fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
    place
}

/// The demo app's process.
pub(crate) struct Playground {
    lines: Receiver<String>,
    _process: Running,
}

impl Playground {
    pub(crate) fn start(place: &Place, args: &[&str]) -> Self {
        let mut command = place.command(&[&["playground"][..], args].concat());
        let mut process = Running(command.stderr(Stdio::inherit()).spawn().unwrap());
        let stdout = BufReader::new(process.0.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { lines, _process: process }
    }

    /// Waits until the app has printed a line with these words.
    #[track_caller]
    pub(crate) fn says(&self, words: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("the app says it in time");
            if line.contains(words) {
                return line;
            }
        }
    }
}

/// A daemon and the demo app, paired.
pub(crate) struct App {
    // Dropped in this order.
    pub(crate) playground: Playground,
    pub(crate) daemon: Option<Running>,
    pub(crate) place: Place,
}

impl App {
    pub(crate) fn start() -> Self {
        Self::with_policy(json!({}))
    }

    pub(crate) fn with_policy(policy: Value) -> Self {
        let place = place_with(policy);
        let daemon = Some(start_daemon(&place));
        let mut client = Client::connect(&StateDir::new(place.state_dir()), &DaemonLauncher::never()).unwrap();
        let kinds = Some(vec![EventKind::ToolsChanged]);
        client.request(&EventsSubscribe { kinds, ..EventsSubscribe::default() }, PATIENCE).unwrap();
        let playground = Playground::start(&place, &[]);
        wait_for_tools(client);
        Self { playground, daemon, place }
    }
}
