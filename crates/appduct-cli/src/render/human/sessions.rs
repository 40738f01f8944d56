//! The table of sessions.

use appduct_rpc::methods::{Session, SessionDevice};
use jiff::Timestamp;

use super::{Style, block, escape, table};
use crate::report::{Revoked, Sessions};

const HEADER: [&str; 5] = ["Alias", "State", "Device", "Tools", "Age"];
const STATE: usize = 1;
/// The column that gives way where a terminal is too narrow.
const DEVICE: usize = 2;

/// One row for each session.
pub(super) fn lines(report: &Sessions, style: Style) -> Vec<String> {
    if report.sessions.is_empty() {
        return vec![style.paint.dim("Sessions"), "  No Appduct sessions are registered.".to_owned()];
    }
    let header = HEADER.map(str::to_owned);
    let rows: Vec<_> =
        std::iter::once(header).chain(report.sessions.iter().map(|session| row(session, report.now_ms))).collect();
    let paint = |column: usize, text: &str| match (column, text) {
        (STATE, "active") => style.paint.green(text),
        (STATE, "suspended") => style.paint.yellow(text),
        _ => text.to_owned(),
    };
    let rows = table::lines(&rows, style.width, DEVICE, paint);
    std::iter::once(style.paint.green("Sessions")).chain(rows).collect()
}

/// The session that was waited for.
pub(super) fn active_lines(session: &Session, style: Style) -> Vec<String> {
    let text = |value: &str| Some(escape::line(value).into_owned());
    let mut lines = vec![style.paint.green("Session Active")];
    lines.extend(block(
        "Session",
        [
            ("Alias", text(&session.alias)),
            ("Device", text(&device(&session.device))),
            ("Tools", Some(session.tool_count.to_string())),
            ("Id", text(&session.session_id)),
        ],
    ));
    lines
}

fn row(session: &Session, now_ms: i64) -> [String; HEADER.len()] {
    let since = session.claimed_at.as_deref().unwrap_or(&session.created_at);
    let cells = [
        session.alias.clone(),
        session.state.clone(),
        device(&session.device),
        session.tool_count.to_string(),
        age(since, now_ms),
    ];
    cells.map(|cell| escape::line(&cell).into_owned())
}

fn device(device: &SessionDevice) -> String {
    let parts = [&device.manufacturer, &device.model].map(|part| part.as_deref().filter(|part| !part.is_empty()));
    let name = parts.iter().flatten().copied().collect::<Vec<_>>().join(" ");
    let name = if name.is_empty() { "unknown device".to_owned() } else { name };
    match device.os.as_deref().filter(|os| !os.is_empty()) {
        Some(os) => format!("{name} ({os})"),
        None => name,
    }
}

/// How long ago, in the largest unit that fits once.
fn age(since: &str, now_ms: i64) -> String {
    let Ok(since) = since.parse::<Timestamp>() else { return "?".to_owned() };
    let seconds = (now_ms - since.as_millisecond()).max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A session or a link that is over.
pub(super) fn revoked_lines(revoked: &Revoked, style: Style) -> Vec<String> {
    let text = |value: &Option<String>| value.as_deref().map(|value| escape::line(value).into_owned());
    let mut lines = vec![style.paint.green("Session Revoked")];
    lines.extend(block("Session", [("Alias", text(&revoked.alias)), ("Id", text(&revoked.session_id))]));
    lines
}

#[cfg(test)]
mod tests {
    use appduct_rpc::Kept;

    use super::super::Style;
    use super::*;

    const NOW: &str = "2026-03-17T10:01:30.000Z";

    fn session(alias: &str, model: &str) -> Session {
        Session {
            session_id: "s1".to_owned(),
            alias: alias.to_owned(),
            state: "active".to_owned(),
            device: SessionDevice {
                manufacturer: Some("Google".to_owned()),
                model: Some(model.to_owned()),
                os: Some("Android 14".to_owned()),
            },
            created_at: "2026-03-17T09:00:00.000Z".to_owned(),
            claimed_at: Some("2026-03-17T10:00:00.000Z".to_owned()),
            suspended_at: None,
            suspend_reason: None,
            tool_count: 3,
            tools_pending: false,
        }
    }

    fn check(sessions: Vec<Session>, expected: &[&str]) {
        let now_ms = NOW.parse::<Timestamp>().unwrap().as_millisecond();
        assert_eq!(lines(&Sessions { sessions: kept(&sessions), now_ms }, Style::new(false, false)), expected);
    }

    fn kept(sessions: &[Session]) -> Vec<Kept<Session>> {
        serde_json::from_str(&serde_json::to_string(sessions).unwrap()).unwrap()
    }

    #[test]
    fn a_state_has_its_colour() {
        let suspended = Session { state: "suspended".to_owned(), ..session("b", "x") };
        let sessions = kept(&[session("a", "x"), suspended]);
        let lines = lines(&Sessions { sessions, now_ms: 0 }, Style::new(true, false));
        assert!(lines[2].starts_with("  a      \u{1b}[32mactive\u{1b}[39m     Google"), "{lines:?}");
        assert!(lines[3].starts_with("  b      \u{1b}[33msuspended\u{1b}[39m  Google"), "{lines:?}");
        assert!(!lines[1].contains('\u{1b}'), "{lines:?}");
    }

    #[test]
    fn every_cell_is_padded() {
        check(
            vec![session("pixel-8", "Pixel 8")],
            &[
                "Sessions",
                "  Alias    State   Device                       Tools  Age",
                "  pixel-8  active  Google Pixel 8 (Android 14)  3      1m ",
            ],
        );
    }

    #[test]
    fn wide_characters_take_two_columns_and_hostile_ones_are_shown() {
        check(
            vec![session("a", "漢字"), session("b", "x\u{1b}[2J\n")],
            &[
                "Sessions",
                "  Alias  State   Device                            Tools  Age",
                "  a      active  Google 漢字 (Android 14)          3      1m ",
                "  b      active  Google x\\u001b[2J\\n (Android 14)  3      1m ",
            ],
        );
    }

    #[test]
    fn nothing_to_show_says_so() {
        check(vec![], &["Sessions", "  No Appduct sessions are registered."]);
        let lines = lines(&Sessions { sessions: vec![], now_ms: 0 }, Style::new(true, false));
        assert_eq!(lines[0], "\u{1b}[2mSessions\u{1b}[22m");
    }

    #[test]
    fn a_device_is_as_much_as_is_known() {
        let of = |manufacturer: &str, model: &str, os: &str| {
            let field = |text: &str| (text != "-").then(|| text.to_owned());
            device(&SessionDevice { manufacturer: field(manufacturer), model: field(model), os: field(os) })
        };
        assert_eq!(of("-", "Pixel 8", "-"), "Pixel 8");
        assert_eq!(of("-", "-", "-"), "unknown device");
        assert_eq!(of("-", "", "iOS 26"), "unknown device (iOS 26)");
    }

    #[test]
    fn an_age_is_floored() {
        let now = NOW.parse::<Timestamp>().unwrap().as_millisecond();
        for (seconds, shown) in [
            (-5, "0s"),
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3_599, "59m"),
            (3_600, "1h"),
            (86_399, "23h"),
            (86_400, "1d"),
        ] {
            let since = Timestamp::from_millisecond(now - seconds * 1000).unwrap();
            assert_eq!(age(&since.to_string(), now), shown);
        }
    }
}
