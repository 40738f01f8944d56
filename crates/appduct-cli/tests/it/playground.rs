//! What the demo app does by itself.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::process::Stdio;
use std::sync::mpsc;

use appduct_rpc::methods::{EventKind, EventsSubscribe};
use appduct_rpc::{Client, DaemonLauncher, StateDir};
use serde_json::Value;

use crate::run::Place;
use crate::transcripts::{PATIENCE, Running, start_daemon, wait_for_tools};

/// A daemon that binds no fixed port.
fn start(place: &Place) -> Running {
    std::fs::DirBuilder::new().mode(0o700).create(place.state_dir()).unwrap();
    std::fs::write(place.state_dir().join("config.json"), r#"{"wssPort":0}"#).unwrap();
    start_daemon(place)
}

fn watch(place: &Place, kind: EventKind) -> Client {
    let mut client = Client::connect(&StateDir::new(place.state_dir()), &DaemonLauncher::never()).unwrap();
    let subscribe = EventsSubscribe { kinds: Some(vec![kind]), ..EventsSubscribe::default() };
    client.request(&subscribe, PATIENCE).unwrap();
    client
}

fn next_ping(events: &mut Client) -> Value {
    let event = events.next_event_within(PATIENCE).unwrap().unwrap();
    let data: Value = serde_json::from_str(event.data.as_str()).unwrap();
    assert_eq!(data["name"], "playground_ping");
    data
}

#[test]
fn it_pings_at_an_interval() {
    let place = Place::new();
    let _daemon = start(&place);
    let mut events = watch(&place, EventKind::AppEvent);
    let mut command = place.command(&["playground", "--ping-every", "1"]);
    let _playground = Running(command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap());
    let first = next_ping(&mut events)["payload"]["at"].as_u64().unwrap();
    let second = next_ping(&mut events)["payload"]["at"].as_u64().unwrap();
    assert!(second > first && first > 1_700_000_000_000, "{first} {second}");
    for value in ["0", "-1", "x"] {
        let failure = place.run(&["playground", "--ping-every", value, "--json"]).failure();
        let message = "\"--ping-every\" must be a positive integer.".to_owned();
        assert_eq!(failure, (64, "usage_error".to_owned(), message));
    }
}

/// `setsid` makes the terminal the program's own, as a shell does.
#[cfg(target_os = "linux")]
#[test]
fn it_pings_when_somebody_presses_enter() {
    let place = Place::new();
    let _daemon = start(&place);
    let mut events = watch(&place, EventKind::AppEvent);
    let tools = watch(&place, EventKind::ToolsChanged);
    let (terminal, end) = crate::terminal::terminal(80);
    let direct = place.command(&["playground"]);
    let mut command = std::process::Command::new("setsid");
    command.arg("--ctty").arg(direct.get_program()).args(direct.get_args()).current_dir(place.work());
    let env = direct.get_envs().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
    command.env_clear().envs(env).env("PATH", std::env::var_os("PATH").unwrap());
    command.stdin(end.try_clone().unwrap()).stdout(end.try_clone().unwrap()).stderr(end);
    let _playground = Running(command.spawn().unwrap());
    drop(command);
    wait_for_tools(tools);

    let mut keys = File::from(terminal.try_clone().unwrap());
    for _ in 0..2 {
        keys.write_all(b"\n").unwrap();
        assert!(next_ping(&mut events)["payload"]["at"].is_u64());
    }
    let (told, is_told) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let lines = BufReader::new(File::from(terminal)).lines().map_while(Result::ok);
        told.send(lines.take_while(|line| !line.contains("playground_ping posted")).collect::<Vec<_>>()).unwrap();
    });
    let lines = is_told.recv_timeout(PATIENCE).unwrap();
    reader.join().unwrap();
    assert!(lines.iter().any(|line| line == "Press Enter to post an event, Ctrl-C to end it."), "{lines:?}");
}

#[test]
fn it_goes_on_where_nobody_reads_what_it_prints() {
    let place = Place::new();
    let _daemon = start(&place);
    let tools = watch(&place, EventKind::ToolsChanged);
    let mut playground = Running(place.command(&["playground"]).stderr(Stdio::inherit()).spawn().unwrap());
    drop(playground.0.stdout.take());
    wait_for_tools(tools);
    for _ in 0..2 {
        assert_eq!(place.run(&["invoke", "sum", "a=2", "b=3"]).ok(), "Result\n{\"total\":5}\n");
    }
    assert!(playground.0.try_wait().unwrap().is_none());
}
