//! `appduct_list_tools`

use appduct_proto::wire::{Object, RawJson};
use appduct_rpc::methods::{Method, Tools, ToolsList};

use super::super::answer::Answer;
use super::super::arguments::Arguments;
use super::super::daemon::Connection;
use super::super::refusal::Refusal;
use super::super::server::Shared;
use super::entry::{Entry, check_groups};
use super::{DEFAULT_LIMIT, registry};

/// What to list. The daemon checks the group and the filter, as it does for every client.
#[derive(Debug)]
pub(super) struct Query {
    selector: Option<String>,
    group: Option<String>,
    filter: Option<String>,
    limit: u64,
    offset: Option<u64>,
}

impl Query {
    pub(super) fn read(mut arguments: Arguments) -> Result<Self, Refusal> {
        Ok(Self {
            selector: arguments.text("selector")?,
            group: arguments.text("group")?,
            filter: arguments.text("filter")?,
            limit: arguments.whole("limit", 1)?.unwrap_or(DEFAULT_LIMIT),
            offset: arguments.whole("offset", 0)?,
        })
    }
}

/// Lists a page of the tools that this server may reach.
pub(super) fn run(shared: &Shared, daemon: &mut Connection, query: Query) -> Result<Answer, Refusal> {
    let session = registry::session(shared, daemon, query.selector.as_deref())?;
    let is_bounded = shared.scope.has_groups();
    let params = Object::new()
        .text("selector", &session.session_id)
        .optional_text("group", query.group.as_deref())
        .optional_text("filter", query.filter.as_deref());
    // Of a bounded server's tools the daemon knows nothing, so it can cut no page of them.
    let params =
        if is_bounded { params } else { params.display("limit", query.limit).optional_display("offset", query.offset) };
    let reply = daemon.call(ToolsList::NAME, &params.into_raw())?;
    let page: Tools = serde_json::from_str(reply.as_str())
        .map_err(|error| Refusal::connection(format!("the daemon's list of tools cannot be read: {error}")))?;
    if is_bounded || query.group.is_some() {
        check_groups(&page)?;
    }
    let mut total = page.total;
    let mut entries: Vec<_> = page.tools.into_iter().map(Entry::new).collect();
    if is_bounded {
        entries.retain(|entry| shared.scope.shows_group(entry.group().as_deref()));
        total = entries.len() as u64;
        let skipped = count(query.offset.unwrap_or(0));
        entries = entries.into_iter().skip(skipped).take(count(query.limit)).collect();
    }
    let tools: Vec<_> = entries.iter().map(Entry::listed).collect();
    let object = Object::new()
        .text("session", &session.alias)
        .display("total", total)
        .optional_text("group", query.group.as_deref())
        .optional_text("filter", query.filter.as_deref())
        .display("limit", query.limit)
        .optional_display("offset", query.offset)
        .raws("tools", &tools);
    let object = match page.groups {
        None => object,
        Some(mut groups) => {
            groups.retain(|row| shared.scope.shows_group(row.group.as_deref()));
            let groups = RawJson::of(&groups).map_err(|error| Refusal::execution(error.to_string()))?;
            object.raw("groups", &groups)
        }
    };
    Ok(Answer::own_object(object).of(&session))
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
