//! Calls: from the request to the frame, and from the answer to the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::deadlines::Deadline;
use super::session::{Label, Session};
use super::sessions::SessionNo;
use super::{Decision, EventBody, Host, Refusal, SocketId, SuspendReason};
use crate::wire::{DaemonFrame, Length, MAX_FRAME_BYTES, RawJson, ToolDescriptor, ToolFault, clamp_timeout_ms};
use crate::{Moment, Now};

/// A call; the host mints them and never uses one twice. Its text is `call_` and 22 characters of base64url.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub Arc<str>);

impl std::borrow::Borrow<str> for CallId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest {
    /// The session; `None` for the only live one.
    pub selector: Option<String>,
    /// The tool.
    pub tool: String,
    /// A JSON object.
    pub args: RawJson,
    /// The caller's deadline in milliseconds, before clamping.
    pub timeout_ms: Option<f64>,
    /// Whether a person agreed to this call.
    pub consent: bool,
    /// How many bytes the driver can still queue for the session's socket; as many as there are where nothing bounds it.
    pub room_bytes: usize,
}

/// What a call would go to.
#[derive(Clone, Debug, PartialEq)]
pub struct CallTarget {
    /// The session.
    pub session_id: String,
    /// Its alias.
    pub alias: String,
    /// The socket that the call would be sent on.
    pub socket: SocketId,
    /// The tool, as the app registered it; the same `Arc` until the app registers it anew.
    pub tool: Arc<ToolDescriptor>,
    /// What the policy says.
    pub policy: Decision,
}

/// How an accepted call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The app answered with a result.
    Result(RawJson),
    /// The app answered with an error, passed on word for word.
    Error(ToolFault),
    /// The app did not answer within this time.
    TimedOut(Duration),
    /// The session lost its socket.
    Suspended(SuspendReason),
    /// The app connected anew; its answer is lost.
    Resumed,
    /// The session ended: revoked, expired, or the daemon shuts down.
    SessionGone,
}

/// A finished call.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedCall {
    /// The call.
    pub call: CallId,
    /// The session's alias.
    pub alias: String,
    /// The tool.
    pub tool: String,
    /// How it ended.
    pub outcome: Outcome,
    /// From sending the frame to the end.
    pub duration: Duration,
}

/// A call's place in sending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallNo(u64);

#[derive(Debug)]
struct Call {
    id: CallId,
    session: SessionNo,
    tool: String,
    sent: Moment,
    timeout: Duration,
    /// When the app gives the call up by itself.
    app_timeout: Duration,
}

/// The calls in flight of all sessions.
#[derive(Debug, Default)]
pub(super) struct Calls {
    by_no: BTreeMap<CallNo, Call>,
    by_id: BTreeMap<CallId, CallNo>,
    sent: u64,
}

impl Calls {
    fn insert(&mut self, call: Call) -> CallNo {
        self.sent += 1;
        let no = CallNo(self.sent);
        self.by_id.insert(call.id.clone(), no);
        self.by_no.insert(no, call);
        no
    }

    fn remove(&mut self, no: CallNo) -> Option<Call> {
        let call = self.by_no.remove(&no)?;
        self.by_id.remove(&call.id);
        Some(call)
    }

    /// The call of this id, if it is in flight on this session.
    pub(super) fn find(&self, id: &str, session: SessionNo) -> Option<(CallNo, &CallId)> {
        let no = *self.by_id.get(id)?;
        let call = self.by_no.get(&no).filter(|call| call.session == session)?;
        Some((no, &call.id))
    }
}

impl Host {
    /// What a call would go to. Refuses as [`Host::call`] does for the session, the tool and the policy, in that order, but
    /// tells nobody.
    pub fn call_target(&self, request: &CallRequest) -> Result<CallTarget, Refusal> {
        let (_, session) = self.sessions.resolve(request.selector.as_deref())?;
        let socket = session.active_socket()?;
        let (tool, policy) = self.permit(session, request)?;
        Ok(CallTarget {
            session_id: session.label.session_id.to_string(),
            alias: session.label.alias.to_string(),
            socket,
            tool: tool.clone(),
            policy,
        })
    }

    /// Sends a call to the app. Its end comes as [`Output::CallFinished`](super::Output::CallFinished).
    pub fn call(&mut self, now: Now, request: CallRequest) -> Result<CallId, Refusal> {
        self.handle_timeout(now);
        let (no, session) = self.sessions.resolve(request.selector.as_deref())?;
        let socket = session.active_socket()?;
        let permitted = self.permit(session, &request);
        if let Err(Refusal::PolicyDenied { tool, .. }) = &permitted {
            self.outputs.event(now, &session.label, EventBody::ToolCallDenied { name: tool.clone() });
        }
        let (tool, _) = permitted?;
        let limit = self.settings.max_calls_per_session;
        if session.calls.len() >= limit {
            return Err(Refusal::TooManyCalls { alias: session.label.alias.to_string(), limit });
        }
        let app_ms = tool.timeout_ms.map_or(f64::NAN, |ms| ms as f64);
        let [timeout, app_timeout] =
            [request.timeout_ms.unwrap_or(app_ms), app_ms].map(|ms| Duration::from_millis(clamp_timeout_ms(ms)));
        let id = CallId(self.random.call_id().into());
        let frame = DaemonFrame::ToolCall { id: id.0.to_string(), name: request.tool.clone(), args: request.args };
        let text = frame.encode(&session.label.session_id);
        if text.len() > MAX_FRAME_BYTES {
            return Err(Refusal::CallTooBig { tool: request.tool, bytes: text.len() });
        }
        if text.len() > request.room_bytes {
            let alias = session.label.alias.to_string();
            return Err(Refusal::QueueFull { tool: request.tool, alias, bytes: text.len() });
        }
        self.outputs.send_text(socket, text);
        let started = EventBody::ToolCallStarted { name: request.tool.clone(), call: id.clone() };
        self.outputs.event(now, &session.label, started);
        let call = Call { id: id.clone(), session: no, tool: request.tool, sent: now.mono, timeout, app_timeout };
        let call = self.calls.insert(call);
        self.deadlines.arm(Deadline::Call(call), now.mono + timeout);
        if let Some(session) = self.sessions.get_mut(no) {
            session.calls.insert(call);
        }
        Ok(id)
    }

    /// The tool, if the session has it and the policy allows the call.
    fn permit<'a>(
        &self,
        session: &'a Session,
        request: &CallRequest,
    ) -> Result<(&'a Arc<ToolDescriptor>, Decision), Refusal> {
        let alias = &session.label.alias;
        let Some(tool) = session.tools.find(&request.tool) else {
            return Err(Refusal::ToolNotFound { tool: request.tool.clone(), alias: alias.to_string() });
        };
        let policy = self.settings.policy.decide(alias, tool);
        match policy.refuses(request.consent) {
            None => Ok((tool, policy)),
            Some(reason) => Err(Refusal::PolicyDenied { tool: request.tool.clone(), alias: alias.to_string(), reason }),
        }
    }

    /// Asks the app to stop a call; the call ends when the app answers or at its deadline. `false` if the call is not in
    /// flight on that session, or the session has no socket. The app gets at most 4,096 UTF-16 units of `reason`, and
    /// `client_cancelled` for an empty one.
    pub fn cancel(&mut self, now: Now, selector: Option<&str>, call: &str, reason: &str) -> Result<bool, Refusal> {
        self.handle_timeout(now);
        let (no, _) = self.sessions.resolve(selector)?;
        Ok(self.send_cancel(no, call, reason))
    }

    /// The caller of a call is gone: asks the app to stop it, whatever its session. Nothing if it has ended.
    pub fn abandon(&mut self, now: Now, call: &CallId) {
        self.handle_timeout(now);
        let session = self.calls.by_id.get(call).and_then(|no| self.calls.by_no.get(no)).map(|call| call.session);
        if let Some(no) = session {
            self.send_cancel(no, &call.0, "connection_closed");
        }
    }

    /// How many calls are in flight.
    #[must_use]
    pub fn calls_in_flight(&self) -> usize {
        self.calls.by_no.len()
    }

    fn send_cancel(&mut self, no: SessionNo, call: &str, reason: &str) -> bool {
        let Some((_, id)) = self.calls.find(call, no) else { return false };
        let Some(session) = self.sessions.get(no) else { return false };
        let Some(socket) = session.socket() else { return false };
        let frame = DaemonFrame::ToolCancel { id: id.0.to_string(), reason: cancel_reason(reason) };
        self.outputs.send(socket, &session.label, &frame);
        true
    }

    /// The deadline of a call has come. The app is told where its own is still to come, so that its handler stops.
    pub(super) fn time_out(&mut self, now: Now, call: CallNo) {
        let Some(Call { id, session, timeout, app_timeout, .. }) = self.calls.by_no.get(&call) else { return };
        let (id, no, timeout, app_works_on) = (id.0.to_string(), *session, *timeout, timeout < app_timeout);
        self.answer(now, no, call, Outcome::TimedOut(timeout));
        if app_works_on
            && let Some(session) = self.sessions.get(no)
            && let Some(socket) = session.socket()
        {
            let frame = DaemonFrame::ToolCancel { id, reason: "timeout".to_owned() };
            self.outputs.send(socket, &session.label, &frame);
        }
    }

    /// Ends one call of a session.
    pub(super) fn answer(&mut self, now: Now, no: SessionNo, call: CallNo, outcome: Outcome) {
        let Some(session) = self.sessions.get_mut(no) else { return };
        session.calls.remove(&call);
        let label = session.label.clone();
        self.end_call(now, &label, call, outcome);
    }

    /// Ends every call of a session.
    pub(super) fn end_calls(&mut self, now: Now, no: SessionNo, outcome: &Outcome) {
        let Some(session) = self.sessions.get_mut(no) else { return };
        let label = session.label.clone();
        for call in std::mem::take(&mut session.calls) {
            self.end_call(now, &label, call, outcome.clone());
        }
    }

    /// Ends a call that its session has let go of.
    pub(super) fn end_call(&mut self, now: Now, label: &Label, call: CallNo, outcome: Outcome) {
        self.deadlines.disarm(Deadline::Call(call));
        let Some(call) = self.calls.remove(call) else { return };
        let finished = FinishedCall {
            call: call.id,
            alias: label.alias.to_string(),
            tool: call.tool,
            outcome,
            duration: now.mono.since(call.sent),
        };
        self.outputs.finished(now, label, finished);
    }
}

/// The reason as apps accept it.
fn cancel_reason(reason: &str) -> String {
    if reason.is_empty() {
        return "client_cancelled".to_owned();
    }
    let mut units = 0;
    let fits = |char: &char| {
        units += char.len_utf16();
        units <= Length::TEXT.max
    };
    reason.chars().take_while(fits).collect()
}
