//! The rules of parameters, and replies there and back.

use std::time::Duration;

use super::*;

fn parse<M: Method>(params: &str) -> Result<M, String> {
    M::parse(&Fields::parse(params).unwrap()).map_err(|fault| fault.to_string())
}

/// Every refusal names its field.
fn refuses<M: Method + std::fmt::Debug>(base: &str, field: &str, values: &[&str]) {
    for value in values {
        let params = format!(r#"{{{base}"{field}":{value}}}"#);
        let refusal = parse::<M>(&params).expect_err(&params);
        assert!(refusal.contains(&format!("\"{field}")), "{params}: {refusal}");
    }
}

fn there_and_back<M: Method + PartialEq + std::fmt::Debug>(method: &M, params: &str) {
    assert_eq!(method.params().as_str(), params);
    assert_eq!(&parse::<M>(params).unwrap(), method);
}

#[test]
fn parameters_go_there_and_back_and_absent_ones_are_left_out() {
    there_and_back(&DaemonStatus, "{}");
    there_and_back(&DaemonShutdown, "{}");
    there_and_back(&SessionsList, "{}");
    there_and_back(&LinkCreate::default(), "{}");
    there_and_back(
        &LinkCreate {
            ttl_seconds: Some(60),
            address_override: Some("10.0.0.2".into()),
            transport: Some(LinkTransport::Web),
        },
        r#"{"ttlSeconds":60,"addressOverride":"10.0.0.2","transport":"web"}"#,
    );
    there_and_back(
        &WebAttach {
            url: "http://localhost:3000".into(),
            browser_url: "http://127.0.0.1:9222".into(),
            target_id: Some("T1".into()),
            ttl_seconds: Some(5),
        },
        r#"{"url":"http://localhost:3000","browserUrl":"http://127.0.0.1:9222","targetId":"T1","ttlSeconds":5}"#,
    );
    there_and_back(&SessionsDescribe { selector: Some("pixel-8".into()) }, r#"{"selector":"pixel-8"}"#);
    there_and_back(&SessionsRevoke { selector: Some("pixel \"8\"".into()) }, r#"{"selector":"pixel \"8\""}"#);
    there_and_back(
        &ToolsList {
            selector: Some("a".into()),
            group: Some("checkout/payment".parse().unwrap()),
            filter: Some("cart".into()),
            limit: Some(5),
            offset: Some(10),
        },
        r#"{"selector":"a","group":"checkout/payment","filter":"cart","limit":5,"offset":10}"#,
    );
    there_and_back(
        &ToolsCall {
            selector: None,
            name: "add".into(),
            args: RawJson::parse(r#"{"a" : 1.0, "b":"\ud800"}"#).unwrap(),
            timeout_ms: Some(1500.0),
            caller: Some(Caller::Mcp),
            consent: Some(Consent::Elicitation),
            validate: Some(false),
            follow: Some(true),
        },
        concat!(
            r#"{"name":"add","args":{"a" : 1.0, "b":"\ud800"},"timeoutMs":1500,"caller":"mcp","#,
            r#""consent":"elicitation","validate":false,"follow":true}"#
        ),
    );
    there_and_back(
        &ToolsCancel { selector: None, call_id: "call_1".into(), reason: Some("enough".into()) },
        r#"{"callId":"call_1","reason":"enough"}"#,
    );
    there_and_back(
        &EventsSubscribe {
            session_selector: Some("a".into()),
            kinds: Some(vec![EventKind::AppEvent, EventKind::ToolCallProgress]),
            name: Some("cart.*".into()),
            payload_max_bytes: Some(100),
        },
        concat!(
            r#"{"sessionSelector":"a","kinds":["app_event","tool_call_progress"],"name":"cart.*","#,
            r#""payloadMaxBytes":100}"#
        ),
    );
    there_and_back(
        &EventsSince {
            selector: Some("a".into()),
            since: Some(0),
            limit: Some(1),
            name: Some("*".into()),
            payload_max_bytes: Some(1),
        },
        r#"{"selector":"a","since":0,"limit":1,"name":"*","payloadMaxBytes":1}"#,
    );
    there_and_back(
        &EventsList { selector: Some("a".into()), name: Some("x".into()), limit: Some(2), offset: Some(0) },
        r#"{"selector":"a","name":"x","limit":2,"offset":0}"#,
    );
}

#[test]
fn null_is_never_absent() {
    refuses::<LinkCreate>("", "ttlSeconds", &["null"]);
    refuses::<LinkCreate>("", "addressOverride", &["null"]);
    refuses::<LinkCreate>("", "transport", &["null"]);
    refuses::<SessionsDescribe>("", "selector", &["null", "1"]);
    refuses::<SessionsRevoke>("", "selector", &["null"]);
    for field in ["selector", "group", "filter", "limit", "offset"] {
        refuses::<ToolsList>("", field, &["null"]);
    }
    for field in ["selector", "timeoutMs", "caller", "consent", "validate"] {
        refuses::<ToolsCall>(r#""name":"n","args":{},"#, field, &["null"]);
    }
    refuses::<ToolsCancel>(r#""callId":"c","#, "reason", &["null"]);
    for field in ["sessionSelector", "kinds", "name", "payloadMaxBytes"] {
        refuses::<EventsSubscribe>("", field, &["null"]);
    }
    for field in ["selector", "since", "limit", "name", "payloadMaxBytes"] {
        refuses::<EventsSince>("", field, &["null"]);
    }
    for field in ["selector", "name", "limit", "offset"] {
        refuses::<EventsList>("", field, &["null"]);
    }
}

#[test]
fn whole_numbers_follow_javascript() {
    let not_positive = ["0", "-1", "1.5", r#""60""#, "true", "[]", "1e400"];
    refuses::<LinkCreate>("", "ttlSeconds", &not_positive);
    refuses::<ToolsList>("", "limit", &not_positive);
    refuses::<EventsSince>("", "payloadMaxBytes", &not_positive);
    refuses::<ToolsList>("", "offset", &["-1", "0.5", r#""0""#]);
    refuses::<EventsSince>("", "since", &["-1", "0.5"]);
    for (text, seconds) in [("60", 60), ("60.0", 60), ("6e1", 60), ("1e21", u64::MAX)] {
        let link: LinkCreate = parse(&format!(r#"{{"ttlSeconds":{text}}}"#)).unwrap();
        assert_eq!(link.ttl_seconds, Some(seconds), "{text}");
    }
    assert_eq!(parse::<ToolsList>(r#"{"offset":-0}"#).unwrap().offset, Some(0));
}

#[test]
fn a_call_needs_a_name_and_an_object() {
    refuses::<ToolsCall>(r#""args":{},"#, "name", &[r#""""#, "1", "null"]);
    refuses::<ToolsCall>(r#""name":"n","#, "args", &["null", "[]", "1", r#""{}""#]);
    assert_eq!(parse::<ToolsCall>(r#"{"name":"n"}"#).unwrap_err(), "\"args\" is required");
    assert_eq!(parse::<ToolsCall>(r#"{"args":{}}"#).unwrap_err(), "\"name\" is required");
    let base = r#""name":"n","args":{},"#;
    refuses::<ToolsCall>(base, "timeoutMs", &[r#""1""#, "1e400", "true"]);
    refuses::<ToolsCall>(base, "caller", &[r#""root""#, r#""CLI""#, "1"]);
    refuses::<ToolsCall>(base, "consent", &[r#""yes""#, "true", "{}"]);
    refuses::<ToolsCall>(base, "validate", &["0", r#""false""#]);
    for (text, ms) in [("0", 0.0), ("-5", -5.0), ("1.5", 1.5), ("6e4", 60_000.0)] {
        let call: ToolsCall = parse(&format!(r#"{{{base}"timeoutMs":{text}}}"#)).unwrap();
        assert_eq!(call.timeout_ms, Some(ms));
    }
}

#[test]
fn the_consent_of_older_clients_is_none() {
    let call = |consent| parse::<ToolsCall>(&format!(r#"{{"name":"n","args":{{}},"consent":"{consent}"}}"#)).unwrap();
    assert_eq!(call("client").consent, None);
    assert_eq!(call("elicitation").consent, Some(Consent::Elicitation));
}

#[test]
fn a_caller_waits_five_seconds_longer_than_the_daemon() {
    let call = |timeout_ms| ToolsCall {
        selector: None,
        name: "n".into(),
        args: RawJson::empty_object(),
        timeout_ms,
        caller: None,
        consent: None,
        validate: None,
        follow: None,
    };
    for (timeout_ms, wait_ms) in [
        (None, 605_000),
        (Some(1.0), 6_000),
        (Some(2_500.9), 7_500),
        (Some(1e9), 605_000),
        (Some(f64::NAN), 605_000),
        (Some(f64::INFINITY), 605_000),
    ] {
        assert_eq!(call(timeout_ms).reply_timeout(), Duration::from_millis(wait_ms), "{timeout_ms:?}");
    }
    assert_eq!(call(Some(f64::NAN)).params().as_str(), r#"{"name":"n","args":{}}"#);
}

#[test]
fn groups_and_filters_keep_their_shape() {
    let long = format!(r#""{}""#, "g".repeat(65));
    refuses::<ToolsList>(
        "",
        "group",
        &["42", r#""""#, r#""checkout/""#, r#""/payment""#, r#""a//b""#, r#""a/b/c""#, r#""a b""#, r#""a\n""#, &long],
    );
    let emoji = |count| format!(r#"{{"filter":"{}"}}"#, "😀".repeat(count));
    assert!(parse::<ToolsList>(&emoji(128)).is_ok());
    assert!(parse::<ToolsList>(&emoji(129)).unwrap_err().contains("filter"));
    assert_eq!(parse::<ToolsList>(r#"{"filter":""}"#).unwrap().filter.as_deref(), Some(""));
}

#[test]
fn a_subscription_takes_known_kinds_only() {
    refuses::<EventsSubscribe>("", "kinds", &[r#""app_event""#, "{}", r#"["no_such"]"#, "[1]", "[null]"]);
    let refusal = parse::<EventsSubscribe>(r#"{"kinds":["app_event","no_such"]}"#).unwrap_err();
    assert!(refusal.contains("kinds[1]") && refusal.contains("tool_call_finished"), "{refusal}");
    assert_eq!(parse::<EventsSubscribe>(r#"{"kinds":[]}"#).unwrap().kinds, Some(vec![]));
    for kind in EventKind::ALL {
        let params = format!(r#"{{"kinds":["{}"]}}"#, kind.as_str());
        assert_eq!(parse::<EventsSubscribe>(&params).unwrap().kinds, Some(vec![*kind]));
    }
}

#[test]
fn unknown_parameters_are_ignored_and_the_last_of_two_counts() {
    let page: EventsSince = parse(r#"{"kinds":7,"limit":null,"limit":3}"#).unwrap();
    assert_eq!(page, EventsSince { limit: Some(3), ..EventsSince::default() });
}

#[test]
fn cancelling_takes_any_reason_that_an_app_takes() {
    refuses::<ToolsCancel>("", "callId", &[r#""""#, "1"]);
    assert_eq!(parse::<ToolsCancel>(r#"{"callId":"c","reason":""}"#).unwrap().reason, None);
    let long = format!(r#"{{"callId":"c","reason":"{}"}}"#, "x".repeat(4097));
    assert!(parse::<ToolsCancel>(&long).unwrap_err().contains("reason"));
}

#[test]
fn explaining_the_policy_needs_a_tool() {
    assert_eq!(parse::<PolicyExplain>("{}").unwrap_err(), "\"name\" is required");
    refuses::<PolicyExplain>("", "name", &[r#""""#, "null", "1"]);
    refuses::<PolicyExplain>(r#""name":"pay","#, "selector", &["null", "1"]);
    let method = PolicyExplain { selector: Some("x".to_owned()), name: "pay".to_owned() };
    assert_eq!(parse::<PolicyExplain>(method.params().as_str()), Ok(method));
}

#[test]
fn attaching_needs_both_addresses() {
    assert_eq!(parse::<WebAttach>("{}").unwrap_err(), "\"url\" is required");
    refuses::<WebAttach>(r#""url":"u","#, "browserUrl", &[r#""""#, "null"]);
    refuses::<WebAttach>(r#""url":"u","browserUrl":"b","#, "targetId", &[r#""""#, "null", "1"]);
}

#[test]
fn the_status_of_an_older_daemon_can_be_read() {
    let text = concat!(
        r#"{"version":"0.7.0","pid":42,"startedAt":"2026-03-17T10:00:00.000Z","wssPort":8443,"pinnedKeys":["p"],"#,
        r#""sessions":[{"sessionId":"s","alias":"a","state":"active","device":{},"createdAt":"c","claimedAt":"d","#,
        r#""toolCount":3}],"policy":{"default":"allow","destructive":"deny"},"audit":{"path":"/a","failedWrites":0}}"#
    );
    let status: Status = serde_json::from_str(text).unwrap();
    assert_eq!(status.pending_links, None);
    assert_eq!(status.audit.retention_days, None);
    assert_eq!(serde_json::to_string(&status).unwrap(), text);
}

#[test]
fn app_json_in_replies_is_kept_byte_for_byte() {
    for text in [
        r#"{"result":{"n": 1.0, "u":"\ud800\/"},"callId":"call_1"}"#,
        r#"{"result":null,"callId":"call_1"}"#,
        r#"{"result":1e400,"callId":"call_1"}"#,
    ] {
        let reply: CallResult = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&reply).unwrap(), text);
    }
    let text = r#"{"tools":[{"name":"a", "x":[ 1 ],"group":null}],"total":1,"groups":[{"group":null,"total":1}]}"#;
    let tools: Tools = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&tools).unwrap(), text);
}

#[test]
fn a_page_of_events_of_an_older_daemon_can_be_read() {
    let text =
        r#"{"events":[{"kind":"app_event","sessionId":"s","alias":"a","data":{"x": 1},"ts":5,"seq":1}],"cursor":1}"#;
    let page: EventPage = serde_json::from_str(text).unwrap();
    assert_eq!((page.dropped, page.remaining), (None, None));
    assert_eq!(serde_json::to_string(&page).unwrap(), text);
}

#[test]
fn a_links_token_is_not_in_its_debug_text() {
    let link = Link {
        session_id: "s".into(),
        deep_link_payload: "SECRET".into(),
        endpoint: LinkEndpoint { family: 4, address: "127.0.0.1".into(), port: 1 },
        expires_at: 1,
        pin: "p".into(),
    };
    assert!(!format!("{link:?}").contains("SECRET"));
}
