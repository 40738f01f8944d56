//! Pages of a tool registry.

use std::sync::Arc;

use super::session::Session;
use super::{Decision, GroupTotal, Host, Refusal};
use crate::wire::{Group, ToolDescriptor};

/// What to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolQuery {
    /// Only this group and its subgroups.
    pub group: Option<Group>,
    /// Only tools whose name or description holds this text, whatever the case; empty is none.
    pub filter: Option<String>,
    /// How many at most.
    pub limit: Option<usize>,
    /// How many matches to skip.
    pub offset: usize,
}

/// A page of a registry.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolPage {
    /// The session that answered, by alias: policy overrides follow it.
    pub alias: String,
    /// The page, by name.
    pub tools: Vec<ListedTool>,
    /// How many match before paging.
    pub total: usize,
    /// The whole registry by group: each group before its subgroups, the ungrouped last.
    pub groups: Vec<GroupTotal>,
}

/// A tool in a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    /// As the app registered it.
    pub descriptor: Arc<ToolDescriptor>,
    /// What happens to a call of it.
    pub policy: Decision,
}

impl Host {
    /// A page of a session's tools; works while it is suspended.
    pub fn list_tools(&self, selector: Option<&str>, query: &ToolQuery) -> Result<ToolPage, Refusal> {
        let (_, session) = self.sessions.resolve(selector)?;
        let (page, total) = find(session, query);
        let alias = &session.label.alias;
        let listed = |tool: &Arc<ToolDescriptor>| ListedTool {
            policy: self.settings.policy.decide(alias, tool),
            descriptor: tool.clone(),
        };
        Ok(ToolPage {
            alias: alias.to_string(),
            tools: page.into_iter().map(listed).collect(),
            total,
            groups: session.tools.groups().totals(),
        })
    }
}

/// The page and how many match before paging.
fn find<'a>(session: &'a Session, query: &ToolQuery) -> (Vec<&'a Arc<ToolDescriptor>>, usize) {
    let tools = session.tools.as_slice();
    let limit = query.limit.unwrap_or(usize::MAX);
    let filter = query.filter.as_deref().filter(|filter| !filter.is_empty());
    if query.group.is_none() && filter.is_none() {
        return (tools.iter().skip(query.offset).take(limit).collect(), tools.len());
    }
    let mut search = filter.map(Search::new);
    let (mut page, mut total) = (Vec::new(), 0);
    for tool in tools {
        let in_group = |group: &Group| tool.group.as_ref().is_some_and(|own| group.covers(own));
        if query.group.as_ref().is_some_and(|group| !in_group(group)) {
            continue;
        }
        let mut found = |text: &str| search.as_mut().is_none_or(|search| search.finds(text));
        if !found(tool.name.as_str()) && !found(&tool.description) {
            continue;
        }
        if total >= query.offset && page.len() < limit {
            page.push(tool);
        }
        total += 1;
    }
    (page, total)
}

/// Looks for a text whatever the case, in one buffer for many haystacks.
struct Search {
    lower: String,
    buffer: String,
}

impl Search {
    fn new(text: &str) -> Self {
        Self { lower: text.to_lowercase(), buffer: String::new() }
    }

    fn finds(&mut self, text: &str) -> bool {
        if text.is_ascii() {
            self.buffer.clear();
            self.buffer.push_str(text);
            self.buffer.make_ascii_lowercase();
            self.buffer.contains(&self.lower)
        } else {
            text.to_lowercase().contains(&self.lower)
        }
    }
}
