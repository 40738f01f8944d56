//! The manual in a directory.

use super::{Style, escape};
use crate::report::Pages;

/// The written files.
pub(super) fn lines(pages: &Pages, style: Style) -> Vec<String> {
    let files = pages.files.iter().map(|file| format!("  {}", escape::line(file)));
    std::iter::once(style.paint.green("Manual Written")).chain(files).collect()
}
