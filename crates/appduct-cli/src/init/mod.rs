//! A project's configuration: what it records, and what is to be recorded.

mod choice;
mod file;
mod steps;

use crate::app_id::{self, AppPlatform};
use crate::error::Failure;
use crate::report::{AppIds, Initialized, McpServerEntry};
use crate::scheme::{self, Places};
use crate::settings::InitSettings;

use choice::Choice;
use file::{ConfigFile, Recorded};

/// Records the scheme and the ids of the project in the current directory.
pub(crate) fn run(settings: &InitSettings, places: &Places<'_>) -> Result<Initialized, Failure> {
    let file = ConfigFile::of_project(places)?;
    check_flags(settings)?;
    let recorded = file.read()?;
    let app_ids = app_ids(settings, &recorded)?;
    let recorded_scheme = recorded_scheme(settings, &recorded)?;
    let discovered = scheme::discover(places.cwd)?;
    let choice = choice::choose(settings, recorded_scheme, discovered, places, file.path())?;

    let changed = file.write(&recorded, &choice.scheme, &app_ids)?;
    let Choice { scheme, source, origin, note } = choice;
    Ok(Initialized {
        path: file.path().display().to_string(),
        source,
        created: !recorded.exists(),
        changed,
        note,
        mcp_server_entry: McpServerEntry {
            command: "appduct",
            args: ["mcp", "--scheme", &scheme].map(str::to_owned).to_vec(),
        },
        next_steps: steps::next(places.cwd, origin.as_deref(), &app_ids),
        origin,
        app_id: (app_ids != AppIds::default()).then_some(app_ids),
        scheme,
    })
}

fn check_flags(settings: &InitSettings) -> Result<(), Failure> {
    if let Some(scheme) = &settings.scheme {
        scheme::check(scheme, "--scheme")?;
    }
    for platform in AppPlatform::ALL {
        if let Some(id) = settings.app_id(platform) {
            app_id::checked(id, platform.init_option())?;
        }
    }
    Ok(())
}

/// The scheme that is recorded, if it is one; another is refused unless it is to be replaced.
fn recorded_scheme(settings: &InitSettings, recorded: &Recorded) -> Result<Option<String>, Failure> {
    let is_replaced = settings.scheme.is_some() || settings.force;
    match recorded.scheme() {
        Err(_) if is_replaced => Ok(None),
        scheme => scheme.map_err(|failure| {
            failure
                .with_hint("Name the right one with `appduct init --scheme <scheme>`, or pass --force to replace it.")
        }),
    }
}

/// The ids to record: what was named, else what is there.
fn app_ids(settings: &InitSettings, recorded: &Recorded) -> Result<AppIds, Failure> {
    // Everything that is wrong in the file is told before what differs from the line.
    let mut is_there = [None, None];
    for (platform, there) in AppPlatform::ALL.into_iter().zip(&mut is_there) {
        let is_replaced = settings.app_id(platform).is_some() || settings.force;
        *there = match recorded.app_id(platform) {
            Err(_) if is_replaced => None,
            id => id.map_err(|failure| {
                let option = platform.init_option();
                failure.with_hint(format!(
                    "Name the right one with `appduct init {option} <id>`, or pass --force to drop it."
                ))
            })?,
        };
    }
    let mut ids = AppIds::default();
    for (platform, there) in AppPlatform::ALL.into_iter().zip(is_there) {
        let named = settings.app_id(platform);
        if let (Some(named), Some(there), false) = (named, &there, settings.force)
            && named != there
        {
            return Err(Failure::usage(format!(
                "{} already records \"{there}\" as \"appId.{}\".",
                recorded.path().display(),
                platform.key()
            ))
            .with_hint("Pass --force to replace it."));
        }
        let id = named.map(str::to_owned).or(there);
        match platform {
            AppPlatform::Ios => ids.ios = id,
            AppPlatform::Android => ids.android = id,
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests;
