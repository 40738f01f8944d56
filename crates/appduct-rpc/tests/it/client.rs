//! One connection: replies, notifications, deadlines, and bytes that no daemon should send.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use appduct_proto::wire::RawJson;
use appduct_rpc::methods::{Done, EventsSubscribe, SessionsList, SessionsRevoke, ToolsCall};
use appduct_rpc::{Client, ClientError, DaemonLauncher, ErrorName, ErrorType, StateDir};

use crate::fake::{PATIENCE, Peer, State, daemon, pair};

const EVENT: &str = r#"{"jsonrpc":"2.0","method":"event","params":{"kind":"app_event","data":{},"ts":1,"seq":"#;

fn event(seq: u64) -> String {
    format!("{EVENT}{seq}}}}}\n")
}

fn call() -> ToolsCall {
    ToolsCall {
        selector: None,
        name: "add".into(),
        args: RawJson::empty_object(),
        timeout_ms: None,
        caller: None,
        consent: None,
        validate: None,
        follow: None,
    }
}

#[test]
fn a_request_gets_its_reply_over_the_socket_of_the_state_directory() {
    let state = State::new();
    let daemon = daemon(
        &state,
        vec![Box::new(|mut peer| {
            let request = peer.answer(r#"{"ok":true}"#);
            assert_eq!(request.method, "sessions.revoke");
            assert_eq!(request.params.as_str(), r#"{"selector":"pixel-8"}"#);
            peer.answer("[]");
        })],
    );
    let mut client = Client::connect(&state.dir, &DaemonLauncher::never()).unwrap();
    let done = client.request(&SessionsRevoke { selector: Some("pixel-8".into()) }, PATIENCE).unwrap();
    assert_eq!(done, Done::OK);
    assert_eq!(client.request(&SessionsList, PATIENCE).unwrap(), []);
    daemon.join().unwrap();
}

#[test]
fn a_refusal_comes_with_its_type_message_and_details() {
    let (mut client, daemon) = pair(|mut peer| {
        peer.receive().unwrap();
        peer.send(concat!(
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","#,
            r#""data":{"type":"policy_denied","details":{"hint": 1}}}}"#,
            "\n"
        ));
    });
    let Err(ClientError::Rpc(error)) = client.request(&call(), PATIENCE) else { panic!() };
    assert_eq!(error.kind, Some(ErrorName::Known(ErrorType::PolicyDenied)));
    assert_eq!(error.details.unwrap().as_str(), r#"{"hint": 1}"#);
    daemon.join().unwrap();
}

#[test]
fn an_error_without_an_id_answers_the_request_that_waits() {
    let (mut client, daemon) = pair(|mut peer| {
        peer.receive().unwrap();
        peer.send("{\"id\":null,\"error\":{\"code\":-32600,\"message\":\"too long\"}}\n");
    });
    let Err(ClientError::Rpc(error)) = client.request(&SessionsList, PATIENCE) else { panic!() };
    assert_eq!((error.code, error.exit_code()), (-32_600, 1));
    daemon.join().unwrap();
}

#[test]
fn characters_that_are_cut_by_a_read_come_out_whole() {
    let (mut client, daemon) = pair(|mut peer| {
        peer.receive().unwrap();
        let reply = r#"{"jsonrpc":"2.0","id":1,"result":{"result":"grüße 😀","callId":"c"}}"#;
        for byte in format!("\r\n\n{reply}\r\n").as_bytes() {
            peer.send([*byte]);
        }
    });
    let reply = client.request(&call(), PATIENCE).unwrap();
    assert_eq!(reply.result.as_str(), r#""grüße 😀""#);
    daemon.join().unwrap();
}

#[test]
fn long_replies_are_read_in_time_that_grows_with_their_length_only() {
    const BYTES: usize = 32 * 1024 * 1024;
    let (mut client, daemon) = pair(|mut peer| {
        peer.receive().unwrap();
        peer.send(r#"{"id":1,"result":{"callId":"c","result":""#);
        let part = "x".repeat(4096);
        for _ in 0..BYTES / part.len() {
            peer.send(&part);
        }
        peer.send("\"}}\n");
    });
    let reply = client.request(&call(), PATIENCE).unwrap();
    assert_eq!(reply.result.len_bytes(), BYTES + 2);
    daemon.join().unwrap();
}

#[test]
fn notifications_before_the_reply_are_kept_in_order() {
    let (mut client, daemon) = pair(|mut peer| {
        peer.receive().unwrap();
        peer.send([event(1), event(2)].concat());
        peer.send("{\"method\":\"of the future\",\"params\":1}\n{\"id\":1,\"result\":{\"ok\":true}}\n");
        peer.send(event(3));
    });
    client.request(&EventsSubscribe::default(), PATIENCE).unwrap();
    let seqs: Vec<_> = std::iter::from_fn(|| client.next_event().unwrap()).map(|event| event.seq).collect();
    assert_eq!(seqs, [1, 2, 3]);
    daemon.join().unwrap();
}

#[test]
fn whoever_asks_sees_notifications_while_it_waits() {
    let (mut client, daemon) = pair(|mut peer| {
        peer.receive().unwrap();
        peer.send([event(1), event(2)].concat());
        peer.send("{\"id\":1,\"result\":{\"result\":3,\"callId\":\"c\"}}\n");
    });
    let mut seqs = Vec::new();
    let reply = client.request_with_events(&call(), PATIENCE, &mut |event| seqs.push(event.seq)).unwrap();
    assert_eq!((reply.result.as_str(), seqs), ("3", vec![1, 2]));
    assert_eq!(client.next_event().unwrap(), None);
    daemon.join().unwrap();
}

#[test]
fn a_silent_daemon_is_given_up_and_its_late_reply_is_passed_over() {
    let (mut client, daemon) = pair(|mut peer| {
        let late = peer.receive().unwrap();
        let current = peer.receive().unwrap();
        for id in [late.id, current.id] {
            peer.send(format!("{{\"id\":{id},\"result\":[{{\"broken\":{id}}}]}}\n", id = id.as_str()));
        }
    });
    let after = Duration::from_millis(50);
    let started = Instant::now();
    let error = client.call("sessions.list", &RawJson::empty_object(), after).unwrap_err();
    assert!(matches!(error, ClientError::Timeout { after: waited } if waited == after), "{error}");
    assert!(started.elapsed() >= after);
    assert_eq!(error.exit_code(), 70);
    let reply = client.call("sessions.list", &RawJson::empty_object(), PATIENCE).unwrap();
    assert_eq!(reply.as_str(), r#"[{"broken":2}]"#);
    daemon.join().unwrap();
}

#[test]
fn a_daemon_that_drips_does_not_put_off_the_deadline() {
    let (mut client, daemon) = pair(|mut peer| {
        peer.receive().unwrap();
        // Until the client has had enough and is dropped.
        while peer.try_send(b" ") {}
    });
    let error = client.request(&SessionsList, Duration::from_millis(50)).unwrap_err();
    assert!(matches!(error, ClientError::Timeout { .. }), "{error}");
    drop(client);
    daemon.join().unwrap();
}

#[test]
fn a_daemon_that_does_not_read_is_given_up() {
    let (held, done) = std::sync::mpsc::channel::<()>();
    let (mut client, daemon) = pair(move |peer: Peer| {
        done.recv().unwrap_err();
        drop(peer);
    });
    let args = RawJson::parse(&format!(r#"{{"a":"{}"}}"#, "x".repeat(1_000_000))).unwrap();
    let error = client.request(&ToolsCall { args, ..call() }, Duration::from_millis(50)).unwrap_err();
    assert!(matches!(error, ClientError::Timeout { .. }), "{error}");
    // Half a request is on its way: nothing after it would be understood.
    assert!(matches!(client.request(&SessionsList, PATIENCE), Err(ClientError::Closed)));
    drop(held);
    daemon.join().unwrap();
}

#[test]
fn a_connection_that_ends_before_or_within_the_reply_is_closed() {
    for sent in ["", "{\"id\":1,\"resu"] {
        let (mut client, daemon) = pair(move |mut peer| {
            peer.receive().unwrap();
            peer.send(sent);
        });
        assert!(matches!(client.request(&SessionsList, PATIENCE), Err(ClientError::Closed)), "{sent:?}");
        daemon.join().unwrap();
    }
}

#[test]
fn the_reply_of_a_daemon_that_hangs_up_on_the_request_is_still_read() {
    let (mut client, daemon) = pair(|mut peer| {
        peer.send("{\"id\":null,\"error\":{\"code\":-32600,\"message\":\"go away\"}}\n");
    });
    daemon.join().unwrap();
    let error = client.request(&SessionsList, PATIENCE).unwrap_err();
    assert_eq!(error.to_string(), "go away");
}

#[test]
fn what_cannot_be_read_is_an_error_and_no_panic() {
    let deep = format!("{{\"id\":1,\"result\":{}}}", "[".repeat(100_000) + &"]".repeat(100_000));
    let lines: &[&[u8]] = &[
        b"nonsense",
        b"\xff\xfe",
        b"[]",
        b"{}",
        br#"{"id":1,"result":{"not":"a list"}}"#,
        br#"{"id":1,"result":[{"sessionId":"\ud800"}]}"#,
        br#"{"id":1,"error":[]}"#,
        br#"{"method":"event","params":{"kind":1}}"#,
        br#"{"method":"event","params":[]}"#,
        deep.as_bytes(),
    ];
    for line in lines {
        let sent = [line, &b"\n"[..]].concat();
        let (mut client, daemon) = pair(move |mut peer| {
            peer.receive().unwrap();
            peer.send(sent);
        });
        let result = client.request(&SessionsList, PATIENCE);
        assert!(matches!(result, Err(ClientError::Malformed(_))), "{}: {result:?}", String::from_utf8_lossy(line));
        daemon.join().unwrap();
    }
}

#[test]
fn a_request_over_the_limit_is_not_sent() {
    let (mut client, daemon) = pair(|mut peer| {
        let request = peer.answer("[]");
        assert_eq!(request.method, "sessions.list");
    });
    let args = RawJson::parse(&format!(r#"{{"a":"{}"}}"#, "x".repeat(1_048_576))).unwrap();
    let error = client.request(&ToolsCall { args, ..call() }, PATIENCE).unwrap_err();
    assert!(matches!(error, ClientError::TooBig { bytes } if bytes > 1_048_576), "{error}");
    assert_eq!(error.exit_code(), 65);
    client.request(&SessionsList, PATIENCE).unwrap();
    daemon.join().unwrap();
}

#[test]
fn a_wait_for_the_next_notification_has_an_end() {
    let (mut client, daemon) = pair(|mut peer| {
        peer.answer(r#"{"ok":true}"#);
        peer.send(event(1));
        assert_eq!(peer.receive(), None);
    });
    client.request(&EventsSubscribe::default(), PATIENCE).unwrap();
    assert_eq!(client.next_event_within(PATIENCE).unwrap().unwrap().seq, 1);
    let error = client.next_event_within(Duration::from_millis(1)).unwrap_err();
    assert!(matches!(error, ClientError::Timeout { .. }), "{error}");
    drop(client);
    daemon.join().unwrap();
}

#[test]
fn another_thread_can_end_the_wait() {
    let (mut client, daemon) = pair(|mut peer| {
        peer.answer(r#"{"ok":true}"#);
        assert_eq!(peer.receive(), None);
    });
    client.request(&EventsSubscribe::default(), PATIENCE).unwrap();
    let handle = client.shutdown_handle().unwrap();
    let waiting = std::thread::spawn(move || client.next_event());
    handle.shutdown(Shutdown::Both).unwrap();
    assert_eq!(waiting.join().unwrap().unwrap(), None);
    daemon.join().unwrap();
}

#[test]
fn nothing_is_started_where_nothing_may_be() {
    let state = State::new();
    let unreachable = || {
        let error = Client::connect(&state.dir, &DaemonLauncher::never()).unwrap_err();
        assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
        assert!(error.to_string().contains("appduct daemon start"), "{error}");
    };
    unreachable();
    // A socket that nobody listens at any more, and a plain file.
    drop(std::os::unix::net::UnixListener::bind(state.dir.socket()).unwrap());
    unreachable();
    std::fs::remove_file(state.dir.socket()).unwrap();
    state.write("daemon.sock", "");
    unreachable();
}

#[test]
fn a_path_that_is_too_long_for_a_socket_says_what_to_do() {
    let state_dir = StateDir::new(format!("/tmp/{}", "long".repeat(40)));
    let error = Client::connect(&state_dir, &DaemonLauncher::never()).unwrap_err();
    assert!(matches!(error, ClientError::PathTooLong { .. }), "{error}");
    assert!(error.to_string().contains("--state-dir"), "{error}");
}
