//! What an artifact holds.

use super::{Style, block, escape};
use crate::report::Diagnosis;

/// Whether Appduct is in, and by which signs.
pub(super) fn lines(diagnosis: &Diagnosis, style: Style) -> Vec<String> {
    let title =
        if diagnosis.present { style.paint.green("Appduct Present") } else { style.paint.yellow("Appduct Absent") };
    let signals = if diagnosis.signals.is_empty() { "none".to_owned() } else { diagnosis.signals.join(", ") };
    let mut lines = vec![title];
    lines.extend(block(
        "Artifact",
        [
            ("Path", Some(escape::line(&diagnosis.artifact).into_owned())),
            ("Platform", Some(diagnosis.platform.as_str().to_owned())),
            ("Format", Some(diagnosis.format.as_str().to_owned())),
            ("Present", Some(diagnosis.present.to_string())),
            ("Signals", Some(signals)),
            ("Assertion", diagnosis.assertion.map(|assertion| format!("{} (holds)", assertion.expected.as_str()))),
        ],
    ));
    lines
}
