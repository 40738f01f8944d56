//! Pages of an event registry.

use std::sync::Arc;

use super::{Glob, Host, Refusal};
use crate::wire::EventDescriptor;

/// Which declared events to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredEventQuery {
    /// Only events of such names.
    pub name: Option<Glob>,
    /// How many at most.
    pub limit: Option<usize>,
    /// How many matches to skip.
    pub offset: usize,
}

/// A page of the events that an app declares.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredEventPage {
    /// The page, by name in UTF-16 order.
    pub events: Vec<Arc<EventDescriptor>>,
    /// How many match before paging.
    pub total: usize,
}

impl Host {
    /// A page of the events that a session's app declares; works while it is suspended.
    pub fn list_events(
        &self,
        selector: Option<&str>,
        query: &DeclaredEventQuery,
    ) -> Result<DeclaredEventPage, Refusal> {
        let (_, session) = self.sessions.resolve(selector)?;
        let declared = session.events.as_slice();
        let limit = query.limit.unwrap_or(usize::MAX);
        let Some(name) = &query.name else {
            let events = declared.iter().skip(query.offset).take(limit).cloned().collect();
            return Ok(DeclaredEventPage { events, total: declared.len() });
        };
        let matching: Vec<_> = declared.iter().filter(|event| name.matches(&event.name)).collect();
        let total = matching.len();
        let events = matching.into_iter().skip(query.offset).take(limit).cloned().collect();
        Ok(DeclaredEventPage { events, total })
    }
}
