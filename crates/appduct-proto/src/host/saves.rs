//! When the records are saved, and how long acks wait for it.

use std::time::Duration;

use super::deadlines::Deadline;
use super::{Host, Output};
use crate::{Moment, Now};

/// How long an ack waits for its save, well within what an app gives a handshake. A save that takes longer holds nothing up
/// until it returns.
const SAVE_WITHIN: Duration = Duration::from_secs(3);

/// How long changes that no ack waits for are gathered.
const SETTLE: Duration = Duration::from_secs(1);

/// After a save comes a rest of so many times as long as it took, within a bound: however many sessions there are, most
/// of the time is not spent on saves, and a storm of resumes shares a few of them.
const REST_FACTOR: u32 = 4;
const MAX_REST: Duration = Duration::from_millis(250);

/// The bounds of the wait before a failed save is tried again though nothing else has changed.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const MAX_RETRY: Duration = Duration::from_secs(60);

/// How many changes the records had seen when they were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation(u64);

/// How soon a change must be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Haste {
    /// An ack or a person waits for it.
    Now,
    /// It may wait for others.
    Soon,
}

#[derive(Debug, Default)]
pub(super) struct Saves {
    changes: Generation,
    /// When the next save may start, if there is something to save.
    next: Option<Moment>,
    /// The end of the rest after the last save.
    rested: Moment,
    in_flight: Option<InFlight>,
    failures: u32,
    unsaved_acks: u64,
}

#[derive(Debug)]
struct InFlight {
    generation: Generation,
    started: Moment,
    overdue: bool,
}

impl Saves {
    fn want(&mut self, at: Moment) {
        let at = at.max(self.rested);
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }

    fn is_overdue(&self) -> bool {
        self.in_flight.as_ref().is_some_and(|save| save.overdue)
    }

    /// The moment to wait for, if it is time that holds the next save up.
    pub(super) fn starts(&self) -> Option<Moment> {
        self.next.filter(|_| self.in_flight.is_none())
    }

    #[cfg(test)]
    pub(super) fn may_become_overdue(&self) -> bool {
        self.in_flight.as_ref().is_some_and(|save| !save.overdue)
    }
}

fn retry_after(failures: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
    FIRST_RETRY.saturating_mul(doubled).min(MAX_RETRY)
}

impl Host {
    /// The save of [`Output::Save`] has ended: with `ok` its records are on disk, whatever happens to this process or to
    /// the machine. Without, nothing is known of the disk. Acks that waited for it leave in both cases; a failed save is
    /// tried again with the next change, and after a while anyway.
    pub fn handle_saved(&mut self, now: Now, generation: Generation, ok: bool) {
        let returned = self.saves.in_flight.take_if(|save| save.generation == generation);
        if returned.is_some() {
            // Whenever it was due, it is here.
            self.deadlines.disarm(Deadline::SaveOverdue);
        }
        self.handle_timeout(now);
        let Some(save) = returned else { return };
        if !self.shutting_down {
            self.saves.rested = now.mono + (now.mono.since(save.started) * REST_FACTOR).min(MAX_REST);
        }
        if ok {
            self.saves.failures = 0;
        } else if !self.shutting_down {
            self.saves.failures = self.saves.failures.saturating_add(1);
            self.saves.want(now.mono + retry_after(self.saves.failures));
        }
        self.saves.next = self.saves.next.map(|next| next.max(self.saves.rested));
        self.release(now, generation, ok);
        self.plan_save(now);
    }

    /// Whether something that is recorded is not on disk yet and a save of it is in flight or comes. After
    /// [`Host::shutdown`] the driver waits for as long as this is so, within its own bound.
    #[must_use]
    pub fn is_saving(&self) -> bool {
        self.saves.in_flight.is_some() || self.saves.next.is_some()
    }

    /// How many acks have left without their save, because it failed or took too long.
    #[must_use]
    pub fn unsaved_acks(&self) -> u64 {
        self.saves.unsaved_acks
    }

    /// Something that is recorded has changed. Returns the first generation that has the change.
    pub(super) fn changed(&mut self, now: Now, haste: Haste) -> Generation {
        if !self.settings.persist {
            return self.saves.changes;
        }
        self.saves.changes.0 += 1;
        let at = match haste {
            Haste::Now => now.mono,
            Haste::Soon => now.mono + SETTLE,
        };
        self.saves.want(at);
        self.plan_save(now);
        self.saves.changes
    }

    /// Whether acks wait for a save. While one is overdue they do not: the disk is no reason to be unreachable.
    pub(super) fn acks_wait(&self) -> bool {
        self.settings.persist && !self.saves.is_overdue()
    }

    pub(super) fn count_unsaved_ack(&mut self) {
        if self.settings.persist {
            self.saves.unsaved_acks += 1;
        }
    }

    /// The next save, if it is its time.
    pub(super) fn start_save(&mut self) -> Option<Output> {
        let now = self.now;
        self.saves.starts().filter(|&at| at <= now.mono)?;
        let generation = self.saves.changes;
        self.saves.next = None;
        self.saves.in_flight = Some(InFlight { generation, started: now.mono, overdue: false });
        if !self.shutting_down {
            self.deadlines.arm(Deadline::SaveOverdue, now.mono + SAVE_WITHIN);
        }
        Some(Output::Save { generation, records: Box::new(self.records(now)) })
    }

    /// A save does not return: nobody waits for it any longer.
    pub(super) fn give_up_waiting(&mut self, now: Now) {
        let Some(save) = &mut self.saves.in_flight else { return };
        save.overdue = true;
        self.release(now, self.saves.changes, false);
    }

    /// The daemon goes away: what there is to save is saved without a rest.
    pub(super) fn save_at_last(&mut self, now: Now) {
        self.saves.rested = now.mono;
        self.changed(now, Haste::Now);
    }

    fn plan_save(&mut self, now: Now) {
        match self.saves.starts() {
            Some(at) if at > now.mono => self.deadlines.arm(Deadline::Save, at),
            Some(_) | None => self.deadlines.disarm(Deadline::Save),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_double_up_to_a_minute() {
        let waits = [1, 2, 3, 7, 100, u32::MAX].map(|failures| retry_after(failures).as_secs());
        assert_eq!(waits, [1, 2, 4, 60, 60, 60]);
    }
}
