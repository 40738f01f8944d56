//! The UTC days of the audit log.

use appduct_proto::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

use crate::clock::calendar;

/// The UTC day of a time.
pub(super) fn of(at: Timestamp) -> Date {
    Offset::UTC.to_datetime(calendar(at)).date()
}

/// The name of a day's file.
pub(super) fn file_name(day: Date) -> String {
    format!("{day}.jsonl")
}

/// The day whose file has this name: `YYYY-MM-DD.jsonl` and a date of the calendar, exactly.
pub(super) fn of_file(name: &str) -> Option<Date> {
    let day: Date = name.strip_suffix(".jsonl")?.parse().ok()?;
    // The parser also takes other notations.
    (file_name(day) == name).then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_one_of_utc() {
        assert_eq!(of(Timestamp(1_788_566_399_999)).to_string(), "2026-09-04");
        assert_eq!(of(Timestamp(1_788_566_400_000)).to_string(), "2026-09-05");
        assert_eq!(of(Timestamp(u64::MAX)).to_string(), "9999-12-30");
    }

    #[test]
    fn only_an_exact_name_is_a_day() {
        assert_eq!(of_file("2026-09-05.jsonl").map(file_name).as_deref(), Some("2026-09-05.jsonl"));
        for name in [
            "2020-13-45.jsonl",
            "2025-02-29.jsonl",
            "2026-09-05.JSONL",
            "2026-09-05.jsonl.bak",
            "2026-9-5.jsonl",
            "20260905.jsonl",
            "+002026-09-05.jsonl",
            " 2026-09-05.jsonl",
            "2026-09-05T00.jsonl",
            ".jsonl",
            "",
        ] {
            assert_eq!(of_file(name), None, "{name}");
        }
    }
}
