//! More of everything than anybody needs: the daemon is the same process afterwards, hardly larger, and had time for others.

#![cfg(target_os = "linux")]

use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use appduct_rpc::StateDir;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::Message;

use crate::harness::{App, Control, PATIENCE, Process, state_dir};

const MIB: u64 = 1024 * 1024;

/// How long a call of a session that nobody floods may take. A daemon that serves in turn takes milliseconds, even on a
/// machine that has other things to do.
const IN_TIME: Duration = Duration::from_secs(10);

/// A daemon in a process of its own, and a session that is called while others flood.
struct Rig {
    _directory: TempDir,
    process: Process,
    paths: StateDir,
    control: Control,
    bystander: App,
    /// What the daemon holds before the flood.
    resident: u64,
}

impl Rig {
    fn new() -> Self {
        let directory = state_dir(r#"{"wssPort":0,"advertisedIp":"127.0.0.1"}"#);
        let process = Process::begin_up(directory.path());
        let paths = StateDir::new(directory.path());
        let mut control = Control::connect(&paths.socket());
        let mut bystander = app(&mut control, process.port);
        bystander.send_snapshot(json!([{"name": "ping", "description": "d"}]));
        while control.call("sessions.list", json!({})).unwrap()[0]["toolCount"] != 1 {}
        let mut rig = Self { _directory: directory, process, paths, control, bystander, resident: 0 };
        // What the first call takes is not the flood's.
        rig.call();
        rig.resident = rig.resident_bytes();
        rig
    }

    /// Calls the bystander.
    fn call(&mut self) {
        let start = Instant::now();
        let params = json!({"selector": self.bystander.session_id, "name": "ping", "args": {}});
        let id = self.control.request("tools.call", params);
        let call = self.bystander.frame();
        let session_id = &self.bystander.session_id;
        let result = json!({"type": "tool_result", "session_id": session_id, "id": call["id"], "result": "pong"});
        self.bystander.send(result);
        let reply = self.control.value();
        assert_eq!((&reply["id"], &reply["result"]["result"]), (&json!(id), &json!("pong")));
        assert!(start.elapsed() < IN_TIME, "{:?}", start.elapsed());
    }

    fn resident_bytes(&mut self) -> u64 {
        self.control.call("daemon.status", json!({})).unwrap()["residentBytes"].as_u64().unwrap()
    }

    /// The daemon is who it was, and has grown by no more than that.
    fn check(&mut self, most: u64) {
        self.call();
        let status = self.control.call("daemon.status", json!({})).unwrap();
        assert_eq!(status["pid"], self.process.id());
        let grown = self.resident_bytes().saturating_sub(self.resident);
        assert!(grown <= most, "grown by {} KiB", grown / 1024);
    }
}

/// An app that has claimed a fresh link.
fn app(control: &mut Control, port: u16) -> App {
    let mut app = App::connect(port);
    app.claim(&control.call("link.create", json!({})).unwrap(), "x");
    app.expect_ack();
    app
}

/// Lets this process hold so many sockets.
fn make_room_for(sockets: u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = sockets + 512;
    if current.is_some_and(|current| current < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).unwrap();
    }
}

#[test]
fn two_thousand_sockets_that_never_claim_take_little_and_keep_nobody_out() {
    make_room_for(4000);
    let mut rig = Rig::new();
    let port = rig.process.port;
    let _silent: Vec<_> = (0..2000).map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap()).collect();
    rig.call();
    let mut sockets = Vec::new();
    for n in 0..2000 {
        sockets.push(App::connect(port));
        if n % 200 == 0 {
            rig.call();
        }
    }
    let status = rig.control.call("daemon.status", json!({})).unwrap();
    assert_eq!(status["openSockets"], 257, "those that may wait for their claim, and the bystander");
    // The last one was told to come again later; an app with a link still gets in once another has gone.
    sockets.pop().unwrap().expect_close(1013, "too_many_sockets");
    sockets.remove(0).vanish();
    rig.check(64 * MIB);
    while rig.control.call("daemon.status", json!({})).unwrap()["openSockets"] == 257 {}
    app(&mut rig.control, port);
}

#[test]
fn a_hundred_thousand_events_at_once_fill_a_ring_and_no_more() {
    const EVENTS: u64 = 100_000;
    let mut rig = Rig::new();
    let mut flooding = app(&mut rig.control, rig.process.port);
    let id = flooding.session_id.clone();
    // Somebody listens and does not read.
    let mut deaf = Control::connect(&rig.paths.socket());
    deaf.call("events.subscribe", json!({})).unwrap();
    let frame = json!({"type": "event", "session_id": id, "name": "tick", "ts": 1, "payload": "x".repeat(64)});
    let frame = Message::text(frame.to_string());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..EVENTS {
                flooding.ws.write(frame.clone()).unwrap();
            }
            flooding.ws.flush().unwrap();
            done.store(true, Ordering::SeqCst);
        });
        let mut calls = 0;
        while !done.load(Ordering::SeqCst) {
            rig.call();
            calls += 1;
        }
        assert!(calls > 10, "{calls} calls were answered meanwhile");
    });
    let deadline = Instant::now() + PATIENCE;
    let page = loop {
        let page = rig.control.call("events.since", json!({"selector": id, "limit": 1})).unwrap();
        if page["dropped"] == EVENTS - 256 {
            break page;
        }
        assert!(Instant::now() < deadline, "{page}");
    };
    assert_eq!((&page["events"][0]["seq"], &page["remaining"]), (&json!(EVENTS - 255), &json!(255)));
    assert!(deaf.read_to_end().lines().count() < EVENTS as usize, "who does not read is dropped");
    rig.check(32 * MIB);
}

#[test]
fn endless_lines_and_half_messages_are_not_kept() {
    let mut rig = Rig::new();
    for _ in 0..20 {
        let mut endless = Control::connect(&rig.paths.socket());
        let chunk = vec![b'a'; MIB as usize];
        // The daemon hangs up at the second of them.
        let refused = (0..8).find_map(|_| endless.stream.write_all(&chunk).err()).unwrap();
        assert!(matches!(refused.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{refused}");
    }
    for _ in 0..20 {
        let mut oversize = app(&mut rig.control, rig.process.port);
        oversize.send_text(&"a".repeat(4 * MIB as usize));
        oversize.expect_close(1009, "");
    }
    rig.check(16 * MIB);
}
