//! A daemon for tests, run as `fake-daemon daemon run`. Files in the state directory say how it behaves:
//!
//! * `leash.sock`: it connects there first and ends when that connection does, so that no test leaves one behind.
//! * `version`: the version that it reports, read at its start.
//! * `fail`: it prints the content to stderr and ends with status 70; the file is removed, so that the next start works.
//! * `mute`: it never listens.
//! * `deaf`: it listens and never answers.
//! * `stubborn`: SIGTERM does not end it.
//!
//! It adds a line to `starts` each time that it is started.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{env, fs, thread};

use appduct_proto::wire::RawJson;
use appduct_rpc::line::{self, Line, Lines};
use appduct_rpc::methods::{DaemonShutdown, DaemonStatus, Done, Method, SessionsList};
use appduct_rpc::{RpcError, StateDir};
use rustix::process::Signal;

fn main() -> ExitCode {
    let args: Vec<_> = env::args().skip(1).collect();
    assert_eq!(args, ["daemon", "run"]);
    let root = PathBuf::from(env::var_os("APPDUCT_STATE_DIR").expect("the client names the state directory"));
    assert!(root.is_absolute());
    let mut starts = fs::File::options().append(true).create(true).open(root.join("starts")).expect("starts");
    starts.write_all(b"started\n").expect("starts");

    if let Ok(reason) = fs::read_to_string(root.join("fail")) {
        fs::remove_file(root.join("fail")).expect("fail is there");
        std::io::stderr().write_all(format!("fake-daemon: starting\n{reason}\n").as_bytes()).expect("stderr");
        return ExitCode::from(70);
    }

    let leash = UnixStream::connect(root.join("leash.sock")).expect("somebody holds the leash");
    thread::spawn(move || hang_on(leash));
    let state_dir = StateDir::new(root);
    fs::write(state_dir.pid_file(), std::process::id().to_string()).expect("pid file");
    if state_dir.root().join("mute").exists() {
        loop {
            thread::park();
        }
    }
    if state_dir.root().join("stubborn").exists() {
        signal_hook::flag::register(Signal::TERM.as_raw(), Arc::<AtomicBool>::default()).expect("a handler");
    }
    if state_dir.root().join("deaf").exists() {
        let _listener = UnixListener::bind(state_dir.socket()).expect("the socket is free");
        loop {
            thread::park();
        }
    }
    let version = fs::read_to_string(state_dir.root().join("version")).unwrap_or_else(|_| "1.0.0".to_owned());
    let listener = UnixListener::bind(state_dir.socket()).expect("the socket is free");
    for stream in listener.incoming() {
        let (version, state_dir) = (version.clone(), state_dir.clone());
        thread::spawn(move || serve(stream.expect("a client"), &version, &state_dir));
    }
    ExitCode::SUCCESS
}

fn hang_on(mut leash: UnixStream) {
    let mut nothing = [0];
    while matches!(leash.read(&mut nothing), Ok(1..)) {}
    end(0);
}

#[expect(clippy::exit, reason = "any thread may end the daemon")]
fn end(code: i32) -> ! {
    std::process::exit(code)
}

fn serve(mut stream: UnixStream, version: &str, state_dir: &StateDir) {
    let mut lines = Lines::bounded(line::MAX_LINE_BYTES);
    let mut chunk = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut chunk) {
        lines.push(&chunk[..read]);
        while let Some(Line::Complete(text)) = lines.next_line() {
            let request = line::decode_request(&text).expect("a request");
            let reply = match request.method.as_str() {
                DaemonStatus::NAME => Ok(status(version)),
                DaemonShutdown::NAME => Ok(RawJson::of(&Done::OK).expect("JSON")),
                SessionsList::NAME => Ok(RawJson::parse("[]").expect("JSON")),
                method => Err(RpcError::method_not_found(method)),
            };
            let text = match &reply {
                Ok(result) => line::reply(&request.id, result),
                Err(error) => line::error(&request.id, error),
            };
            stream.write_all(text.as_bytes()).expect("the client reads");
            if request.method == DaemonShutdown::NAME {
                fs::remove_file(state_dir.socket()).expect("the socket is there");
                fs::remove_file(state_dir.pid_file()).expect("the pid file is there");
                end(0);
            }
        }
    }
}

fn status(version: &str) -> RawJson {
    RawJson::parse(&format!(
        r#"{{"version":"{version}","pid":{},"startedAt":"2026-01-01T00:00:00.000Z","wssPort":1,"pinnedKeys":[],
        "sessions":[],"pendingLinks":0,"policy":{{"default":"allow","destructive":"allow"}},
        "audit":{{"path":"audit","failedWrites":0}}}}"#,
        std::process::id()
    ))
    .expect("JSON")
}
