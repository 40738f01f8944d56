//! `tools`

use appduct_proto::wire::{Fields, RawJson};
use appduct_rpc::ErrorType;
use appduct_rpc::methods::{ToolGroup, ToolsList};

use super::Stage;
use super::control::Control;
use crate::error::{Failure, Kind};
use crate::report::{Groups, Report, Tools};
use crate::settings::{ListQuery, Settings, Target, ToolsSettings, View, only_a_listing};
use crate::suggest;

/// The words that are verbs right after `tools`.
const VERBS: [&str; 3] = ["ls", "describe", "call"];

/// Lists tools or groups, or shows one tool.
pub(super) fn run(settings: &Settings, tools: &ToolsSettings, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let mut control = Control::open(settings, stage)?;
    match &tools.target {
        Target::Session { selector } => show(&mut control, selector.as_deref(), &tools.view, stage),
        Target::Tool { selector, name } => one(&mut control, selector.as_deref(), name),
        Target::Either(word) => either(&mut control, word, &tools.view, stage),
    }
}

fn show(control: &mut Control, selector: Option<&str>, view: &View, stage: &mut dyn Stage) -> Result<Report, Failure> {
    match view {
        View::Tools(query) => list(control, selector, query, stage),
        View::Groups => groups(control, selector),
    }
}

fn list(
    control: &mut Control,
    selector: Option<&str>,
    query: &ListQuery,
    stage: &mut dyn Stage,
) -> Result<Report, Failure> {
    let request = ToolsList {
        selector: selector.map(str::to_owned),
        group: query.group.clone(),
        filter: query.filter.clone(),
        limit: query.limit,
        offset: query.offset,
    };
    let page = control.request(&request).map_err(|failure| control.with_aliases(failure, selector))?;
    if query.group.is_some() && page.groups.is_none() {
        return Err(groups_unsupported());
    }
    if let Some(group) = &query.group
        && page.tools.is_empty()
        && let Some(question) = did_you_mean_group(group.as_str(), page.groups.as_deref())
    {
        stage.notice(&question);
    }
    Ok(Report::Tools(Tools {
        tools: page.tools,
        total: page.total,
        groups: page.groups,
        group: query.group.as_ref().map(|group| group.as_str().to_owned()),
        filter: query.filter.clone(),
        limit: query.limit,
        offset: query.offset,
        full: query.full,
    }))
}

fn groups(control: &mut Control, selector: Option<&str>) -> Result<Report, Failure> {
    let request = ToolsList { selector: selector.map(str::to_owned), limit: Some(1), ..ToolsList::default() };
    let page = match (control.request(&request), selector) {
        (Err(failure), Some(word)) if failure.is(ErrorType::UnknownSession) => return Err(groups_of(control, word)),
        (page, _) => page?,
    };
    let groups = page.groups.ok_or_else(groups_unsupported)?;
    Ok(Report::Groups(Groups { groups, total: page.total }))
}

/// A word after `--groups` that is no session. It may have been meant as a group.
fn groups_of(control: &mut Control, word: &str) -> Failure {
    let request = ToolsList { limit: Some(1), ..ToolsList::default() };
    let groups = control.request(&request).ok().and_then(|page| page.groups).unwrap_or_default();
    let aliases = control.aliases();
    let known = groups.iter().filter_map(|group| group.group.as_deref()).chain(aliases.iter().map(String::as_str));
    Failure::usage(format!(
        "No session matches \"{word}\". \"--groups\" takes no value; to list one group's tools, use \"--group {word}\"."
    ))
    .with_hint("Run `appduct ls` to see the live sessions.")
    .or_did_you_mean(word, known)
}

fn did_you_mean_group(group: &str, groups: Option<&[ToolGroup]>) -> Option<String> {
    suggest::did_you_mean(group, groups?.iter().filter_map(|group| group.group.as_deref()))
}

fn one(control: &mut Control, selector: Option<&str>, name: &str) -> Result<Report, Failure> {
    let page = control.request(&whole_registry(selector)).map_err(|failure| with_words(control, failure, selector))?;
    if let Some(tool) = find(&page.tools, name) {
        return Ok(Report::Tool(tool));
    }
    let on = selector.map(|selector| format!(" on session \"{selector}\"")).unwrap_or_default();
    let failure = Failure::usage(format!("Tool \"{name}\" is not registered{on}."))
        .with_hint("Run `appduct tools` to see the session's tools.");
    let available = names(&page.tools);
    let failure = failure.or_did_you_mean(name, available.iter().map(String::as_str));
    Err(match RawJson::of(&serde_json::json!({ "available": available })) {
        Ok(details) => failure.with_details(details),
        Err(_) => failure,
    })
}

/// A tool of the only live session where it has one of that name, a session otherwise.
fn either(control: &mut Control, word: &str, view: &View, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let tools = match control.request(&whole_registry(None)) {
        Ok(page) => page.tools,
        // No session, or several: then the word can only be a session.
        Err(Failure { kind: Kind::Remote(_) | Kind::Internal, .. }) => Vec::new(),
        Err(failure) => return Err(failure),
    };
    match find(&tools, word) {
        Some(_) if view.is_narrowed() => Err(only_a_listing()),
        Some(tool) => Ok(Report::Tool(tool)),
        None => show(control, Some(word), view, stage).map_err(|failure| {
            if !failure.is(ErrorType::UnknownSession) {
                return failure;
            }
            let (names, aliases) = (names(&tools), control.aliases());
            let known = names.iter().chain(&aliases).map(String::as_str).chain(VERBS);
            failure.or_did_you_mean(word, known)
        }),
    }
}

/// The failure of a first word that is no session; it may have been meant as a verb.
fn with_words(control: &mut Control, failure: Failure, selector: Option<&str>) -> Failure {
    match selector {
        Some(selector) if failure.is(ErrorType::UnknownSession) => {
            let aliases = control.aliases();
            failure.or_did_you_mean(selector, aliases.iter().map(String::as_str).chain(VERBS))
        }
        Some(_) | None => failure,
    }
}

/// The same failure, with the session's tools that are close to `tool`.
pub(super) fn or_did_you_mean(control: &mut Control, failure: Failure, selector: Option<&str>, tool: &str) -> Failure {
    let names = control.request(&whole_registry(selector)).map(|page| names(&page.tools)).unwrap_or_default();
    failure.or_did_you_mean(tool, names.iter().map(String::as_str))
}

/// The request for every tool of a session.
pub(super) fn whole_registry(selector: Option<&str>) -> ToolsList {
    ToolsList { selector: selector.map(str::to_owned), ..ToolsList::default() }
}

/// The entry with exactly that name.
pub(super) fn find(tools: &[RawJson], name: &str) -> Option<RawJson> {
    tools.iter().find(|tool| Fields::parse(tool.as_str()).is_some_and(|fields| fields.is_text("name", name))).cloned()
}

/// The names of these entries.
pub(super) fn names(tools: &[RawJson]) -> Vec<String> {
    tools.iter().filter_map(name_of).collect()
}

fn name_of(tool: &RawJson) -> Option<String> {
    let fields = Fields::parse(tool.as_str())?;
    fields.text("name", appduct_proto::wire::Length::ANY).ok().map(std::borrow::Cow::into_owned)
}

fn groups_unsupported() -> Failure {
    Failure::connection(
        "The running daemon does not support tool groups: it is older than this command. Run `appduct daemon stop` and try \
         again, or pass \"--daemon-restart\".",
    )
    .with_hint("Stopping it ends its live sessions and pending links.")
}
