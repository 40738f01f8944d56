//! `tools.call`: allowed, checked and sent; when it has ended, written down and answered.

use std::time::Duration;

use appduct_proto::Now;
use appduct_proto::host::{CallId, CallRequest, CallTarget, Decision, DeniedReason, FinishedCall, Outcome, Refusal};
use appduct_proto::wire::RawJson;
use appduct_rpc::methods::{Caller, ToolsCall};
use appduct_rpc::{ErrorName, ErrorType, RpcError};

use super::refusal::{call_result, refused};
use super::{Answer, Reply};
use crate::audit::{Attempt, Denied, End};
use crate::state::State;
use crate::validation::{Check, Issues, Side, Verdict};

/// A call that its app has, for what is to be said of its end.
#[derive(Debug)]
pub(crate) struct InFlight {
    target: CallTarget,
    args: RawJson,
    caller: Option<Caller>,
    consent: bool,
    /// It has ended with this result, which is being checked.
    checking: Option<FinishedCall>,
}

/// What becomes of a call that has ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Its caller is answered.
    Answer(Result<Reply, RpcError>),
    /// Its result is checked first; [`result_checked`] goes on.
    Check(Check),
}

/// Makes a call. `verdict` says whether the arguments fit, where that had to be found out first.
pub(crate) fn call(
    state: &mut State,
    now: Now,
    params: ToolsCall,
    verdict: Option<Verdict>,
) -> Result<Answer, RpcError> {
    state.refresh_policy(now);
    let mut request = CallRequest {
        selector: params.selector.clone(),
        tool: params.name.clone(),
        args: params.args.clone(),
        timeout_ms: params.timeout_ms,
        consent: params.consent.is_some(),
        room_bytes: usize::MAX,
    };
    // What is refused here is refused below too, where whoever listens is told.
    let call = state.host.call_target(&request).ok().map(|target| InFlight {
        consent: target.policy == Decision::Prompt && params.consent.is_some(),
        target,
        args: params.args.clone(),
        caller: params.caller,
        checking: None,
    });
    request.room_bytes = call.as_ref().map_or(usize::MAX, |call| state.devices.room(call.target.socket));
    if let Some(call) = &call
        && state.facts.config.validate_args
        && params.validate != Some(false)
    {
        let check = call.check(Side::Args, &params.args);
        match verdict.or_else(|| state.validation.check_now(&check)) {
            None => return Ok(Answer::AfterCheck { check, params: Box::new(params) }),
            Some(Verdict::Misfit(issues)) => {
                let kind = ErrorType::ToolInputValidationError;
                state.audit.record(call.attempt(now, End::Error(kind), Duration::ZERO));
                let what = format!("the arguments do not fit the input schema of \"{}\"", params.name);
                return Err(misfit(kind, &what, &issues));
            }
            Some(Verdict::Fits | Verdict::Unchecked) => {}
        }
    }
    match state.host.call(now, request) {
        Ok(id) => {
            state.in_flight.extend(call.map(|call| (id.clone(), call)));
            Ok(Answer::AfterCall { call: id, follow: params.follow == Some(true) })
        }
        Err(refusal) => Err(refuse(state, now, params, refusal)),
    }
}

/// Writes down that a call was refused, if its session was found.
fn refuse(state: &State, now: Now, params: ToolsCall, refusal: Refusal) -> RpcError {
    let denied = match &refusal {
        Refusal::PolicyDenied { reason: DeniedReason::Policy, .. } => Some(Denied::Policy),
        Refusal::PolicyDenied { reason: DeniedReason::NoConsentChannel, .. } => Some(Denied::NoConsentChannel),
        Refusal::NoSession
        | Refusal::AmbiguousSession { .. }
        | Refusal::UnknownSession { .. }
        | Refusal::SessionSuspended { .. }
        | Refusal::ToolNotFound { .. }
        | Refusal::TooManyCalls { .. }
        | Refusal::CallTooBig { .. }
        | Refusal::QueueFull { .. }
        | Refusal::LinkTtl { .. }
        | Refusal::TooManyLinks { .. } => None,
    };
    let error = refused(&state.facts, refusal);
    if let Ok(session) = state.host.session(params.selector.as_deref()) {
        state.audit.record(Attempt {
            at: now.wall,
            session_id: session.session_id,
            alias: session.alias,
            tool: params.name,
            args: params.args,
            end: denied.map_or_else(|| end_of(&error), End::Denied),
            duration: Duration::ZERO,
            caller: params.caller,
            consent: false,
        });
    }
    error
}

/// A call has ended.
pub(crate) fn finished(state: &mut State, now: Now, finished: FinishedCall) -> Ended {
    state.calls_served += 1;
    if state.facts.config.validate_results
        && let Outcome::Result(result) = &finished.outcome
        && let Some(call) = state.in_flight.get_mut(&finished.call)
    {
        let check = call.check(Side::Result, result);
        let Some(verdict) = state.validation.check_now(&check) else {
            call.checking = Some(finished);
            return Ended::Check(check);
        };
        return Ended::Answer(end(state, now, finished, verdict));
    }
    Ended::Answer(end(state, now, finished, Verdict::Unchecked))
}

/// The result of a call has been checked. `None` if nobody waits for it any more.
pub(crate) fn result_checked(
    state: &mut State,
    now: Now,
    call: &CallId,
    verdict: Verdict,
) -> Option<Result<Reply, RpcError>> {
    let finished = state.in_flight.get_mut(call)?.checking.take()?;
    Some(end(state, now, finished, verdict))
}

/// The daemon goes: what is still being checked ends unchecked.
pub(crate) fn end_checks(state: &mut State, now: Now) -> Vec<(CallId, Result<Reply, RpcError>)> {
    let finished: Vec<_> = state.in_flight.values_mut().filter_map(|call| call.checking.take()).collect();
    finished.into_iter().map(|call| (call.call.clone(), end(state, now, call, Verdict::Unchecked))).collect()
}

/// Writes down how a call ended.
fn end(state: &mut State, now: Now, finished: FinishedCall, verdict: Verdict) -> Result<Reply, RpcError> {
    let call = state.in_flight.remove(&finished.call);
    let duration = finished.duration;
    let result = match verdict {
        Verdict::Misfit(issues) => {
            let what = format!("the result does not fit the output schema of \"{}\"", finished.tool);
            Err(misfit(ErrorType::ToolOutputValidationError, &what, &issues))
        }
        Verdict::Fits | Verdict::Unchecked => call_result(finished).map(Reply::CallResult),
    };
    if let Some(call) = call {
        let end = result.as_ref().err().map_or(End::Ok, end_of);
        state.audit.record(call.attempt(now, end, duration));
    }
    result
}

fn misfit(kind: ErrorType, what: &str, issues: &Issues) -> RpcError {
    let error = RpcError::new(kind, format!("{what}: {}", issues.summary()));
    RpcError { details: issues.details().ok(), ..error }
}

fn end_of(error: &RpcError) -> End {
    match error.kind {
        Some(ErrorName::Known(kind)) => End::Error(kind),
        // No call ends in an error that is not ours.
        Some(ErrorName::Other(_)) | None => End::Error(ErrorType::InvalidRequest),
    }
}

impl InFlight {
    fn check(&self, side: Side, value: &RawJson) -> Check {
        let CallTarget { alias, tool, .. } = &self.target;
        Check { alias: alias.clone(), tool: tool.clone(), side, value: value.clone() }
    }

    fn attempt(&self, now: Now, end: End, duration: Duration) -> Attempt {
        let CallTarget { session_id, alias, tool, .. } = &self.target;
        Attempt {
            at: now.wall,
            session_id: session_id.clone(),
            alias: alias.clone(),
            tool: tool.name.to_string(),
            args: self.args.clone(),
            end,
            duration,
            caller: self.caller,
            consent: self.consent,
        }
    }
}
