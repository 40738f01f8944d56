//! The document that records are kept in.

use proptest::prelude::*;

use super::*;

/// A document that a daemon of version 1 wrote; it must be read for ever.
const V1: &str = include_str!("../../../../../fixtures/sessions-v1.json");

/// Bytes that count up from this one, as tokens are written.
fn counted(first: u8) -> String {
    use base64::Engine;
    let bytes: Vec<u8> = (first..first + 32).collect();
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}

fn decoded(text: &str) -> Result<Records, RecordsFault> {
    Records::decode(text.as_bytes())
}

/// A host that took over from that daemon a minute later.
fn v1() -> World {
    let mut world = World::persistent();
    world.now.wall = Timestamp(1_700_000_060_000);
    let records = decoded(V1).unwrap();
    assert_eq!((records.session_count(), records.link_count()), (3, 1));
    world.act(|host, now| host.restore(now, records));
    world
}

#[test]
fn the_first_version_loads_and_its_apps_come_back() {
    let world = v1();
    let shown: Vec<_> = world.host.sessions().into_iter().map(|session| (session.alias, session.suspended)).collect();
    assert_eq!(
        shown,
        [
            ("pixel-8".to_owned(), Some((Timestamp(1_700_000_060_000), SuspendReason::ConnectionLost))),
            ("pixel-8-2".to_owned(), Some((Timestamp(1_699_999_990_000), SuspendReason::AppBackgrounded))),
            ("safari".to_owned(), Some((Timestamp(1_700_000_060_000), SuspendReason::ConnectionLost))),
        ]
    );
    for (session, token) in [("AAAAAAAAAAAAAAAA", 0), ("BBBBBBBBBBBBBBBB", 32), ("BBBBBBBBBBBBBBBB", 64)] {
        let mut world = v1();
        let socket = world.connect();
        world.resume(socket, session, &counted(token));
        world.save_all();
        assert!(world.acks.contains_key(&socket), "{session} with {token}");
    }
    for (session, transport, token) in
        [("CCCCCCCCCCCCCCCC", Transport::Web, 128), ("DDDDDDDDDDDDDDDD", Transport::Native, 160)]
    {
        let mut world = v1();
        let socket = world.connect_by(transport);
        world.claim(socket, session, &counted(token));
        world.save_all();
        assert!(world.acks.contains_key(&socket), "{session} with {token}");
    }
}

#[test]
fn a_document_is_read_as_it_was_written() {
    let mut world = World::persistent();
    let mut app = world.app(&[]);
    world.claimed_by(Transport::Web);
    world.link();
    world.reconnect(&mut app);
    world.gone(app.socket, Some(CloseReason::AppBackgrounded.into()));
    let records = world.host.records(world.now);
    assert_eq!(decoded(&records.encode()).unwrap(), records);
    assert_eq!((records.session_count(), records.link_count()), (2, 1));
}

#[test]
fn fields_that_we_do_not_know_are_ignored() {
    let mut document: Value = serde_json::from_str(V1).unwrap();
    document["more"] = json!({ "a": [1] });
    document["sessions"][0]["more"] = json!(1);
    document["sessions"][0]["device"]["more"] = json!(1);
    document["links"][0]["more"] = json!(null);
    assert_eq!(decoded(&document.to_string()), decoded(V1));
}

#[test]
fn a_newer_version_is_told_from_a_broken_document() {
    assert_eq!(decoded(r#"{"version":2}"#), Err(RecordsFault::NewerVersion(2)));
    assert_eq!(decoded(r#"{"version":3,"sessions":"another shape"}"#), Err(RecordsFault::NewerVersion(3)));
    for broken in ["", "{", "[]", "null", "{}", r#"{"version":"1"}"#, r#"{"version":0}"#, r#"{"version":1}"#, "\u{0}"] {
        assert_eq!(decoded(broken), Err(RecordsFault::Broken), "{broken}");
    }
    assert_eq!(decoded(" [2]"), Err(RecordsFault::Broken), "an array is no document of a newer version");
    assert_eq!(Records::decode(b"\xff"), Err(RecordsFault::Broken));
    assert_eq!(decoded(&V1[..V1.len() / 2]), Err(RecordsFault::Broken));
}

#[test]
fn records_that_make_no_sense_are_broken() {
    for (pointer, value) in [
        ("/sessions/0/sessionId", json!("")),
        ("/sessions/0/alias", json!("x".repeat(129))),
        ("/sessions/0/resumeTokenSha256", json!("AAAA")),
        ("/sessions/0/transport", json!("smoke")),
        ("/sessions/0/createdAtMs", json!(-1)),
        ("/links/0/sessionId", json!("")),
    ] {
        let mut document: Value = serde_json::from_str(V1).unwrap();
        *document.pointer_mut(pointer).unwrap() = value;
        assert_eq!(decoded(&document.to_string()), Err(RecordsFault::Broken), "{pointer}");
    }
}

#[test]
fn extreme_numbers_and_doubled_names_restore_without_harm() {
    let mut document: Value = serde_json::from_str(V1).unwrap();
    for pointer in [
        "/written/wallMs",
        "/written/monoMs",
        "/sessions/0/createdAtMs",
        "/sessions/0/claimedAtMs",
        "/sessions/0/lastEventSeq",
        "/sessions/1/suspended/sinceMs",
        "/sessions/1/suspended/graceLeftMs",
        "/sessions/2/instead/claim/leftMs",
        "/links/0/createdAtMs",
        "/links/0/ttlMs",
        "/links/0/leftMs",
    ] {
        *document.pointer_mut(pointer).unwrap() = json!(u64::MAX);
    }
    document["sessions"][1]["alias"] = json!("pixel-8");
    document["links"][0]["sessionId"] = json!("AAAAAAAAAAAAAAAA");
    let mut world = World::persistent();
    let records = decoded(&document.to_string()).unwrap();
    world.act(|host, now| host.restore(now, records));
    let sessions = world.host.sessions();
    let aliases: Vec<_> = sessions.iter().map(|session| session.alias.as_str()).collect();
    assert_eq!(aliases, ["pixel-8", "safari"]);
    assert!(sessions.iter().all(|session| session.created_at.0 < 253_402_300_800_000));
    let again = world.host.records(world.now);
    assert_eq!(decoded(&again.encode()).unwrap(), again);
    world.pass(secs(601));
    assert_eq!(world.host.sessions(), []);
}

#[test]
fn no_token_is_in_the_document_and_no_digest_in_debug() {
    let mut world = World::persistent();
    let link = world.link();
    let app = world.claimed();
    let records = world.host.records(world.now);
    let document = records.encode();
    for token in [link.bootstrap.token_text(), world.token(&app)] {
        assert!(!document.contains(&token));
    }
    let written: Value = serde_json::from_str(&document).unwrap();
    let digest = written["sessions"][0]["resumeTokenSha256"].as_str().unwrap();
    assert!(!format!("{records:?}").contains(digest));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>, cut in 0..2_000_usize, with: u8) {
        drop(Records::decode(&bytes));
        let mut document = V1.as_bytes().to_vec();
        let cut = cut % document.len();
        document[cut] = with;
        if let Ok(records) = Records::decode(&document) {
            let mut world = World::persistent();
            world.act(|host, now| host.restore(now, records));
            world.pass(secs(10_000));
        }
    }
}
