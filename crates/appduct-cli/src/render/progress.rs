//! The progress of a running call, on stderr.

use std::io::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::escape;
use crate::report::Step;
use crate::settings::ProgressMode;

const STEPS: u64 = 1000;

/// Shows the progress of one call.
#[derive(Debug)]
pub(crate) enum Progress {
    None,
    Lines,
    /// A bar; made with the first report, so that a call without any shows none.
    Bar(Option<ProgressBar>),
}

/// `33%`, or the number where it is no fraction.
fn amount(step: &Step) -> Option<String> {
    step.progress.map(|progress| match progress {
        0.0..=1.0 => format!("{:.0}%", progress * 100.0),
        // An app may send any number; written out, the largest have 309 digits.
        _ if progress.abs() >= 1e15 => format!("{progress:e}"),
        _ => progress.to_string(),
    })
}

fn text(step: &Step) -> String {
    let message = step.message.as_deref().map(|message| escape::line(message).into_owned());
    amount(step).into_iter().chain(message).collect::<Vec<_>>().join("  ")
}

impl Progress {
    /// Shows progress as `mode` says.
    pub(crate) fn new(mode: ProgressMode) -> Self {
        match mode {
            ProgressMode::None => Self::None,
            ProgressMode::Lines => Self::Lines,
            ProgressMode::Bar => Self::Bar(None),
        }
    }

    /// Shows one report.
    pub(crate) fn show(&mut self, step: &Step) {
        match self {
            Self::None => {}
            Self::Lines => {
                // Progress is talk: a closed stderr costs the caller nothing.
                drop(writeln!(std::io::stderr().lock(), "Progress  {}", text(step)));
            }
            Self::Bar(bar) => {
                let bar = bar.get_or_insert_with(new_bar);
                bar.set_message(text(step));
                match step.progress {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        clippy::cast_precision_loss,
                        reason = "a fraction of 1000 steps"
                    )]
                    Some(progress @ 0.0..=1.0) => bar.set_position((progress * STEPS as f64) as u64),
                    Some(_) | None => bar.tick(),
                }
            }
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&mut self) {
        if let Self::Bar(Some(bar)) = self {
            bar.finish_and_clear();
        }
    }
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {wide_msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr()).with_style(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_one_harmless_line() {
        for (json, shown) in [
            (r#"{"progress":0.33,"message":"warming up"}"#, "33%  warming up"),
            (r#"{"progress":1}"#, "100%"),
            (r#"{"progress":17.5,"message":"a\nb\u001b[2J"}"#, "17.5  a\\nb\\u001b[2J"),
            (r#"{"progress":-1e308}"#, "-1e308"),
            (r#"{"message":"busy"}"#, "busy"),
            ("{}", ""),
        ] {
            let step: Step = serde_json::from_str(json).unwrap();
            assert_eq!(text(&step), shown);
        }
    }
}
