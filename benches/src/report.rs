//! What was found: one table for people, the same as JSON, and a chart.

use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

/// One figure and what it should be.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// The figure, with its unit.
    pub(crate) figure: String,
    /// What it is compared with, measured in the same run.
    pub(crate) floor: Option<String>,
    /// The figure divided by the floor.
    pub(crate) ratio: Option<f64>,
    /// What the ratio, or the figure, should be.
    pub(crate) target: String,
    /// `ok`, `short`, or why there is no figure.
    pub(crate) verdict: String,
    /// From the fastest to the slowest of several runs, where there were several.
    pub(crate) spread: Option<String>,
}

/// Sessions and what they cost.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Point {
    pub(crate) sessions: usize,
    pub(crate) p50_us: f64,
    pub(crate) p90_us: f64,
    pub(crate) p99_us: f64,
    /// CPU time of the daemon for one call.
    pub(crate) cpu_per_call_us: f64,
    /// Resident memory of the daemon, less what it has without sessions.
    pub(crate) resident_per_session: f64,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// Cores, processor and system.
    pub(crate) machine: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) growth: Vec<Point>,
}

impl Row {
    /// A figure that may be at most `target` times its floor.
    pub(crate) fn at_most(what: &str, figure: Duration, floor: Duration, target: f64) -> Self {
        let ratio = figure.as_secs_f64() / floor.as_secs_f64();
        Self {
            what: what.to_owned(),
            figure: time(figure),
            floor: Some(time(floor)),
            ratio: Some(ratio),
            target: format!("<= {target}x"),
            verdict: verdict(ratio <= target),
            spread: None,
        }
    }

    /// A figure with a target of its own.
    pub(crate) fn plain(what: &str, figure: String, target: &str, holds: bool) -> Self {
        Self {
            what: what.to_owned(),
            figure,
            floor: None,
            ratio: None,
            target: target.to_owned(),
            verdict: verdict(holds),
            spread: None,
        }
    }

    pub(crate) fn with_spread(self, spread: String) -> Self {
        Self { spread: Some(spread), ..self }
    }
}

pub(crate) fn verdict(holds: bool) -> String {
    if holds { "ok" } else { "short" }.to_owned()
}

/// A duration in the unit that reads best.
pub(crate) fn time(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    match micros {
        ..1e3 => format!("{micros:.1} us"),
        1e3..1e6 => format!("{:.2} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}

/// Bytes in the unit that reads best.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} B"),
        10_240..10_485_760 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

impl Report {
    pub(crate) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub(crate) fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header(["What", "Figure", "Floor", "Ratio", "Target", "Verdict"]);
        for row in &self.rows {
            table.add_row([
                row.what.clone(),
                row.figure.clone(),
                row.floor.clone().unwrap_or_default(),
                row.ratio.map(|ratio| format!("{ratio:.2}x")).unwrap_or_default(),
                row.target.clone(),
                row.verdict.clone(),
            ]);
        }
        for column in 1..4 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut growth = Table::new();
        growth.load_style(presets::ASCII_MARKDOWN);
        growth.set_header(["Sessions", "p50", "p90", "p99", "CPU per call", "Memory per session"]);
        for point in &self.growth {
            let micros = |value: f64| time(Duration::from_secs_f64(value.max(0.0) / 1e6));
            growth.add_row([
                point.sessions.to_string(),
                micros(point.p50_us),
                micros(point.p90_us),
                micros(point.p99_us),
                micros(point.cpu_per_call_us),
                size(point.resident_per_session.max(0.0) as u64),
            ]);
        }
        format!("{}\n\n{table}\n\n{growth}\n", self.machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_over_its_target_falls_short() {
        let floor = Duration::from_millis(10);
        assert_eq!(Row::at_most("a", Duration::from_millis(15), floor, 1.5).verdict, "ok");
        assert_eq!(Row::at_most("a", Duration::from_millis(16), floor, 1.5).verdict, "short");
    }

    #[test]
    fn figures_have_a_unit_that_reads_well() {
        assert_eq!(time(Duration::from_nanos(1500)), "1.5 us");
        assert_eq!(time(Duration::from_micros(1500)), "1.50 ms");
        assert_eq!(time(Duration::from_millis(1500)), "1.50 s");
        assert_eq!(
            (size(9000), size(20_480), size(20_971_520)),
            ("9000 B".into(), "20.0 KiB".into(), "20.0 MiB".into())
        );
    }
}
