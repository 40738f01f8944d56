//! What the fixtures say, row by row.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::wire::*;

macro_rules! fixture {
    ($name:literal) => {
        read(include_str!(concat!("../../../../../fixtures/", $name)))
    };
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("the fixture has the form that its README gives")
}

#[derive(Deserialize)]
struct Descriptor {
    name: String,
    descriptor: RawJson,
    valid: bool,
}

#[test]
fn tool_descriptors_are_valid_or_not() {
    let rows: Vec<Descriptor> = fixture!("tool-descriptors.json");
    for row in rows {
        let parsed = ToolDescriptor::parse(&row.descriptor);
        assert_eq!(parsed.is_ok(), row.valid, "{}: {parsed:?}", row.name);
        assert_eq!(ToolDescriptor::for_app(&row.descriptor).is_ok(), row.valid, "{}", row.name);
        if let Ok(tool) = parsed {
            assert_eq!(tool.raw(), &row.descriptor, "{}: the text stays as it came", row.name);
        }
    }
}

#[test]
fn event_descriptors_are_valid_or_not() {
    let rows: Vec<Descriptor> = fixture!("event-descriptors.json");
    for row in rows {
        let parsed = EventDescriptor::parse(&row.descriptor);
        assert_eq!(parsed.is_ok(), row.valid, "{}: {parsed:?}", row.name);
        assert_eq!(EventDescriptor::for_app(&row.descriptor).is_ok(), row.valid, "{}", row.name);
        if let Ok(event) = parsed {
            assert_eq!(event.raw(), &row.descriptor, "{}: the text stays as it came", row.name);
        }
    }
}

#[derive(Deserialize)]
struct PayloadRow {
    name: String,
    base64url: String,
    expected: Option<Payload>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    family: u8,
    address: String,
    port: u16,
    session_id: String,
    token_base64url: String,
    expires_at: u64,
}

#[test]
fn bootstrap_payloads_decode_and_encode() {
    let rows: Vec<PayloadRow> = fixture!("bootstrap-payloads.json");
    for PayloadRow { name, base64url, expected } in rows {
        let decoded = Bootstrap::decode(&base64url);
        let Some(expected) = expected else {
            assert_eq!(decoded, Err(BootstrapFault::Malformed), "{name}");
            continue;
        };
        let decoded = decoded.expect(&name);
        assert_eq!(if decoded.address.is_ipv4() { 4 } else { 6 }, expected.family, "{name}");
        assert_eq!(address_text(decoded.address), expected.address, "{name}");
        assert_eq!(decoded.port, expected.port, "{name}");
        assert_eq!(decoded.session_id, expected.session_id, "{name}");
        assert_eq!(decoded.token_text(), expected.token_base64url, "{name}");
        assert_eq!(decoded.expires_at, expected.expires_at, "{name}");
        assert_eq!(decoded.encode(), Ok(base64url), "{name}");
        let token = URL_SAFE_NO_PAD.decode(expected.token_base64url).unwrap();
        assert_eq!(decoded.token[..], token[..], "{name}");
    }
}

#[derive(Deserialize)]
struct LinkRow {
    name: String,
    url: String,
    expected: Option<Link>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Link {
    payload_index: usize,
    pin: Option<String>,
}

#[test]
fn deep_links_have_a_payload_and_perhaps_a_pin() {
    let payloads: Vec<PayloadRow> = fixture!("bootstrap-payloads.json");
    let rows: Vec<LinkRow> = fixture!("bootstrap-links.json");
    for row in rows {
        let parsed = DeepLink::parse(&row.url).map(|link| (link.payload, link.pin.map(|pin| pin.to_string())));
        let expected = row.expected.map(|link| (payloads[link.payload_index].base64url.clone(), link.pin));
        assert_eq!(parsed, expected, "{}", row.name);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PinRow {
    description: String,
    certificate_der_base64: String,
    expected_pin: String,
}

#[test]
fn the_pin_of_a_certificate_is_that_of_its_public_key() {
    let rows: Vec<PinRow> = fixture!("spki-pin.json");
    for row in rows {
        let certificate = STANDARD.decode(row.certificate_der_base64).unwrap();
        let pin = Pin::of_spki(subject_public_key_info(&certificate));
        assert_eq!(pin.to_string(), row.expected_pin, "{}", row.description);
        assert_eq!(row.expected_pin.parse(), Ok(pin), "{}", row.description);
    }
}

/// The seventh part of the to-be-signed part of a version 3 certificate, in DER.
fn subject_public_key_info(certificate: &[u8]) -> &[u8] {
    let (tbs, _) = der(der(certificate).0.content);
    let mut rest = tbs.content;
    for _ in 0..6 {
        rest = der(rest).1;
    }
    der(rest).0.whole
}

struct Der<'a> {
    whole: &'a [u8],
    content: &'a [u8],
}

/// The first DER value in `bytes`, and what follows it.
fn der(bytes: &[u8]) -> (Der<'_>, &[u8]) {
    let (head, length) = match usize::from(bytes[1]) {
        short @ 0..0x80 => (2, short),
        long => {
            let count = long - 0x80;
            (2 + count, bytes[2..2 + count].iter().fold(0, |length, &byte| length << 8 | usize::from(byte)))
        }
    };
    let (whole, rest) = bytes.split_at(head + length);
    (Der { whole, content: &whole[head..] }, rest)
}

#[derive(Deserialize)]
struct CloseRow {
    code: Option<u16>,
    reason: Option<String>,
    terminal: bool,
}

#[test]
fn close_codes_are_terminal_or_not() {
    let rows: Vec<CloseRow> = fixture!("close-codes.json");
    for row in &rows {
        let close = row.code.map(|code| Close::new(code, row.reason.as_deref().unwrap_or_default()));
        assert_eq!(close.as_ref().is_some_and(Close::is_terminal), row.terminal, "{close:?}");
    }
    for reason in CloseReason::ALL {
        let listed =
            rows.iter().any(|row| row.code == Some(reason.code()) && row.reason.as_deref() == Some(reason.as_str()));
        assert!(listed, "{reason:?} is in the fixture");
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Limits {
    limit_bytes: usize,
    vectors: Vec<LimitRow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LimitRow {
    name: String,
    frame_bytes: usize,
    filler: String,
    sent: bool,
}

#[test]
fn the_frame_limit_counts_the_bytes_of_the_whole_frame() {
    let limits: Limits = fixture!("frame-limits.json");
    assert_eq!(limits.limit_bytes, MAX_FRAME_BYTES);
    for row in limits.vectors {
        let event = |payload: String| {
            let payload = Some(RawJson::of(&payload).unwrap());
            AppFrame::Event { name: "filled".to_owned(), ts: Number(0.0), payload }.encode("session-1")
        };
        let room = row.frame_bytes - event(String::new()).len();
        let fillers = room / row.filler.len();
        let frame = event(row.filler.repeat(fillers) + &"x".repeat(room - fillers * row.filler.len()));
        assert_eq!(frame.len(), row.frame_bytes, "{}", row.name);
        assert_eq!(frame.len() <= MAX_FRAME_BYTES, row.sent, "{}", row.name);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameRow {
    name: String,
    from: From,
    text: String,
    kind: String,
    valid: bool,
    fault: Option<String>,
    session_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum From {
    App,
    Daemon,
}

/// What a decoder says of a text, in the words of the fixture. The kind of a frame that breaks its guard is not known.
#[derive(Debug, PartialEq)]
struct Verdict {
    kind: Option<&'static str>,
    session_id: Option<String>,
    fault: Option<String>,
}

impl Verdict {
    fn plain(kind: &'static str) -> Self {
        Self { kind: Some(kind), session_id: None, fault: None }
    }
}

fn app_verdict(received: Received) -> Verdict {
    match received {
        Received::NotAnObject => Verdict::plain("not_an_object"),
        Received::Unknown => Verdict::plain("unknown"),
        Received::Hello(Hello::Claim { session_id, .. }) => {
            Verdict { session_id: Some(session_id), ..Verdict::plain("session_claim") }
        }
        Received::Hello(Hello::Resume { session_id, .. }) => {
            Verdict { session_id: Some(session_id), ..Verdict::plain("session_resume") }
        }
        Received::Frame { session_id, frame, .. } => {
            Verdict { kind: frame.as_ref().ok().map(app_kind), session_id, fault: frame.err().map(|fault| fault.field) }
        }
    }
}

fn app_kind(frame: &AppFrame) -> &'static str {
    match frame {
        AppFrame::ToolSnapshot(_) => "tool_registry_snapshot",
        AppFrame::ToolUpsert(_) | AppFrame::ToolRemove(_) => "tool_registry_delta",
        AppFrame::EventSnapshot(_) => "event_registry_snapshot",
        AppFrame::EventUpsert(_) | AppFrame::EventRemove(_) => "event_registry_delta",
        AppFrame::ToolResult { .. } => "tool_result",
        AppFrame::ToolError { .. } => "tool_error",
        AppFrame::ToolCallProgress { .. } => "tool_call_progress",
        AppFrame::Event { .. } => "event",
    }
}

fn daemon_verdict(received: DaemonReceived) -> Verdict {
    match received {
        DaemonReceived::NotAnObject => Verdict::plain("not_an_object"),
        DaemonReceived::Frame { frame: Ok(None), .. } => Verdict::plain("unknown"),
        DaemonReceived::Frame { session_id, frame, .. } => Verdict {
            kind: frame.as_ref().ok().and_then(Option::as_ref).map(daemon_kind),
            session_id,
            fault: frame.err().map(|fault| fault.field),
        },
    }
}

fn daemon_kind(frame: &DaemonFrame) -> &'static str {
    match frame {
        DaemonFrame::Ack(_) => "session_ack",
        DaemonFrame::ToolCall { .. } => "tool_call",
        DaemonFrame::ToolCancel { .. } => "tool_cancel",
    }
}

#[test]
fn frames_pass_their_guard_or_break_it() {
    let rows: Vec<FrameRow> = fixture!("frames.json");
    for row in &rows {
        let text = Bytes::from(row.text.clone());
        let verdict = match row.from {
            From::App => app_verdict(Received::decode(&text)),
            From::Daemon => daemon_verdict(DaemonReceived::decode(&text)),
        };
        let known = !matches!(row.kind.as_str(), "not_an_object" | "unknown");
        let kind = verdict.kind.unwrap_or(&row.kind);
        let valid = known && verdict.fault.is_none();
        assert_eq!(
            (kind, valid, &verdict.fault, &verdict.session_id),
            (row.kind.as_str(), row.valid, &row.fault, &row.session_id),
            "{}",
            row.name
        );
    }
}

#[test]
fn a_broken_registry_frame_is_told_from_other_broken_frames() {
    let rows: Vec<FrameRow> = fixture!("frames.json");
    for row in rows.iter().filter(|row| matches!(row.from, From::App)) {
        if let Received::Frame { is_registry, .. } = Received::decode(&Bytes::from(row.text.clone())) {
            assert_eq!(is_registry, row.kind.contains("_registry_"), "{}", row.name);
        }
    }
}

#[test]
fn valid_frames_are_the_same_after_a_round_trip() {
    let rows: Vec<FrameRow> = fixture!("frames.json");
    for row in rows.iter().filter(|row| row.valid) {
        let text = Bytes::from(row.text.clone());
        match row.from {
            From::App => {
                let received = Received::decode(&text);
                let again = match &received {
                    Received::Hello(hello) => hello.encode(),
                    Received::Frame { session_id: Some(session_id), frame: Ok(frame), .. } => frame.encode(session_id),
                    Received::Frame { .. } | Received::NotAnObject | Received::Unknown => continue,
                };
                assert_eq!(Received::decode(&Bytes::from(again)), received, "{}", row.name);
            }
            From::Daemon => {
                let received = DaemonReceived::decode(&text);
                let DaemonReceived::Frame { session_id: Some(session_id), frame: Ok(Some(frame)), .. } = &received
                else {
                    continue;
                };
                let again = DaemonReceived::decode(&Bytes::from(frame.encode(session_id)));
                let DaemonReceived::Frame { session_id: same_session, frame: same_frame, .. } = again else {
                    panic!("{}: an encoded frame is an object", row.name)
                };
                assert_eq!(
                    (same_session.as_ref(), same_frame),
                    (Some(session_id), Ok(Some(frame.clone()))),
                    "{}",
                    row.name
                );
            }
        }
    }
}

#[derive(Deserialize)]
struct EventFrames {
    name: String,
    frames: Vec<RawJson>,
}

#[test]
fn event_registry_frames_of_apps_pass_their_guard() {
    let rows: Vec<EventFrames> = fixture!("event-registry-frames.json");
    for row in rows {
        for frame in row.frames {
            let received = Received::decode(&Bytes::from(frame.as_str().to_owned()));
            let Received::Frame { frame: Ok(decoded), is_registry: true, .. } = received else {
                panic!("{}: {frame:?} is a registry frame", row.name)
            };
            assert!(app_kind(&decoded).starts_with("event_registry_"), "{}", row.name);
        }
    }
}
