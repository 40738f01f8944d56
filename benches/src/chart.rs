//! The chart: what a call and a session cost as sessions grow.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::report::Point;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One line of a panel: its name, its colour, and its value at a point.
type Line = (&'static str, RGBColor, fn(&Point) -> f64);

const LATENCY: &[Line] = &[
    ("p50", RGBColor(0, 107, 164), |point| point.p50_us),
    ("p90", RGBColor(255, 128, 14), |point| point.p90_us),
    ("p99", RGBColor(171, 40, 40), |point| point.p99_us),
];
const CPU: &[Line] = &[("CPU per call", RGBColor(0, 107, 164), |point| point.cpu_per_call_us)];
const MEMORY: &[Line] = &[("memory per session", RGBColor(0, 107, 164), |point| point.resident_per_session / 1024.0)];

/// Writes the chart to `path`.
pub(crate) fn draw(points: &[Point], path: &Path) -> Result<()> {
    let root = SVGBackend::new(path, (960, 360)).into_drawing_area();
    root.fill(&WHITE).map_err(|error| anyhow!("{error}"))?;
    let panels = root.split_evenly((1, 3));
    panel(&panels[0], points, "latency of a call, us", LATENCY)?;
    panel(&panels[1], points, "CPU of the daemon per call, us", CPU)?;
    panel(&panels[2], points, "memory per session, KiB", MEMORY)?;
    root.present().map_err(|error| anyhow!("{error}"))
}

fn panel(area: &Area<'_>, points: &[Point], title: &str, lines: &[Line]) -> Result<()> {
    let failed = |error: DrawingAreaErrorKind<_>| anyhow!("{error}");
    let (first, last) = match (points.first(), points.last()) {
        (Some(first), Some(last)) if first.sessions < last.sessions => (first.sessions as f64, last.sessions as f64),
        _ => return Err(anyhow!("a chart needs two points")),
    };
    let values = points.iter().flat_map(|point| lines.iter().map(|(_, _, value)| value(point)));
    let top = values.fold(0.0, f64::max) * 1.15;
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 15))
        .margin(10)
        .x_label_area_size(32)
        .y_label_area_size(48)
        .build_cartesian_2d((first..last).log_scale(), 0.0..top)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_desc("sessions")
        .x_label_formatter(&|sessions| format!("{sessions:.0}"))
        .light_line_style(TRANSPARENT)
        .draw()
        .map_err(failed)?;
    for (name, colour, value) in lines {
        let series = points.iter().map(|point| (point.sessions as f64, value(point)));
        chart
            .draw_series(LineSeries::new(series, colour.stroke_width(2)).point_size(3))
            .map_err(failed)?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], *colour));
    }
    if lines.len() > 1 {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE)
            .draw()
            .map_err(failed)?;
    }
    Ok(())
}
