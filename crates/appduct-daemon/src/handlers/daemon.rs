//! `daemon.status`

use std::collections::BTreeMap;

use appduct_proto::Now;
use appduct_proto::host::{self, Decision};
use appduct_rpc::methods::{Policy, Status};

use super::reply;
use crate::clock::iso;
use crate::config::decision_name;
use crate::state::State;

/// What this daemon is and does.
pub(super) fn status(state: &State, now: Now) -> Status {
    let facts = &state.facts;
    Status {
        version: facts.version.clone(),
        pid: std::process::id(),
        started_at: iso(facts.started.wall),
        wss_port: facts.wss_port,
        web_port: Some(facts.web_port),
        pinned_keys: vec![facts.pin.to_string()],
        sessions: state.host.sessions().into_iter().map(reply::session).collect(),
        pending_links: Some(state.host.pending_links(now) as u64),
        policy: policy(state.host.policy()),
        audit: state.audit.status(),
        uptime_seconds: Some(now.mono.since(facts.started.mono).as_secs()),
        calls_served: Some(state.calls_served),
        calls_in_flight: Some(state.host.calls_in_flight() as u64),
        persist_sessions: Some(state.saver.works()),
        failed_saves: Some(state.saver.failed()),
        config_fault: state.policy_file.fault().map(str::to_owned),
        resident_bytes: resident_bytes(),
        open_sockets: Some(state.host.open_sockets() as u64),
    }
}

fn policy(policy: &host::Policy) -> Policy {
    let named = |decision: Decision| decision_name(decision).to_owned();
    let tools: BTreeMap<_, _> = policy.tools.iter().map(|(name, &decision)| (name.clone(), named(decision))).collect();
    let groups: BTreeMap<_, _> =
        policy.groups.iter().map(|(group, &decision)| (group.to_string(), named(decision))).collect();
    Policy {
        default: named(policy.default),
        destructive: named(policy.destructive),
        tools: (!tools.is_empty()).then_some(tools),
        groups: (!groups.is_empty()).then_some(groups),
    }
}

/// What Linux says; other systems have no file to ask.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn resident_memory_is_known() {
        assert!(super::resident_bytes().unwrap() > 100_000);
    }
}
