//! The whole loop with real parts: the daemon, the demo app and the command, each in its own process.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use appduct_rpc::methods::{EventKind, EventsSubscribe};
use appduct_rpc::{Client, DaemonLauncher, StateDir};
use serde_json::{Value, json};

use crate::run::{Place, Ran};

/// More than a loaded machine needs for a start.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The tools of the demo app.
const TOOLS: u64 = 5;

/// A process that is ended with its owner.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A daemon and the demo app, paired.
pub(crate) struct Loop {
    place: Place,
    playground: Running,
    _daemon: Running,
}

impl Loop {
    pub(crate) fn start() -> Self {
        Self::start_with(Stdio::inherit())
    }

    /// With the stderr of the demo app.
    fn start_with(stderr: Stdio) -> Self {
        let place = Place::new();
        fs::DirBuilder::new().mode(0o700).create(place.state_dir()).unwrap();
        let config = place.state_dir().join("config.json");
        fs::write(&config, r#"{"wssPort":0}"#).unwrap();
        fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();

        let daemon = start_daemon(&place);
        let mut client = Client::connect(&StateDir::new(place.state_dir()), &DaemonLauncher::never()).unwrap();
        let kinds = Some(vec![EventKind::ToolsChanged]);
        client.request(&EventsSubscribe { kinds, ..EventsSubscribe::default() }, PATIENCE).unwrap();
        let mut playground = place.command(&["playground"]);
        let playground = Running(playground.stdout(Stdio::null()).stderr(stderr).spawn().unwrap());
        wait_for_tools(client);
        Self { place, playground, _daemon: daemon }
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.place.run(args)
    }
}

/// Starts `daemon run` and waits for its envelope.
pub(crate) fn start_daemon(place: &Place) -> Running {
    let mut command = place.command(&["daemon", "run", "--json"]);
    command.env("APPDUCT_LOG", "error");
    let mut daemon = Running(command.stderr(Stdio::inherit()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(daemon.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let document: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(document["data"]["daemon"]["pid"], daemon.0.id(), "{document}");
    daemon
}

/// Waits until an app has registered all its tools.
pub(crate) fn wait_for_tools(mut client: Client) {
    let connection = client.shutdown_handle().unwrap();
    let (done, is_done) = mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if is_done.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            connection.shutdown(std::net::Shutdown::Both).unwrap();
        }
    });
    loop {
        let event = client.next_event().unwrap().expect("the demo app registers its tools in time");
        let data: Value = serde_json::from_str(event.data.as_str()).unwrap();
        if data["toolCount"] == TOOLS {
            break;
        }
    }
    drop(done);
    watchdog.join().unwrap();
}

const HINT: &str = "\nRun `appduct tools <name>` for a tool's full schema.\n";

const LISTING: &str = "\
Tools
  counter
    call_count() -> { count: number }
      Reports how many times the playground's counted tools have run.
    reset_counter() -> { count: number }
      Resets the playground's call counter to zero.
  diagnostics
    throwing_tool()
      Always throws, to exercise tool_execution_error.
    diagnostics/progress
      slow_task() -> { done: bool }
        Takes ~1.5s and reports progress along the way.
  (ungrouped)
    sum(a: number, b: number) -> { total: number }
      Adds two numbers.
";

const GROUPS: &str = "\
Groups
  counter                 2
  diagnostics             2
    diagnostics/progress  1
  (ungrouped)             1

5 tools in total. Run `appduct tools --group <name>` to list one group's tools.
";

const DIAGNOSTICS: &str = "\
Tools in group diagnostics
  slow_task() -> { done: bool }
    Takes ~1.5s and reports progress along the way.
  throwing_tool()
    Always throws, to exercise tool_execution_error.
";

const PROGRESS: &str = "\
Tools in group diagnostics/progress
  slow_task() -> { done: bool }
    Takes ~1.5s and reports progress along the way.
";

#[test]
fn the_demo_app_lists_as_it_is_documented() {
    let demo = Loop::start();
    assert_eq!(demo.run(&["tools"]).ok(), format!("{LISTING}{HINT}"));
    assert_eq!(demo.run(&["tools", "--groups"]).ok(), GROUPS);
    assert_eq!(demo.run(&["tools", "--group", "diagnostics"]).ok(), format!("{DIAGNOSTICS}{HINT}"));
    assert_eq!(demo.run(&["tools", "--group", "diagnostics/progress"]).ok(), format!("{PROGRESS}{HINT}"));

    let ran = demo.run(&["tools", "--limit", "2"]);
    let footer = "\nShowing 2 of 5 tools (offset 0). Narrow with --group <name> (groups: counter 2, diagnostics 2) or --filter \
                  <text>, or page with --offset <n>.\n";
    assert!(ran.ok().ends_with(&format!("{footer}{HINT}")), "{ran}");
    let ran = demo.run(&["tools", "--group", "diagnostics", "--limit", "1"]);
    let footer = "\nShowing 1 of 2 tools (offset 0). Narrow with --filter <text> or page with --offset <n>.\n";
    assert!(ran.ok().ends_with(&format!("{footer}{HINT}")), "{ran}");
    let ran = demo.run(&["tools", "--group", "counter", "--filter", "reset"]);
    assert!(ran.ok().contains("\n  reset_counter() -> { count: number }\n"), "{ran}");
    assert!(!ran.ok().contains("call_count"), "{ran}");

    let ran = demo.run(&["tools", "--json", "--group", "diagnostics"]);
    let document = ran.json();
    let names: Vec<_> = document["data"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["slow_task", "throwing_tool"]);
    assert_eq!(document["data"]["tools"][0]["policy"], "allow");
    assert!(
        ran.stdout.contains(r#""group":"diagnostics/progress","policy":"allow"},{"name":"throwing_tool","#),
        "{ran}"
    );
    assert!(
        ran.stdout.ends_with(
            "\"group\":\"diagnostics\",\"policy\":\"allow\"}],\"total\":2,\"groups\":[{\"group\":\"counter\",\"total\":2},\
             {\"group\":\"diagnostics\",\"total\":2},{\"group\":\"diagnostics/progress\",\"total\":1},{\"group\":null,\
             \"total\":1}],\"group\":\"diagnostics\"}}\n"
        ),
        "{ran}"
    );

    let ran = demo.run(&["tools", "--group", "Diagnostics"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (
            Some(0),
            "Tools in group Diagnostics\n  No tools in group \"Diagnostics\". Run `appduct tools --groups` to see the session's \
             groups.\n"
        )
    );
    assert_eq!(ran.stderr, "Did you mean `diagnostics` or `diagnostics/progress`?\n");
    let detail = demo.run(&["tools", "slow_task"]);
    assert!(detail.ok().starts_with("Tool: slow_task\n  Signature      slow_task() -> { done: bool }\n"), "{detail}");
    assert!(detail.stdout.contains("\n  Group          diagnostics/progress\n"), "{detail}");
    assert!(detail.stdout.contains("\n  Timeout (ms)   5000\n"), "{detail}");
}

#[test]
fn the_demo_app_is_refused_as_it_is_documented() {
    let demo = Loop::start();
    let alias = demo.run(&["ls", "--json"]).json()["data"][0]["alias"].as_str().unwrap().to_owned();
    for (args, message) in [
        (
            &["tools", &alias, "slow_task", "--group", "diagnostics"][..],
            "\"--group\", \"--groups\", \"--filter\", \"--limit\", and \"--offset\" only apply to a tools listing, not a \
             single tool lookup.",
        ),
        (
            &["tools", "slow_task", "--groups"],
            "\"--group\", \"--groups\", \"--filter\", \"--limit\", and \"--offset\" only apply to a tools listing, not a \
             single tool lookup.",
        ),
        (
            &["tools", "--group", "diagnostics/progress/x"],
            "\"--group\" must be a group name like \"checkout\" or \"checkout/payment\" (one or two segments of 1 to 64 \
             letters, digits, \"_\" or \"-\"); got \"diagnostics/progress/x\".",
        ),
        (
            &["tools", "--groups", "diagnostics"],
            "No session matches \"diagnostics\". \"--groups\" takes no value; to list one group's tools, use \"--group \
             diagnostics\".",
        ),
    ] {
        let failure = demo.run(&[args, &["--json"]].concat()).failure();
        assert_eq!(failure, (64, "usage_error".to_owned(), message.to_owned()));
    }
}

#[test]
fn the_demo_app_is_called_as_it_is_documented() {
    let demo = Loop::start();
    let ran = demo.run(&["invoke", "sum", "a=2", "b=3.5"]);
    assert_eq!(ran.ok(), "Result\n{\"total\":5.5}\n");
    let ran = demo.run(&["invoke", "slow_task", "--input", "{}", "--progress", "always"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Result\n{\"done\":true}\n"));
    assert_eq!(ran.stderr, "Progress  33%  warming up\nProgress  66%  almost there\nProgress  100%  done\n");
    assert_eq!(demo.run(&["invoke", "call_count", "--json"]).json(), json!({ "ok": true, "data": { "count": 2 } }));

    let ran = demo.run(&["invoke", "throwing_tool", "--json"]);
    assert_eq!(
        ran.failure(),
        (72, "tool_execution_error".to_owned(), "throwing_tool always fails on purpose.".to_owned())
    );
    let (code, kind, _) = demo.run(&["invoke", "nope", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (72, "tool_not_found"));
    let (code, kind, _) = demo.run(&["invoke", "sum", "a=2", "--json"]).failure();
    assert_eq!((code, kind.as_str()), (72, "tool_input_validation_error"));

    let revoked = demo.run(&["revoke"]);
    assert!(revoked.ok().starts_with("Session Revoked\nSession\n  Alias  playground\n  Id     "), "{revoked}");
    assert_eq!(demo.run(&["ls", "--json"]).json()["data"], json!([]));
}

/// An app that comes after the command that waits for it.
#[test]
fn a_command_waits_for_the_demo_app() {
    let place = Place::new();
    fs::DirBuilder::new().mode(0o700).create(place.state_dir()).unwrap();
    fs::write(place.state_dir().join("config.json"), r#"{"wssPort":0,"advertisedIp":"127.0.0.1"}"#).unwrap();
    let _daemon = start_daemon(&place);
    let waiting = place.command(&["wait", "--tool", "sum", "--json", "--timeout", "60"]).spawn().unwrap();

    let mut link = place.command(&["link", "--scheme", "playground", "--wait", "--wait-timeout", "60", "--json"]);
    let mut link = link.spawn().unwrap();
    let mut stdout = BufReader::new(link.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let minted: Value = serde_json::from_str(&line).unwrap();
    let deep_link = minted["data"]["deepLink"].as_str().unwrap();

    let mut playground = place.command(&["playground", "--link", deep_link]);
    let _playground = Running(playground.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap());
    assert_eq!(link.wait().unwrap().code(), Some(0));
    line.clear();
    assert_eq!(stdout.read_line(&mut line).unwrap(), 0, "one document and no more: {line}");

    let session = place.ended(waiting).json();
    assert_eq!(session["data"]["sessionId"], minted["data"]["sessionId"]);
    assert_eq!(session["data"]["state"], "active");
    // What is there already is not waited for.
    let ran = place.run(&["wait"]);
    assert!(ran.ok().starts_with("Session Active\nSession\n  Alias   playground\n"), "{ran}");

    let ran = place.run(&["events", "--since", "0"]);
    assert_eq!(ran.ok(), "cursor: 0, dropped: 0, remaining: 0. Go on with `appduct events --since 0`.\n");
    let ran = place.run(&["events", "ls", "--name", "*_ping"]);
    assert_eq!(ran.ok(), "Events\n  playground_ping(at: int)\n    Posted when somebody pings the playground.\n");
}

#[test]
fn a_daemon_is_started_found_and_stopped() {
    let place = Place::new();
    fs::DirBuilder::new().mode(0o700).create(place.state_dir()).unwrap();
    fs::write(place.state_dir().join("config.json"), r#"{"wssPort":0}"#).unwrap();
    let mut daemon = start_daemon(&place);

    let document = place.run(&["daemon", "run", "--json"]).json();
    assert_eq!(document["error"]["type"], "connection_error");
    assert_eq!(document["error"]["details"], json!({ "pid": daemon.0.id() }));
    assert!(document["error"]["message"].as_str().unwrap().contains("already running"));

    let status = place.run(&["daemon", "status", "--json"]).json();
    assert_eq!(status["data"]["daemon"]["pid"], daemon.0.id());
    assert_eq!(
        place.run(&["daemon", "stop", "--json"]).json(),
        json!({ "ok": true, "data": { "daemon": { "ok": true, "method": "rpc" } } })
    );
    assert_eq!(daemon.0.wait().unwrap().code(), Some(0));
}

#[test]
fn a_command_starts_the_daemon_that_it_needs() {
    let place = Place::new();
    fs::DirBuilder::new().mode(0o700).create(place.state_dir()).unwrap();
    fs::write(place.state_dir().join("config.json"), r#"{"wssPort":0}"#).unwrap();
    let stop = StopAtEnd(&place);
    assert_eq!(place.run(&["ls"]).ok(), "Sessions\n  No Appduct sessions are registered.\n");
    assert_eq!(place.run(&["daemon", "stop"]).ok(), "Daemon Stopped\nDaemon\n  Method  rpc\n");
    std::mem::forget(stop);
}

/// Stops the daemon of a test that failed before it did.
struct StopAtEnd<'a>(&'a Place);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        drop(self.0.run(&["daemon", "stop"]));
    }
}

#[test]
fn the_demo_app_ends_with_its_session() {
    let mut live = Loop::start_with(Stdio::piped());
    live.run(&["revoke", "playground"]).ok();
    let mut told = String::new();
    live.playground.0.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(live.playground.0.wait().unwrap().code(), Some(71));
    assert!(told.contains("The session is over (revoked)."), "{told}");
    assert!(told.contains("Run `appduct playground` again."), "{told}");
}
