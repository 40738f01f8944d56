//! One attempted call, as a line.

use std::time::Duration;

use appduct_proto::Timestamp;
use appduct_proto::wire::{Object, RawJson};
use appduct_rpc::ErrorType;
use appduct_rpc::methods::Caller;

use crate::clock::iso;

/// An attempted call.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// When it ended.
    pub(crate) at: Timestamp,
    pub(crate) session_id: String,
    pub(crate) alias: String,
    pub(crate) tool: String,
    pub(crate) args: RawJson,
    pub(crate) end: End,
    pub(crate) duration: Duration,
    /// `None` for the command line.
    pub(crate) caller: Option<Caller>,
    /// A person was asked, as the policy demands, and agreed.
    pub(crate) consent: bool,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Ok,
    Error(ErrorType),
    Denied(Denied),
}

/// Why the policy did not allow a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    Policy,
    NoConsentChannel,
}

impl Attempt {
    /// About how much memory it holds.
    pub(super) fn size_bytes(&self) -> usize {
        size_of::<Self>() + self.session_id.len() + self.alias.len() + self.tool.len() + self.args.len_bytes()
    }

    /// The line, without its end.
    pub(super) fn line(&self) -> String {
        let (outcome, error, denied) = match self.end {
            End::Ok => ("ok", None, None),
            End::Error(kind @ ErrorType::ToolCancelled) => ("cancelled", Some(kind.as_str()), None),
            End::Error(kind) => ("error", Some(kind.as_str()), None),
            End::Denied(Denied::Policy) => ("denied", None, Some("policy")),
            End::Denied(Denied::NoConsentChannel) => ("denied", None, Some("no_consent_channel")),
        };
        Object::new()
            .text("ts", &iso(self.at))
            .text("sessionId", &self.session_id)
            .text("alias", &self.alias)
            .text("tool", &self.tool)
            .text("argsSha256", &self.args.canonical_sha256())
            .text("outcome", outcome)
            .optional_text("errorType", error)
            .optional_text("deniedReason", denied)
            .display("durationMs", self.duration.as_millis())
            .text("caller", self.caller.unwrap_or(Caller::Cli).as_str())
            .optional_text("consent", self.consent.then_some("elicitation"))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt() -> Attempt {
        Attempt {
            at: Timestamp(1_773_741_600_007),
            session_id: "s1".to_owned(),
            alias: "pixel-8".to_owned(),
            tool: "pay".to_owned(),
            args: RawJson::empty_object(),
            end: End::Ok,
            duration: Duration::from_micros(12_900),
            caller: None,
            consent: false,
        }
    }

    #[test]
    fn a_line_has_the_fields_of_the_protocol_in_their_order() {
        let line = r#"{"ts":"2026-03-17T10:00:00.007Z","sessionId":"s1","alias":"pixel-8","tool":"pay","argsSha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","outcome":"ok","durationMs":12,"caller":"cli"}"#;
        assert_eq!(attempt().line(), line);
    }

    #[test]
    fn every_end_is_told_apart() {
        for (end, fields) in [
            (End::Error(ErrorType::ToolTimeout), r#""outcome":"error","errorType":"tool_timeout","durationMs""#),
            (
                End::Error(ErrorType::ToolCancelled),
                r#""outcome":"cancelled","errorType":"tool_cancelled","durationMs""#,
            ),
            (End::Denied(Denied::Policy), r#""outcome":"denied","deniedReason":"policy","durationMs""#),
            (
                End::Denied(Denied::NoConsentChannel),
                r#""outcome":"denied","deniedReason":"no_consent_channel","durationMs""#,
            ),
        ] {
            let line = Attempt { end, ..attempt() }.line();
            assert!(line.contains(fields), "{line}");
        }
    }

    #[test]
    fn consent_is_kept_whatever_the_end_and_arguments_never() {
        let args = RawJson::parse(r#"{"password":"hunter2"}"#).unwrap();
        let end = End::Error(ErrorType::ToolExecutionError);
        let line = Attempt { args, end, consent: true, caller: Some(Caller::Mcp), ..attempt() }.line();
        assert!(line.ends_with(r#""caller":"mcp","consent":"elicitation"}"#), "{line}");
        assert!(!line.contains("hunter2") && !line.contains("password"), "{line}");
    }
}
