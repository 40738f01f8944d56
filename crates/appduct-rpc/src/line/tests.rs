//! Lines there and back.

use proptest::strategy::Strategy;

use super::*;
use crate::ErrorName;
use crate::methods::{DaemonStatus, SessionsRevoke, ToolsCall};

fn raw(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn refusal(line: &[u8]) -> (String, i64) {
    let refused = decode_request(line).unwrap_err();
    (refused.id.as_str().to_owned(), refused.error.code)
}

#[test]
fn a_request_goes_there_and_back() {
    let line = request(7, "tools.call", &raw(r#"{"a": 1}"#));
    assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools.call\",\"params\":{\"a\": 1}}\n");
    let request = decode_request(line.trim_end().as_bytes()).unwrap();
    assert_eq!(request, Request { id: raw("7"), method: "tools.call".into(), params: raw(r#"{"a": 1}"#) });
}

#[test]
fn ids_of_any_kind_are_echoed_and_a_missing_one_is_null() {
    for id in ["7", "7.0", r#""x""#, "null", "[1, 2]", r#"{"a":1}"#, "true"] {
        let request = decode_request(format!(r#"{{"id":{id},"method":"m"}}"#).as_bytes()).unwrap();
        assert_eq!(request.id.as_str(), id);
        let line = reply(&request.id, &RawJson::null());
        assert_eq!(line, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":null}}\n"));
    }
    assert_eq!(decode_request(br#"{"method":"m"}"#).unwrap().id, RawJson::null());
}

#[test]
fn what_is_no_request_is_refused_by_its_kind() {
    for line in ["{", "nonsense", "{'a':1}", "", "1 2"] {
        assert_eq!(refusal(line.as_bytes()), ("null".into(), -32_700), "{line:?}");
    }
    assert_eq!(refusal(b"{\"method\":\"\xff\"}"), ("null".into(), -32_700));
    for line in ["[]", r#"[{"id":1,"method":"m"}]"#, "1", "null", r#""m""#] {
        assert_eq!(refusal(line.as_bytes()), ("null".into(), -32_600), "{line}");
    }
    for method in ["", r#","method":"""#, r#","method":1"#, r#","method":null"#] {
        assert_eq!(refusal(format!(r#"{{"id":3{method}}}"#).as_bytes()), ("3".into(), -32_600), "{method}");
    }
}

#[test]
fn deeply_nested_lines_do_no_harm() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(refusal(deep.as_bytes()).1, -32_600);
    let params = format!(r#"{{"method":"tools.call","params":{{"name":"n","args":{{"a":{deep}}}}}}}"#);
    let call = decode_request(params.as_bytes()).unwrap().parse::<ToolsCall>().unwrap();
    assert_eq!(call.args.len_bytes(), deep.len() + 6);
    assert_eq!(refusal(&"[".repeat(200_000).into_bytes()).1, -32_700);
}

#[test]
fn absent_and_null_params_are_empty_and_others_are_an_invalid_request() {
    for params in ["", r#","params":null"#, r#","params":{}"#] {
        let request = decode_request(format!(r#"{{"method":"daemon.status"{params}}}"#).as_bytes()).unwrap();
        assert_eq!(request.parse::<DaemonStatus>(), Ok(DaemonStatus));
    }
    for params in ["[]", "1", r#""{}""#, "true"] {
        let line = format!(r#"{{"method":"daemon.status","params":{params}}}"#);
        let error = decode_request(line.as_bytes()).unwrap().parse::<DaemonStatus>().unwrap_err();
        assert_eq!((error.code, error.kind), (-32_000, Some(ErrorName::Known(ErrorType::InvalidRequest))), "{params}");
    }
    let request = decode_request(br#"{"method":"sessions.revoke","params":{"selector":null}}"#).unwrap();
    let error = request.parse::<SessionsRevoke>().unwrap_err();
    assert!(error.message.contains("sessions.revoke") && error.message.contains("\"selector\""), "{error}");
}

#[test]
fn raw_line_breaks_become_spaces_and_nothing_else_changes() {
    let app = "{\n  \"a\":\t\"x\\n\\ud800\",\r\n\"b\": 1.0}";
    let line = reply(&raw("1"), &raw(app));
    assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{   \"a\":\t\"x\\n\\ud800\",  \"b\": 1.0}}\n");
    assert_eq!(line.matches('\n').count(), 1);
    let line = event(&raw("{\"data\":[\n]}"));
    assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"data\":[ ]}}\n");
    let details = RpcError::new(ErrorType::ToolExecutionError, "two\nlines").with_details(raw("[\r1]"));
    let line = error(&raw("1"), &details);
    assert!(
        line.ends_with("\"message\":\"two\\nlines\",\"data\":{\"type\":\"tool_execution_error\",\"details\":[ 1]}}}\n")
    );
}

#[test]
fn errors_go_there_and_back() {
    let errors = [
        RpcError::new(ErrorType::PolicyDenied, "no \"way\"").with_details(raw(r#"{"hint": "x"}"#)),
        RpcError::new(ErrorType::NoSession, ""),
        RpcError::parse_error(),
        RpcError::not_a_request("why"),
        RpcError::line_too_long(),
        RpcError::method_not_found("no.such"),
        RpcError::internal("broken"),
    ];
    let codes = [-32_000, -32_000, -32_700, -32_600, -32_600, -32_601, -32_603];
    for (sent, code) in errors.into_iter().zip(codes) {
        assert_eq!(sent.code, code);
        let line = error(&raw(r#""id""#), &sent);
        let received = decode_incoming(line.trim_end().as_bytes()).unwrap();
        assert_eq!(received, Incoming::Reply { id: raw(r#""id""#), result: Err(sent) });
    }
    assert!(RpcError::line_too_long().message.contains("1048576"));
}

#[test]
fn only_errors_of_ours_and_internal_ones_have_data() {
    let data = |sent| error(&RawJson::null(), &sent).contains("\"data\"");
    assert!(data(RpcError::new(ErrorType::NoSession, "m")));
    assert!(error(&RawJson::null(), &RpcError::internal("m")).contains(r#""data":{"type":"invalid_request"}"#));
    assert!(!data(RpcError::method_not_found("m")));
    assert!(!data(RpcError::parse_error()));
}

#[test]
fn errors_with_unknown_names_or_no_data_can_be_read() {
    let read = |error: &str| match decode_incoming(format!(r#"{{"id":1,"error":{error}}}"#).as_bytes()) {
        Ok(Incoming::Reply { result: Err(error), .. }) => error,
        other => panic!("{other:?}"),
    };
    let error = read(r#"{"code":-32000,"message":"m\ud800","data":{"type":"new_type","details":null}}"#);
    assert_eq!(error.kind, Some(ErrorName::Other("new_type".into())));
    assert_eq!((error.message.as_str(), error.details.as_ref()), ("m\u{fffd}", Some(&RawJson::null())));
    assert_eq!(error.exit_code(), 1);
    for data in ["", r#","data":null"#, r#","data":[1]"#, r#","data":{"type":7}"#] {
        assert_eq!(read(&format!(r#"{{"code":-32601,"message":"m"{data}}}"#)).kind, None, "{data}");
    }
}

#[test]
fn what_no_daemon_sends_is_malformed() {
    for (line, fault) in [
        (&b"\xff"[..], MalformedLine::NotUtf8),
        (b"[]", MalformedLine::NotAnObject),
        (b"{", MalformedLine::NotAnObject),
        (b"{}", MalformedLine::Shapeless),
        (br#"{"id":1}"#, MalformedLine::Shapeless),
        (br#"{"id":1,"error":null}"#, MalformedLine::Shapeless),
        (br#"{"id":1,"error":"x"}"#, MalformedLine::ShapelessError),
        (br#"{"id":1,"error":{"code":1}}"#, MalformedLine::ShapelessError),
        (br#"{"id":1,"error":{"message":"m"}}"#, MalformedLine::ShapelessError),
    ] {
        assert_eq!(decode_incoming(line), Err(fault), "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn notifications_are_told_from_replies() {
    let incoming = |line: &str| decode_incoming(line.as_bytes()).unwrap();
    assert_eq!(incoming(r#"{"method":"event","params":{"x": 1}}"#), Incoming::Event(raw(r#"{"x": 1}"#)));
    assert_eq!(incoming(r#"{"method":"other","params":{}}"#), Incoming::Unknown);
    assert_eq!(incoming(r#"{"method":"event"}"#), Incoming::Unknown);
    assert_eq!(incoming(r#"{"result":null}"#), Incoming::Reply { id: RawJson::null(), result: Ok(RawJson::null()) });
    let both = incoming(r#"{"id":1,"result":2,"error":null}"#);
    assert_eq!(both, Incoming::Reply { id: raw("1"), result: Ok(raw("2")) });
}

/// The lines that `bytes` give when they come `step` at a time.
fn split(mut lines: Lines, bytes: &[u8], step: usize) -> Vec<Line> {
    let mut found = Vec::new();
    for part in bytes.chunks(step) {
        lines.push(part);
        while let Some(line) = lines.next_line() {
            let last = !matches!(line, Line::Complete(_));
            found.push(line);
            if last {
                return found;
            }
        }
    }
    found
}

#[test]
fn lines_come_out_whole_however_the_bytes_come_in() {
    let text = "{\"a\":\"ü😀\"}\r\n\n\r\nsecond\n\rthird\r\r\nunfinished";
    let whole: Vec<_> =
        ["{\"a\":\"ü😀\"}", "second", "\rthird\r"].map(|line| Line::Complete(line.as_bytes().to_vec().into())).into();
    for step in 1..=text.len() {
        assert_eq!(split(Lines::unbounded(), text.as_bytes(), step), whole, "{step}");
        assert_eq!(split(Lines::bounded(100), text.as_bytes(), step), whole, "{step}");
    }
}

#[test]
fn the_limit_counts_neither_newline_nor_carriage_return() {
    let complete = |text: &str| Line::Complete(text.as_bytes().to_vec().into());
    for (text, line) in [
        ("1234\n", Some(complete("1234"))),
        ("1234\r\n", Some(complete("1234"))),
        ("12345\n", Some(Line::TooLong)),
        ("12345\r\n", Some(Line::TooLong)),
        ("1234", None),
        ("1234\r", None),
        ("12345", Some(Line::Endless)),
        ("12345\r", Some(Line::Endless)),
        ("123456\n", Some(Line::TooLong)),
    ] {
        let whole = split(Lines::bounded(4), text.as_bytes(), text.len());
        assert_eq!(whole, line.into_iter().collect::<Vec<_>>(), "{text:?}");
    }
}

#[test]
fn a_reader_may_append_by_itself() {
    let mut lines = Lines::unbounded();
    lines.tail().extend_from_slice(b"one\ntw");
    assert_eq!(lines.next_line(), Some(Line::Complete("one".into())));
    assert_eq!(lines.next_line(), None);
    assert!(!lines.is_empty());
    lines.tail().extend_from_slice(b"o\n");
    assert_eq!(lines.next_line(), Some(Line::Complete("two".into())));
    assert!(lines.is_empty());
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_the_same_way_in_any_pieces(
        parts in proptest::collection::vec(
            proptest::prop_oneof![
                proptest::collection::vec(proptest::num::u8::ANY, 0..8),
                proptest::sample::select(vec![
                    "\n", "\r\n", "{", "}", "[", "]", ",", ":", "\"id\"", "\"method\"", "\"event\"", "\"params\"", "\"result\"",
                    "\"error\"", "\"code\"", "\"message\"", "\"\\ud800\"", "null", "1", "1e999", "{\"id\":1,\"method\":\"m\"}",
                ])
                .prop_map(|text| text.as_bytes().to_vec()),
            ],
            0..40,
        ),
        step in 1usize..20,
    ) {
        let bytes = parts.concat();
        let lines = split(Lines::unbounded(), &bytes, step);
        proptest::prop_assert_eq!(&lines, &split(Lines::unbounded(), &bytes, bytes.len().max(1)));
        for line in lines {
            let Line::Complete(text) = line else { panic!("{line:?}") };
            decode_incoming(&text).ok();
            if let Ok(request) = decode_request(&text) {
                request.parse::<ToolsCall>().ok();
            }
        }
    }
}
