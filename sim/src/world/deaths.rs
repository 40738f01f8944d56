//! Daemons and apps that start, stop and die.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use appduct_proto::app::Core;
use appduct_proto::host::Host;

use super::World;
use crate::network::{Message, Peer, Way};
use crate::oracle::{Clock, Promise};
use crate::queue::Happening;
use crate::sabotage::Saboteur;

/// How long a daemon that stops waits for its last save.
const LAST_SAVE_MS: u64 = 3_000;

impl World<'_> {
    /// A daemon starts from what is on the disk.
    pub(super) fn start_daemon(&mut self, reboot: bool) {
        if self.daemon.host.is_some() {
            return;
        }
        if reboot {
            self.daemon.boot += 1;
            self.daemon.booted = self.now;
        }
        self.daemon.life += 1;
        self.daemon.is_stopping = false;
        self.daemon.saboteur = Saboteur::new(self.daemon.sabotage);
        let records = match self.daemon.records() {
            Ok(records) => records,
            Err(fault) => {
                self.oracle.violate(Promise::SurvivesDeath, format!("what is on the disk cannot be read: {fault}"));
                return;
            }
        };
        self.tell_oracle_of_start();
        let settings = self.daemon.saboteur.settings(self.plan.settings(self.daemon.boot));
        self.daemon.host = Some(Host::new(settings, self.random.seed()));
        let life = self.daemon.life;
        self.say(format_args!("daemon {life} starts"));
        if let Some(records) = records {
            self.drive_host(|host, now| host.restore(now, records));
        } else {
            self.drain_host();
        }
        let listed = self.daemon.host.iter().flat_map(Host::sessions).map(|session| session.session_id);
        let listed: BTreeSet<_> = listed.collect();
        self.oracle.check_restored(&listed);
    }

    /// Tells the oracle what the next daemon can know.
    fn tell_oracle_of_start(&mut self) {
        if self.daemon.life == 1 {
            return;
        }
        let (mut clock, mut after_stop) = (Clock::True, false);
        if let Some(taken) = self.daemon.disk.taken() {
            let by_wall = !self.plan.knows_boot || taken.boot != self.daemon.boot;
            let ahead_ms = self.daemon.set_by_ms - taken.set_by_ms;
            if by_wall {
                clock = match ahead_ms.cmp(&0) {
                    Ordering::Less => Clock::Behind,
                    Ordering::Equal => Clock::True,
                    Ordering::Greater => Clock::Ahead,
                };
            }
            after_stop = taken.is_last;
        }
        let held = self.held_tokens();
        self.oracle.daemon_starts(&self.daemon.disk, clock, after_stop, &held);
    }

    /// The tokens that apps would show.
    fn held_tokens(&self) -> BTreeSet<String> {
        let leases = self.apps.iter().filter_map(|app| app.lease.as_ref()).map(|lease| lease.resume_token.clone());
        let claims = self.apps.iter().filter_map(|app| app.claims.values().next_back()).map(|(_, token)| token.clone());
        leases.chain(claims).collect()
    }

    /// `kill -9`, or a machine that loses power.
    pub(super) fn kill_daemon(&mut self, reboot: bool) {
        if self.daemon.host.is_none() {
            return;
        }
        self.oracle.counts.kills += 1;
        self.end_daemon();
        let starts =
            self.now + if self.random.percent(50) { self.random.below(300) } else { self.random.below(15_000) };
        self.queue.put(starts, Happening::Starts { reboot });
    }

    /// The daemon is asked to stop; another takes its place, an upgrade say.
    pub(super) fn stop_daemon(&mut self) {
        if self.daemon.is_stopping || !self.daemon.is_awake(self.now) {
            return;
        }
        self.oracle.counts.stops += 1;
        let life = self.daemon.life;
        self.say(format_args!("daemon {life} stops"));
        self.daemon.is_stopping = true;
        self.queue.put(self.now + LAST_SAVE_MS, Happening::Exits { life });
        self.drive_host(Host::shutdown);
        self.oracle.daemon_gone();
        if let Some(call) = self.oracle.calls_waiting(life).first() {
            self.oracle.violate(Promise::OneEnd, format!("{call} did not end with its daemon"));
        }
    }

    /// A daemon that stops ends.
    pub(super) fn exit(&mut self, life: u64) {
        if self.daemon.life != life || self.daemon.host.is_none() || !self.daemon.is_stopping {
            return;
        }
        self.end_daemon();
        let starts = self.now + if self.random.percent(60) { 0 } else { self.random.below(20_000) };
        self.queue.put(starts, Happening::Starts { reboot: false });
    }

    fn end_daemon(&mut self) {
        let life = self.daemon.life;
        self.say(format_args!("daemon {life} ends"));
        self.daemon.host = None;
        self.daemon.until = None;
        self.daemon.asleep_until = 0;
        self.daemon.disk.crash(&mut self.random);
        self.oracle.daemon_gone();
        self.oracle.callers_lost(life);
        self.callers.waiting.clear();
        for no in self.network.open() {
            let connection = self.network.get_mut(no);
            if connection.daemon != life {
                continue;
            }
            connection.host_end = false;
            if !connection.host_closed {
                self.network.vanish(self.now, no, Way::Down, &mut self.random, &mut self.queue);
            }
        }
    }

    /// An app's process starts, with what it always registers.
    pub(super) fn start_app(&mut self, app: usize, reload: bool) {
        self.say(format_args!("app {app} starts"));
        self.apps[app].start(&mut self.random);
        for _ in 0..self.random.below(4) {
            self.register_some(app);
        }
        if !reload {
            self.apps[app].lease = None;
            self.apps[app].held = None;
            return;
        }
        let lease = self.apps[app].lease.clone();
        let held = lease.as_ref().map(|lease| lease.session_id.clone());
        let is_taken = self.drive_app(app, |core, now| core.restore_session(now, lease)) == Some(true);
        let clock_was_set = self.apps[app].clock_was_set;
        let grace_is_over = self.apps[app].lost_at.is_some_and(|lost_at| self.now >= lost_at + self.plan.grace_ms);
        let excused = is_taken || held.is_none() || clock_was_set || grace_is_over;
        self.oracle.require(excused, Promise::NothingLost, || format!("app {app} lost its session in a reload"));
        self.apps[app].held = if is_taken { held } else { None };
    }

    /// The app's runtime goes away and comes back with its lease.
    pub(super) fn reload_app(&mut self, app: usize) {
        if !self.apps[app].is_awake(self.now) {
            return;
        }
        self.say(format_args!("app {app} reloads"));
        self.drive_app(app, Core::shut_down);
        self.apps[app].lost_at.get_or_insert(self.now);
        self.apps[app].end();
        let (life, starts) = (self.apps[app].life, self.now + self.random.below(3_000));
        self.queue.put(starts, Happening::AppStarts { app, life, reload: true });
    }

    /// The app's process is killed, or its device loses power: nobody says goodbye.
    pub(super) fn kill_app(&mut self, app: usize, device: bool) {
        if self.apps[app].core.is_none() {
            return;
        }
        self.say(format_args!("app {app} dies"));
        let life = self.apps[app].life;
        for no in self.network.open() {
            let connection = self.network.get_mut(no);
            if !matches!(connection.peer, Peer::App { app: of, life: at, .. } if of == app && at == life) {
                continue;
            }
            connection.app_end = false;
            if device {
                self.network.silence(no, Way::Up);
                self.network.silence(no, Way::Down);
            } else {
                self.send(no, Way::Up, Message::End(None));
            }
        }
        self.apps[app].end();
        self.apps[app].held = None;
        let (life, starts) = (self.apps[app].life, self.now + self.random.below(20_000));
        self.queue.put(starts, Happening::AppStarts { app, life, reload: false });
    }

    /// An app may be told of a link.
    pub(super) fn open_link(&mut self, app: usize, life: u64, url: &str, session: &str) {
        if self.apps[app].life != life || self.apps[app].core.is_none() {
            return;
        }
        if !self.apps[app].is_awake(self.now) {
            let (url, session) = (url.to_owned(), session.to_owned());
            self.queue.put(self.apps[app].frozen_until, Happening::Link { app, life, url, session });
            return;
        }
        let token = self.oracle.newest_token(session).unwrap_or_default().to_owned();
        let now = self.app_clocks(app);
        let taken = self.apps[app].core.as_mut().map(|core| core.connect_link(now, url));
        self.say(format_args!("app {app} opens the link of {session}: {taken:?}"));
        match taken {
            // Before the outputs: an attempt may settle in the mutation that starts it.
            Some(Ok(Some(attempt))) => {
                self.apps[app].claims.insert(attempt, (session.to_owned(), token));
                self.apps[app].held = None;
            }
            Some(Err(fault)) => {
                let clocks_differ = self.clocks_differ(app);
                self.oracle.claim_failed(session, &fault, clocks_differ);
            }
            Some(Ok(None)) | None => {}
        }
        self.drain_app(app);
    }
}
