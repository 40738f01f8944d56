//! What happens, and what an app declares.

use appduct_proto::signature::{signature, summary};
use appduct_proto::wire::{Fields, JsonKind, Length, RawJson};
use appduct_rpc::methods::EventNotification;
use jiff::Timestamp;

use super::{Style, counted, escape};
use crate::render::iso;
use crate::report::{Cursor, Events};

/// One event.
pub(super) fn line(event: &EventNotification, style: Style) -> String {
    let at = i64::try_from(event.ts).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let at = at.map_or_else(|| event.ts.to_string(), iso);
    let mut line = format!("{} {}", style.paint.dim(&at), style.paint.green(&escape::line(&event.kind)));
    if let Some(session) = event.alias.as_deref().or(event.session_id.as_deref()) {
        line += &format!(" {}", escape::line(session));
    }
    if event.data.kind() != JsonKind::Null {
        line += &format!(" {}", style.json(&event.data));
    }
    line + "\n"
}

/// Where a page of events ends.
pub(super) fn cursor_line(cursor: &Cursor, style: Style) -> String {
    let Cursor { cursor, dropped, remaining, resume } = cursor;
    let counts = [("dropped", dropped), ("remaining", remaining)];
    let counts: String =
        counts.iter().filter_map(|(name, count)| count.map(|count| format!(", {name}: {count}"))).collect();
    let text = format!("cursor: {cursor}{counts}. Go on with `{}`.", escape::line(resume));
    format!("{}\n", style.paint.dim(&text))
}

/// The events that an app may post.
pub(super) fn declared_lines(report: &Events, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint.green("Events")];
    if report.events.is_empty() {
        lines.push(nothing(report));
        return lines;
    }
    for raw in &report.events {
        let (head, about) = entry(raw);
        lines.extend(style.prose(&head, 2, 6));
        if !about.is_empty() {
            lines.extend(style.prose(&about, 4, 4));
        }
    }
    let shown = u64::try_from(report.events.len()).unwrap_or(u64::MAX);
    if shown < report.total {
        let offset = report.offset.unwrap_or(0);
        let text = format!(
            "Showing {shown} of {} events (offset {offset}). Narrow with --name <glob> or page with --offset <n>.",
            report.total
        );
        lines.push(String::new());
        lines.extend(style.prose(&text, 0, 0));
    }
    lines
}

/// The name, with the shape of the payload where one is declared, and the first line of the description.
fn entry(raw: &RawJson) -> (String, String) {
    let fields = Fields::parse(raw.as_str());
    let text = |key: &str| fields.as_ref().and_then(|fields| fields.text(key, Length::ANY).ok());
    let schema = fields.as_ref().and_then(|fields| RawJson::parse(fields.get("payload_schema")?.get()).ok());
    let name = text("name").unwrap_or_default();
    let head = match schema {
        Some(schema) => signature(&name, Some(&schema), None),
        None => name.into_owned(),
    };
    let about = summary(&text("description").unwrap_or_default());
    (escape::line(&head).into_owned(), escape::line(&about).into_owned())
}

fn nothing(report: &Events) -> String {
    match &report.name {
        _ if report.total > 0 => {
            let offset = report.offset.unwrap_or(0);
            format!("  No events at offset {offset}; {} in total.", counted(report.total, "matching event"))
        }
        Some(name) => format!("  No declared event matches \"{}\".", escape::line(name)),
        None => "  No events declared.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(data: &str) -> EventNotification {
        EventNotification {
            kind: "app_event".to_owned(),
            session_id: Some("s1".to_owned()),
            alias: Some("pixel-8".to_owned()),
            data: RawJson::parse(data).unwrap(),
            ts: 1_773_741_600_000,
            seq: 4,
        }
    }

    #[test]
    fn an_event_is_one_line() {
        let plain = Style::new(false, false);
        assert_eq!(
            line(&event("{\"name\" : \"cart\u{202e}\",\n\"payload\":{}}"), plain),
            "2026-03-17T10:00:00.000Z app_event pixel-8 {\"name\":\"cart\\u202e\",\"payload\":{}}\n"
        );
        let nobody = EventNotification { alias: None, session_id: None, ..event("null") };
        assert_eq!(line(&nobody, plain), "2026-03-17T10:00:00.000Z app_event\n");
        let unnamed = EventNotification { alias: None, kind: "x\n\u{1b}[2J".to_owned(), ..event("null") };
        assert_eq!(line(&unnamed, plain), "2026-03-17T10:00:00.000Z x\\n\\u001b[2J s1\n");
        assert_eq!(
            line(&event("{}"), Style::new(true, false)),
            "\u{1b}[2m2026-03-17T10:00:00.000Z\u{1b}[22m \u{1b}[32mapp_event\u{1b}[39m pixel-8 {}\n"
        );
        assert!(line(&event("{\"a\":1}"), Style::new(false, true)).ends_with(" pixel-8 {\n  \"a\": 1\n}\n"));
    }

    #[test]
    fn a_cursor_says_what_is_known_and_how_to_go_on() {
        let cursor = |dropped, remaining| Cursor { cursor: 7, dropped, remaining, resume: "appduct x".to_owned() };
        let plain = Style::new(false, false);
        assert_eq!(
            cursor_line(&cursor(Some(0), Some(2)), plain),
            "cursor: 7, dropped: 0, remaining: 2. Go on with `appduct x`.\n"
        );
        assert_eq!(cursor_line(&cursor(None, None), plain), "cursor: 7. Go on with `appduct x`.\n");
    }

    fn declared(events: &[&str], total: u64, name: Option<&str>, offset: Option<u64>) -> Vec<String> {
        let events = events.iter().map(|event| RawJson::parse(event).unwrap()).collect();
        let report = Events { events, total, name: name.map(str::to_owned), limit: None, offset };
        declared_lines(&report, Style::new(false, false))
    }

    #[test]
    fn declared_events_show_their_payload_and_what_they_are() {
        let cart = r#"{"name":"cart.changed","description":"The cart changed.\nMore.","payload_schema":{"type":"object","properties":{"items":{"type":"integer"}},"required":["items"]}}"#;
        let login = "{\"name\":\"login\u{9b}\",\"description\":\"Somebody came.\"}";
        assert_eq!(
            declared(&[cart, login], 3, None, None),
            [
                "Events",
                "  cart.changed(items: int)",
                "    The cart changed.",
                "  login\\u009b",
                "    Somebody came.",
                "",
                "Showing 2 of 3 events (offset 0). Narrow with --name <glob> or page with --offset <n>.",
            ]
        );
    }

    #[test]
    fn an_empty_page_says_why() {
        assert_eq!(declared(&[], 0, None, None)[1], "  No events declared.");
        assert_eq!(declared(&[], 0, Some("x*"), None)[1], "  No declared event matches \"x*\".");
        assert_eq!(declared(&[], 1, None, Some(5))[1], "  No events at offset 5; 1 matching event in total.");
    }
}
