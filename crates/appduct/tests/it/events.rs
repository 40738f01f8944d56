//! Events that the app posts, and registrations that are refused.

use appduct::{Event, EventDeclaration, PostError, RegisterError, State, Stopped, Tool};
use serde_json::json;

use crate::daemon::{Daemon, SESSION, app};
use crate::within;

#[tokio::test]
async fn a_posted_event_carries_its_payload_and_the_time() {
    let (app, daemon) = (app("post"), Daemon::start().await);
    assert!(matches!(app.post_event("ping", &1), Err(PostError::NotActive)));
    let declared = EventDeclaration::new("ping", "Somebody pinged.").payload_schema(json!({ "type": "object" }));
    let declared = app.register_event(&declared).unwrap();
    let mut socket = daemon.pair(&app).await;

    app.post_event("ping", &json!({ "at": 3 })).unwrap();
    let mut event = socket.receive().await;
    let ts = event["ts"].take().as_u64().unwrap();
    assert!(ts > 1_700_000_000_000, "milliseconds, not seconds");
    assert_eq!(
        event,
        json!({ "type": "event", "session_id": SESSION, "name": "ping", "payload": { "at": 3 }, "ts": null })
    );
    app.post_event("undeclared", &()).unwrap();
    assert_eq!(socket.receive().await.get("payload"), None);

    assert!(matches!(app.post_event("", &()), Err(PostError::Name)));
    assert!(matches!(app.post_event("big", &"x".repeat(300_000)), Err(PostError::TooBig { bytes: 300_001.. })));
    let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
    assert!(matches!(app.post_event("keys", &keys), Err(PostError::Payload(_))));
    assert!(matches!(app.post_event("nan", &f32::NAN), Err(PostError::Payload(_))));
    assert_eq!(app.state(), State::Active);

    declared.remove();
    assert_eq!(
        socket.receive().await,
        json!({ "type": "event_registry_delta", "session_id": SESSION, "operation": "remove", "name": "ping" })
    );
}

#[tokio::test]
async fn a_slow_receiver_is_told_how_much_it_missed() {
    let app = app("slow receiver");
    let mut events = app.events();
    for _ in 0..300 {
        // Confirmed each time, also where there is nothing to give up.
        app.disconnect();
    }
    assert_eq!(events.try_next(), Some(Event::Missed { count: 44 }));
    let mut left = 0;
    while let Some(Event::State { state: State::Closed, .. }) = events.try_next() {
        left += 1;
    }
    assert_eq!(left, 256);
    within(app.shutdown()).await;
    assert_eq!(within(events.next()).await, None);
}

#[test]
fn a_refused_registration_names_the_field_and_keeps_the_earlier_one() {
    let app = app("refused");
    app.register(Tool::new("t", "kept"), |_, _| async { Ok(()) }).unwrap();
    let refused = |tool: Tool| app.register(tool, |_, _| async { Ok(()) }).unwrap_err();
    for (tool, field) in [
        (Tool::new("t\n", "d"), "name"),
        (Tool::new("t", ""), "description"),
        (Tool::new("t", "d").group("a/b/c"), "group"),
        (Tool::new("t", "d").timeout(std::time::Duration::ZERO), "timeout_ms"),
        (Tool::new("t", "d").output_schema([1]), "output_schema"),
    ] {
        let error = refused(tool);
        assert_eq!(error.field(), Some(field), "{error}");
        assert!(error.to_string().starts_with(&format!("\"{field}\" ")), "{error}");
    }
    assert_eq!(app.tools()[0].description, "kept");

    assert_eq!(app.tool_group("a/").unwrap_err().field(), Some("group"));
    let group = app.tool_group("cart").unwrap();
    let bound = group.register(Tool::new("t", "d").group("other"), |_, _| async { Ok(()) });
    assert_eq!(bound.unwrap_err(), RegisterError::GroupBound { bound: "cart".to_owned() });
    assert_eq!(app.register_event(&EventDeclaration::new("", "d")).unwrap_err().field(), Some("name"));
}

#[tokio::test]
async fn registering_with_a_client_that_was_shut_down_fails() {
    let app = app("register late");
    within(app.shutdown()).await;
    let late = app.register(Tool::new("t", "d"), |_, _| async { Ok(()) });
    assert_eq!(late.unwrap_err(), RegisterError::Stopped(Stopped));
}
