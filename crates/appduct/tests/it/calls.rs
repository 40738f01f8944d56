//! Calls: handlers that answer, fail, panic, block, report and stop.

use std::sync::mpsc;

use appduct::{Appduct, Event, Phase, RawJson, State, Tool, ToolError, ToolErrorType};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::daemon::{Daemon, SESSION, Socket, app};
use crate::within;

async fn paired(slot: &str) -> (Appduct, Daemon, Socket) {
    let (app, daemon) = (app(slot), Daemon::start().await);
    let socket = daemon.pair(&app).await;
    (app, daemon, socket)
}

/// Registers a tool and lets the daemon hear of it.
macro_rules! register {
    ($app:expr, $socket:expr, $tool:expr, $handler:expr) => {{
        let registration = $app.register($tool, $handler).unwrap();
        assert_eq!($socket.receive().await["operation"], "upsert");
        registration
    }};
}

#[cfg(feature = "schemars")]
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    a: i64,
    b: i64,
}

#[cfg(feature = "schemars")]
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Total {
    total: i64,
}

#[cfg(feature = "schemars")]
#[tokio::test]
async fn a_typed_tool_answers_in_whole_numbers() {
    let (app, _daemon, mut socket) = paired("typed").await;
    let tool = Tool::new("sum", "Adds.").input::<Sum>().output::<Total>();
    register!(app, socket, tool, |args, _| async move { Ok(Total { total: args.a + args.b }) });

    socket.call("1", "sum", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(
        socket.receive_text().await,
        format!(r#"{{"type":"tool_result","session_id":"{SESSION}","id":"1","result":{{"total":5}}}}"#)
    );
    let refused = socket.answer("sum", json!({ "a": 2, "b": "3" })).await;
    assert_eq!(
        refused["error"],
        json!({
            "type": "tool_input_validation_error",
            "message": "Tool \"sum\" rejected the provided input.",
            "details": { "issues": [{ "path": "b", "message": "invalid type: string \"3\", expected i64" }] },
        })
    );
}

#[tokio::test]
async fn raw_json_passes_byte_for_byte() {
    let (app, _daemon, mut socket) = paired("raw").await;
    let tool = Tool::new("echo", "Says it again.").input_schema::<RawJson>(json!({ "type": "object" }));
    register!(app, socket, tool, |args, _| async move { Ok(args) });

    let args = r#"{ "a" : 1.0, "big": 123456789012345678901234567890, "lone": "\ud800" }"#;
    socket
        .send_text(format!(r#"{{"type":"tool_call","session_id":"{SESSION}","id":"1","name":"echo","args":{args}}}"#))
        .await;
    assert_eq!(
        socket.receive_text().await,
        format!(r#"{{"type":"tool_result","session_id":"{SESSION}","id":"1","result":{args}}}"#)
    );
}

#[tokio::test]
async fn a_handler_says_how_it_failed() {
    let (app, _daemon, mut socket) = paired("failed").await;
    register!(app, socket, Tool::new("parse", "Fails."), |_, _| async { Ok("x".parse::<u8>()?) });
    register!(app, socket, Tool::new("refuse", "Refuses."), |_, _| async {
        Err::<(), _>(ToolError::invalid_input("no such cart").with_details(&json!({ "cart": 7 })))
    });
    let mut events = app.events();

    let failed = socket.answer("parse", json!({})).await;
    assert_eq!(failed["error"], json!({ "type": "tool_execution_error", "message": "invalid digit found in string" }));
    let Some(Event::Error(error)) = within(events.next()).await else { panic!("listeners hear of it") };
    assert_eq!(
        (error.phase, error.tool.as_deref(), error.call.as_deref()),
        (Phase::Tool, Some("parse"), Some("parse"))
    );

    let refused = socket.answer("refuse", json!({})).await;
    assert_eq!(
        refused["error"],
        json!({ "type": "tool_input_validation_error", "message": "no such cart", "details": { "cart": 7 } })
    );
    assert_eq!(events.try_next(), None);
}

#[tokio::test]
async fn a_panic_is_an_answer() {
    let (app, _daemon, mut socket) = paired("panic").await;
    register!(app, socket, Tool::new("panic", "Panics."), |_, _| async {
        if true {
            panic!("on purpose");
        }
        Ok(())
    });
    register!(app, socket, Tool::new("early", "Panics before its future."), |_, _| {
        if true {
            panic!("early on purpose");
        }
        async { Ok(()) }
    });
    for (tool, words) in [("panic", "on purpose"), ("early", "early on purpose")] {
        let answer = socket.answer(tool, json!({})).await;
        assert_eq!(
            answer["error"],
            json!({ "type": "tool_execution_error", "message": format!("Tool \"{tool}\" handler panicked: {words}") })
        );
    }
    assert_eq!(app.state(), State::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_blocks_holds_up_nobody() {
    let (app, _daemon, mut socket) = paired("blocks").await;
    let (release, released) = mpsc::channel::<()>();
    let released = std::sync::Arc::new(std::sync::Mutex::new(released));
    // Registered outside of any runtime, as apps of other languages do.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let blocking = Tool::new("block", "Blocks its thread.");
            app.register(blocking, move |_, _| {
                let released = std::sync::Arc::clone(&released);
                async move {
                    released.lock().unwrap().recv()?;
                    Ok("released")
                }
            })
            .unwrap();
            // What such a handler spawns must not end up on the driver's thread either.
            let spawning = Tool::new("spawn", "Runs on a thread with a runtime.");
            app.register(spawning, |_, _| async {
                Ok(tokio::spawn(async { std::thread::current().name().map(str::to_owned) }).await?)
            })
            .unwrap();
        });
    });
    socket.receive().await;
    socket.receive().await;

    socket.call("blocked", "block", json!({})).await;
    let spawned = socket.answer("spawn", json!({})).await;
    assert_eq!(spawned["result"], "appduct-handler");
    assert_eq!(app.state(), State::Active);
    release.send(()).unwrap();
    let answer = socket.receive().await;
    assert_eq!((&answer["id"], &answer["result"]), (&json!("blocked"), &json!("released")));
}

#[tokio::test]
async fn a_call_past_its_time_is_answered_for_its_handler() {
    let (app, _daemon, mut socket) = paired("timeout").await;
    let (told, hears) = oneshot::channel();
    let told = std::sync::Mutex::new(Some(told));
    let tool = Tool::new("wait", "Waits for its end.").timeout(std::time::Duration::from_millis(1));
    register!(app, socket, tool, move |_, call| {
        let told = told.lock().unwrap().take();
        async move {
            let reason = call.cancelled().await;
            told.unwrap().send((reason, call.is_cancelled())).unwrap();
            Ok(())
        }
    });
    let answer = socket.answer("wait", json!({})).await;
    assert_eq!(
        answer["error"],
        json!({ "type": "tool_timeout", "message": "Tool \"wait\" did not respond within 1000ms." })
    );
    assert_eq!(within(hears).await.unwrap(), ("timeout".to_owned(), true));
}

#[tokio::test]
async fn a_cancelled_call_is_answered_at_once_and_its_late_answer_dropped() {
    let (app, _daemon, mut socket) = paired("cancel").await;
    register!(app, socket, Tool::new("wait", "Waits for its end."), |_, call| async move {
        call.progress(None, "waiting");
        let reason = call.cancelled().await;
        call.progress(1.0, "too late");
        Ok(reason)
    });
    register!(app, socket, Tool::new("ping", "Answers."), |_, _| async { Ok(()) });
    let first = socket.answer("wait", json!({})).await;
    assert_eq!(first["message"], "waiting");
    socket
        .send(json!({ "type": "tool_cancel", "session_id": SESSION, "id": "wait", "reason": "changed my mind" }))
        .await;
    let answer = socket.receive().await;
    assert_eq!(answer["error"], json!({ "type": "tool_cancelled", "message": "Tool \"wait\" was cancelled." }));
    // The next frame belongs to the next call.
    let next = socket.answer("ping", json!({})).await;
    assert_eq!((&next["id"], &next["result"]), (&json!("ping"), &Value::Null));
}

#[tokio::test]
async fn progress_goes_before_the_answer() {
    let (app, _daemon, mut socket) = paired("progress").await;
    register!(app, socket, Tool::new("slow", "Reports."), |_, call| async move {
        assert_eq!((call.tool(), call.call_id(), call.session_id()), ("slow", "slow", SESSION));
        call.progress(0.5, "half way");
        call.progress(f64::NAN, None);
        Ok(true)
    });
    socket.call("slow", "slow", json!({})).await;
    let frame = |rest: Value| {
        let mut frame = json!({ "session_id": SESSION, "id": "slow" });
        frame.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        frame
    };
    for expected in [
        frame(json!({ "type": "tool_call_progress", "progress": 0.5, "message": "half way" })),
        frame(json!({ "type": "tool_call_progress" })),
        frame(json!({ "type": "tool_result", "result": true })),
    ] {
        assert_eq!(socket.receive().await, expected);
    }
}

#[tokio::test]
async fn a_result_that_no_frame_can_hold_fails_the_call_and_not_the_session() {
    let (app, _daemon, mut socket) = paired("big").await;
    register!(app, socket, Tool::new("big", "Too much."), |_, _| async { Ok("x".repeat(300_000)) });
    register!(app, socket, Tool::new("keys", "Not JSON."), |_, _| async {
        Ok(std::collections::BTreeMap::from([((1, 2), 3)]))
    });
    let big = socket.answer("big", json!({})).await;
    assert_eq!(big["error"]["type"], "tool_serialization_error");
    let message = big["error"]["message"].as_str().unwrap();
    assert!(message.ends_with("bytes, over the 262144-byte limit."), "{message}");
    register!(app, socket, Tool::new("nan", "No number."), |_, _| async { Ok([f64::NAN]) });
    for tool in ["keys", "nan"] {
        assert_eq!(
            socket.answer(tool, json!({})).await["error"],
            json!({ "type": "tool_serialization_error", "message": "Appduct tool result is not JSON-serializable." })
        );
    }
    assert_eq!(app.state(), State::Active);
}

#[tokio::test]
async fn a_handler_whose_runtime_is_gone_is_answered_for() {
    let (app, _daemon, mut socket) = paired("runtime gone").await;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async { app.register(Tool::new("t", "d"), |_, _| async { Ok(()) }) }).unwrap();
        });
    });
    socket.receive().await;
    let answer = socket.answer("t", json!({})).await;
    assert_eq!(answer["error"]["type"], ToolErrorType::ToolExecutionError.as_str());
}

#[tokio::test]
async fn removing_goes_by_identity() {
    let (app, _daemon, mut socket) = paired("identity").await;
    let first = register!(app, socket, Tool::new("t", "first"), |_, _| async { Ok(1) });
    let second = register!(app, socket, Tool::new("t", "second"), |_, _| async { Ok(2) });
    first.remove();
    assert_eq!(socket.answer("t", json!({})).await["result"], 2);
    second.remove();
    second.remove();
    assert_eq!(socket.receive().await["operation"], "remove");
    assert!(app.tools().is_empty());
    assert_eq!(socket.answer("t", json!({})).await["error"]["type"], "tool_not_found");
}
