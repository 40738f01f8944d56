//! `.appduct/config.json` of a project.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::app_id::{self, AppPlatform};
use crate::error::Failure;
use crate::report::AppIds;
use crate::scheme::{self, Places};

/// The file that records a project's settings.
pub(super) struct ConfigFile {
    directory: PathBuf,
    path: PathBuf,
}

/// What it records.
pub(super) struct Recorded {
    path: PathBuf,
    /// `None` is no file.
    object: Option<Map<String, Value>>,
}

impl ConfigFile {
    /// The file of the project in the current directory, which must not be where a daemon keeps its state.
    pub(super) fn of_project(places: &Places<'_>) -> Result<Self, Failure> {
        let directory = places.cwd.join(".appduct");
        let user_dir = places.home.map(|home| home.join(".appduct"));
        let mut taken = user_dir.as_deref().into_iter().chain([places.state_dir]);
        if taken.any(|taken| is_same(taken, &directory)) {
            return Err(Failure::usage(format!(
                "Refusing to write a project's configuration into {}: it is a state directory.",
                directory.display()
            ))
            .with_hint("Run `appduct init` in the app's own directory."));
        }
        let path = directory.join("config.json");
        Ok(Self { directory, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is recorded.
    pub(super) fn read(&self) -> Result<Recorded, Failure> {
        let recorded = |object| Ok(Recorded { path: self.path.clone(), object });
        if fs::metadata(&self.directory).is_ok_and(|metadata| !metadata.is_dir()) {
            return Err(Failure::usage(format!("{} is not a directory.", self.directory.display())));
        }
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return recorded(None),
            Err(error) if error.kind() == ErrorKind::IsADirectory => {
                return Err(Failure::usage(format!("{} is a directory.", self.path.display())));
            }
            Err(error) => return Err(Failure::usage(format!("Could not read {}: {error}.", self.path.display()))),
        };
        match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => recorded(Some(object)),
            Ok(_) => Err(Failure::usage(format!("{} must hold a JSON object.", self.path.display()))),
            Err(error) => Err(Failure::usage(format!("Could not parse {}: {error}.", self.path.display()))),
        }
    }

    /// Records a scheme and ids next to whatever else the file has, and makes file and directory private. The file is
    /// written only where that changes it, and then whole or not at all.
    pub(super) fn write(&self, recorded: &Recorded, scheme: &str, ids: &AppIds) -> Result<bool, Failure> {
        let mut object = recorded.object.clone().unwrap_or_default();
        object.insert("scheme".to_owned(), scheme.into());
        let ids: Map<_, _> = [("ios", &ids.ios), ("android", &ids.android)]
            .into_iter()
            .filter_map(|(key, id)| Some((key.to_owned(), Value::from(id.clone()?))))
            .collect();
        if ids.is_empty() {
            object.shift_remove("appId");
        } else {
            object.insert("appId".to_owned(), ids.into());
        }
        let is_changed = recorded.object.as_ref() != Some(&object);
        self.put(is_changed.then_some(&object))
            .map_err(|error| Failure::internal(format!("Could not write {}: {error}.", self.path.display())))?;
        Ok(is_changed)
    }

    fn put(&self, object: Option<&Map<String, Value>>) -> std::io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        fs::set_permissions(&self.directory, Permissions::from_mode(0o700))?;
        if let Some(object) = object {
            let mut file = tempfile::Builder::new().prefix("config.json.").tempfile_in(&self.directory)?;
            file.write_all(serde_json::to_string_pretty(object)?.as_bytes())?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&self.path)?;
        }
        fs::set_permissions(&self.path, Permissions::from_mode(0o600))
    }
}

impl Recorded {
    pub(super) fn exists(&self) -> bool {
        self.object.is_some()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The scheme, or why what is recorded is none.
    pub(super) fn scheme(&self) -> Result<Option<String>, Failure> {
        let Some(scheme) = self.object.as_ref().and_then(|object| object.get("scheme")) else { return Ok(None) };
        let Some(scheme) = scheme.as_str().filter(|scheme| !scheme.is_empty()) else {
            return Err(self.wrong("has a \"scheme\" that is not a non-empty string"));
        };
        scheme::check(scheme, &self.path.display().to_string())?;
        Ok(Some(scheme.to_owned()))
    }

    /// The id of a platform, or why what is recorded is none.
    pub(super) fn app_id(&self, platform: AppPlatform) -> Result<Option<String>, Failure> {
        let Some(object) = &self.object else { return Ok(None) };
        let id = app_id::recorded(object, platform).map_err(|what| self.wrong(&what))?;
        if let Some(id) = &id {
            app_id::checked(id, &format!("{} (\"appId.{}\")", self.path.display(), platform.key()))?;
        }
        Ok(id)
    }

    fn wrong(&self, what: &str) -> Failure {
        Failure::usage(format!("{} {what}.", self.path.display()))
    }
}

/// Whether two paths are one directory, also where one of them leads through a symbolic link.
fn is_same(one: &Path, other: &Path) -> bool {
    let resolved = |path: &Path| {
        let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
        path.canonicalize().ok().or_else(|| Some(parent?.join(path.file_name()?)))
    };
    one == other || resolved(one).is_some_and(|one| Some(one) == resolved(other))
}
