//! Accepted claims and resumes whose ack waits for a save, and what their ack brings about.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::deadlines::Deadline;
use super::link::PendingClaim;
use super::saves::{Generation, Haste};
use super::secret::Token;
use super::session::{Session, State, Unproven};
use super::sessions::SessionNo;
use super::socket::Awaits;
use super::{EventBody, Host, Outcome, SocketId, SuspendReason};
use crate::Now;
use crate::wire::{CloseReason, DaemonFrame, Number, Received, SessionAck};

/// How many messages of a socket are kept while its ack waits. Apps wait for the ack, so there are none.
const MAX_EARLY: usize = 8;

/// An accepted claim or resume.
#[derive(Debug)]
pub(super) struct Parked {
    pub(super) socket: SocketId,
    /// What the ack will carry.
    pub(super) token: Token,
    pub(super) accepted: Accepted,
    /// What came after the claim or resume.
    pub(super) early: Vec<Received>,
}

#[derive(Clone, Debug)]
pub(super) enum Accepted {
    /// The claim of this link.
    Claim(Arc<str>),
    /// A resume, or a repeated claim, of this session.
    Resume(SessionNo),
}

/// By the first generation that has their token.
pub(super) type AllParked = BTreeMap<Generation, Parked>;

impl Host {
    /// A claim or resume was accepted, and what it changes has been noted: its ack leaves once that is on disk.
    pub(super) fn park(&mut self, now: Now, socket: SocketId, token: Token, accepted: Accepted) {
        self.deadlines.disarm(Deadline::Hello(socket));
        let generation = self.changed(now, Haste::Now);
        let parked = Parked { socket, token, accepted, early: Vec::new() };
        if self.acks_wait() {
            self.sockets.park(socket, generation);
            self.parked.insert(generation, parked);
        } else {
            self.count_unsaved_ack();
            self.admit(now, parked);
        }
    }

    /// Lets everything in that waits for at most this generation.
    pub(super) fn release(&mut self, now: Now, generation: Generation, saved: bool) {
        while let Some(first) = self.parked.first_entry()
            && *first.key() <= generation
        {
            let parked = first.remove();
            if !saved {
                self.count_unsaved_ack();
            }
            self.admit(now, parked);
        }
    }

    /// A message came before the ack left; it counts after it.
    pub(super) fn keep_early(&mut self, generation: Generation, received: Received) -> Result<(), CloseReason> {
        let Some(parked) = self.parked.get_mut(&generation) else { return Ok(()) };
        if parked.early.len() >= MAX_EARLY {
            return Err(CloseReason::ExpectedClaimOrResume);
        }
        parked.early.push(received);
        Ok(())
    }

    /// The socket of a parked claim or resume is gone. Nobody has heard of it, so it is as if it had never come, except
    /// that a resume is a sign of life, which starts the grace of a suspended session anew.
    pub(super) fn unpark(&mut self, now: Now, generation: Generation, reason: SuspendReason) {
        let Some(parked) = self.parked.remove(&generation) else { return };
        match parked.accepted {
            Accepted::Claim(id) => self.take_claim_back(now, &id),
            Accepted::Resume(no) => self.take_resume_back(now, no, reason),
        }
        self.changed(now, Haste::Soon);
    }

    fn take_claim_back(&mut self, now: Now, id: &Arc<str>) {
        let Some(link) = self.links.get_mut(id) else { return };
        if let Some(claim) = link.claim.take() {
            self.sessions.release(&claim.alias);
        }
        if link.has_expired(now.mono) {
            self.expire_link(now, id.clone());
        } else {
            self.deadlines.arm(Deadline::LinkExpiry(id.clone()), link.expires);
        }
    }

    fn take_resume_back(&mut self, now: Now, no: SessionNo, lost: SuspendReason) {
        let Some(session) = self.sessions.get_mut(no) else { return };
        session.parked = None;
        let State::Suspended { reason, until, .. } = &mut session.state else { return };
        if lost == SuspendReason::AppBackgrounded {
            *reason = lost;
        }
        *until = now.mono + self.settings.expire_after();
        self.deadlines.arm(Deadline::Grace(no), *until);
    }

    /// Closes the socket of a parked claim or resume, which another one or a command has made void. What it was for is the
    /// caller's to care for.
    pub(super) fn turn_away(&mut self, socket: SocketId, reason: CloseReason) {
        if let Some(Awaits::Save(generation)) = self.close_socket(socket, reason) {
            self.parked.remove(&generation);
        }
    }

    /// The socket becomes its session's: an older one is closed, the ack leaves, then everyone else is told.
    fn admit(&mut self, now: Now, parked: Parked) {
        let Parked { socket, token, accepted, early } = parked;
        let Some((no, body)) = (match accepted {
            Accepted::Claim(id) => self.open_session(socket, &id),
            Accepted::Resume(no) => Some((no, EventBody::SessionResumed)),
        }) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(no) else { return };
        let replaced = session.socket().filter(|&replaced| replaced != socket);
        session.state = State::Active { socket, missed: 0 };
        session.parked = None;
        self.sockets.bind(socket, no);
        self.deadlines.disarm(Deadline::Grace(no));
        self.deadlines.arm(Deadline::Keepalive(no), now.mono + self.settings.ping_after());
        if let Some(replaced) = replaced {
            self.close_socket(replaced, CloseReason::SessionReplaced);
        }
        self.acknowledge(now, no, socket, &token, body);
        self.end_calls(now, no, &Outcome::Resumed);
        self.take_early(now, no, socket, early);
    }

    /// Makes the session of a claimed link.
    fn open_session(&mut self, socket: SocketId, id: &Arc<str>) -> Option<(SessionNo, EventBody)> {
        let link = self.discard_link(id)?;
        let PendingClaim { no, alias, device, claimed_at, resume_token, .. } = link.claim?;
        let session =
            Session::new(id.clone(), alias, device.clone(), State::Active { socket, missed: 0 }, resume_token);
        let unproven = Some(Unproven::Claim { token: link.token, expires: link.expires });
        let (transport, created_at, turn) = (link.transport, link.created_at, self.sockets.turn(socket));
        self.sessions.insert(no, Session { transport, created_at, claimed_at, unproven, turn, ..session });
        Some((no, EventBody::SessionClaimed { device }))
    }

    fn acknowledge(&mut self, now: Now, no: SessionNo, socket: SocketId, token: &Token, body: EventBody) {
        let Some(session) = self.sessions.get(no) else { return };
        let ack = SessionAck {
            alias: session.label.alias.to_string(),
            resume_token: token.text(),
            keepalive_interval_s: Number(self.settings.ping_after().as_secs_f64()),
            grace_s: Number(self.settings.expire_after().as_secs_f64()),
            event_registry: true,
        };
        self.outputs.send(socket, &session.label, &DaemonFrame::Ack(ack));
        self.outputs.event(now, &session.label, body);
    }

    /// Takes the messages that came before the ack left. They are no proof that the app has it.
    fn take_early(&mut self, now: Now, no: SessionNo, socket: SocketId, early: Vec<Received>) {
        for received in early {
            if self.sockets.session(socket) == Some(no)
                && let Err(reason) = self.take_message(now, no, received)
            {
                self.fail_socket(now, socket, reason);
            }
        }
        if let Some(session) = self.sessions.get_mut(no) {
            session.ack_left = true;
        }
    }
}
