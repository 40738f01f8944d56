//! Sessions that outlive their sockets, and clients.

use appduct::{Event, SessionChange, State, Tool};
use serde_json::{Value, json};

use crate::daemon::{Daemon, SESSION, app};
use crate::within;

#[tokio::test]
async fn a_dropped_socket_resumes_with_the_newest_token_and_the_registry() {
    let (app, daemon) = (app("resume"), Daemon::start().await);
    app.register(Tool::new("ping", "Answers."), |_, _| async { Ok(()) }).unwrap();
    let mut events = app.events();
    daemon.pair(&app).await.drop_connection();

    for (shown, given) in [("resume-1", "resume-2"), ("resume-2", "resume-3")] {
        let mut socket = daemon.accept().await;
        assert_eq!(
            socket.receive().await,
            json!({ "type": "session_resume", "protocol_version": 2, "session_id": SESSION, "resume_token": shown })
        );
        socket.ack(given).await;
        let (tools, _) = socket.snapshots().await;
        assert_eq!(tools, json!([{ "name": "ping", "description": "Answers." }]));
        assert_eq!(app.state(), State::Active);
        socket.drop_connection();
    }
    let mut seen = Vec::new();
    while seen.len() < 2 {
        if let Event::Session(change) = within(events.next()).await.unwrap() {
            seen.push(change);
        }
    }
    let (session_id, alias) = (SESSION.to_owned(), "phone".to_owned());
    assert_eq!(
        seen,
        [
            SessionChange::Claimed { session_id: session_id.clone(), alias: alias.clone() },
            SessionChange::Resumed { session_id, alias }
        ]
    );
}

#[tokio::test]
async fn the_background_gives_the_socket_up_and_the_foreground_takes_a_new_one() {
    let (app, daemon) = (app("background"), Daemon::start().await);
    let mut socket = daemon.pair(&app).await;
    app.background();
    assert_eq!(socket.receive_close().await, (1001, "app_backgrounded".to_owned()));
    assert_eq!(app.state(), State::Reconnecting);
    app.foreground();
    let mut socket = daemon.accept().await;
    assert_eq!(socket.receive().await["type"], "session_resume");
    socket.ack("resume-2").await;
    within(app.wait_until(State::Active)).await.unwrap();
}

#[tokio::test]
async fn a_new_client_of_the_process_goes_on_with_the_session() {
    let daemon = Daemon::start().await;
    let before = app("reload");
    let mut socket = daemon.pair(&before).await;
    let (closed, ()) = tokio::join!(socket.receive_close(), within(before.shutdown()));
    assert_eq!(closed.0, 1001);

    assert!(!app("another slot").restore_session());
    let after = app("reload");
    assert!(after.restore_session());
    assert_eq!((after.state(), after.session_id().as_deref()), (State::Reconnecting, Some(SESSION)));
    assert!(!after.restore_session());
    let mut socket = daemon.accept().await;
    assert_eq!(socket.receive().await["resume_token"], "resume-1");
    socket.ack("resume-2").await;
    within(after.wait_until(State::Active)).await.unwrap();
    assert_eq!(after.alias().as_deref(), Some("phone"));
}

#[tokio::test]
async fn dropping_the_last_handle_closes_the_socket_and_keeps_the_session() {
    let daemon = Daemon::start().await;
    let first = app("dropped");
    let registration = first.register(Tool::new("t", "d"), |_, _| async { Ok(()) }).unwrap();
    let mut socket = daemon.pair(&first).await;
    drop(first);
    assert_eq!(socket.receive_close().await.0, 1001);
    registration.remove();
    let mut events = app("dropped").events();
    assert_eq!(events.try_next(), None);
}

#[tokio::test]
async fn disconnecting_gives_the_session_up_for_good() {
    let daemon = Daemon::start().await;
    let first = app("given up");
    let mut socket = daemon.pair(&first).await;
    let mut events = first.events();
    first.disconnect();
    assert_eq!((first.state(), first.session_id(), first.alias()), (State::Closed, None, None));
    assert_eq!(socket.receive_close().await, (1000, "client_close".to_owned()));
    let reason = "closed_by_app".to_owned();
    assert_eq!(within(events.next()).await, Some(Event::State { state: State::Closed, reason: Some(reason.clone()) }));
    assert_eq!(within(events.next()).await, Some(Event::Session(SessionChange::Lost { reason })));
    assert!(!app("given up").restore_session());
}

#[tokio::test]
async fn a_revoked_session_is_over() {
    let (app, daemon) = (app("revoked"), Daemon::start().await);
    let socket = daemon.pair(&app).await;
    let mut events = app.events();
    socket.close(1000, "revoked").await;
    within(app.wait_until(State::Closed)).await.unwrap();
    let lost = loop {
        if let Event::Session(change) = within(events.next()).await.unwrap() {
            break change;
        }
    };
    assert_eq!(lost, SessionChange::Lost { reason: "revoked".to_owned() });
}

#[tokio::test]
async fn a_frame_over_the_limit_costs_the_socket_and_not_the_session() {
    let (app, daemon) = (app("over the limit"), Daemon::start().await);
    let mut socket = daemon.pair(&app).await;
    socket.send_too_much(262_145).await;
    let mut socket = daemon.accept().await;
    assert_eq!(socket.receive().await["type"], "session_resume");
}

#[tokio::test]
async fn tools_are_listed_as_the_daemon_sees_them() {
    let (app, daemon) = (app("listed"), Daemon::start().await);
    let cart = app.tool_group("cart").unwrap();
    cart.register(Tool::new("clear", "Empties it."), |_, _| async { Ok(()) }).unwrap();
    let quick = Tool::new("quick", "Clamped.").timeout(std::time::Duration::from_millis(500)).read_only();
    app.register(quick, |_, _| async { Ok(()) }).unwrap();

    let (link, _) = daemon.link();
    let (result, tools): (_, Value) = tokio::join!(within(app.connect(&link)), async {
        let mut socket = daemon.accept().await;
        socket.receive().await;
        socket.ack("resume-1").await;
        socket.snapshots().await.0
    });
    result.unwrap();
    assert_eq!(
        tools,
        json!([
            { "name": "clear", "description": "Empties it.", "group": "cart" },
            { "name": "quick", "description": "Clamped.", "annotations": { "readOnlyHint": true }, "timeout_ms": 1000 },
        ])
    );
    let listed: Vec<Value> =
        app.tools().iter().map(|tool| serde_json::from_str(tool.raw().as_str()).unwrap()).collect();
    assert_eq!(Value::from(listed), tools);
}
