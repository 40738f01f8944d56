//! A daemon that is killed while apps claim and resume.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use appduct_rpc::StateDir;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::harness::{App, Control, Process, TlsOptions, state_dir, tls_stream};

const APPS: usize = 24;
const ROUNDS: usize = 40;

/// What an app would do next: it has the newest token that an ack brought it, else the link.
struct Device {
    link: Value,
    session: Option<(String, String)>,
}

impl Device {
    fn hello(&self) -> Value {
        match &self.session {
            Some((id, token)) => json!({
                "type": "session_resume", "protocol_version": 2, "session_id": id, "resume_token": token,
            }),
            None => {
                let payload = self.link["deepLinkPayload"].as_str().unwrap();
                let token = appduct_proto::wire::Bootstrap::decode(payload).unwrap().token_text();
                json!({
                    "type": "session_claim", "protocol_version": 2, "session_id": self.link["sessionId"],
                    "token": token, "device_model": "x",
                })
            }
        }
    }

    /// Connects once. A daemon that dies on the way is no error; one that turns the app away is.
    fn connect(&mut self, port: u16) -> bool {
        let Ok(stream) = tls_stream(port, &TlsOptions::default()) else { return false };
        let request = "wss://127.0.0.1/".into_client_request().unwrap();
        let Ok((mut ws, _)) = tungstenite::client(request, stream) else { return false };
        if ws.send(Message::text(self.hello().to_string())).is_err() {
            return false;
        }
        match ws.read() {
            Ok(Message::Text(text)) => {
                let ack: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(ack["type"], "session_ack", "{ack}");
                let text = |key: &str| ack[key].as_str().unwrap().to_owned();
                self.session = Some((text("session_id"), text("resume_token")));
                // Half of the apps prove that they have the ack.
                if text("resume_token").as_bytes()[0] % 2 == 0 {
                    let frame = json!({"type": "tool_registry_snapshot", "session_id": ack["session_id"], "tools": []});
                    ws.send(Message::text(frame.to_string())).ok();
                }
                true
            }
            Ok(Message::Close(Some(frame))) => panic!("turned away: {} {}", frame.code, frame.reason),
            Ok(_) | Err(_) => false,
        }
    }
}

#[test]
fn no_app_is_lost_however_often_the_daemon_is_killed() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    let paths = StateDir::new(directory.path().to_owned());
    let mut process = Process::start(directory.path());
    let port = process.port;
    let mut control = Control::connect(&paths.socket());
    let mut devices: Vec<_> = (0..APPS)
        .map(|_| Device { link: control.call("link.create", json!({"ttlSeconds": 3600})).unwrap(), session: None })
        .collect();

    for round in 0..ROUNDS {
        // The daemon dies once so many apps have had their ack in this round, others being on their way.
        let enough = round * 7 % APPS;
        let acks = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for devices in devices.chunks_mut(APPS / 8) {
                let (acks, process) = (&acks, &process);
                scope.spawn(move || {
                    for device in devices {
                        if device.connect(port) && acks.fetch_add(1, Ordering::SeqCst) == enough {
                            process.signal(Signal::KILL);
                        }
                    }
                });
            }
        });
        process.signal(Signal::KILL);
        process.wait();
        process = Process::start(directory.path());
        assert_eq!(process.port, port, "round {round}");
    }

    for device in &mut devices {
        assert!(device.connect(port));
        assert_eq!(device.session.as_ref().unwrap().0, device.link["sessionId"]);
    }
    let sessions = Control::connect(&paths.socket()).call("sessions.list", json!({})).unwrap();
    assert_eq!(sessions.as_array().unwrap().len(), APPS);
    let status = Control::connect(&paths.socket()).call("daemon.status", json!({})).unwrap();
    assert_eq!((&status["pendingLinks"], &status["failedSaves"]), (&json!(0), &json!(0)));
}

#[test]
fn after_a_crash_grace_starts_anew() {
    let directory = state_dir(r#"{"wssPort":0,"graceSeconds":3600}"#);
    let paths = StateDir::new(directory.path().to_owned());
    let mut process = Process::start(directory.path());
    let link = Control::connect(&paths.socket()).call("link.create", json!({})).unwrap();
    let mut app = App::connect(process.port);
    app.claim(&link, "x");
    app.expect_ack();
    process.signal(Signal::KILL);
    process.wait();
    let daemon = crate::harness::Daemon::in_directory(directory).unwrap();
    daemon.clock.advance(Duration::from_secs(3590));
    let mut again = daemon.socket();
    again.resume(&app.session_id, &app.resume_token);
    again.expect_ack();
}
