//! A key on disk.

use super::{Style, block, escape};
use crate::report::Key;

/// Where it is, and what apps trust it by.
pub(super) fn lines(key: &Key, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint.green("Key Ready")];
    lines.extend(block(
        "Key",
        [("Path", Some(escape::line(&key.path).into_owned())), ("Fingerprint", Some(key.pin.clone()))],
    ));
    lines
}
