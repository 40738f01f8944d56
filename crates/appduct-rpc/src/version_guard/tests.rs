//! What passes, what is replaced, what is refused.

use super::*;

const TERMS: Terms<'_> = Terms { client_version: "1.1.0", force: false };

fn facts(status: &str) -> Facts {
    serde_json::from_str(status).unwrap()
}

#[test]
fn the_same_version_passes_whatever_is_at_stake() {
    for version in ["1.1.0", "1.1", "1.1.0+build"] {
        let facts = facts(&format!(r#"{{"version":"{version}","sessions":[{{}}],"pendingLinks":2}}"#));
        assert_eq!(facts.verdict(TERMS), Verdict::Pass(Outcome::Same));
    }
}

#[test]
fn a_newer_daemon_and_one_without_order_pass_with_a_notice_that_names_both() {
    for version in ["1.2.0", "2", "dev"] {
        let Verdict::Pass(outcome) = facts(&format!(r#"{{"version":"{version}"}}"#)).verdict(TERMS) else { panic!() };
        assert!(matches!(outcome, Outcome::NotOlder { .. }));
        let notice = outcome.to_string();
        assert!(notice.contains(version) && notice.contains("1.1.0"), "{notice}");
    }
}

#[test]
fn an_older_daemon_is_replaced_if_nothing_is_lost() {
    for (status, verdict) in [
        (r#"{"version":"1.0.0"}"#, Verdict::Replace),
        (r#"{"version":"1.0.0","sessions":[],"pendingLinks":0}"#, Verdict::Replace),
        (r#"{"version":"1.1.0-rc.1","sessions":[]}"#, Verdict::Replace),
        (r#"{"version":"1.0.0","sessions":[{"sessionId":"a"}]}"#, Verdict::Refuse),
        (r#"{"version":"1.0.0","sessions":[],"pendingLinks":1}"#, Verdict::Refuse),
        // Sessions that outlive their daemon are lost to nobody, a call in flight is.
        (r#"{"version":"1.0.0","sessions":[{}],"persistSessions":true,"callsInFlight":0}"#, Verdict::Replace),
        (r#"{"version":"1.0.0","sessions":[{}],"persistSessions":true,"callsInFlight":1}"#, Verdict::Refuse),
        (r#"{"version":"1.0.0","sessions":[{}],"persistSessions":true}"#, Verdict::Refuse),
        (r#"{"version":"1.0.0","sessions":[{}],"persistSessions":false,"callsInFlight":0}"#, Verdict::Refuse),
        (
            r#"{"version":"1.0.0","sessions":[{}],"persistSessions":true,"callsInFlight":0,"pendingLinks":1}"#,
            Verdict::Refuse,
        ),
    ] {
        assert_eq!(facts(status).verdict(TERMS), verdict, "{status}");
        assert_eq!(facts(status).verdict(Terms { force: true, ..TERMS }), Verdict::Replace, "{status}");
    }
}

#[test]
fn the_refusal_names_versions_stakes_and_both_ways_out() {
    let drift = facts(r#"{"version":"1.0.0","sessions":[{},{}],"pendingLinks":1}"#).drift(TERMS);
    let text = drift.to_string();
    for part in ["1.0.0", "1.1.0", "2 sessions", "1 pending link;", "`appduct daemon stop`", "--daemon-restart"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(
        serde_json::to_string(&drift).unwrap(),
        r#"{"daemon_version":"1.0.0","client_version":"1.1.0","session_count":2,"pending_link_count":1}"#
    );
}

#[test]
fn the_flag_decides_then_the_environment_then_the_configuration() {
    let temp = tempfile::tempdir().unwrap();
    let state_dir = StateDir::new(temp.path());
    let env = |value: &'static str| Some(OsStr::new(value));
    assert!(!force(None, None, &state_dir));
    for (flag, value, forced) in [
        (None, env("1"), true),
        (None, env("TRUE"), true),
        (None, env("yes"), false),
        (None, env("0"), false),
        (Some(false), env("1"), false),
        (Some(true), env("0"), true),
    ] {
        assert_eq!(force(flag, value, &state_dir), forced, "{flag:?} {value:?}");
    }
    for (config, forced) in [
        (r#"{"restartDaemonOnVersionMismatch":true}"#, true),
        (r#"{"restartDaemonOnVersionMismatch":"true"}"#, false),
        ("{", false),
    ] {
        fs::write(state_dir.config(), config).unwrap();
        assert_eq!(force(None, None, &state_dir), forced, "{config}");
        assert!(!force(Some(false), None, &state_dir));
    }
}
