//! `appduct_describe_tool`

use super::super::answer::Answer;
use super::super::arguments::Arguments;
use super::super::daemon::Connection;
use super::super::refusal::Refusal;
use super::super::server::Shared;
use super::entry::Entry;
use super::registry;

/// What to describe.
#[derive(Debug)]
pub(super) struct Query {
    selector: Option<String>,
    name: String,
}

impl Query {
    pub(super) fn read(mut arguments: Arguments) -> Result<Self, Refusal> {
        Ok(Self { selector: arguments.text("selector")?, name: arguments.required_text("name")? })
    }
}

/// Shows one tool.
pub(super) fn run(shared: &Shared, daemon: &mut Connection, query: &Query) -> Result<Answer, Refusal> {
    let session = registry::session(shared, daemon, query.selector.as_deref())?;
    let entry = Entry::find(shared, daemon, &session, &query.name).map_err(|refusal| refusal.of(&session))?;
    Ok(Answer::own(entry.described(&session)).of(&session))
}
