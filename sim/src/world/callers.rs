//! Those who call: they wait, cancel, or go away.

use appduct_proto::host::{CallId, CallRequest, DeclaredEventQuery, EventQuery, FinishedCall, ToolQuery};
use appduct_proto::wire::{RawJson, clamp_timeout_ms};

use super::World;
use crate::app::Registered;
use crate::network::{ConnectionNo, Way};
use crate::oracle::Promise;

/// What the callers of the daemon that runs wait for.
#[derive(Debug, Default)]
pub(super) struct Callers {
    /// The calls in flight, each with how long the daemon had slept when it began.
    pub(super) waiting: Vec<(CallId, u64)>,
}

impl World<'_> {
    /// Somebody calls a tool of some session.
    pub(super) fn call_some(&mut self) {
        let Some(host) = self.daemon.host.as_ref().filter(|_| self.daemon.is_awake(self.now)) else { return };
        let sessions = host.sessions();
        let Some(session) = self.random.pick(&sessions) else { return };
        let (session, alias) = (session.session_id.clone(), session.alias.clone());
        let tools = host.list_tools(Some(&session), &ToolQuery::default()).map(|page| page.tools).unwrap_or_default();
        let tool = self.random.pick(&tools).map_or("missing".to_owned(), |tool| tool.descriptor.name.to_string());
        let selector = if self.random.percent(50) { session.clone() } else { alias };
        let timeout_ms = match self.random.below(3) {
            0 => None,
            1 => Some(self.random.below(5_000) as f64),
            _ => Some(self.random.below(40_000) as f64),
        };
        self.call(&session, &selector, &tool, timeout_ms);
    }

    /// Calls a tool. `false` if the host refuses.
    pub(super) fn call(&mut self, session: &str, selector: &str, tool: &str, timeout_ms: Option<f64>) -> bool {
        self.versions += 1;
        let args = RawJson::parse(&format!(r#"{{"n":{}}}"#, self.versions)).expect("it is an object");
        let request = CallRequest {
            selector: Some(selector.to_owned()),
            tool: tool.to_owned(),
            args,
            timeout_ms,
            consent: false,
            room_bytes: usize::MAX,
        };
        let now = self.daemon.clocks(self.now);
        let Some(host) = &mut self.daemon.host else { return false };
        let taken = host.call(now, request);
        self.say(format_args!("a caller calls {tool} of {selector}: {taken:?}"));
        // Before the outputs: a call may end in the mutation that starts it.
        if let Ok(call) = &taken {
            let timeout_ms = clamp_timeout_ms(timeout_ms.unwrap_or(f64::NAN));
            self.oracle.call_started(&call.0, self.daemon.life, session, timeout_ms);
            self.callers.waiting.push((call.clone(), self.daemon.slept_ms));
        }
        self.drain_host();
        taken.is_ok()
    }

    pub(super) fn finish_call(&mut self, call: &FinishedCall) {
        let at = self.callers.waiting.iter().position(|(waiting, _)| *waiting == call.call);
        let slept = at.map_or(0, |at| self.daemon.slept_ms - self.callers.waiting.swap_remove(at).1);
        self.oracle.call_ended(call, self.daemon.life, slept);
    }

    /// Somebody asks for a call to be stopped, or is gone.
    pub(super) fn cancel_some(&mut self) {
        if !self.daemon.is_awake(self.now) {
            return;
        }
        let Some((call, _)) = self.random.pick(&self.callers.waiting).cloned() else { return };
        self.oracle.call_cancelled(&call.0);
        self.say(format_args!("the caller of {call:?} stops it"));
        self.drive_host(|host, now| host.abandon(now, &call));
    }

    pub(super) fn revoke_some(&mut self) {
        if !self.daemon.is_awake(self.now) {
            return;
        }
        let known = self.oracle.known();
        let Some((session, _)) = self.random.pick(&known).cloned() else { return };
        self.say(format_args!("somebody revokes {session}"));
        self.oracle.revoked(&session);
        self.drive_host(|host, now| host.revoke(now, Some(&session)));
    }

    /// Somebody reads the kept events of a session: they are in order, and none is twice.
    pub(super) fn read_events(&mut self) {
        let Some(host) = self.daemon.host.as_ref().filter(|_| self.daemon.is_awake(self.now)) else { return };
        for session in host.sessions() {
            let since = self.random.below(20);
            let Ok(read) = host.events_since(Some(&session.session_id), &EventQuery { since, ..EventQuery::default() })
            else {
                continue;
            };
            let in_order = read.events.windows(2).all(|pair| pair[0].seq < pair[1].seq);
            let after = read.events.iter().all(|event| event.seq > since);
            self.oracle.require(in_order && after, Promise::OwnSocketOnly, || {
                format!("events of {} are not in order", session.session_id)
            });
        }
    }

    /// A registry frame has been taken. If nothing more is on its way, what is listed is what the app holds.
    pub(super) fn compare_after(&mut self, no: ConnectionNo, session: &str) {
        let Some((app, _)) = self.app_behind(no) else { return };
        let connection = self.network.get(no);
        let is_current = connection.host_end && !connection.host_closed && connection.acked.is_some();
        let is_same = self.apps[app].held.as_deref() == Some(session) && self.apps[app].session() == Some(session);
        if is_current && is_same && self.network.is_empty(no, Way::Up) && !self.network.is_lossy(no) {
            self.compare(app, session);
        }
    }

    /// What is listed of a session is what its app holds.
    pub(super) fn compare(&mut self, app: usize, session: &str) {
        let Some(host) = &self.daemon.host else { return };
        self.oracle.counts.comparisons += 1;
        let Ok(tools) = host.list_tools(Some(session), &ToolQuery::default()) else {
            self.oracle.violate(Promise::NothingLost, format!("{session} is not listed"));
            return;
        };
        let listed = tools.tools.iter().map(|tool| tool.descriptor.raw().as_str());
        if !is_same(&self.apps[app].tools, listed) {
            self.oracle.violate(Promise::FreshRegistry, format!("the tools of {session} are not those of app {app}"));
        }
        let events = host.list_events(Some(session), &DeclaredEventQuery::default());
        let declared = events.as_ref().map(|page| page.events.as_slice()).unwrap_or_default();
        if !is_same(&self.apps[app].events, declared.iter().map(|event| event.raw().as_str())) {
            self.oracle.violate(Promise::FreshRegistry, format!("the events of {session} are not those of app {app}"));
        }
    }
}

fn is_same<'a>(registered: &Registered, listed: impl Iterator<Item = &'a str>) -> bool {
    registered.values().map(|(_, text)| text.as_str()).eq(listed)
}
