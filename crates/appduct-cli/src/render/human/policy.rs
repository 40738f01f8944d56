//! What the policy says of a tool.

use appduct_rpc::methods::PolicyExplained;

use super::{Style, Value, escape, fitted_block};
use crate::error::sentence;

/// The decision first, then what makes it.
pub(super) fn lines(report: &PolicyExplained, style: Style) -> Vec<String> {
    let text = |value: &str| Some(Value::AsIs(escape::line(value).into_owned()));
    let prose = |value: &str| Some(Value::Prose(escape::line(&sentence(value)).into_owned()));
    let decision = escape::line(&report.decision).into_owned();
    let decision = match report.decision.as_str() {
        "allow" => style.paint.green(&decision),
        "deny" => style.paint.red(&decision),
        _ => style.paint.yellow(&decision),
    };
    fitted_block(
        "Policy",
        [
            ("Tool", text(&report.tool)),
            ("Session", text(&report.alias)),
            ("Group", report.group.as_deref().and_then(text)),
            ("Destructive", text(if report.destructive { "yes" } else { "no" })),
            ("Decision", Some(Value::AsIs(decision))),
            ("Rule", text(&report.rule)),
            ("Why", prose(&report.why)),
            ("Config", text(&report.config)),
            ("Config fault", report.config_fault.as_deref().and_then(prose)),
        ],
        style,
    )
}
