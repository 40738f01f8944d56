//! The tabs of a browser, and which of them is meant.

use appduct_proto::wire::{Fields, Length};
use appduct_rpc::RpcError;
use appduct_rpc::methods::WebAttach;

use super::refusal;

/// Tabs that an error names.
const MAX_NAMED: usize = 50;

/// The longest part of a tab's address in an error.
const MAX_URL_CHARS: usize = 200;

/// What a browser can be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: String,
    pub(super) url: String,
    is_page: bool,
    /// The path of its socket.
    pub(super) path: String,
}

/// Takes the browser's list; `None` if it is none. What has no id is left out.
pub(super) fn parse(body: &[u8]) -> Option<Vec<Target>> {
    let body = std::str::from_utf8(body).ok()?;
    let list: Vec<&serde_json::value::RawValue> = serde_json::from_str(body).ok()?;
    Some(list.into_iter().filter_map(|entry| target(entry.get())).collect())
}

fn target(entry: &str) -> Option<Target> {
    let fields = Fields::parse(entry)?;
    let text = |key| fields.text(key, Length::NON_EMPTY).ok();
    let id = text("id")?.into_owned();
    // Where the socket is said to be elsewhere, only its path counts.
    let path = text("webSocketDebuggerUrl").and_then(|url| url::Url::parse(&url).ok().map(|url| url.path().to_owned()));
    Some(Target {
        url: fields.text("url", Length::ANY).ok()?.into_owned(),
        is_page: fields.is_text("type", "page"),
        path: path.unwrap_or_else(|| format!("/devtools/page/{id}")),
        id,
    })
}

/// The tab of that id, or else the only one whose address starts with the URL.
pub(super) fn pick(targets: Vec<Target>, params: &WebAttach) -> Result<Target, RpcError> {
    let pages: Vec<Target> = targets.into_iter().filter(|target| target.is_page).collect();
    let fits = |target: &Target| match &params.target_id {
        Some(id) => target.id == *id,
        None => target.url.starts_with(&params.url),
    };
    let (mut fitting, others): (Vec<_>, Vec<_>) = pages.into_iter().partition(fits);
    if fitting.len() == 1
        && let Some(only) = fitting.pop()
    {
        return Ok(only);
    }
    let message = match (&params.target_id, fitting.is_empty()) {
        (Some(id), _) => format!("the browser has no tab {id:?}; it has:{}", list(&others)),
        (None, true) => format!("no tab of the browser shows {:?}; it has:{}", params.url, list(&others)),
        (None, false) => {
            format!("several tabs show {:?}, name one of them as \"targetId\":{}", params.url, list(&fitting))
        }
    };
    Err(refusal(message))
}

/// One line each: its id and address.
fn list(targets: &[Target]) -> String {
    if targets.is_empty() {
        return " no tabs".to_owned();
    }
    let mut lines = String::new();
    for target in targets.iter().take(MAX_NAMED) {
        let url: String = target.url.chars().take(MAX_URL_CHARS).collect();
        lines.push_str(&format!("\n{} {}", target.id.escape_debug(), url.escape_debug()));
    }
    if let Some(more) = targets.len().checked_sub(MAX_NAMED).filter(|&more| more > 0) {
        lines.push_str(&format!("\nand {more} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"[
        {"id":"A","type":"page","url":"http://localhost:3000/shop","webSocketDebuggerUrl":"ws://evil.example/devtools/page/A"},
        {"id":"B","type":"page","url":"http://localhost:3000/admin"},
        {"id":"W","type":"service_worker","url":"http://localhost:3000/sw.js"},
        {"id":"C","type":"page","url":"about:blank\u001b[2J"},
        {"type":"page","url":"x"}, 7
    ]"#;

    fn picked(url: &str, target_id: Option<&str>) -> Result<Target, String> {
        let params = WebAttach {
            url: url.to_owned(),
            browser_url: "http://localhost".to_owned(),
            target_id: target_id.map(str::to_owned),
            ttl_seconds: None,
        };
        pick(parse(LIST.as_bytes()).unwrap(), &params).map_err(|error| error.message)
    }

    #[test]
    fn the_tab_is_the_one_that_was_named_or_the_only_one_that_fits() {
        assert_eq!(picked("http://localhost:3000/shop", None).unwrap().id, "A");
        assert_eq!(picked("http://elsewhere", Some("B")).unwrap().id, "B");
    }

    #[test]
    fn no_tab_or_several_are_listed_line_by_line() {
        let none = picked("https://nowhere", None).unwrap_err();
        assert!(
            none.contains("\nA http://localhost:3000/shop\nB http://localhost:3000/admin\nC about:blank"),
            "{none}"
        );
        assert!(!none.contains("sw.js") && !none.contains('\u{1b}'), "{none}");
        let several = picked("http://localhost:3000", None).unwrap_err();
        assert!(
            several.contains("\"targetId\":\nA ") && several.contains("\nB ") && !several.contains("\nC"),
            "{several}"
        );
        let unknown = picked("http://localhost:3000", Some("W")).unwrap_err();
        assert!(unknown.contains("no tab \"W\"") && unknown.lines().count() == 4, "{unknown}");
    }

    #[test]
    fn a_socket_is_where_the_list_came_from() {
        let targets = parse(LIST.as_bytes()).unwrap();
        assert_eq!((&*targets[0].path, &*targets[1].path), ("/devtools/page/A", "/devtools/page/B"));
    }

    #[test]
    fn what_is_no_list_is_none() {
        for body in [&b"{}"[..], b"", b"<html>", b"\xff"] {
            assert_eq!(parse(body), None);
        }
    }
}
