//! The result of a call.

use appduct_proto::wire::RawJson;

use super::Style;

/// A title and the value.
pub(super) fn lines(result: &RawJson, style: Style) -> Vec<String> {
    vec![style.paint.green("Result"), style.value(result)]
}
