//! Sessions: what may open them, what may end them, and what a death may not.

use std::collections::BTreeSet;

use appduct_proto::host::Transport;
use appduct_proto::wire::Hello;

use super::{Oracle, Promise};
use crate::disk::Disk;
use crate::network::{Connection, ConnectionNo, Peer};

/// Where a session stands as events tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Link,
    Active,
    Suspended,
    Over,
}

/// What a daemon that starts may take for the time since its records were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    True,
    /// More than passed.
    Ahead,
    /// Less than passed.
    Behind,
}

/// What is known of a link and of the session that it became.
#[derive(Debug)]
pub(super) struct Truth {
    pub(super) transport: Transport,
    pub(super) stage: Stage,
    pub(super) expires: u64,
    /// What the link carried.
    pub(super) link_token: String,
    /// The tokens that may still open it; at least those that do.
    pub(super) alive: BTreeSet<String>,
    pub(super) dead: Vec<String>,
    pub(super) newest: String,
    /// When it was last known to have a socket.
    pub(super) seen: u64,
    /// An ack left without its save, and no save has come since.
    pub(super) is_unsaved: bool,
    /// A crash or a clock took what the protocol does not promise to keep.
    pub(super) is_forfeit: bool,
    /// A clock that was set back lets its link live longer.
    pub(super) link_is_stretched: bool,
    /// The newest connection that a claim or resume of it came over.
    pub(super) newest_connection: ConnectionNo,
    /// Somebody revoked it, or wrong tokens burned its link.
    pub(super) is_revoked: bool,
    /// Its app gave it up and said so, which leaves no grace.
    pub(super) is_given_up: bool,
    pub(super) has_expired: bool,
    pub(super) last_seq: u64,
    pub(super) last_payload: u64,
}

impl Oracle {
    pub(crate) fn link_minted(&mut self, session: &str, token: String, transport: Transport, ttl_ms: u64) {
        self.token_made(&token);
        let truth = Truth {
            transport,
            stage: Stage::Link,
            expires: self.now + ttl_ms,
            alive: BTreeSet::from([token.clone()]),
            dead: Vec::new(),
            link_token: token.clone(),
            newest: token,
            seen: self.now,
            is_unsaved: false,
            is_forfeit: false,
            link_is_stretched: false,
            newest_connection: ConnectionNo(0),
            is_revoked: false,
            is_given_up: false,
            has_expired: false,
            last_seq: 0,
            last_payload: 0,
        };
        let earlier = self.sessions.insert(session.to_owned(), truth);
        self.require(earlier.is_none(), Promise::NobodyElse, || format!("the id {session} is used twice"));
    }

    /// An ack leaves over this connection.
    pub(crate) fn acked(&mut self, connection: &Connection, session: &str, token: &str, disk: &Disk, patience_ms: u64) {
        let now = self.now;
        self.token_made(token);
        let is_saved = disk.knows(token);
        let Some((hello, shown_at)) = &connection.hello else {
            self.violate(Promise::NobodyElse, "an ack for nothing".to_owned());
            return;
        };
        let (wanted, shown, is_claim) = match hello {
            Hello::Claim { session_id, token, .. } => (session_id, token, true),
            Hello::Resume { session_id, resume_token } => (session_id, resume_token, false),
        };
        let Some(truth) = self.sessions.get_mut(session) else {
            self.violate(Promise::NobodyElse, format!("an ack for {session}, which never was"));
            return;
        };
        let is_late_claim = is_claim && *shown_at >= truth.expires && !truth.is_forfeit && !truth.link_is_stretched;
        let fault = if connection.acked.is_some() {
            Some("a second ack on a socket")
        } else if connection.peer == Peer::Intruder {
            Some("an ack for an intruder")
        } else if wanted != session {
            Some("an ack for a session that was not asked for")
        } else if !truth.alive.contains(shown) {
            Some("an ack for a dead token")
        } else if connection.transport != truth.transport {
            Some("an ack by the other listener")
        } else if truth.stage == Stage::Over {
            Some("an ack for a session that is over")
        } else if is_late_claim {
            Some("an ack for a link that had expired")
        } else {
            None
        };
        if let Some(fault) = fault {
            self.violate(Promise::NobodyElse, format!("{fault}: {session}"));
            return;
        }
        truth.is_unsaved = !is_saved;
        self.unsaved_acks += u64::from(!is_saved);
        truth.newest = token.to_owned();
        truth.seen = now;
        let alive = BTreeSet::from([shown.clone(), token.to_owned()]);
        let died = std::mem::replace(&mut truth.alive, alive);
        truth.dead.extend(died.into_iter().filter(|token| !truth.alive.contains(token)));
        let excused = is_saved || disk.is_a_reason(now, patience_ms);
        self.require(excused, Promise::SurvivesDeath, || format!("an ack of {session} left before its save"));
    }

    /// A frame reached the daemon over the connection that this token was sent by.
    pub(crate) fn proven(&mut self, session: &str, token: &str) {
        let Some(truth) = self.sessions.get_mut(session) else { return };
        if truth.newest == token {
            let died = std::mem::replace(&mut truth.alive, BTreeSet::from([token.to_owned()]));
            truth.dead.extend(died.into_iter().filter(|died| died != token));
        }
    }

    /// The daemon is gone. What was saved is all that the next one knows.
    pub(crate) fn daemon_gone(&mut self) {
        let now = self.now;
        for truth in self.sessions.values_mut().filter(|truth| truth.stage == Stage::Active) {
            truth.stage = Stage::Suspended;
            truth.seen = now;
        }
    }

    /// The next daemon starts from what is on the disk. `held` are the tokens that apps have.
    pub(crate) fn daemon_starts(&mut self, disk: &Disk, clock: Clock, after_stop: bool, held: &BTreeSet<String>) {
        let now = self.now;
        let clock_lies = clock == Clock::Ahead;
        self.unsaved_acks = 0;
        let (mut forfeits, mut inexcusable) = (0, None);
        for (id, truth) in self.sessions.iter_mut().filter(|(_, truth)| truth.stage == Stage::Over) {
            // Its end was not saved yet, so it is there again, for whoever still wants it.
            if disk.holds(id) {
                truth.stage = Stage::Suspended;
                truth.is_forfeit = true;
            }
        }
        for (id, truth) in self.sessions.iter_mut().filter(|(_, truth)| truth.stage != Stage::Over) {
            // A claim whose ack never left is nobody's, so a crash may undo it.
            if truth.newest == truth.link_token && disk.holds_link(id) {
                truth.stage = Stage::Link;
            }
            let died: Vec<_> = truth.alive.iter().filter(|token| !disk.knows(token)).cloned().collect();
            // What the crash undid is alive again: a proof that was not saved yet, say.
            let risen: Vec<_> = truth.dead.iter().filter(|token| disk.knows(token)).cloned().collect();
            truth.dead.retain(|token| !risen.contains(token));
            truth.alive.extend(risen);
            // An expired link is no good to an app that still shows it.
            let link_is_over = now >= truth.expires && !truth.link_is_stretched;
            let is_wanted = |token: &String| held.contains(token) && !(link_is_over && *token == truth.link_token);
            let lost = died.iter().any(is_wanted);
            let never_saved = truth.is_unsaved && died.contains(&truth.newest);
            let is_unproven = truth.stage == Stage::Link || truth.alive.len() > 1;
            let was_forfeit = truth.is_forfeit;
            truth.is_forfeit |= lost || never_saved || clock_lies && (after_stop || is_unproven);
            if truth.stage == Stage::Link {
                truth.is_forfeit |= died.contains(&truth.newest);
            }
            if truth.is_forfeit && !was_forfeit {
                forfeits += 1;
                if truth.stage != Stage::Link {
                    inexcusable = Some(id.clone());
                }
            }
            truth.link_is_stretched |= clock == Clock::Behind;
            truth.alive.retain(|token| !died.contains(token));
            truth.dead.extend(died);
        }
        self.counts.forfeits += forfeits;
        if let Some(id) = inexcusable.filter(|_| !self.takes_excuses) {
            self.violate(Promise::SurvivesDeath, format!("the disk does not have what the app of {id} would show"));
        }
    }

    /// The sessions that the daemon lists after its start must be there.
    pub(crate) fn check_restored(&mut self, listed: &BTreeSet<String>) {
        let lost = self
            .sessions
            .iter()
            .find(|(id, truth)| truth.stage == Stage::Suspended && !truth.is_forfeit && !listed.contains(id.as_str()));
        if let Some(id) = lost.map(|(id, _)| id.clone()) {
            self.violate(Promise::SurvivesDeath, format!("{id} is gone after a restart"));
        }
    }

    /// A claim or resume of an app has come.
    pub(crate) fn hello_came(&mut self, session: &str, no: ConnectionNo) {
        let Some(truth) = self.sessions.get_mut(session) else { return };
        if no < truth.newest_connection {
            self.counts.late_hellos += 1;
        } else {
            truth.newest_connection = no;
        }
    }

    pub(crate) fn revoked(&mut self, session: &str) {
        if let Some(truth) = self.sessions.get_mut(session) {
            truth.is_revoked = true;
        }
    }

    /// The daemon heard that the app gave the session up.
    pub(crate) fn said_goodbye(&mut self, session: &str) {
        if let Some(truth) = self.sessions.get_mut(session) {
            truth.is_given_up = true;
        }
    }

    /// What has ended a session before its app gave it up is known.
    pub(crate) fn may_be_gone(&self, session: &str) -> bool {
        self.sessions.get(session).is_none_or(|truth| truth.is_forfeit || truth.is_revoked || truth.has_expired)
    }

    /// A link's payload knows whole seconds only, so its app may think that it has expired a little early.
    pub(crate) fn link_may_have_expired(&self, session: &str) -> bool {
        self.sessions.get(session).is_none_or(|truth| truth.expires < self.now + 1_000)
    }

    pub(crate) fn is_alive(&self, session: &str, token: &str) -> bool {
        self.sessions.get(session).is_some_and(|truth| truth.alive.contains(token))
    }

    /// Every link and session that is not over, with its listener.
    pub(crate) fn known(&self) -> Vec<(String, Transport)> {
        let live = self.sessions.iter().filter(|(_, truth)| truth.stage != Stage::Over);
        live.map(|(id, truth)| (id.clone(), truth.transport)).collect()
    }

    pub(crate) fn dead_tokens(&self, session: &str) -> &[String] {
        self.sessions.get(session).map_or(&[], |truth| &truth.dead)
    }

    pub(crate) fn newest_token(&self, session: &str) -> Option<&str> {
        self.sessions.get(session).map(|truth| truth.newest.as_str())
    }

    /// Whether nobody has claimed it.
    pub(crate) fn is_link(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|truth| truth.stage == Stage::Link)
    }
}
