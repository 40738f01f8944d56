//! TLS and HTTP on the device port.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use appduct_proto::wire::Pin;
use serde_json::json;

use crate::harness::{App, Daemon, PATIENCE, TlsOptions, tls_stream};

fn certificate(port: u16) -> Vec<u8> {
    let stream = tls_stream(port, &TlsOptions::default()).unwrap();
    stream.conn.peer_certificates().unwrap()[0].to_vec()
}

#[test]
fn both_versions_of_tls_carry_a_session() {
    let daemon = Daemon::start();
    for (version, name) in [
        (&[&rustls::version::TLS12][..], rustls::ProtocolVersion::TLSv1_2),
        (&[&rustls::version::TLS13][..], rustls::ProtocolVersion::TLSv1_3),
    ] {
        // The list must live as long as the program.
        let versions: &'static [&'static rustls::SupportedProtocolVersion] =
            Box::leak(version.to_vec().into_boxed_slice());
        let stream = tls_stream(daemon.port, &TlsOptions { versions, ..TlsOptions::default() }).unwrap();
        assert_eq!(stream.conn.protocol_version(), Some(name));
        let mut app = App::over(stream);
        app.claim(&daemon.link(), "x");
        app.expect_ack();
    }
}

#[test]
fn only_http_1_is_spoken() {
    let daemon = Daemon::start();
    let with = |alpn: &[&[u8]]| {
        let alpn = alpn.iter().map(|name| name.to_vec()).collect();
        tls_stream(daemon.port, &TlsOptions { alpn, ..TlsOptions::default() })
    };
    assert!(with(&[b"h2"]).unwrap_err().to_string().to_lowercase().contains("applicationprotocol"));
    let both = with(&[b"h2", b"http/1.1"]).unwrap();
    assert_eq!(both.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    assert_eq!(with(&[]).unwrap().conn.alpn_protocol(), None);
}

#[test]
fn the_pin_of_the_link_is_that_of_the_certificate_and_no_other_is() {
    let daemon = Daemon::start();
    let pin: Pin = daemon.link()["pin"].as_str().unwrap().parse().unwrap();
    assert!(tls_stream(daemon.port, &TlsOptions { pin: Some(pin), ..TlsOptions::default() }).is_ok());
    let other = Pin::of_spki(b"another key");
    assert!(tls_stream(daemon.port, &TlsOptions { pin: Some(other), ..TlsOptions::default() }).is_err());
}

#[test]
fn the_certificate_is_renewed_under_open_sockets() {
    let daemon =
        Daemon::with_config(r#"{"wssPort":0,"advertisedIp":"127.0.0.1","keepaliveIntervalSeconds":100000000}"#);
    let first = certificate(daemon.port);
    daemon.link();
    assert_eq!(certificate(daemon.port), first, "the address is the same, so is the certificate");
    let mut app = daemon.app("x");
    daemon.clock.advance(Duration::from_secs(5 * 24 * 60 * 60 + 60));
    let pin: Pin = daemon.link()["pin"].as_str().unwrap().parse().unwrap();
    assert_ne!(certificate(daemon.port), first);
    assert!(tls_stream(daemon.port, &TlsOptions { pin: Some(pin), ..TlsOptions::default() }).is_ok());
    app.send_snapshot(json!([{"name": "a", "description": "d"}]));
    crate::harness::eventually("the old socket works", || daemon.sessions()[0]["toolCount"] == 1);
}

#[test]
fn plain_http_gets_426_and_one_line() {
    let daemon = Daemon::start();
    let mut stream = tls_stream(daemon.port, &TlsOptions::default()).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 426 "), "{answer}");
    assert!(answer.contains("Content-Type: text/plain"), "{answer}");
    assert_eq!(answer.split_once("\r\n\r\n").unwrap().1.lines().count(), 1);
}

#[test]
fn http_without_tls_gets_426_and_one_line_and_everything_else_a_tls_answer() {
    let daemon = Daemon::start();
    let exchange = |bytes: &[u8]| {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, daemon.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(bytes).unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).unwrap();
        heard
    };
    for request in [
        "GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    ] {
        let heard = String::from_utf8(exchange(request.as_bytes())).unwrap();
        let (head, body) = heard.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 426 ") && head.contains("text/plain"), "{heard}");
        assert!(body.contains("TLS") && body.lines().count() == 1, "{heard}");
    }
    let heard = exchange(b"SSH-2.0-client\r\n\r\n");
    assert!(heard.starts_with(b"HTTP/1.1 400 "), "capital letters are taken for HTTP");
    // An alert of TLS.
    assert_eq!(exchange(b"\x00\x01\x02 neither\r\n\r\n").first(), Some(&0x15));
    let mut app = daemon.socket();
    app.claim(&daemon.link(), "x");
    app.expect_ack();
}
