//! Peers that mean no good disturb nobody.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use appduct_daemon::Seams;
use appduct_rpc::StateDir;
use serde_json::json;

use crate::harness::{App, Control, Daemon, PATIENCE, Process, TlsOptions, WebApp, eventually, state_dir, tls_stream};

fn raw(daemon: &Daemon) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, daemon.port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Whether the daemon ends the connection, with or without a last word.
fn ends(stream: &mut impl Read) -> bool {
    let mut scrap = [0; 1024];
    loop {
        match stream.read(&mut scrap) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                return !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut);
            }
        }
    }
}

#[test]
fn a_session_goes_on_through_all_of_it() {
    let daemon = Daemon::start();
    let pid = daemon.call("daemon.status", json!({})).unwrap()["pid"].clone();
    let mut app = daemon.app("x");

    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x16\x03\x01\xff\xff", &[0; 5000], b"\x80\x2e\x01\x00\x02"] {
        let mut stream = raw(&daemon);
        stream.write_all(garbage).unwrap();
        stream.shutdown(std::net::Shutdown::Write).ok();
        assert!(ends(&mut stream), "{garbage:?}");
    }
    for _ in 0..50 {
        drop(raw(&daemon));
    }
    for _ in 0..5 {
        drop(tls_stream(daemon.port, &TlsOptions::default()).unwrap());
    }
    let mut oversize = daemon.socket();
    oversize.send_text(&"a".repeat(300_000));
    oversize.expect_close(1009, "");
    daemon.socket().vanish();

    app.send_snapshot(json!([{"name": "a", "description": "d"}]));
    eventually("the session goes on", || daemon.sessions()[0]["toolCount"] == 1);
    let status = daemon.call("daemon.status", json!({})).unwrap();
    assert_eq!((&status["pid"], &status["sessions"][0]["state"]), (&pid, &json!("active")));
}

#[test]
fn a_peer_that_takes_too_long_over_its_handshake_is_dropped() {
    let seams = Seams { handshake_timeout: Duration::from_millis(300), ..Seams::default() };
    let daemon = Daemon::with_seams(state_dir(r#"{"wssPort":0}"#), seams).unwrap();
    let mut silent = raw(&daemon);
    assert!(ends(&mut silent));
    let mut slow_head = tls_stream(daemon.port, &TlsOptions::default()).unwrap();
    slow_head.write_all(b"GET / HTTP/1.1\r\nUpgr").unwrap();
    assert!(ends(&mut slow_head));
}

#[test]
fn a_flood_of_one_port_keeps_nobody_out_of_the_other() {
    let daemon = Daemon::start();
    let flood =
        |port| -> Vec<_> { (0..300).map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap()).collect() };
    let idle = flood(daemon.web_port);
    daemon.app("x");
    drop(idle);
    let _idle = flood(daemon.port);
    let mut page = WebApp::connect_to_web(daemon.web_port);
    page.claim(&daemon.web_link(), "y");
    page.expect_ack();
}

#[test]
fn many_idle_handshakes_keep_nobody_out() {
    let seams = Seams { handshake_timeout: Duration::from_secs(3600), ..Seams::default() };
    let daemon = Daemon::with_seams(state_dir(r#"{"wssPort":0}"#), seams).unwrap();
    let _idle: Vec<_> = (0..600).map(|_| raw(&daemon)).collect();
    daemon.app("x");
}

#[test]
fn a_flood_of_devices_takes_no_descriptor_from_clients() {
    let directory = state_dir(r#"{"wssPort":0}"#);
    let process = Process::start_with_descriptors(directory.path(), 256);
    let _idle: Vec<_> = (0..400).map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, process.port)).unwrap()).collect();
    let mut control = Control::connect(&StateDir::new(directory.path()).socket());
    let link = control.call("link.create", json!({})).unwrap();
    let mut app = App::connect(process.port);
    app.claim(&link, "x");
    app.expect_ack();
}
