//! A daemon with another key learns nothing.

use std::time::Duration;

use appduct::{Appduct, ConnectError, Event, Phase, State};
use rustls::version::{TLS12, TLS13};
use tokio::io::AsyncReadExt;

use crate::daemon::{Daemon, Identity, app};
use crate::within;

/// Everything that a client says to a server whose key it does not trust, as bytes.
async fn said_by_a_client_that_refuses(daemon: &Daemon) -> std::io::Error {
    match daemon.accept_tls().await {
        Err(refusal) => refusal,
        Ok(mut stream) => {
            let mut said = Vec::new();
            let read = within(stream.read_to_end(&mut said)).await;
            panic!("the client finished the handshake and said {} bytes ({read:?})", said.len());
        }
    }
}

#[tokio::test]
async fn a_daemon_whose_key_does_not_match_never_gets_the_token() {
    for version in [&TLS12, &TLS13] {
        let daemon = Daemon::start_as(&Identity::new(), &[version]).await;
        let app = app("foreign key");
        let mut events = app.events();
        let (link, token) = daemon.link_with(Some(Identity::new().pin()), Duration::from_secs(60));
        // The handshake fails on the client's side, so no application data was sent: a token can only be in such data.
        let (result, refusal) = tokio::join!(within(app.connect(&link)), said_by_a_client_that_refuses(&daemon));
        assert_eq!(result, Err(ConnectError::PinMismatch));
        assert!(refusal.to_string().contains("AccessDenied"), "{refusal}");
        assert_eq!(app.state(), State::Closed);

        while let Some(event) = events.try_next() {
            assert!(!format!("{event:?}").contains(&token));
            if let Event::Error(error) = event {
                assert_eq!((error.phase, error.code.as_deref()), (Phase::Connect, Some("pin_mismatch")));
            }
        }
    }
}

#[tokio::test]
async fn the_bytes_on_the_wire_before_the_pin_matched_hold_no_token() {
    let daemon = Daemon::start().await;
    let app = app("bytes");
    let (link, token) = daemon.link();
    let connecting = tokio::spawn({
        let app = app.clone();
        async move { app.connect(&link).await }
    });
    // A server that never answers the client's hello sees all that the client says on trust.
    let mut stream = daemon.accept_tcp().await;
    let mut hello = vec![0; 64 * 1024];
    let length = within(stream.read(&mut hello)).await.unwrap();
    app.disconnect();
    let mut rest = Vec::new();
    within(stream.read_to_end(&mut rest)).await.unwrap();
    let said = [&hello[..length], &rest].concat();
    assert!(!said.is_empty());
    for secret in [token.as_bytes(), &[7; 32], b"session-1"] {
        assert!(!said.windows(secret.len()).any(|window| window == secret));
    }
    assert_eq!(within(connecting).await.unwrap(), Err(ConnectError::ClosedByApp));
}

#[tokio::test]
async fn a_copied_certificate_without_its_key_is_refused() {
    let daemon = Daemon::start_with_a_copied_certificate(&Identity::new()).await;
    let app = app("copied certificate");
    let mut events = app.events();
    let (link, _) = daemon.link();
    let connecting = tokio::spawn({
        let app = app.clone();
        async move { app.connect(&link).await }
    });
    let refusal = said_by_a_client_that_refuses(&daemon).await;
    assert!(refusal.to_string().contains("alert"), "{refusal}");
    let error = loop {
        if let Some(Event::Error(error)) = within(events.next()).await {
            break error;
        }
    };
    assert_eq!(error.code.as_deref(), Some("tls_handshake_failed"));
    app.disconnect();
    assert_eq!(within(connecting).await.unwrap(), Err(ConnectError::ClosedByApp));
}

#[tokio::test]
async fn built_in_pins_win_over_the_links() {
    let identity = Identity::new();
    let daemon = Daemon::start_as(&identity, rustls::ALL_VERSIONS).await;
    let app = Appduct::builder().lease_slot("built-in").embedded_pins([Identity::new().pin()]).build();
    let (link, _) = daemon.link();
    let (result, _) = tokio::join!(within(app.connect(&link)), said_by_a_client_that_refuses(&daemon));
    assert_eq!(result, Err(ConnectError::PinMismatch));

    let pins = [Identity::new().pin(), identity.pin()];
    let app = Appduct::builder().lease_slot("built-in too").embedded_pins(pins).build();
    let (link, _) = daemon.link_with(Some(Identity::new().pin()), Duration::from_secs(60));
    let (result, ()) = tokio::join!(within(app.connect(&link)), async {
        let mut socket = daemon.accept().await;
        socket.receive().await;
        socket.ack("resume-1").await;
    });
    assert_eq!(result, Ok(()));
}

#[tokio::test]
async fn both_versions_of_tls_will_do() {
    for version in [&TLS12, &TLS13] {
        let daemon = Daemon::start_as(&Identity::new(), &[version]).await;
        daemon.pair(&app("versions")).await;
    }
}
