//! The live sessions, and how a selector finds one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::alias::Aliases;
use super::session::Session;
use super::{Host, Refusal, SessionSummary, alias};

/// A session's place in claim order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionNo(pub(super) u64);

#[derive(Debug, Default)]
pub(super) struct Sessions {
    by_no: BTreeMap<SessionNo, Session>,
    by_id: BTreeMap<Arc<str>, SessionNo>,
    aliases: Aliases,
    claimed: u64,
}

impl Sessions {
    /// Keeps a place and the first free alias of the model for a session to come.
    pub(super) fn reserve(&mut self, model: Option<&str>) -> (SessionNo, Arc<str>) {
        let no = self.next_no();
        (no, self.aliases.take(alias::base(model), no))
    }

    /// The session that an alias was kept for does not come.
    pub(super) fn release(&mut self, alias: &str) {
        self.aliases.free(alias);
    }

    /// Adds a session at the place that was kept for it.
    pub(super) fn insert(&mut self, no: SessionNo, session: Session) {
        self.by_id.insert(session.label.session_id.clone(), no);
        self.by_no.insert(no, session);
    }

    /// Adds a session under the alias that it had; `None` if its id or alias is taken.
    pub(super) fn restore(&mut self, session: Session) -> Option<SessionNo> {
        if self.by_id.contains_key(&session.label.session_id) {
            return None;
        }
        let no = self.next_no();
        if !self.aliases.restore(&session.label.alias, no) {
            return None;
        }
        self.insert(no, session);
        Some(no)
    }

    fn next_no(&mut self) -> SessionNo {
        self.claimed += 1;
        SessionNo(self.claimed)
    }

    /// Removes a session and frees its alias.
    pub(super) fn remove(&mut self, no: SessionNo) -> Option<Session> {
        let session = self.by_no.remove(&no)?;
        self.by_id.remove(&session.label.session_id);
        self.aliases.free(&session.label.alias);
        Some(session)
    }

    pub(super) fn get(&self, no: SessionNo) -> Option<&Session> {
        self.by_no.get(&no)
    }

    pub(super) fn get_mut(&mut self, no: SessionNo) -> Option<&mut Session> {
        self.by_no.get_mut(&no)
    }

    pub(super) fn by_id(&self, session_id: &str) -> Option<(SessionNo, &Session)> {
        let no = *self.by_id.get(session_id)?;
        Some((no, self.by_no.get(&no)?))
    }

    /// In claim order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SessionNo, &Session)> {
        self.by_no.iter().map(|(&no, session)| (no, session))
    }

    /// The session with this id or alias, the first in claim order if both fit; without a selector the only one.
    pub(super) fn resolve(&self, selector: Option<&str>) -> Result<(SessionNo, &Session), Refusal> {
        let Some(selector) = selector else { return self.only() };
        let by_id = self.by_id.get(selector).copied();
        let by_alias = self.aliases.find(selector);
        let live = |no: SessionNo| Some((no, self.by_no.get(&no)?));
        let found = by_id.into_iter().chain(by_alias).filter_map(live).min_by_key(|&(no, _)| no);
        found.ok_or_else(|| Refusal::UnknownSession { selector: selector.to_owned() })
    }

    fn only(&self) -> Result<(SessionNo, &Session), Refusal> {
        let mut sessions = self.iter();
        let only = sessions.next().ok_or(Refusal::NoSession)?;
        if sessions.next().is_none() {
            return Ok(only);
        }
        let aliases = self.by_no.values().map(|session| session.label.alias.to_string()).collect();
        Err(Refusal::AmbiguousSession { aliases })
    }
}

impl Host {
    /// The live sessions in claim order.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionSummary> {
        self.sessions.iter().map(|(_, session)| session.summary()).collect()
    }

    /// One live session.
    pub fn session(&self, selector: Option<&str>) -> Result<SessionSummary, Refusal> {
        let (_, session) = self.sessions.resolve(selector)?;
        Ok(session.summary())
    }
}
