//! The app's link scheme: the first place that names one.

mod config;
mod gradle;
mod manifest;
mod plist;
mod probes;
mod project_yml;

use std::path::Path;

use appduct_proto::wire::DeepLink;

use crate::env::Env;
use crate::error::Failure;
use crate::settings::Settings;

pub(crate) use config::project_configs;
pub(crate) use probes::Probed;

/// A scheme and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    scheme: String,
    origin: String,
}

/// What the line and the environment say of the scheme.
#[derive(Clone, Debug, Default)]
pub(crate) struct SchemeOptions {
    flag: Option<String>,
    env: Option<String>,
}

impl SchemeOptions {
    pub(crate) fn new(flag: Option<String>, env: &Env) -> Self {
        Self { flag: flag.filter(|scheme| !scheme.is_empty()), env: env.scheme.clone() }
    }
}

/// Where the project's settings may stand.
pub(crate) struct Places<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) state_dir: &'a Path,
    pub(crate) state_config: &'a Path,
}

/// Calls `look` with the places of this run.
pub(crate) fn in_places<T>(
    settings: &Settings,
    look: impl FnOnce(&Places<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let cwd = std::env::current_dir()
        .map_err(|error| Failure::internal(format!("The current directory cannot be told: {error}.")))?;
    look(&Places {
        cwd: &cwd,
        home: settings.home.as_deref(),
        state_dir: settings.state_dir.root(),
        state_config: &settings.state_dir.config(),
    })
}

/// The scheme to use. The line and the environment come first, then configuration files, then the project's own files.
pub(crate) fn resolve(settings: &Settings, options: &SchemeOptions) -> Result<String, Failure> {
    for (scheme, origin) in [(&options.flag, "--scheme"), (&options.env, "APPDUCT_SCHEME")] {
        if let Some(scheme) = scheme {
            return checked(Found { scheme: scheme.clone(), origin: origin.to_owned() });
        }
    }
    in_places(settings, in_files)
}

/// What the files of the project in `cwd` say.
pub(crate) fn discover(cwd: &Path) -> Result<Option<Probed>, Failure> {
    let probed = probes::run(cwd)?;
    if let Some(probed) = &probed {
        checked(Found { scheme: probed.scheme.clone(), origin: probed.origin() })?;
    }
    Ok(probed)
}

/// The scheme if it is one, and a refusal that names its origin if not.
pub(crate) fn check(scheme: &str, origin: &str) -> Result<(), Failure> {
    checked(Found { scheme: scheme.to_owned(), origin: origin.to_owned() }).map(drop)
}

fn in_files(places: &Places<'_>) -> Result<String, Failure> {
    let project = config::in_project(places)?;
    let found = match project.found {
        Some(found) => Some(found),
        None => match config::in_state(places.state_config)? {
            Some(found) => Some(found),
            None => probes::run(places.cwd)?.map(|probed| Found { origin: probed.origin(), scheme: probed.scheme }),
        },
    };
    match found {
        Some(found) => checked(found),
        None => Err(nowhere(places, &project.looked_at)),
    }
}

fn checked(found: Found) -> Result<String, Failure> {
    if DeepLink::is_scheme(&found.scheme) {
        return Ok(found.scheme);
    }
    let quoted = serde_json::to_string(&found.scheme).unwrap_or_default();
    Err(Failure::usage(format!(
        "Invalid deep-link scheme {quoted} (from {}): it must be a letter followed by letters, digits, \"+\", \".\" or \"-\", \
         without \"://\".",
        found.origin
    )))
}

fn nowhere(places: &Places<'_>, project_configs: &[String]) -> Failure {
    let cwd = places.cwd.display();
    let projects = if project_configs.is_empty() {
        format!(".appduct/config.json (searched upwards from {cwd})")
    } else {
        project_configs.join(", ")
    };
    let tried: Vec<_> = [
        "the --scheme flag".to_owned(),
        "the APPDUCT_SCHEME environment variable".to_owned(),
        projects,
        format!("{} (\"scheme\")", places.state_config.display()),
    ]
    .into_iter()
    .chain(probed_places(places.cwd))
    .collect();
    Failure::usage(format!("No deep-link scheme found. Tried:\n{}", numbered(&tried))).with_hint(
        "Pass `--scheme <scheme>`, set APPDUCT_SCHEME, set expo.scheme in app.json, or record it with `appduct init --scheme \
         <scheme>`.",
    )
}

/// Where [`discover`] looks.
pub(crate) fn probed_places(cwd: &Path) -> [String; 5] {
    let cwd = cwd.display();
    [
        format!("{cwd}/app.json (\"expo.scheme\")"),
        format!("{cwd}/app/build.gradle.kts, {cwd}/app/build.gradle (manifestPlaceholders \"appductScheme\")"),
        format!("{cwd}/app/src/main/AndroidManifest.xml (android:scheme of a VIEW intent filter)"),
        format!("Info.plist at most two directories below {cwd} (\"CFBundleURLSchemes\")"),
        format!("{cwd}/project.yml (\"CFBundleURLSchemes\")"),
    ]
}

/// One line for each place.
pub(crate) fn numbered(places: &[String]) -> String {
    let lines: Vec<_> = places.iter().enumerate().map(|(at, place)| format!("  {}. {place}", at + 1)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests;
