//! What holds for any input.

use std::net::IpAddr;

use bytes::Bytes;
use proptest::prelude::*;

use crate::wire::*;

/// One JSON value as some author might write it.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false", "-0", "1.0", "1e400", "1E-7", r#""\ud800""#, r#""\/""#])
            .prop_map(str::to_owned),
        any::<String>().prop_map(|text| serde_json::to_string(&text).expect("every string has a JSON form")),
        any::<i64>().prop_map(|number| number.to_string()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let space = prop::sample::select(vec!["", " ", "\n\t"]);
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..4), space.clone())
                .prop_map(|(items, space)| format!("[{space}{}{space}]", items.join(","))),
            (prop::collection::vec((any::<String>(), inner), 0..4), space).prop_map(|(entries, space)| {
                let entry = |(key, value): &(String, String)| {
                    format!("{}{space}:{space}{value}", serde_json::to_string(key).expect("a string"))
                };
                format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }),
        ]
    })
}

fn raw() -> impl Strategy<Value = RawJson> {
    json().prop_map(|text| RawJson::parse(&text).expect("it is JSON"))
}

fn object() -> impl Strategy<Value = RawJson> {
    raw().prop_map(|value| Object::new().raw("any", &value).into_raw())
}

fn id() -> impl Strategy<Value = String> {
    any::<String>().prop_map(|text| bounded(&format!("i{text}"), MAX_ID_UNITS))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>().prop_map(|text| bounded(&format!("t{text}"), MAX_TEXT_UNITS)),
        Just("😀".repeat(MAX_TEXT_UNITS / 2)),
    ]
}

fn bounded(text: &str, units: usize) -> String {
    let mut left = units;
    text.chars().take_while(|c| left.checked_sub(c.len_utf16()).map(|rest| left = rest).is_some()).collect()
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<f64>().prop_filter("JSON has no other numbers", |number| number.is_finite()),
        any::<i32>().prop_map(f64::from)
    ]
    .prop_map(Number)
}

fn segment() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_-]{1,64}"
}

fn group() -> impl Strategy<Value = String> {
    (segment(), prop::option::of(segment())).prop_map(|(top, sub)| match sub {
        Some(sub) => format!("{top}/{sub}"),
        None => top,
    })
}

prop_compose! {
    fn tool()(
        name in segment(),
        description in text(),
        input in prop::option::of(object()),
        output in prop::option::of(object()),
        timeout in prop::option::of(1_u64..1_000_000_000),
        group in prop::option::of(group()),
        hint in prop::option::of(any::<bool>()),
        extra in raw(),
    ) -> ToolDescriptor {
        let mut tool = Object::new()
            .raw("extra", &extra)
            .text("name", &name)
            .text("description", &description)
            .optional_raw("input_schema", input.as_ref())
            .optional_raw("output_schema", output.as_ref())
            .optional_text("group", group.as_deref())
            .optional_display("timeout_ms", timeout);
        if let Some(hint) = hint {
            tool = tool.object("annotations", Object::new().display("destructiveHint", hint));
        }
        ToolDescriptor::parse(&tool.into_raw()).expect("it keeps every rule")
    }
}

prop_compose! {
    fn event()(name in text(), description in text(), schema in prop::option::of(object())) -> EventDescriptor {
        let event = Object::new().text("name", &name).text("description", &description);
        EventDescriptor::parse(&event.optional_raw("payload_schema", schema.as_ref()).into_raw()).expect("it keeps every rule")
    }
}

fn app_frame() -> impl Strategy<Value = AppFrame> {
    prop_oneof![
        prop::collection::vec(tool(), 0..4).prop_map(AppFrame::ToolSnapshot),
        tool().prop_map(|tool| AppFrame::ToolUpsert(Box::new(tool))),
        text().prop_map(AppFrame::ToolRemove),
        prop::collection::vec(event(), 0..4).prop_map(AppFrame::EventSnapshot),
        event().prop_map(|event| AppFrame::EventUpsert(Box::new(event))),
        text().prop_map(AppFrame::EventRemove),
        (id(), raw()).prop_map(|(id, result)| AppFrame::ToolResult { id, result }),
        (id(), prop::sample::select(ToolErrorType::ALL), text(), prop::option::of(raw())).prop_map(
            |(id, kind, message, details)| AppFrame::ToolError { id, error: ToolFault { kind, message, details } }
        ),
        (id(), prop::option::of(number()), prop::option::of(text()))
            .prop_map(|(id, progress, message)| AppFrame::ToolCallProgress { id, progress, message }),
        (text(), number(), prop::option::of(raw())).prop_map(|(name, ts, payload)| AppFrame::Event {
            name,
            ts,
            payload
        }),
    ]
}

fn hello() -> impl Strategy<Value = Hello> {
    let field = || prop::option::of(any::<String>().prop_map(|text| bounded(&text, MAX_DEVICE_UNITS)));
    prop_oneof![
        (id(), id(), field(), field(), field()).prop_map(|(session_id, token, manufacturer, model, os)| Hello::Claim {
            session_id,
            token,
            device: Device { manufacturer, model, os }
        }),
        (id(), id()).prop_map(|(session_id, resume_token)| Hello::Resume { session_id, resume_token }),
    ]
}

fn daemon_frame() -> impl Strategy<Value = DaemonFrame> {
    let seconds = || (1_u32..1_000_000).prop_map(|tenths| Number(f64::from(tenths) / 10.0));
    prop_oneof![
        (id(), id(), seconds(), seconds(), any::<bool>()).prop_map(
            |(alias, resume_token, keepalive_interval_s, grace_s, event_registry)| {
                DaemonFrame::Ack(SessionAck { alias, resume_token, keepalive_interval_s, grace_s, event_registry })
            }
        ),
        (id(), text(), object()).prop_map(|(id, name, args)| DaemonFrame::ToolCall { id, name, args }),
        (id(), text()).prop_map(|(id, reason)| DaemonFrame::ToolCancel { id, reason }),
    ]
}

/// Bytes that are nearly frames: pieces of JSON and of our own words in any order.
fn rubble() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<Vec<u8>>(),
        json().prop_map(String::into_bytes),
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\ud800",
            "\"type\":",
            "\"session_claim\"",
            "\"tool_registry_snapshot\"",
            "\"tools\":[",
            "\"tool_call\"",
            "\"args\":{}",
            "\"session_id\":\"s\"",
            "\"protocol_version\":2",
        ])
        .prop_map(|word| word.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn frames_of_apps_come_back_as_they_went(frame in app_frame(), session in id()) {
        let is_registry = matches!(
            frame,
            AppFrame::ToolSnapshot(_) | AppFrame::ToolUpsert(_) | AppFrame::ToolRemove(_)
                | AppFrame::EventSnapshot(_) | AppFrame::EventUpsert(_) | AppFrame::EventRemove(_)
        );
        let text = Bytes::from(frame.encode(&session));
        let expected = Received::Frame { session_id: Some(session), frame: Ok(frame), is_registry };
        prop_assert_eq!(Received::decode(&text), expected);
    }

    #[test]
    fn progress_that_json_cannot_write_is_left_out(
        id in id(),
        number in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
    ) {
        let frame = AppFrame::ToolCallProgress { id: id.clone(), progress: Some(Number(number)), message: None };
        let bare = AppFrame::ToolCallProgress { id, progress: None, message: None };
        prop_assert_eq!(frame.encode("s"), bare.encode("s"));
    }

    #[test]
    fn first_frames_come_back_as_they_went(hello in hello()) {
        prop_assert_eq!(Received::decode(&Bytes::from(hello.encode())), Received::Hello(hello));
    }

    #[test]
    fn frames_of_the_daemon_come_back_as_they_went(frame in daemon_frame(), session in id()) {
        let reason = match &frame {
            DaemonFrame::ToolCancel { reason, .. } => Some(reason.clone()),
            DaemonFrame::Ack(_) | DaemonFrame::ToolCall { .. } => None,
        };
        let text = Bytes::from(frame.encode(&session));
        let expected = DaemonReceived::Frame { session_id: Some(session), frame: Ok(Some(frame)), reason };
        prop_assert_eq!(DaemonReceived::decode(&text), expected);
    }

    #[test]
    fn no_bytes_are_too_strange_for_a_decoder(bytes in prop_oneof![any::<Vec<u8>>(), rubble()]) {
        let bytes = Bytes::from(bytes);
        let (from_app, from_daemon) = (Received::decode(&bytes), DaemonReceived::decode(&bytes));
        let is_object = serde_json::from_slice::<&serde_json::value::RawValue>(&bytes).is_ok_and(|raw| raw.get().starts_with('{'));
        prop_assert_eq!(from_app == Received::NotAnObject, !is_object);
        prop_assert_eq!(from_daemon == DaemonReceived::NotAnObject, !is_object);
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(raw) = RawJson::parse(&text) {
            prop_assert_eq!(ToolDescriptor::parse(&raw).is_ok(), ToolDescriptor::for_app(&raw).is_ok());
            prop_assert_eq!(EventDescriptor::parse(&raw).is_ok(), EventDescriptor::for_app(&raw).is_ok());
        }
        if let Ok(pin) = text.parse::<Pin>() {
            prop_assert_eq!(pin.to_string().parse(), Ok(pin));
        }
        if let Ok(group) = text.parse::<Group>() {
            prop_assert_eq!(group.as_str(), text.as_ref());
        }
        prop_assert!(DeepLink::parse(&text).is_none() || text.contains('?'));
        prop_assert!(Close::new(1008, &text).reason.len() <= 123);
    }

    #[test]
    fn bytes_that_decode_as_a_payload_encode_as_one(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        use base64::Engine;
        let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        for family in [4, 6] {
            let payload = engine.encode([&[2, family], bytes.as_slice()].concat());
            if let Ok(decoded) = Bootstrap::decode(&payload) {
                prop_assert_eq!(decoded.encode(), Ok(payload));
            }
        }
    }

    #[test]
    fn raw_json_passes_byte_for_byte(value in json(), space in "[ \t\r\n]{0,3}") {
        let parsed = RawJson::parse(&format!("{space}{value}{space}")).expect("it is JSON");
        prop_assert_eq!(parsed.as_str(), value.as_str());
        let frame = format!(
            r#"{space}{{"result" :{space}{value}{space},"id":"c","session_id":"s","type":"tool_result"}}{space}"#
        );
        let received = Received::decode(&Bytes::from(frame));
        let Received::Frame { frame: Ok(AppFrame::ToolResult { result, .. }), .. } = received else {
            panic!("{received:?} is a result")
        };
        prop_assert_eq!(result.as_str(), value.as_str());
        prop_assert_eq!(serde_json::to_string(&result).expect("raw JSON is JSON"), value);
    }

    #[test]
    fn a_descriptor_for_the_wire_is_one_for_the_daemon(tool in tool(), event in event()) {
        let sent = ToolDescriptor::for_app(tool.raw()).expect("it was valid before");
        prop_assert_eq!(&ToolDescriptor::parse(sent.raw()).expect("it is valid"), &sent);
        prop_assert!(sent.timeout_ms.is_none_or(|ms| (MIN_TOOL_TIMEOUT_MS..=MAX_TOOL_TIMEOUT_MS).contains(&ms)));
        prop_assert!(Fields::parse(sent.raw().as_str()).expect("it is an object").get("extra").is_none());
        prop_assert_eq!((&sent.name, &sent.input_schema, &sent.group), (&tool.name, &tool.input_schema, &tool.group));
        let sent = EventDescriptor::for_app(event.raw()).expect("it was valid before");
        prop_assert_eq!(EventDescriptor::parse(sent.raw()).expect("it is valid"), sent);
    }

    #[test]
    fn payloads_and_links_come_back_as_they_went(
        address in any::<IpAddr>(),
        port in 1_u16..,
        session_id in any::<String>().prop_map(|text| bounded(&format!("s{text}"), 60)),
        token in any::<[u8; 32]>(),
        expires_at in any::<u64>(),
        pin in prop::option::of(any::<Vec<u8>>().prop_map(|key| Pin::of_spki(&key))),
        scheme in "[a-zA-Z][a-zA-Z0-9+.-]{0,20}",
    ) {
        let bootstrap = Bootstrap { address, port, session_id, token, expires_at };
        let payload = bootstrap.encode().expect("it keeps every rule");
        let link = DeepLink { payload, pin };
        let parsed = DeepLink::parse(&link.compose(&scheme).expect("it is a scheme"));
        prop_assert_eq!(parsed.as_ref(), Some(&link));
        prop_assert_eq!(Bootstrap::decode(&link.payload), Ok(bootstrap));
        prop_assert_eq!(address_text(address).parse(), Ok(address));
        prop_assert!(!address_text(address).contains('.') || address.is_ipv4());
    }

    #[test]
    fn groups_sort_as_their_segments_do(mut groups in prop::collection::vec(group(), 0..12)) {
        let mut parsed: Vec<Group> = groups.iter().map(|group| group.parse().expect("it is a group")).collect();
        parsed.sort();
        groups.sort_by_key(|group| group.split('/').map(str::to_owned).collect::<Vec<_>>());
        prop_assert_eq!(parsed.iter().map(Group::as_str).collect::<Vec<_>>(), groups);
    }

    #[test]
    fn a_group_covers_what_its_path_begins(a in group(), b in group(), same_top in any::<bool>()) {
        let b = if same_top { format!("{}/{}", a.split('/').next().unwrap_or_default(), b.split('/').next().unwrap_or_default()) } else { b };
        let (outer, inner): (Group, Group) = (a.parse().expect("a group"), b.parse().expect("a group"));
        prop_assert_eq!(outer.covers(&inner), b == a || b.starts_with(&format!("{a}/")));
    }
}
