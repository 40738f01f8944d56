//! Calls, from the request to exactly one end.

use super::*;

#[test]
fn a_call_goes_out_comes_back_and_is_told_in_order() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", r#"{"a" : 2, "b":"\ud800"}"#).unwrap();
    assert_eq!(world.calls, [call.0.to_string()]);
    world.pass(millis(40));
    world.frame(&app, "tool_call_progress", json!({ "id": &*call.0, "progress": 0.5, "message": "half" }));
    world.frame(&app, "tool_call_progress", json!({ "id": &*call.0 }));
    world.pass(millis(60));
    world.result(&app, &call, json!({ "sum": 5 }));
    world.expect(&[
        r#"to 1: call sum {"a" : 2, "b":"\ud800"}"#,
        "event pixel-8 tool_call_started sum",
        "event pixel-8 tool_call_progress 0.5 half",
        "event pixel-8 tool_call_progress - -",
        r#"event pixel-8 tool_call_finished sum result {"sum":5} (100 ms)"#,
        r#"answer sum result {"sum":5} (100 ms)"#,
    ]);
    assert_eq!(world.host.calls_in_flight(), 0);
}

#[test]
fn a_result_passes_byte_for_byte() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    let result = r#"{ "b":1.0, "a":"\ud800" }"#;
    let frame =
        format!(r#"{{"type":"tool_result","session_id":"{}","id":"{}","result":{result}}}"#, app.session, call.0);
    world.text(app.socket, &frame);
    assert_eq!(world.finished[0].outcome, Outcome::Result(RawJson::parse(result).unwrap()));
}

#[test]
fn an_error_passes_word_for_word() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    world.log();
    let error = json!({ "type": "tool_execution_error", "message": "no money", "details": { "cents": 0 } });
    world.frame(&app, "tool_error", json!({ "id": &*call.0, "error": error }));
    let end = r#"sum error tool_execution_error no money {"cents":0} (0 ms)"#;
    world.expect(&[&format!("event pixel-8 tool_call_finished {end}"), &format!("answer {end}")]);
}

#[test]
fn answers_come_in_any_order_and_find_their_calls() {
    let mut world = World::new();
    let app = world.app(&[tool("a"), tool("b")]);
    let (first, second) = (world.call("a", "{}").unwrap(), world.call("b", "{}").unwrap());
    assert_ne!(first, second);
    world.result(&app, &second, json!(2));
    world.result(&app, &first, json!(1));
    let ended: Vec<_> = world.finished.iter().map(|call| call.call.clone()).collect();
    assert_eq!(ended, [second, first]);
}

#[test]
fn a_second_answer_and_an_unknown_id_are_dropped_silently() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    world.result(&app, &call, json!(1));
    world.log();
    world.result(&app, &call, json!(2));
    world.frame(&app, "tool_result", json!({ "id": "call_none", "result": 3 }));
    world.frame(&app, "tool_call_progress", json!({ "id": &*call.0, "progress": 1 }));
    let error = json!({ "type": "tool_timeout", "message": "late" });
    world.frame(&app, "tool_error", json!({ "id": &*call.0, "error": error }));
    world.expect(&[]);
    assert_eq!(world.host.session(None).unwrap().suspended, None);
}

#[test]
fn an_app_cannot_answer_the_call_of_another() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let other = world.app(&[tool("sum")]);
    let call = world.request(CallRequest { selector: Some("pixel-8".to_owned()), ..request("sum", "{}") }).unwrap();
    world.log();
    world.result(&other, &call, json!("forged"));
    world.frame(&other, "tool_call_progress", json!({ "id": &*call.0 }));
    world.expect(&[]);
    world.result(&app, &call, json!(1));
    assert_eq!(world.finished.len(), 1);
}

#[test]
fn two_apps_of_one_model_each_get_their_own_calls() {
    let mut world = World::new();
    world.app(&[tool("sum")]);
    world.app(&[tool("sum")]);
    for (alias, socket) in [("pixel-8-2", 2), ("pixel-8", 1)] {
        world.request(CallRequest { selector: Some(alias.to_owned()), ..request("sum", "{}") }).unwrap();
        world.expect(&[&format!("to {socket}: call sum {{}}"), &format!("event {alias} tool_call_started sum")]);
    }
    assert!(matches!(world.call("sum", "{}"), Err(Refusal::AmbiguousSession { .. })));
}

/// How long a call may take that declares and asks for these.
#[track_caller]
fn check_deadline(declared: Option<u64>, asked: Option<f64>, expected_ms: u64) {
    let mut world = World::new();
    let app = world.claimed();
    let sum = declared.map_or(tool("sum"), |ms| with(tool("sum"), "timeout_ms", ms));
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [sum] }));
    world.request(CallRequest { timeout_ms: asked, ..request("sum", "{}") }).unwrap();
    while world.finished.is_empty() {
        world.pong(app.socket);
        let next = world.until.unwrap().since(world.now.mono);
        world.pass(next);
    }
    let took = Duration::from_millis(expected_ms);
    assert_eq!(world.finished[0].outcome, Outcome::TimedOut(took), "{declared:?} {asked:?}");
    assert_eq!(world.finished[0].duration, took);
    let own = declared.unwrap_or(10_000).clamp(1_000, 600_000);
    let cancelled = world.log().iter().any(|line| line.contains("cancel"));
    assert_eq!(cancelled, expected_ms < own, "{declared:?} {asked:?}");
}

#[test]
fn the_deadline_is_the_callers_or_the_tools_or_ten_seconds_within_bounds() {
    for (declared, asked, expected_ms) in [
        (None, None, 10_000),
        (Some(2_000), None, 2_000),
        (Some(600_000), Some(1_000.0), 1_000),
        (Some(1_000), Some(30_000.0), 30_000),
        (None, Some(1.0), 1_000),
        (None, Some(-5.0), 1_000),
        (Some(1), None, 1_000),
        (None, Some(1_500.9), 1_500),
        (None, Some(1e12), 600_000),
        (Some(u64::MAX), None, 600_000),
        (Some(2_000), Some(f64::NAN), 10_000),
        (None, Some(f64::INFINITY), 10_000),
    ] {
        check_deadline(declared, asked, expected_ms);
    }
}

#[test]
fn an_app_that_would_work_on_is_told_that_its_caller_gave_up() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.request(CallRequest { timeout_ms: Some(2_000.0), ..request("sum", "{}") }).unwrap();
    world.log();
    world.pass(secs(2));
    let log = world.log();
    assert_eq!(log.len(), 3, "{log:?}");
    assert!(log[0].starts_with("event pixel-8 tool_call_finished sum") && log[1].starts_with("answer sum"), "{log:?}");
    assert!(log[2].contains("cancel") && log[2].contains("timeout"), "{log:?}");
    let error = json!({ "type": "tool_cancelled", "message": "timeout" });
    world.frame(&app, "tool_error", json!({ "id": &*call.0, "error": error }));
    world.expect(&[]);
}

#[test]
fn an_answer_after_the_deadline_is_dropped() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    world.pass(secs(10));
    world.log();
    world.result(&app, &call, json!(1));
    world.expect(&[]);
    assert_eq!(world.finished[0].outcome, Outcome::TimedOut(secs(10)));
}

#[test]
fn an_answer_at_the_moment_of_the_deadline_is_late() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    world.jump(secs(10));
    world.result(&app, &call, json!(1));
    assert_eq!(world.finished[0].outcome, Outcome::TimedOut(secs(10)));
}

#[test]
fn progress_does_not_move_the_deadline() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    world.pass(secs(9));
    world.frame(&app, "tool_call_progress", json!({ "id": &*call.0, "progress": 0.9 }));
    world.pass(secs(1));
    assert_eq!(world.finished[0].outcome, Outcome::TimedOut(secs(10)));
}

#[test]
fn a_suspended_session_refuses_calls_and_says_why() {
    for (close, reason) in [
        (Some(CloseReason::AppBackgrounded.into()), SuspendReason::AppBackgrounded),
        (None, SuspendReason::ConnectionLost),
    ] {
        let mut world = World::new();
        let app = world.app(&[tool("sum")]);
        world.gone(app.socket, close);
        world.log();
        let refusal = Refusal::SessionSuspended { alias: "pixel-8".to_owned(), reason };
        assert_eq!(world.call("sum", "{}"), Err(refusal.clone()));
        assert_eq!(world.call("unknown", "{}"), Err(refusal));
        world.expect(&[]);
    }
}

#[test]
fn an_unknown_tool_sends_and_tells_nothing() {
    let mut world = World::new();
    world.app(&[tool("sum")]);
    let refusal = Refusal::ToolNotFound { tool: "Sum".to_owned(), alias: "pixel-8".to_owned() };
    assert_eq!(world.call("Sum", "{}"), Err(refusal));
    world.expect(&[]);
}

#[test]
fn a_suspension_ends_every_call_of_the_session_only() {
    let mut world = World::new();
    let app = world.app(&[tool("a"), tool("b")]);
    let other = world.app(&[tool("a")]);
    let select = |alias: &str, name: &str| CallRequest { selector: Some(alias.to_owned()), ..request(name, "{}") };
    world.request(select("pixel-8", "a")).unwrap();
    world.request(select("pixel-8", "b")).unwrap();
    let kept = world.request(select("pixel-8-2", "a")).unwrap();
    world.log();
    world.drop_socket(app.socket);
    world.expect(&[
        "event pixel-8 session_suspended connection_lost",
        "event pixel-8 tool_call_finished a suspended connection_lost (0 ms)",
        "answer a suspended connection_lost (0 ms)",
        "event pixel-8 tool_call_finished b suspended connection_lost (0 ms)",
        "answer b suspended connection_lost (0 ms)",
    ]);
    world.result(&other, &kept, json!(1));
    assert_eq!(world.finished.len(), 3);
}

#[test]
fn an_answer_from_before_a_reconnect_is_dropped_after_it() {
    let mut world = World::new();
    let mut app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    world.drop_socket(app.socket);
    world.reconnect(&mut app);
    world.log();
    world.result(&app, &call, json!(1));
    world.expect(&[]);
    assert_eq!(world.finished.len(), 1);
}

fn cancel(world: &mut World, selector: Option<&str>, call: &str, reason: &str) -> Result<bool, Refusal> {
    world.act(|host, now| host.cancel(now, selector, call, reason))
}

#[test]
fn a_cancel_asks_the_app_and_the_call_goes_on_until_it_answers() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    world.log();
    assert_eq!(cancel(&mut world, None, &call.0, "enough"), Ok(true));
    world.expect(&["to 1: cancel enough"]);
    assert_eq!(world.host.calls_in_flight(), 1);
    let error = json!({ "type": "tool_cancelled", "message": "stopped" });
    world.frame(&app, "tool_error", json!({ "id": &*call.0, "error": error }));
    assert_eq!(world.finished.len(), 1);
    assert_eq!(cancel(&mut world, None, &call.0, "enough"), Ok(false));
}

#[test]
fn a_cancelled_call_that_nobody_answers_ends_at_its_deadline() {
    let mut world = World::new();
    world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    cancel(&mut world, None, &call.0, "enough").unwrap();
    world.pass(secs(10));
    assert_eq!(world.finished[0].outcome, Outcome::TimedOut(secs(10)));
}

#[test]
fn a_cancel_of_nothing_or_of_another_session_is_false() {
    let mut world = World::new();
    world.app(&[tool("sum")]);
    let other = world.app(&[tool("sum")]);
    let call = world.request(CallRequest { selector: Some("pixel-8-2".to_owned()), ..request("sum", "{}") }).unwrap();
    world.log();
    assert_eq!(cancel(&mut world, Some("pixel-8"), &call.0, "r"), Ok(false));
    assert_eq!(cancel(&mut world, Some("pixel-8"), "call_none", "r"), Ok(false));
    assert!(cancel(&mut world, None, &call.0, "r").is_err());
    world.drop_socket(other.socket);
    assert_eq!(cancel(&mut world, Some("pixel-8-2"), &call.0, "r"), Ok(false));
    assert!(world.log().iter().all(|line| !line.contains("cancel")));
}

#[test]
fn apps_always_get_a_reason_that_they_accept() {
    let mut world = World::new();
    world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    world.log();
    cancel(&mut world, None, &call.0, "").unwrap();
    cancel(&mut world, None, &call.0, &"😀".repeat(3_000)).unwrap();
    world.expect(&["to 1: cancel client_cancelled", &format!("to 1: cancel {}", "😀".repeat(2_048))]);
}

#[test]
fn a_caller_that_hangs_up_cancels_its_call() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    world.log();
    world.act(|host, now| host.abandon(now, &call));
    world.expect(&["to 1: cancel connection_closed"]);
    world.result(&app, &call, json!(1));
    world.log();
    world.act(|host, now| host.abandon(now, &call));
    world.expect(&[]);
}

#[test]
fn a_call_that_fits_no_queue_is_refused_and_the_session_goes_on() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    world.log();
    let narrow = |room_bytes| CallRequest { room_bytes, ..request("sum", "{}") };
    let Err(Refusal::QueueFull { tool, alias, bytes }) = world.request(narrow(10)) else { panic!("it does not fit") };
    assert_eq!((&*tool, &*alias), ("sum", "pixel-8"));
    assert!(world.request(narrow(bytes - 1)).is_err());
    world.expect(&[]);
    assert_eq!(world.host.calls_in_flight(), 0);
    let fits = world.request(narrow(bytes)).unwrap();
    world.result(&app, &fits, json!(1));
    assert_eq!(world.finished.len(), 1);
}

#[test]
fn a_call_that_fits_no_frame_is_refused_and_the_session_goes_on() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let args = |bytes: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(bytes));
    let Err(Refusal::CallTooBig { tool, bytes }) = world.call("sum", &args(crate::wire::MAX_FRAME_BYTES)) else {
        panic!("it does not fit")
    };
    assert_eq!(tool, "sum");
    world.expect(&[]);
    let room = crate::wire::MAX_FRAME_BYTES - (bytes - crate::wire::MAX_FRAME_BYTES);
    assert!(matches!(world.call("sum", &args(room + 1)), Err(Refusal::CallTooBig { .. })));
    let fits = world.call("sum", &args(room)).unwrap();
    world.result(&app, &fits, json!(1));
    assert_eq!(world.finished.len(), 1);
    assert_eq!(world.host.calls_in_flight(), 0);
}
