//! The rules that each incoming message meets, in their order.

use super::*;

#[test]
fn what_is_no_json_object_closes_with_invalid_json() {
    for text in ["", "{", "[]", "null", "\"session_claim\"", "1"] {
        let mut world = World::new();
        let socket = world.connect();
        world.text(socket, text);
        world.expect(&["close 1: 1008 invalid_json"]);
    }
}

#[test]
fn before_the_claim_anything_else_closes_with_expected_claim_or_resume() {
    for text in [
        r#"{}"#,
        r#"{"type":"event","session_id":"s","name":"n","ts":1}"#,
        r#"{"type":"tool_registry_snapshot","session_id":"s","tools":[null]}"#,
        r#"{"type":"session_ack"}"#,
        r#"{"type":"session_claim","protocol_version":1,"session_id":"s","token":"t"}"#,
        r#"{"type":"session_claim","protocol_version":2,"session_id":"","token":"t"}"#,
        r#"{"type":"session_claim","protocol_version":2,"session_id":"s","token":"t","device_model":null}"#,
        r#"{"type":"session_resume","protocol_version":2,"session_id":7,"resume_token":"t"}"#,
    ] {
        let mut world = World::new();
        let socket = world.connect();
        world.text(socket, text);
        world.expect(&["close 1: 1008 expected_claim_or_resume"]);
    }
}

#[test]
fn a_claim_as_the_protocol_writes_numbers_passes() {
    let mut world = World::new();
    let link = world.link();
    let socket = world.connect();
    let token = link.bootstrap.token_text();
    let text = format!(
        r#"{{"type":"session_claim","protocol_version":2.0,"session_id":"{}","token":"{token}","x":1}}"#,
        link.session_id
    );
    world.log();
    world.text(socket, &text);
    world.expect(&["to 1: ack device", "event device session_claimed -"]);
}

/// Sends one text as a claimed app; `SESSION` in it is the session's id.
#[track_caller]
fn check_claimed(text: &str, close: &str) {
    let mut world = World::new();
    let app = world.claimed();
    world.text(app.socket, &text.replace("SESSION", &app.session));
    world.expect(&[&format!("close 1: {close}"), "event pixel-8 session_suspended connection_lost"]);
}

#[test]
fn after_the_claim_what_is_no_json_object_closes_with_invalid_json() {
    check_claimed("[]", "1008 invalid_json");
}

#[test]
fn after_the_claim_a_type_that_apps_do_not_send_closes_with_unknown_message_type() {
    for text in [
        r#"{"session_id":"SESSION"}"#,
        r#"{"type":7,"session_id":"SESSION"}"#,
        r#"{"type":"ping","session_id":"SESSION"}"#,
        r#"{"type":"tool_call","session_id":"SESSION","id":"1","name":"n","args":{}}"#,
        r#"{"type":"session_claim","protocol_version":2,"session_id":"SESSION","token":"t"}"#,
        r#"{"type":"session_resume","protocol_version":9,"session_id":"SESSION"}"#,
    ] {
        check_claimed(text, "1008 unknown_message_type");
    }
}

#[test]
fn a_missing_or_foreign_session_id_closes_with_session_mismatch() {
    for text in [
        r#"{"type":"event","name":"n","ts":1}"#,
        r#"{"type":"event","session_id":7,"name":"n","ts":1}"#,
        r#"{"type":"event","session_id":"SESSIONx","name":"n","ts":1}"#,
        r#"{"type":"tool_registry_snapshot","session_id":"other","tools":[null]}"#,
    ] {
        check_claimed(text, "1008 session_mismatch");
    }
}

#[test]
fn a_registry_frame_that_breaks_its_guard_closes_with_invalid_registry() {
    for text in [
        r#"{"type":"tool_registry_snapshot","session_id":"SESSION","tools":[null]}"#,
        r#"{"type":"tool_registry_snapshot","session_id":"SESSION"}"#,
        r#"{"type":"tool_registry_delta","session_id":"SESSION","operation":"replace","name":"n"}"#,
        r#"{"type":"tool_registry_delta","session_id":"SESSION","operation":"remove","name":""}"#,
        r#"{"type":"event_registry_snapshot","session_id":"SESSION","events":{}}"#,
        r#"{"type":"event_registry_delta","session_id":"SESSION","operation":"upsert","event":{"name":"n"}}"#,
    ] {
        check_claimed(text, "1008 invalid_registry");
    }
}

#[test]
fn any_other_frame_that_breaks_its_guard_closes_with_invalid_message() {
    for text in [
        r#"{"type":"tool_result","session_id":"SESSION","id":"1"}"#,
        r#"{"type":"tool_error","session_id":"SESSION","id":"1","error":{"type":"tool_timeout","message":""}}"#,
        r#"{"type":"tool_error","session_id":"SESSION","id":"1","error":{"type":"policy_denied","message":"m"}}"#,
        r#"{"type":"tool_call_progress","session_id":"SESSION","id":"1","progress":"half"}"#,
        r#"{"type":"event","session_id":"SESSION","name":"n"}"#,
    ] {
        check_claimed(text, "1008 invalid_message");
    }
}

#[test]
fn faults_below_the_frames_close_with_their_code_and_suspend() {
    for (fault, close) in [
        (SocketFault::TooBig, "1009 "),
        (SocketFault::Binary, "1003 binary_frame_not_supported"),
        (SocketFault::InvalidUtf8, "1007 "),
        (SocketFault::SendFailed, "1011 send_failed"),
    ] {
        let mut world = World::new();
        let app = world.claimed();
        world.fault(app.socket, fault);
        world.expect(&[&format!("close 1: {close}"), "event pixel-8 session_suspended connection_lost"]);
        let unclaimed = world.connect();
        world.fault(unclaimed, fault);
        world.expect(&[&format!("close 2: {close}")]);
    }
}

#[test]
fn a_silent_socket_is_closed_after_ten_seconds() {
    let mut world = World::new();
    world.connect();
    world.pass(millis(9_999));
    world.expect(&[]);
    world.pass(millis(1));
    world.expect(&["close 1: 1008 pre_claim_timeout"]);
    assert_eq!(world.until, None);
}

#[test]
fn a_claim_in_time_disarms_the_timer() {
    let mut world = World::new();
    world.claimed();
    world.pass(secs(14));
    world.expect(&[]);
}

#[test]
fn after_its_first_close_no_frame_of_a_socket_counts() {
    let mut world = World::new();
    let link = world.link();
    let socket = world.connect();
    world.text(socket, "[]");
    world.log();
    world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    world.fault(socket, SocketFault::Binary);
    world.pong(socket);
    world.expect(&[]);
    assert_eq!(world.host.pending_links(world.now), 1);
    world.gone(socket, None);
    world.expect(&[]);
}

#[test]
fn pipelined_frames_behind_a_bad_one_are_not_acted_on() {
    let mut world = World::new();
    let app = world.app(&[tool("a")]);
    world.text(app.socket, "{}");
    world.log();
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [] }));
    world.frame(&app, "event", json!({ "name": "n", "ts": 1 }));
    world.expect(&[]);
    assert_eq!(world.host.session(None).unwrap().tool_count, 1);
}

#[test]
fn a_socket_that_nobody_opened_is_ignored() {
    let mut world = World::new();
    world.text(SocketId(99), "{}");
    world.fault(SocketId(99), SocketFault::TooBig);
    world.pong(SocketId(99));
    world.gone(SocketId(99), None);
    world.expect(&[]);
}

#[test]
fn a_bad_peer_disturbs_nobody_else() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    for text in ["garbage", "{}", r#"{"type":"session_claim"}"#] {
        let socket = world.connect();
        world.text(socket, text);
    }
    let dropped = world.connect();
    world.drop_socket(dropped);
    let too_big = world.connect();
    world.fault(too_big, SocketFault::TooBig);
    let thief = world.connect();
    world.resume(thief, &app.session, "AAAA");
    world.log();
    world.result(&app, &call, json!(3));
    world.expect(&["event pixel-8 tool_call_finished sum result 3 (0 ms)", "answer sum result 3 (0 ms)"]);
}

#[test]
fn open_sockets_are_those_neither_gone_nor_closed() {
    let mut world = World::new();
    let (first, second) = (world.connect(), world.connect());
    world.connect();
    world.text(first, "[]");
    assert_eq!(world.host.open_sockets(), 2);
    world.gone(first, None);
    world.gone(second, None);
    assert_eq!(world.host.open_sockets(), 1);
}
