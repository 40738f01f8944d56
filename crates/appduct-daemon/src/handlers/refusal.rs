//! What the host refuses and how calls end, in the words of the control socket. The one place for both.

use appduct_proto::host::{DeniedReason, FinishedCall, Outcome, Refusal, SuspendReason};
use appduct_proto::wire::{MAX_FRAME_BYTES, Object, ToolFault};
use appduct_rpc::methods::CallResult;
use appduct_rpc::{ErrorType, RpcError};

use crate::state::Facts;

/// The error for a refused command. It says what to do next.
pub(super) fn refused(facts: &Facts, refusal: Refusal) -> RpcError {
    match refusal {
        Refusal::NoSession => {
            let message = "no app is connected: run appduct link and open the link on the device";
            RpcError::new(ErrorType::NoSession, message)
        }
        Refusal::AmbiguousSession { aliases } => {
            let message = format!("several sessions are live, name one of them: {}", aliases.join(", "));
            RpcError::new(ErrorType::AmbiguousSession, message)
        }
        Refusal::UnknownSession { selector } => {
            let message = format!("no live session has the id or alias {selector:?}: appduct ls lists them");
            RpcError::new(ErrorType::UnknownSession, message)
        }
        Refusal::SessionSuspended { alias, reason } => suspended(&alias, reason),
        Refusal::ToolNotFound { tool, alias } => {
            let message =
                format!("session \"{alias}\" has no tool named {tool:?}: appduct tools {alias} lists what it has");
            RpcError::new(ErrorType::ToolNotFound, message)
        }
        Refusal::PolicyDenied { tool, alias, reason } => denied(facts, &tool, &alias, reason),
        Refusal::TooManyCalls { alias, limit } => {
            let message = format!(
                "session \"{alias}\" has {limit} calls in flight, which is the bound: wait for one to end, or raise \
                 \"bounds.callsPerSession\" in {}",
                facts.state_dir.config().display()
            );
            RpcError::new(ErrorType::InvalidRequest, message)
        }
        Refusal::CallTooBig { tool, bytes } => {
            let message = format!(
                "the call of \"{tool}\" makes a frame of {bytes} bytes, over the limit of {MAX_FRAME_BYTES}: send smaller \
                 arguments"
            );
            RpcError::new(ErrorType::ToolSerializationError, message)
        }
        Refusal::QueueFull { tool, alias, bytes } => {
            let message = format!(
                "the app of session \"{alias}\" has not taken what waits for it, and the call of \"{tool}\" with its {bytes} \
                 bytes does not fit: wait for a call to end, or raise \"bounds.deviceQueueBytes\" in {} and restart the \
                 daemon",
                facts.state_dir.config().display()
            );
            RpcError::new(ErrorType::ToolSerializationError, message)
        }
        Refusal::LinkTtl { max } => {
            let message = format!(
                "\"ttlSeconds\" must be an integer from 1 to {}: for longer links raise \"bounds.linkTtlSeconds\" in {} and \
                 restart the daemon",
                max.as_secs(),
                facts.state_dir.config().display()
            );
            RpcError::new(ErrorType::InvalidRequest, message)
        }
        Refusal::TooManyLinks { limit } => {
            let message = format!(
                "{limit} links are pending, which is the bound: revoke some, wait until they expire, or raise \
                 \"bounds.pendingLinks\" in {} and restart the daemon",
                facts.state_dir.config().display()
            );
            RpcError::new(ErrorType::InvalidRequest, message)
        }
    }
}

/// The answer to the caller of a call that has ended.
pub(super) fn call_result(finished: FinishedCall) -> Result<CallResult, RpcError> {
    let FinishedCall { call, alias, tool, outcome, duration: _ } = finished;
    match outcome {
        Outcome::Result(result) => Ok(CallResult { result, call_id: call.0.to_string() }),
        Outcome::Error(ToolFault { kind, message, details }) => {
            Err(RpcError { details, ..RpcError::new(kind.into(), message) })
        }
        Outcome::TimedOut(after) => {
            let message = format!(
                "\"{tool}\" did not answer within {} ms: raise the timeout, or see what keeps the app busy",
                after.as_millis()
            );
            Err(RpcError::new(ErrorType::ToolTimeout, message))
        }
        Outcome::Suspended(reason) => Err(suspended(&alias, reason)),
        Outcome::Resumed => {
            let message = format!(
                "the app of session \"{alias}\" reconnected while \"{tool}\" ran, so its result is lost; the session is \
                 active again and the call can be retried"
            );
            Err(RpcError::new(ErrorType::SessionSuspended, message))
        }
        Outcome::SessionGone => {
            let message = format!("session \"{alias}\" ended while \"{tool}\" ran");
            Err(RpcError::new(ErrorType::UnknownSession, message))
        }
    }
}

/// The type of the error that ends a call, as its event has it; `None` for a call that succeeds.
pub(crate) fn error_type(outcome: &Outcome) -> Option<&'static str> {
    let kind = match outcome {
        Outcome::Result(_) => return None,
        Outcome::Error(fault) => ErrorType::from(fault.kind),
        Outcome::TimedOut(_) => ErrorType::ToolTimeout,
        Outcome::Suspended(_) | Outcome::Resumed => ErrorType::SessionSuspended,
        Outcome::SessionGone => ErrorType::UnknownSession,
    };
    Some(kind.as_str())
}

fn suspended(alias: &str, reason: SuspendReason) -> RpcError {
    let message = match reason {
        SuspendReason::AppBackgrounded => format!(
            "session \"{alias}\" is suspended because its app is in the background: bring the app to the foreground on the \
             device and try again"
        ),
        SuspendReason::ConnectionLost => format!(
            "session \"{alias}\" lost its connection: waiting for the app to reconnect, which it does by itself while it \
             runs and reaches this machine; `appduct revoke {alias}` forgets it"
        ),
    };
    RpcError::new(ErrorType::SessionSuspended, message)
}

fn denied(facts: &Facts, tool: &str, alias: &str, reason: DeniedReason) -> RpcError {
    let config = facts.state_dir.config();
    let details = Object::new();
    let (message, details) = match reason {
        DeniedReason::Policy => (format!("the policy does not allow \"{tool}\" on \"{alias}\""), details),
        DeniedReason::NoConsentChannel => (
            format!(
                "the policy asks for a person's consent to \"{tool}\" on \"{alias}\", and this caller cannot ask for it"
            ),
            details.text("reason", "no_consent_channel"),
        ),
    };
    let hint = format!(
        "set policy.tools[\"{alias}/{tool}\"] to \"allow\" in {} to allow it; no restart is needed",
        config.display()
    );
    RpcError::new(ErrorType::PolicyDenied, message).with_details(details.text("hint", &hint).into_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backgrounded_app_is_to_be_foregrounded() {
        let error = suspended("pixel-8", SuspendReason::AppBackgrounded);
        assert_eq!(error.kind.unwrap().as_str(), "session_suspended");
        assert!(error.message.contains("\"pixel-8\"") && error.message.contains("foreground"), "{}", error.message);
    }

    #[test]
    fn a_lost_app_is_waited_for_or_forgotten() {
        let error = suspended("pixel-8", SuspendReason::ConnectionLost);
        for part in ["waiting for the app to reconnect", "`appduct revoke pixel-8` forgets it"] {
            assert!(error.message.contains(part), "{}", error.message);
        }
    }

    #[test]
    fn an_app_error_passes_word_for_word() {
        use appduct_proto::wire::{RawJson, ToolErrorType};
        let details = RawJson::parse(r#"{"a" : 1.0}"#).unwrap();
        let fault = ToolFault {
            kind: ToolErrorType::ToolExecutionError,
            message: "no\nstock".to_owned(),
            details: Some(details),
        };
        let finished = FinishedCall {
            call: appduct_proto::host::CallId("call_x".into()),
            alias: "a".to_owned(),
            tool: "t".to_owned(),
            outcome: Outcome::Error(fault),
            duration: std::time::Duration::ZERO,
        };
        let error = call_result(finished).unwrap_err();
        assert_eq!(error.message, "no\nstock");
        assert_eq!(error.details.unwrap().as_str(), r#"{"a" : 1.0}"#);
        assert_eq!(error.kind.unwrap().as_str(), "tool_execution_error");
    }
}
