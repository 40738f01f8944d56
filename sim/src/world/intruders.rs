//! Those who have no business here: old tokens, wrong listeners, nonsense, sockets that never speak.

use appduct_proto::host::Transport;
use appduct_proto::wire::{Close, Device, Hello};

use super::World;
use super::hosts::other;
use crate::network::{ConnectionNo, Message, Peer, Way};

impl World<'_> {
    /// Somebody connects and tries something.
    pub(super) fn intrude(&mut self) {
        if self.daemon.host.is_none() {
            return;
        }
        let known = self.oracle.known();
        let Some((session, transport)) = self.random.pick(&known).cloned() else { return };
        let dead = self.oracle.dead_tokens(&session).to_vec();
        let newest = self.oracle.newest_token(&session).unwrap_or_default().to_owned();
        let is_link = self.oracle.is_link(&session);
        match self.random.below(8) {
            0..3 => {
                let Some(token) = self.random.pick(&dead).cloned() else { return };
                let hello = if self.random.percent(50) { claim(&session, token) } else { resume(&session, token) };
                self.intruder_says(transport, hello.encode());
            }
            3 | 4 => {
                let hello = if is_link { claim(&session, newest) } else { resume(&session, newest) };
                self.intruder_says(other(transport), hello.encode());
            }
            5 => {
                let token = "A".repeat(43);
                let hello = if is_link { claim(&session, token) } else { resume(&session, token) };
                self.intruder_says(transport, hello.encode());
            }
            6 => self.intruder_says(transport, "{".to_owned()),
            _ => {
                let no = self.intruder(transport);
                if self.random.percent(30) {
                    self.send(no, Way::Up, Message::Binary);
                }
            }
        }
        self.oracle.counts.intrusions += 1;
    }

    /// More sockets than may wait for a claim.
    pub(super) fn crowd(&mut self) {
        if self.daemon.host.is_none() {
            return;
        }
        for _ in 0..self.random.below(8) {
            let no = self.intruder(Transport::Native);
            if self.random.percent(50) {
                self.send(no, Way::Up, Message::End(None));
            }
        }
    }

    fn intruder(&mut self, transport: Transport) -> ConnectionNo {
        let no = self.network.connect(Peer::Intruder, transport, self.daemon.life);
        // Nobody there cares for what comes back.
        self.network.get_mut(no).app_end = false;
        self.send(no, Way::Up, Message::Opened);
        no
    }

    fn intruder_says(&mut self, transport: Transport, text: String) {
        let no = self.intruder(transport);
        self.say(format_args!("{no:?} is an intruder's"));
        self.send(no, Way::Up, Message::Text(text));
        if self.random.percent(50) {
            self.send(no, Way::Up, Message::End(Some(Close::new(1000, "done"))));
        }
    }

    /// Whether an intruder would show what is good by now, on the listener where it is good.
    pub(super) fn is_not_to_be_shown(&self, no: ConnectionNo, hello: &Hello) -> bool {
        let transport = self.network.get(no).transport;
        let (session, token) = match hello {
            Hello::Claim { session_id, token, .. } => (session_id, token),
            Hello::Resume { session_id, resume_token } => (session_id, resume_token),
        };
        self.oracle.is_alive(session, token) && self.oracle.known().contains(&(session.clone(), transport))
    }

    /// Wrong tokens have burned the link that was asked for.
    pub(super) fn note_burned_link(&mut self, no: ConnectionNo) {
        let session = match &self.network.get(no).hello {
            Some((Hello::Claim { session_id, .. }, _)) => session_id.clone(),
            Some((Hello::Resume { .. }, _)) | None => return,
        };
        self.oracle.revoked(&session);
    }
}

fn claim(session: &str, token: String) -> Hello {
    Hello::Claim { session_id: session.to_owned(), token, device: Device::default() }
}

fn resume(session: &str, resume_token: String) -> Hello {
    Hello::Resume { session_id: session.to_owned(), resume_token }
}
