//! Which scheme is recorded.

use std::path::Path;

use crate::error::Failure;
use crate::scheme::{self, Places, Probed};
use crate::settings::InitSettings;

/// A scheme, and where it comes from.
pub(super) struct Choice {
    pub(super) scheme: String,
    pub(super) source: &'static str,
    /// The project's file that names it, and under which key.
    pub(super) origin: Option<String>,
    pub(super) note: Option<String>,
}

/// The line comes first, then what is recorded, then what the project's files say; `--force` puts these before the record.
pub(super) fn choose(
    settings: &InitSettings,
    recorded: Option<String>,
    discovered: Option<Probed>,
    places: &Places<'_>,
    path: &Path,
) -> Result<Choice, Failure> {
    if let Some(scheme) = &settings.scheme {
        return match recorded.filter(|recorded| recorded != scheme && !settings.force) {
            None => Ok(Choice { scheme: scheme.clone(), source: "--scheme", origin: None, note: None }),
            Some(recorded) => {
                Err(Failure::usage(format!("{} already records the scheme \"{recorded}\".", path.display()))
                    .with_hint("Pass --force to replace it."))
            }
        };
    }
    let note = match (&recorded, &discovered) {
        (Some(recorded), Some(probed)) if *recorded != probed.scheme && !settings.force => Some(format!(
            "The recorded scheme \"{recorded}\" is kept, but {} has \"{}\". Run `appduct init --force` to record that one.",
            probed.origin(),
            probed.scheme
        )),
        _ => None,
    };
    match (recorded, discovered) {
        (recorded, Some(probed)) if settings.force || recorded.is_none() => {
            Ok(Choice { origin: Some(origin(&probed)), source: probed.source, scheme: probed.scheme, note: None })
        }
        (Some(scheme), _) => Ok(Choice { scheme, source: "already-recorded", origin: None, note }),
        (None, _) => Err(nowhere(places, path)),
    }
}

fn origin(probed: &Probed) -> String {
    let path = probed.path.display();
    if probed.source == "app.json" { path.to_string() } else { format!("\"{}\" in {path}", probed.key) }
}

fn nowhere(places: &Places<'_>, path: &Path) -> Failure {
    let tried: Vec<_> = ["the --scheme flag".to_owned(), format!("{} (\"scheme\")", path.display())]
        .into_iter()
        .chain(scheme::probed_places(places.cwd))
        .collect();
    Failure::usage(format!("No deep-link scheme found. Tried:\n{}", scheme::numbered(&tried)))
        .with_hint("Name it with `appduct init --scheme <scheme>`.")
}
