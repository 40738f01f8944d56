//! Events: each session tells one story, in order.

use appduct_proto::host::{Event, EventBody};

use super::sessions::Stage;
use super::{Oracle, Promise};

impl Oracle {
    /// Everyone hears an event.
    pub(crate) fn event(&mut self, event: &Event) {
        let (now, grace) = (self.now, self.grace_ms);
        let Some(truth) = self.sessions.get_mut(&event.session_id) else {
            self.violate(Promise::NothingLost, format!("an event of nobody: {:?}", event.body));
            return;
        };
        let stage = truth.stage;
        let fault = match &event.body {
            EventBody::SessionClaimed { .. } => {
                truth.stage = Stage::Active;
                truth.seen = now;
                self.counts.claims += 1;
                (stage != Stage::Link && !truth.is_forfeit).then_some((Promise::NothingLost, "claimed twice"))
            }
            EventBody::SessionResumed => {
                truth.stage = Stage::Active;
                truth.seen = now;
                self.counts.resumes += 1;
                // Where a crash came before the claim was told, the first that is heard of a session is a resume.
                (stage == Stage::Over).then_some((Promise::NothingLost, "resumed after its end"))
            }
            EventBody::SessionSuspended { .. } => {
                truth.stage = Stage::Suspended;
                truth.seen = now;
                (stage != Stage::Active).then_some((Promise::NothingLost, "suspended without a socket"))
            }
            EventBody::SessionExpired => {
                truth.stage = Stage::Over;
                truth.has_expired = true;
                let is_early = now < truth.seen + grace && !truth.is_forfeit && !truth.is_given_up;
                if stage == Stage::Active {
                    Some((Promise::NothingLost, "expired while it had a socket"))
                } else {
                    is_early.then_some((Promise::NothingLost, "expired within its grace"))
                }
            }
            EventBody::LinkExpired => {
                truth.has_expired = true;
                let is_early = now < truth.expires && !truth.is_forfeit;
                is_early.then_some((Promise::NothingLost, "expired before its time, as a link"))
            }
            EventBody::SessionRevoked => {
                truth.stage = Stage::Over;
                (!truth.is_revoked).then_some((Promise::NothingLost, "revoked by nobody"))
            }
            EventBody::AppEvent { payload, .. } => {
                let number = payload.as_ref().and_then(|payload| payload.as_str().parse::<u64>().ok()).unwrap_or(0);
                let (last_seq, last) = (truth.last_seq, truth.last_payload);
                truth.last_seq = event.seq;
                truth.last_payload = number;
                if event.seq <= last_seq {
                    Some((Promise::OwnSocketOnly, "two events with one number"))
                } else if number <= last {
                    Some((Promise::OwnSocketOnly, "events out of order"))
                } else {
                    None
                }
            }
            // The calls of a session end after it.
            EventBody::ToolCallFinished(_) => {
                (stage == Stage::Link).then_some((Promise::NothingLost, "ends a call before its claim"))
            }
            EventBody::LinkCreated { .. } => {
                (stage != Stage::Link).then_some((Promise::NothingLost, "minted after its claim"))
            }
            EventBody::ToolCallStarted { .. }
            | EventBody::ToolCallProgress { .. }
            | EventBody::ToolCallDenied { .. }
            | EventBody::AppEventPreview { .. }
            | EventBody::ToolsChanged { .. }
            | EventBody::EventsChanged { .. } => {
                (stage == Stage::Link || stage == Stage::Over).then_some((Promise::NothingLost, "spoke out of turn"))
            }
        };
        if let Some((promise, fault)) = fault {
            self.violate(promise, format!("{} {fault} ({stage:?})", event.session_id));
        }
    }
}
