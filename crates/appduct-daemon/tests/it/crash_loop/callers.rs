//! Clients that call and listen until their daemon dies.

use serde_json::json;

use super::{Chance, Stage, ledger};
use crate::harness::Control;

/// Calls whatever is there, some calls at a time, each once.
pub(super) fn run(stage: &Stage, caller: u64, chance: &mut Chance) {
    let mut known = u64::MAX;
    while let Some(life) = stage.life.next(known) {
        known = life;
        let mut results = Vec::new();
        if let Some(mut control) = Control::try_connect(&stage.paths.socket()) {
            while call_some(stage, &mut control, caller, chance, &mut results).is_some() && stage.life.now() == life {}
        }
        stage.ledger.heard(results);
    }
}

/// `None` when the daemon is gone.
fn call_some(
    stage: &Stage,
    control: &mut Control,
    caller: u64,
    chance: &mut Chance,
    results: &mut Vec<u64>,
) -> Option<()> {
    let sessions = control.try_call("sessions.list", json!({}))?.unwrap();
    let active: Vec<_> = sessions.as_array().unwrap().iter().filter(|session| session["state"] == "active").collect();
    if active.is_empty() {
        std::thread::yield_now();
        return Some(());
    }
    let mut open = Vec::new();
    for _ in 0..=chance.below(6) {
        let session = &active[chance.below(active.len() as u64) as usize]["sessionId"];
        let selector = if chance.percent(5) { json!(format!("nobody-{caller}")) } else { session.clone() };
        let number = stage.ledger.number();
        let params = json!({"selector": selector, "name": "work", "args": {"n": number}, "timeoutMs": 60_000});
        open.push((control.try_request("tools.call", params)?, number));
    }
    while !open.is_empty() {
        let reply = control.try_value()?;
        let Some(place) = open.iter().position(|(id, _)| reply["id"] == *id) else { continue };
        let (_, number) = open.swap_remove(place);
        match reply.get("error") {
            None => {
                assert_eq!(reply["result"]["result"], json!({"did": number}), "the result of another call");
                results.push(number);
                stage.step();
            }
            Some(error) => {
                let kind = error["data"]["type"].as_str().unwrap();
                assert!(
                    ["session_suspended", "unknown_session", "tool_not_found", "session_not_active"].contains(&kind),
                    "{error}"
                );
            }
        }
    }
    Some(())
}

/// One call that must be answered.
pub(super) fn call_once(stage: &Stage, control: &mut Control, selector: &str) {
    let number = stage.ledger.number();
    let args: serde_json::Value = serde_json::from_str(ledger::args(number).as_str()).unwrap();
    let params = json!({"selector": selector, "name": "work", "args": args});
    assert_eq!(control.call("tools.call", params).unwrap()["result"], json!({"did": number}));
    stage.ledger.heard(vec![number]);
}

/// Hears every event, and each session's own in order.
pub(super) fn listen(stage: &Stage) {
    let mut known = u64::MAX;
    while let Some(life) = stage.life.next(known) {
        known = life;
        let Some(mut control) = Control::try_connect(&stage.paths.socket()) else { continue };
        if control.try_request("events.subscribe", json!({})).is_none() {
            continue;
        }
        let mut last = std::collections::BTreeMap::<String, u64>::new();
        while stage.life.now() == life
            && let Some(value) = control.try_value()
        {
            let event = &value["params"];
            if event["kind"] == "app_event" {
                let (session, seq) = (event["sessionId"].as_str().unwrap(), event["seq"].as_u64().unwrap());
                let before = last.insert(session.to_owned(), seq);
                assert!(before.is_none_or(|before| before + 1 == seq), "{before:?}, then {event}");
                stage.step();
            }
        }
    }
}
