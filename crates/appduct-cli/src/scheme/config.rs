//! `scheme` in configuration files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{Found, Places};
use crate::error::Failure;

/// What the project's configurations say.
pub(super) struct InProject {
    pub(super) found: Option<Found>,
    /// The files that were there.
    pub(super) looked_at: Vec<String>,
}

/// A project's configuration file.
pub(crate) struct ProjectConfig {
    pub(crate) path: PathBuf,
    pub(crate) object: Map<String, Value>,
}

impl ProjectConfig {
    /// Refuses the file; `what` is the end of a sentence about it.
    pub(crate) fn wrong(&self, what: &str) -> Failure {
        wrong(&self.path, what)
    }
}

fn wrong(path: &Path, what: &str) -> Failure {
    Failure::usage(format!("{} {what}.", path.display()))
}

/// Every `.appduct/config.json` from the current directory upwards, the nearest first.
pub(crate) fn project_configs(places: &Places<'_>) -> impl Iterator<Item = Result<ProjectConfig, Failure>> {
    let user_dir = places.home.map(|home| home.join(".appduct"));
    let directories = places.cwd.ancestors().map(|directory| directory.join(".appduct"));
    directories
        // The state directory has a configuration of another kind.
        .filter(move |directory| Some(directory) != user_dir.as_ref() && directory != places.state_dir)
        .filter_map(|directory| {
            let path = directory.join("config.json");
            Some(match read(&path).transpose()? {
                Ok(Value::Object(object)) => Ok(ProjectConfig { path, object }),
                Ok(_) => Err(wrong(&path, "must hold a JSON object")),
                Err(failure) => Err(failure),
            })
        })
}

/// The nearest project configuration with a scheme.
pub(super) fn in_project(places: &Places<'_>) -> Result<InProject, Failure> {
    let mut looked_at = Vec::new();
    for config in project_configs(places) {
        let config = config?;
        looked_at.push(config.path.display().to_string());
        let Some(scheme) = config.object.get("scheme") else { continue };
        let scheme = scheme.as_str().filter(|scheme| !scheme.is_empty());
        let scheme = scheme.ok_or_else(|| config.wrong("has a \"scheme\" that is not a non-empty string"))?;
        let found = Found { scheme: scheme.to_owned(), origin: config.path.display().to_string() };
        return Ok(InProject { found: Some(found), looked_at });
    }
    Ok(InProject { found: None, looked_at })
}

/// `scheme` of the state directory's configuration. That file is the daemon's too, so a broken one is no usage error.
pub(super) fn in_state(path: &Path) -> Result<Option<Found>, Failure> {
    let broken = |what: String| Failure::internal(format!("{} {what}.", path.display()));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(broken(format!("cannot be read: {error}"))),
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| broken(format!("is not valid JSON: {error}")))?;
    let object = value.as_object().ok_or_else(|| broken("must hold a JSON object".to_owned()))?;
    match object.get("scheme") {
        None => Ok(None),
        Some(Value::String(scheme)) if scheme.is_empty() => Ok(None),
        Some(Value::String(scheme)) => {
            Ok(Some(Found { scheme: scheme.clone(), origin: format!("{} (\"scheme\")", path.display()) }))
        }
        Some(_) => Err(broken("has a \"scheme\" that is not a string".to_owned())),
    }
}

/// A JSON file of the project; `None` where it is not there.
pub(super) fn read(path: &Path) -> Result<Option<Value>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| Failure::usage(format!("Could not parse {}: {error}.", path.display()))),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(Failure::usage(format!("Could not read {}: {error}.", path.display()))),
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory)
}
