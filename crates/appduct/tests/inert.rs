//! The API in a build that does nothing.

#![cfg(not(all(feature = "enabled", not(feature = "noop"))))]

use appduct::{Appduct, ConnectError, EventDeclaration, State, Stopped, Tool};

#[tokio::test]
async fn everything_is_there_and_nothing_happens() {
    let app = Appduct::builder().device_model("Phone").build();
    // Nothing is checked either.
    app.register(Tool::new("no tool name", ""), |_, _| async { Ok(()) }).unwrap().remove();
    app.tool_group("//").unwrap().register(Tool::new("t", "d"), |_, _| async { Ok(()) }).unwrap();
    app.tool_group("a").unwrap().register(Tool::new("t", "d").group("b"), |_, _| async { Ok(()) }).unwrap();
    app.register_event(&EventDeclaration::new("", "")).unwrap().remove();
    app.post_event("ping", &()).unwrap();
    assert!(app.tools().is_empty());

    assert_eq!(app.connect("test:///?appduct=AAAA").await, Err(ConnectError::Disabled));
    assert!(!app.handle_url("test:///?appduct=AAAA"));
    assert!(!app.restore_session());
    app.background();
    app.foreground();
    app.disconnect();
    assert_eq!((app.state(), app.session_id(), app.alias()), (State::Idle, None, None));
    assert_eq!(app.wait_until(State::Active).await, Err(Stopped));
    assert_eq!(app.events().next().await, None);
    app.shutdown().await;
}
