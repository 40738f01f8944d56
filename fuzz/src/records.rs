//! The document that a host leaves behind, after whatever happened to it on disk.

use std::collections::BTreeSet;

use appduct_proto::host::{Host, Output, Records, RecordsFault, SessionSummary, Settings};
use appduct_proto::{Moment, Now, Timestamp};
use serde_json::Value;

use crate::json::plain;

/// The version that is written.
const VERSION: u64 = 1;

/// Reads the bytes as a document and starts a host from it.
pub fn target(data: &[u8]) {
    let decoded = Records::decode(data);
    if let Err(RecordsFault::NewerVersion(version)) = decoded {
        assert!(version > VERSION);
        assert!(plain(data).is_none_or(|value| value.get("version").and_then(Value::as_u64) == Some(version)));
    }
    let Ok(records) = decoded else { return };
    assert_eq!(Records::decode(records.encode().as_bytes()).as_ref(), Ok(&records));
    let (sessions, links) = (records.session_count(), records.link_count());
    let now = Now { mono: Moment(5_000), wall: Timestamp(1_700_000_000_000) };
    let mut host = Host::new(Settings { persist: true, ..Settings::default() }, [7; 32]);
    host.restore(now, records);
    let shown = host.sessions();
    assert!(shown.len() <= sessions && host.pending_links(now) <= links);
    assert!(shown.iter().all(|session| session.suspended.is_some() && session.tool_count == 0));
    let aliases: BTreeSet<_> = shown.iter().map(|session| session.alias.as_str()).collect();
    assert_eq!(aliases.len(), shown.len(), "two sessions share an alias");
    for SessionSummary { session_id: name, .. } in &shown {
        // An alias may be the id of another session; the older one goes first.
        let first = shown.iter().find(|session| session.session_id == *name || session.alias == *name);
        assert_eq!(host.session(Some(name)).ok().as_ref(), first);
    }
    wait_for_the_end(&mut host, now);
}

/// Nobody comes back: everything that was restored ends by itself.
fn wait_for_the_end(host: &mut Host, mut now: Now) {
    loop {
        match host.poll_output() {
            Output::Idle { until: None } => break,
            Output::Idle { until: Some(until) } => {
                assert!(until > now.mono, "a deadline stays due");
                now = Now { mono: until, wall: now.wall + until.since(now.mono) };
                host.handle_timeout(now);
            }
            Output::Save { generation, .. } => host.handle_saved(now, generation, true),
            Output::Event(event) => assert_eq!(event.seq, 0),
            Output::Send { .. }
            | Output::Ping { .. }
            | Output::Close { .. }
            | Output::Terminate { .. }
            | Output::CallFinished(_) => panic!("there is nobody to talk to"),
        }
    }
    assert!(host.sessions().is_empty() && host.pending_links(now) == 0);
}
