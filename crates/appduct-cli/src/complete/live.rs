//! What a running daemon knows of a line.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use appduct_proto::signature;
use appduct_rpc::methods::{EventsList, Method, Session, SessionsList, ToolsList};
use appduct_rpc::{Client, DaemonLauncher, StateDir};
use clap_complete::engine::CompletionCandidate;
use serde::Deserialize;
use serde_json::Value;

use super::line::{Line, Verb};
use crate::env::Env;

/// How long a shell waits for an answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// The verbs of `tools`.
const VERBS: [(&str, &str); 3] = [("ls", "List tools"), ("describe", "Show one tool"), ("call", "Call a tool")];

/// The verbs of `events`.
const EVENT_VERBS: [(&str, &str); 3] =
    [("ls", "List declared events"), ("tail", "Show what happens"), ("since", "Show what is held")];

/// A line, and a connection that is made when it is needed.
pub(super) struct Live {
    line: Line,
    state_dir: Option<StateDir>,
    client: Mutex<OnceCell<Option<Client>>>,
}

/// What is read of a declared event.
#[derive(Deserialize)]
struct EventEntry {
    name: String,
    #[serde(default)]
    description: String,
}

/// What is read of a tool.
#[derive(Deserialize)]
struct ToolEntry {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    input_schema: Value,
}

impl Live {
    pub(super) fn new(line: Line, env: &Env) -> Self {
        let state_dir = StateDir::resolve(
            line.state_dir.as_deref(),
            env.state_dir.as_deref().map(Path::as_os_str),
            env.home.as_deref(),
        );
        Self { line, state_dir: state_dir.ok(), client: Mutex::new(OnceCell::new()) }
    }

    /// The sessions.
    pub(super) fn sessions(&self) -> Vec<CompletionCandidate> {
        let sessions = self.request(&SessionsList).unwrap_or_default();
        sessions.iter().filter_map(|session| candidate(&session.alias, &device(session))).collect()
    }

    /// The groups of the session's tools.
    pub(super) fn groups(&self) -> Vec<CompletionCandidate> {
        let (selector, _) = self.selector();
        let tools = self.request(&ToolsList { selector, limit: Some(1), ..ToolsList::default() });
        let groups = tools.and_then(|tools| tools.groups).unwrap_or_default();
        let tools = |total| if total == 1 { "1 tool".to_owned() } else { format!("{total} tools") };
        groups.iter().filter_map(|group| candidate(group.group.as_deref()?, &tools(group.total))).collect()
    }

    /// The events that the session's app declares.
    pub(super) fn events(&self) -> Vec<CompletionCandidate> {
        let (selector, _) = self.selector();
        let events = self.request(&EventsList { selector, ..EventsList::default() });
        let events = events.map(|events| events.events).unwrap_or_default();
        let entries = events.iter().filter_map(|event| serde_json::from_str::<EventEntry>(event.as_str()).ok());
        entries.filter_map(|event| candidate(&event.name, &signature::summary(&event.description))).collect()
    }

    /// The names of the session's tools.
    pub(super) fn tool_names(&self) -> Vec<CompletionCandidate> {
        let (selector, _) = self.selector();
        let tools = self.tools(selector);
        tools.iter().filter_map(|tool| candidate(&tool.name, &signature::summary(&tool.description))).collect()
    }

    /// What the next word of the command may be.
    pub(super) fn words(&self) -> Vec<CompletionCandidate> {
        let (selector, rest) = self.selector();
        let is_named = selector.is_some();
        match (self.line.verb, rest) {
            (Verb::Session, [] | [_]) if !is_named => self.sessions(),
            (Verb::Events, [] | [_]) if !is_named => {
                let verbs = EVENT_VERBS.iter().filter_map(|(verb, help)| candidate(verb, help));
                verbs.chain(self.sessions()).collect()
            }
            (Verb::Tools | Verb::Tool | Verb::Call, []) => {
                let verbs = VERBS.iter().filter(|_| self.line.verb == Verb::Tools && !is_named);
                let verbs = verbs.filter_map(|(verb, help)| candidate(verb, help));
                let sessions = if is_named { Vec::new() } else { self.sessions() };
                verbs.chain(self.tool_names()).chain(sessions).collect()
            }
            (Verb::Call, [tool, given @ ..]) => self.keys(selector, tool, given),
            (Verb::Tools | Verb::Tool | Verb::Session | Verb::Events | Verb::Other, _) => Vec::new(),
        }
    }

    /// The session that the line names, and the words after it.
    fn selector(&self) -> (Option<String>, &[String]) {
        if let Some(session) = &self.line.session {
            return (Some(session.clone()), &self.line.words);
        }
        let is_session = |word: &String| {
            let sessions = self.request(&SessionsList).unwrap_or_default();
            sessions.iter().any(|session| session.alias == *word || session.session_id == *word)
        };
        match self.line.words.split_first() {
            Some((first, rest)) if is_session(first) => (Some(first.clone()), rest),
            Some(_) | None => (None, &self.line.words),
        }
    }

    fn tools(&self, selector: Option<String>) -> Vec<ToolEntry> {
        let tools = self.request(&ToolsList { selector, ..ToolsList::default() });
        let tools = tools.map(|tools| tools.tools).unwrap_or_default();
        tools.iter().filter_map(|tool| serde_json::from_str(tool.as_str()).ok()).collect()
    }

    /// `key=` for each part of a tool's input that is not there yet.
    fn keys(&self, selector: Option<String>, tool: &str, given: &[String]) -> Vec<CompletionCandidate> {
        let tools = self.tools(selector);
        let Some(tool) = tools.iter().find(|entry| entry.name == tool) else { return Vec::new() };
        let is_given = |key: &str| {
            given
                .iter()
                .any(|word| word.strip_prefix(key).is_some_and(|rest| rest.starts_with('=') || rest.starts_with(":=")))
        };
        let properties = tool.input_schema.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .filter(|(key, _)| !is_given(key))
            .filter_map(|(key, schema)| {
                let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
                candidate(&format!("{key}="), &signature::summary(description))
            })
            .collect()
    }

    /// A reply, if a daemon runs and gives one in time.
    fn request<M: Method>(&self, method: &M) -> Option<M::Reply> {
        let mut client = self.client.lock().ok()?;
        client.get_or_init(|| Client::connect(self.state_dir.as_ref()?, &DaemonLauncher::never()).ok());
        client.get_mut()?.as_mut()?.request(method, PATIENCE).ok()
    }
}

fn device(session: &Session) -> String {
    let device = &session.device;
    [&device.manufacturer, &device.model, &device.os]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A word that a shell can put onto the line as it is, with help that is one harmless line. Other words are left out: what a
/// shell would make of them is not in our hands.
fn candidate(word: &str, help: &str) -> Option<CompletionCandidate> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'=');
    if word.starts_with('-') || word.is_empty() || !word.bytes().all(is_plain) {
        return None;
    }
    let help: String = help.chars().filter(|character| !crate::render::is_dangerous(*character)).collect();
    Some(CompletionCandidate::new(word).help((!help.is_empty()).then(|| help.into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_words_are_offered() {
        for word in ["sum", "iphone-2", "a/b", "key=", "x.y_z"] {
            assert!(candidate(word, "").is_some(), "{word}");
        }
        for word in ["", "-rf", "$(id)", "`id`", "a b", "a;b", "a'b", "a\"b", "a\nb", "a*", "ü", "a\u{1b}[2J"] {
            assert!(candidate(word, "").is_none(), "{word}");
        }
    }

    #[test]
    fn help_cannot_move_the_cursor() {
        let candidate = candidate("sum", "adds\u{1b}[2J \u{202e}two\nnumbers").unwrap();
        assert_eq!(candidate.get_help().unwrap().to_string(), "adds[2J twonumbers");
    }
}
