//! Rows in columns.

use unicode_width::UnicodeWidthStr;

use super::wrap;

/// Between two columns, and before the first.
const GAP: usize = 2;
/// A column that cannot be made to fit is this wide.
const MIN_COLUMNS: usize = 8;

/// Rows whose columns are as wide as their widest cell. Where that is wider than `width`, the column `flexible` gives way.
/// `paint` colours a cell of a column.
pub(super) fn lines<const N: usize>(
    rows: &[[String; N]],
    width: Option<usize>,
    flexible: usize,
    paint: impl Fn(usize, &str) -> String,
) -> Vec<String> {
    let mut widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0));
    let total = widths.iter().map(|width| width + GAP).sum::<usize>();
    if let Some(over) = width.and_then(|width| total.checked_sub(width)) {
        let column = &mut widths[flexible];
        *column = match column.saturating_sub(over) {
            // Then nothing makes the rows fit.
            0 => MIN_COLUMNS.min(*column),
            fitting => fitting,
        };
    }
    let cell = |(column, (text, width)): (usize, (&String, usize))| {
        let text = wrap::truncated(text, width);
        format!("{}{}", paint(column, &text), " ".repeat(width - text.width()))
    };
    rows.iter()
        .map(|row| format!("  {}", row.iter().zip(widths).enumerate().map(cell).collect::<Vec<_>>().join("  ")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(_: usize, text: &str) -> String {
        text.to_owned()
    }

    fn rows() -> [[String; 3]; 2] {
        [["Alias", "Device", "Age"], ["pixel-8", "Google Pixel 8 (Android 14)", "1m"]].map(|row| row.map(str::to_owned))
    }

    #[test]
    fn a_pipe_gets_every_cell_whole() {
        let expected = ["  Alias    Device                       Age", "  pixel-8  Google Pixel 8 (Android 14)  1m "];
        assert_eq!(lines(&rows(), None, 1, plain), expected);
        assert_eq!(lines(&rows(), Some(80), 1, plain), expected);
        assert_eq!(lines(&rows(), Some(43), 1, plain), expected);
    }

    #[test]
    fn the_flexible_column_gives_way() {
        let expected = ["  Alias    Device          Age", "  pixel-8  Google Pixel…   1m "];
        assert_eq!(lines(&rows(), Some(30), 1, plain), expected);
    }

    #[test]
    fn colour_takes_no_width() {
        let shown =
            lines(&rows(), Some(30), 1, |column, text| if column == 1 { format!("<{text}>") } else { text.into() });
        assert_eq!(shown, ["  Alias    <Device>          Age", "  pixel-8  <Google Pixel…>   1m "]);
    }

    #[test]
    fn a_column_shrinks_as_long_as_that_helps() {
        assert_eq!(lines(&rows(), Some(18), 1, plain), ["  Alias    D…  Age", "  pixel-8  G…  1m "]);
    }

    #[test]
    fn a_column_stays_readable() {
        assert_eq!(lines(&rows(), Some(10), 1, plain), ["  Alias    Device    Age", "  pixel-8  Google…   1m "]);
    }
}
