//! The settings of `wait`, and of a `link` that waits.

use std::time::Duration;

use appduct_proto::wire::ToolName;

use super::{positive, selector};
use crate::args::{WaitArgs, WaitFlags};
use crate::error::Failure;

/// What to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitSettings {
    /// `None` is any session.
    pub(crate) selector: Option<String>,
    /// The tool that the session must have.
    pub(crate) tool: Option<String>,
    /// `None` is without an end.
    pub(crate) timeout: Option<Duration>,
}

/// How long `link` waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkWait {
    /// `None` is until the link expires.
    pub(crate) timeout: Option<Duration>,
}

/// Checks the arguments of `wait`.
pub(super) fn resolve(args: WaitArgs) -> Result<WaitSettings, Failure> {
    let timeout = positive("--timeout", &args.timeout)?.map(Duration::from_secs);
    if let Some(tool) = args.tool.as_deref()
        && tool.parse::<ToolName>().is_err()
    {
        return Err(Failure::usage(format!(
            "\"--tool\" must be a tool's name (1 to 64 letters, digits, \"_\" or \"-\"); got \"{tool}\"."
        )));
    }
    Ok(WaitSettings { selector: selector(args.session, args.words, "wait")?, tool: args.tool, timeout })
}

/// Checks the flags of `link`.
pub(super) fn of_link(flags: &WaitFlags) -> Result<Option<LinkWait>, Failure> {
    let timeout = positive("--wait-timeout", &flags.wait_timeout)?.map(Duration::from_secs);
    if timeout.is_some() && !flags.wait {
        return Err(Failure::usage("\"--wait-timeout\" only applies together with \"--wait\"."));
    }
    Ok(flags.wait.then_some(LinkWait { timeout }))
}
