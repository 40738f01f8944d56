//! `policy explain`

use appduct_rpc::ErrorType;
use appduct_rpc::methods::PolicyExplain;

use super::control::Control;
use super::{Stage, tools};
use crate::error::Failure;
use crate::report::Report;
use crate::settings::{ExplainSettings, Settings};

/// Asks the daemon what its policy says of a tool.
pub(super) fn explain(settings: &Settings, asked: &ExplainSettings, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let mut control = Control::open(settings, stage)?;
    let request = PolicyExplain { selector: asked.selector.clone(), name: asked.tool.clone() };
    match control.request_as(&request) {
        Ok(explained) => Ok(Report::PolicyExplained(Box::new(explained))),
        Err(failure) if failure.is(ErrorType::ToolNotFound) => {
            Err(tools::or_did_you_mean(&mut control, failure, asked.selector.as_deref(), &asked.tool))
        }
        Err(failure) => Err(control.with_aliases(failure, asked.selector.as_deref())),
    }
}
