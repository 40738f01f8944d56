//! Selectors, revocation, and the policy of calls.

use super::*;

fn revoke(world: &mut World, selector: Option<&str>) -> Result<(), Refusal> {
    world.act(|host, now| host.revoke(now, selector))
}

fn unknown(selector: &str) -> Refusal {
    Refusal::UnknownSession { selector: selector.to_owned() }
}

#[test]
fn without_a_selector_the_only_session_is_meant() {
    let mut world = World::new();
    assert_eq!(world.host.session(None), Err(Refusal::NoSession));
    let first = world.claimed();
    assert_eq!(world.host.session(None).unwrap().session_id, first.session);
    world.claimed();
    let aliases = vec!["pixel-8".to_owned(), "pixel-8-2".to_owned()];
    assert_eq!(world.host.session(None), Err(Refusal::AmbiguousSession { aliases }));
}

#[test]
fn a_selector_is_an_exact_id_or_alias() {
    let mut world = World::new();
    let (first, second) = (world.claimed(), world.claimed());
    assert_eq!(world.host.session(Some(&first.session)).unwrap().alias, "pixel-8");
    assert_eq!(world.host.session(Some("pixel-8-2")).unwrap().session_id, second.session);
    for selector in ["pixel", "Pixel-8", "", " pixel-8"] {
        assert_eq!(world.host.session(Some(selector)), Err(unknown(selector)));
    }
}

#[test]
fn suspended_sessions_count_as_live() {
    let mut world = World::new();
    let first = world.claimed();
    world.drop_socket(first.socket);
    assert_eq!(world.host.session(None).unwrap().session_id, first.session);
    world.claimed();
    assert!(matches!(world.host.session(None), Err(Refusal::AmbiguousSession { .. })));
}

#[test]
fn a_pending_link_is_no_session() {
    let mut world = World::new();
    let link = world.link();
    assert_eq!(world.host.session(None), Err(Refusal::NoSession));
    assert_eq!(world.host.session(Some(&link.session_id)), Err(unknown(&link.session_id)));
}

#[test]
fn a_revoked_session_is_closed_and_gone() {
    let mut world = World::new();
    let mut app = world.app(&[tool("sum")]);
    world.call("sum", "{}").unwrap();
    world.log();
    revoke(&mut world, None).unwrap();
    world.expect(&[
        "close 1: 1000 revoked",
        "event pixel-8 session_revoked",
        "event pixel-8 tool_call_finished sum session gone (0 ms)",
        "answer sum session gone (0 ms)",
    ]);
    world.gone(app.socket, None);
    world.expect(&[]);
    assert_eq!(world.until, None);
    assert_eq!(world.host.session(Some(&app.session)), Err(unknown(&app.session)));
    assert_eq!(world.host.events_since(Some(&app.session), &EventQuery::default()), Err(unknown(&app.session)));
    world.reconnect(&mut app);
    world.expect(&["close 2: 1008 unknown_session"]);
}

#[test]
fn a_suspended_session_can_be_revoked() {
    let mut world = World::new();
    let app = world.claimed();
    world.drop_socket(app.socket);
    world.log();
    revoke(&mut world, Some("pixel-8")).unwrap();
    world.expect(&["event pixel-8 session_revoked"]);
    assert_eq!(world.until, None);
}

#[test]
fn frames_of_a_revoked_session_are_ignored() {
    let mut world = World::new();
    let app = world.claimed();
    revoke(&mut world, None).unwrap();
    world.log();
    world.frame(&app, "event", json!({ "name": "n", "ts": 1 }));
    world.expect(&[]);
}

#[test]
fn a_pending_link_is_revoked_by_its_exact_id_only() {
    let mut world = World::new();
    let link = world.link();
    world.log();
    assert_eq!(revoke(&mut world, None), Err(Refusal::NoSession));
    assert_eq!(revoke(&mut world, Some("other")), Err(unknown("other")));
    revoke(&mut world, Some(&link.session_id)).unwrap();
    world.expect(&["event - session_revoked"]);
    assert_eq!(world.host.pending_links(world.now), 0);
    assert_eq!(world.until, None);
    let socket = world.connect();
    world.claim(socket, &link.session_id, &link.bootstrap.token_text());
    world.expect(&["close 1: 1008 unknown_session"]);
}

#[test]
fn an_expired_link_cannot_be_revoked() {
    let mut world = World::new();
    let link = world.link();
    world.pass(LINK_TTL);
    assert_eq!(revoke(&mut world, Some(&link.session_id)), Err(unknown(&link.session_id)));
}

fn denying(default: Decision) -> World {
    World::with(Settings { policy: Policy { default, ..Policy::default() }, ..Settings::default() })
}

#[test]
fn a_denied_call_is_told_as_an_event_and_sends_nothing() {
    for (decision, reason) in
        [(Decision::Deny, DeniedReason::Policy), (Decision::Prompt, DeniedReason::NoConsentChannel)]
    {
        let mut world = denying(decision);
        world.app(&[tool("sum")]);
        let denied = Refusal::PolicyDenied { tool: "sum".to_owned(), alias: "pixel-8".to_owned(), reason };
        assert_eq!(world.call("sum", "{}"), Err(denied.clone()));
        world.expect(&["event pixel-8 tool_call_denied sum"]);
        assert_eq!(world.host.call_target(&request("sum", "{}")), Err(denied));
        world.expect(&[]);
    }
}

#[test]
fn consent_lets_a_prompt_pass_and_a_denial_stand() {
    for (decision, passes) in [(Decision::Prompt, true), (Decision::Deny, false)] {
        let mut world = denying(decision);
        world.app(&[tool("sum")]);
        let made = world.request(CallRequest { consent: true, ..request("sum", "{}") });
        assert_eq!(made.is_ok(), passes, "{decision:?}");
    }
}

#[test]
fn a_new_policy_leaves_calls_in_flight_alone() {
    let mut world = World::new();
    let app = world.app(&[tool("sum")]);
    let call = world.call("sum", "{}").unwrap();
    world.host.set_policy(Policy { default: Decision::Deny, ..Policy::default() });
    assert!(world.call("sum", "{}").is_err());
    world.log();
    world.result(&app, &call, json!(1));
    world.expect(&["event pixel-8 tool_call_finished sum result 1 (0 ms)", "answer sum result 1 (0 ms)"]);
}

#[test]
fn a_call_target_names_what_a_call_would_reach() {
    let mut world = denying(Decision::Prompt);
    let app = world.app(&[tool("sum")]);
    let target = world.host.call_target(&CallRequest { consent: true, ..request("sum", "{}") }).unwrap();
    assert_eq!((target.session_id, target.alias, target.policy), (app.session, "pixel-8".to_owned(), Decision::Prompt));
    assert_eq!(target.tool.name.as_str(), "sum");
}
