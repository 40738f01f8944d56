//! The weather clears: everything must come right, and in the end nothing may be left.

use appduct_proto::app::{Core, State};
use appduct_proto::host::{Host, ToolQuery};

use super::World;
use crate::disk::Condition;
use crate::network::Weather;
use crate::oracle::Promise;

/// Longer than anything of the storm goes on: a machine that sleeps, an app that is away or frozen, a held message, a write.
const MARGIN_MS: u64 = 65_000;

impl World<'_> {
    pub(super) fn peace(&mut self) {
        self.clear_up();
        self.pass(self.plan.recovery_ms());
        self.check_everybody_is_back();
        self.check_calls_work();
        self.restart_in_peace();
        self.pass(self.plan.recovery_ms());
        self.check_everybody_is_back();
        self.pass(self.plan.grace_ms + MARGIN_MS);
        self.check_the_rest_is_over();
        self.leave();
        self.pass(self.plan.grace_ms + 2 * self.plan.link_ttl_ms + MARGIN_MS);
        self.check_nothing_is_left();
    }

    /// Nothing is wrong from here on. What was begun comes to its end first.
    fn clear_up(&mut self) {
        self.acts = 0;
        self.network.weather = Weather::CALM;
        self.daemon.disk.condition = Condition::GOOD;
        self.say(format_args!("peace"));
        self.pass(MARGIN_MS);
        if self.daemon.asleep_until > self.now {
            self.pass(self.daemon.asleep_until - self.now);
        }
        for app in 0..self.apps.len() {
            let life = self.apps[app].life;
            if !self.apps[app].is_awake(self.now) && self.apps[app].core.is_some() {
                self.apps[app].frozen_until = self.now;
            }
            self.foreground(app, life);
        }
    }

    /// Every app that wants a session has it, and what is listed of it is what the app holds.
    fn check_everybody_is_back(&mut self) {
        for app in 0..self.apps.len() {
            let Some(core) = &self.apps[app].core else {
                self.oracle.violate(Promise::SoundMachines, format!("app {app} has not started"));
                continue;
            };
            let state = core.state();
            let (session, alias) = (core.session_id().map(str::to_owned), core.alias().map(str::to_owned));
            match (state, session) {
                (State::Active, Some(session)) => {
                    let there = self.daemon.host.as_ref().and_then(|host| host.session(Some(&session)).ok());
                    let agrees = there.is_some_and(|there| there.suspended.is_none() && Some(there.alias) == alias);
                    self.oracle.require(agrees, Promise::NothingLost, || {
                        format!("{session} is active for app {app}, and not for the host")
                    });
                    self.compare(app, &session);
                }
                (State::Idle | State::Closed, None) => {}
                (state, session) => {
                    self.oracle
                        .violate(Promise::NothingLost, format!("app {app} is {state} with {session:?} in peace"));
                }
            }
        }
        let waiting = self.oracle.calls_waiting(self.daemon.life).len();
        let in_flight = self.daemon.host.as_ref().map_or(0, Host::calls_in_flight);
        self.oracle
            .require(waiting == in_flight, Promise::OneEnd, || format!("{waiting} callers wait for {in_flight} calls"));
    }

    /// A call of every tool of every session that is active comes through or fails by its handler.
    fn check_calls_work(&mut self) {
        let Some(host) = &self.daemon.host else { return };
        let active: Vec<_> = host.sessions().into_iter().filter(|session| session.suspended.is_none()).collect();
        for session in active {
            let id = session.session_id;
            let Some(host) = &self.daemon.host else { return };
            let tools = host.list_tools(Some(&id), &ToolQuery::default()).map(|page| page.tools).unwrap_or_default();
            if let Some(tool) = tools.first() {
                let name = tool.descriptor.name.to_string();
                let is_taken = self.call(&id, &id, &name, None);
                self.oracle
                    .require(is_taken, Promise::OneEnd, || format!("a call of {name} of {id} is refused in peace"));
            }
        }
        self.pass(20_000);
        let waiting = self.oracle.calls_waiting(self.daemon.life).len();
        self.oracle.require(waiting == 0, Promise::OneEnd, || format!("{waiting} calls never end"));
    }

    /// With a good disk a death costs nothing at all.
    fn restart_in_peace(&mut self) {
        if self.random.percent(50) {
            self.kill_daemon(false);
        } else {
            self.stop_daemon();
        }
        self.pass(20_000);
    }

    /// A suspended session has been resumed or has expired.
    fn check_the_rest_is_over(&mut self) {
        let sessions = self.daemon.host.as_ref().map(Host::sessions).unwrap_or_default();
        for session in sessions {
            let id = session.session_id.as_str();
            let is_held = self.apps.iter().any(|app| app.session() == Some(id));
            let is_active = session.suspended.is_none();
            self.oracle
                .require(is_held && is_active, Promise::NothingLost, || format!("{id} neither ends nor resumes"));
        }
    }

    fn leave(&mut self) {
        for app in 0..self.apps.len() {
            self.apps[app].gave_up = true;
            self.drive_app(app, Core::disconnect);
        }
    }

    /// No socket, call, link, session or deadline is left at either end, and nothing on the disk.
    fn check_nothing_is_left(&mut self) {
        if self.oracle.verdict.is_some() {
            return;
        }
        for (at, app) in self.apps.iter().enumerate() {
            let is_at_rest = app.core.as_ref().is_some_and(|core| core.session_id().is_none()) && app.until.is_none();
            self.oracle.require(is_at_rest, Promise::OwnSocketOnly, || format!("app {at} is not at rest"));
        }
        let now = self.daemon.clocks(self.now);
        let Some(host) = &self.daemon.host else {
            self.oracle.violate(Promise::SurvivesDeath, "no daemon runs".to_owned());
            return;
        };
        let left = [
            ("sockets", host.known_sockets()),
            ("calls", host.calls_in_flight()),
            ("links", host.pending_links(now)),
            ("sessions", host.sessions().len()),
            ("deadlines", usize::from(self.daemon.until.is_some())),
            ("changes that were not saved", usize::from(host.is_saving())),
        ];
        for (what, count) in left {
            self.oracle.require(count == 0, Promise::OwnSocketOnly, || format!("{count} {what} are left"));
        }
        let recorded = self.daemon.records();
        let recorded =
            recorded.map(|records| records.map_or(0, |records| records.session_count() + records.link_count()));
        let is_empty = recorded == Ok(0);
        self.oracle.require(is_empty, Promise::SurvivesDeath, || format!("the disk still holds {recorded:?}"));
        let debug = format!("{:?}", self.daemon.host);
        self.oracle.shows("a debug print of the host", &debug);
    }
}
