//! Links and claims.

use std::time::Duration;

use appduct::{Appduct, ConnectError, State, Stopped, TrustMode};
use appduct_proto::wire::{Bootstrap, DeepLink};
use serde_json::json;

use crate::daemon::{Daemon, Identity, SESSION, app};
use crate::within;

#[tokio::test]
async fn connect_resolves_at_the_ack() {
    let daemon = Daemon::start().await;
    let app = app("connect resolves");
    let (link, token) = daemon.link();
    let connecting = tokio::spawn({
        let app = app.clone();
        async move { app.connect(&link).await }
    });

    let mut socket = daemon.accept().await;
    assert_eq!(
        socket.receive().await,
        json!({
            "type": "session_claim",
            "protocol_version": 2,
            "session_id": SESSION,
            "token": token,
            "device_manufacturer": "Acme",
            "device_model": "Phone",
            "device_os": "TestOS 1",
        })
    );
    assert_eq!(app.state(), State::Connecting);
    assert_eq!(app.session_id().as_deref(), Some(SESSION));
    assert_eq!(app.alias(), None);
    assert!(!connecting.is_finished());

    socket.ack("resume-1").await;
    within(connecting).await.unwrap().unwrap();
    assert_eq!(app.state(), State::Active);
    assert_eq!(app.alias().as_deref(), Some("phone"));
    assert_eq!(socket.snapshots().await, (json!([]), json!([])));
}

#[tokio::test]
async fn a_refused_claim_says_the_daemons_reason() {
    let daemon = Daemon::start().await;
    let app = app("refused claim");
    let (link, _) = daemon.link();
    let (result, ()) = tokio::join!(within(app.connect(&link)), async {
        let mut socket = daemon.accept().await;
        socket.receive().await;
        socket.close(1008, "invalid_token").await;
    });
    assert_eq!(result, Err(ConnectError::Rejected { reason: "invalid_token".to_owned() }));
    assert_eq!(app.state(), State::Closed);
}

#[tokio::test]
async fn a_claim_whose_socket_drops_is_tried_again() {
    let daemon = Daemon::start().await;
    let app = app("claim again");
    let (link, token) = daemon.link();
    let (result, ()) = tokio::join!(within(app.connect(&link)), async {
        let mut socket = daemon.accept().await;
        socket.receive().await;
        socket.drop_connection();
        let mut socket = daemon.accept().await;
        assert_eq!(socket.receive().await["token"], token);
        socket.ack("resume-1").await;
    });
    assert_eq!(result, Ok(()));
}

#[tokio::test]
async fn links_that_lead_nowhere_are_told_apart() {
    let daemon = Daemon::start().await;
    let app = app("links");
    let public = Bootstrap {
        address: [8, 8, 8, 8].into(),
        port: 1,
        session_id: SESSION.to_owned(),
        token: [7; 32],
        expires_at: u64::MAX,
    };
    let public = DeepLink { payload: public.encode().unwrap(), pin: Some(Identity::new().pin()) };
    for (link, error) in [
        ("test:///cart".to_owned(), ConnectError::NotALink),
        ("test:///?appduct=AAAA".to_owned(), ConnectError::InvalidPayload),
        (daemon.link_with(None, Duration::from_secs(60)).0, ConnectError::NoLinkPin),
        (daemon.link_with(Some(Identity::new().pin()), Duration::ZERO).0, ConnectError::Expired),
        (public.compose("test").unwrap(), ConnectError::PublicAddress),
    ] {
        assert_eq!(within(app.connect(&link)).await, Err(error));
    }
}

#[tokio::test]
async fn a_wrong_trust_configuration_fails_the_connect_and_not_the_start() {
    let daemon = Daemon::start().await;
    let (link, _) = daemon.link();
    for (mode, error) in [
        (TrustMode::Pin, ConnectError::NoEmbeddedPins),
        (TrustMode::from("pins"), ConnectError::UnknownTrustMode { mode: "pins".to_owned() }),
    ] {
        let app = Appduct::builder().lease_slot("wrong trust").trust(mode).build();
        assert_eq!(within(app.connect(&link)).await, Err(error));
    }
}

#[tokio::test]
async fn a_url_of_the_system_connects_and_a_connect_by_the_same_link_joins_it() {
    let daemon = Daemon::start().await;
    let app = app("url");
    let (link, _) = daemon.link();
    assert!(!app.handle_url("test:///cart"));
    assert!(app.handle_url(&link));
    let mut socket = daemon.accept().await;
    socket.receive().await;
    let (result, ()) = tokio::join!(within(app.connect(&link)), socket.ack("resume-1"));
    assert_eq!(result, Ok(()));
    // A system may deliver a link again.
    assert!(app.handle_url(&link));
    assert_eq!(within(app.connect(&link)).await, Ok(()));
    assert_eq!(app.state(), State::Active);
}

#[tokio::test]
async fn a_connect_by_a_failing_link_of_the_system_fails_with_it() {
    let daemon = Daemon::start().await;
    let app = app("failing url");
    let (link, _) = daemon.link();
    assert!(app.handle_url(&link));
    let mut socket = daemon.accept().await;
    socket.receive().await;
    let (result, ()) = tokio::join!(within(app.connect(&link)), socket.close(1008, "link_expired"));
    assert_eq!(result, Err(ConnectError::Rejected { reason: "link_expired".to_owned() }));
}

#[tokio::test]
async fn disconnecting_ends_a_claim_that_is_under_way() {
    let daemon = Daemon::start().await;
    let app = app("disconnect claim");
    let (link, _) = daemon.link();
    let (result, ()) = tokio::join!(within(app.connect(&link)), async {
        let mut socket = daemon.accept().await;
        socket.receive().await;
        app.disconnect();
        assert_eq!(socket.receive_close().await, (1000, "client_close".to_owned()));
    });
    assert_eq!(result, Err(ConnectError::ClosedByApp));
    assert_eq!(app.state(), State::Closed);
}

#[tokio::test]
async fn a_client_that_was_shut_down_says_so() {
    let app = app("shut down");
    within(app.shutdown()).await;
    assert_eq!(within(app.connect("test:///?appduct=AAAA")).await, Err(ConnectError::Stopped(Stopped)));
    assert_eq!(within(app.wait_until(State::Active)).await, Err(Stopped));
    assert!(app.tools().is_empty());
    assert!(app.events().try_next().is_none());
}

#[test]
fn connect_needs_no_runtime_of_the_app() {
    let app = app("no runtime");
    assert_eq!(futures_util::FutureExt::now_or_never(app.wait_until(State::Idle)), Some(Ok(())));
    let result = futures_executor(app.connect("nothing"));
    assert_eq!(result, Err(ConnectError::NotALink));
}

/// Runs a future by polling it whenever it asks to be woken.
fn futures_executor<T>(future: impl Future<Output = T>) -> T {
    use std::sync::Arc;
    use std::task::{Context, Poll, Wake};
    use std::thread::{self, Thread};

    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
