//! The newest app events of a session, kept for those who ask later.

use std::collections::VecDeque;

use super::session::Label;
use super::{Event, EventBody, Glob, Host, Refusal};
use crate::Timestamp;
use crate::wire::{Number, RawJson};

/// Which app events to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Only events after this one; 0 for all.
    pub since: u64,
    /// How many at most, 1 or greater; the oldest come first.
    pub limit: Option<usize>,
    /// Only events of such names.
    pub name: Option<Glob>,
    /// Larger payloads come as [`EventBody::AppEventPreview`]; in bytes of compact JSON.
    pub payload_max_bytes: Option<usize>,
}

/// App events that a session keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct EventsSince {
    /// Oldest first; each an [`EventBody::AppEvent`] or its preview.
    pub events: Vec<Event>,
    /// Where to go on: the `since` of the next query.
    pub cursor: u64,
    /// How many events after `since` are no longer kept, whatever their names.
    pub dropped: u64,
    /// How many more match than the limit let through.
    pub remaining: usize,
}

/// The kept events of one session and the count of all.
#[derive(Debug, Default)]
pub(super) struct Ring {
    kept: VecDeque<Kept>,
    /// Of all names and payloads that are kept.
    bytes: usize,
    last_seq: u64,
    /// Numbers that were never given, from after the first to the second: a crash makes them.
    gap: (u64, u64),
}

/// How much a ring keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    pub(super) events: usize,
    /// The newest event is kept whatever its size.
    pub(super) bytes: usize,
}

#[derive(Debug)]
struct Kept {
    seq: u64,
    ts: Timestamp,
    name: Box<str>,
    app_ts: Number,
    payload: Option<RawJson>,
}

/// How many events come between two saves that nothing else asks for.
const BLOCK: u64 = 100_000;

/// Every JSON reader counts exactly so far.
const MAX_RECORDED: u64 = 1 << 53;

/// Whether the last number must be recorded anew.
pub(super) fn starts_block(seq: u64) -> bool {
    seq.is_multiple_of(BLOCK)
}

impl Ring {
    /// An empty ring that goes on after `recorded`, which was the number of the last event, or after a crash may have been
    /// it: then more may have come, less than two blocks, and no number must be given twice.
    pub(super) fn restored(recorded: u64, crashed: bool) -> Self {
        let recorded = recorded.min(MAX_RECORDED);
        let last_seq = if crashed { (recorded / BLOCK + 2) * BLOCK } else { recorded };
        Self { kept: VecDeque::new(), bytes: 0, last_seq, gap: (recorded, last_seq) }
    }

    pub(super) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Counts an event and keeps it among the newest `capacity`. Returns its number.
    pub(super) fn push(
        &mut self,
        capacity: Capacity,
        ts: Timestamp,
        name: &str,
        app_ts: Number,
        payload: Option<&RawJson>,
    ) -> u64 {
        self.last_seq += 1;
        if capacity.events == 0 {
            return self.last_seq;
        }
        self.bytes += name.len() + payload.map_or(0, |payload| payload.as_str().len());
        while self.kept.len() >= capacity.events || self.bytes > capacity.bytes {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
        // Detached, so that a small payload does not keep the buffer that it came in.
        let payload = payload.map(RawJson::detached);
        self.kept.push_back(Kept { seq: self.last_seq, ts, name: name.into(), app_ts, payload });
        self.last_seq
    }

    fn since(&self, label: &Label, query: &EventQuery) -> EventsSince {
        let oldest = self.kept.front().map_or(0, |event| event.seq);
        let given = oldest.saturating_sub(query.since).saturating_sub(1);
        let gap = self.gap.1.min(oldest).saturating_sub(self.gap.0.max(query.since));
        let dropped = given.saturating_sub(gap);
        let named = |event: &&Kept| query.name.as_ref().is_none_or(|name| name.matches(&event.name));
        let mut matching = self.kept.iter().filter(|event| event.seq > query.since).filter(named);
        let limit = query.limit.unwrap_or(usize::MAX);
        let events: Vec<_> = matching
            .by_ref()
            .take(limit)
            .map(|event| event.shown(label).with_payload_limit(query.payload_max_bytes))
            .collect();
        let cursor = events.last().map_or(self.last_seq, |event| event.seq);
        EventsSince { events, cursor, dropped, remaining: matching.count() }
    }
}

impl Kept {
    fn bytes(&self) -> usize {
        self.name.len() + self.payload.as_ref().map_or(0, |payload| payload.as_str().len())
    }

    fn shown(&self, label: &Label) -> Event {
        Event {
            session_id: label.session_id.to_string(),
            alias: Some(label.alias.to_string()),
            ts: self.ts,
            seq: self.seq,
            body: EventBody::AppEvent { name: self.name.to_string(), ts: self.app_ts, payload: self.payload.clone() },
        }
    }
}

impl Host {
    /// The app events of a session that are still kept; works while it is suspended.
    pub fn events_since(&self, selector: Option<&str>, query: &EventQuery) -> Result<EventsSince, Refusal> {
        let (_, session) = self.sessions.resolve(selector)?;
        Ok(session.ring.since(&session.label, query))
    }
}
