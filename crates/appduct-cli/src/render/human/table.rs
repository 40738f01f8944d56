//! Rows in columns.

use unicode_width::UnicodeWidthStr;

use super::wrap;

/// Between two columns, and before the first.
const GAP: usize = 2;
/// A column is not made narrower than this.
const MIN_COLUMNS: usize = 8;

/// Rows whose columns are as wide as their widest cell. Where that is wider than `width`, the column `flexible` gives way.
pub(super) fn lines<const N: usize>(rows: &[[String; N]], width: Option<usize>, flexible: usize) -> Vec<String> {
    let mut widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0));
    let total = widths.iter().map(|width| width + GAP).sum::<usize>();
    if let Some(over) = width.and_then(|width| total.checked_sub(width)) {
        let column = &mut widths[flexible];
        *column = column.saturating_sub(over).max(MIN_COLUMNS.min(*column));
    }
    let cell = |(text, width): (&String, usize)| {
        let text = wrap::truncated(text, width);
        format!("{text}{}", " ".repeat(width - text.width()))
    };
    rows.iter().map(|row| format!("  {}", row.iter().zip(widths).map(cell).collect::<Vec<_>>().join("  "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> [[String; 3]; 2] {
        [["Alias", "Device", "Age"], ["pixel-8", "Google Pixel 8 (Android 14)", "1m"]].map(|row| row.map(str::to_owned))
    }

    #[test]
    fn a_pipe_gets_every_cell_whole() {
        let expected = ["  Alias    Device                       Age", "  pixel-8  Google Pixel 8 (Android 14)  1m "];
        assert_eq!(lines(&rows(), None, 1), expected);
        assert_eq!(lines(&rows(), Some(80), 1), expected);
        assert_eq!(lines(&rows(), Some(43), 1), expected);
    }

    #[test]
    fn the_flexible_column_gives_way() {
        let expected = ["  Alias    Device          Age", "  pixel-8  Google Pixel…   1m "];
        assert_eq!(lines(&rows(), Some(30), 1), expected);
    }

    #[test]
    fn a_column_stays_readable() {
        assert_eq!(lines(&rows(), Some(10), 1), ["  Alias    Device    Age", "  pixel-8  Google…   1m "]);
    }
}
