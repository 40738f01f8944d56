//! The app's id on a platform: from the line, or from the nearest project configuration that has one.

use serde_json::{Map, Value};

use crate::error::Failure;
use crate::scheme::{self, Places};

/// A platform that has application ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppPlatform {
    Ios,
    Android,
}

impl AppPlatform {
    /// In the order in which they are looked at.
    pub(crate) const ALL: [Self; 2] = [Self::Ios, Self::Android];

    /// Its key in a project configuration.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Ios => "ios",
            Self::Android => "android",
        }
    }

    /// The option of `init` that records its id.
    pub(crate) fn init_option(self) -> &'static str {
        match self {
            Self::Ios => "--ios-app-id",
            Self::Android => "--android-app-id",
        }
    }
}

/// The id to use on a platform.
pub(crate) fn resolve(flag: Option<&str>, platform: AppPlatform, places: &Places<'_>) -> Result<String, Failure> {
    if let Some(id) = flag {
        return checked(id, "--app-id");
    }
    let mut looked_at = Vec::new();
    for config in scheme::project_configs(places) {
        let config = config?;
        if let Some(id) = recorded(&config.object, platform).map_err(|what| config.wrong(&what))? {
            return checked(&id, &format!("{} (\"appId.{}\")", config.path.display(), platform.key()));
        }
        looked_at.push(config.path.display().to_string());
    }
    Err(nowhere(platform, places, &looked_at))
}

/// What a configuration records for a platform; what is wrong with it, as the end of a sentence about the file.
pub(crate) fn recorded(config: &Map<String, Value>, platform: AppPlatform) -> Result<Option<String>, String> {
    let Some(ids) = config.get("appId") else { return Ok(None) };
    let Some(ids) = ids.as_object() else { return Err("has an \"appId\" that is not an object".to_owned()) };
    if let Some(other) = ids.keys().find(|key| !matches!(key.as_str(), "ios" | "android")) {
        return Err(format!("has an \"appId\" with the key {other:?}; only \"ios\" and \"android\" are known"));
    }
    match ids.get(platform.key()) {
        None => Ok(None),
        Some(Value::String(id)) if !id.is_empty() => Ok(Some(id.clone())),
        Some(_) => Err(format!("has an \"appId.{}\" that is not a non-empty string", platform.key())),
    }
}

/// Whether an id is one: it ends up in a command line of a device's shell, and after options of a tool.
pub(crate) fn is_app_id(id: &str) -> bool {
    let mut bytes = id.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// Refuses what is no id, and says where it comes from.
pub(crate) fn checked(id: &str, origin: &str) -> Result<String, Failure> {
    if is_app_id(id) {
        return Ok(id.to_owned());
    }
    let quoted = serde_json::to_string(id).unwrap_or_default();
    Err(Failure::usage(format!(
        "{quoted} (from {origin}) is not a valid app id: it must be a letter or digit followed by letters, digits, \".\", \"_\" \
         or \"-\"."
    )))
}

fn nowhere(platform: AppPlatform, places: &Places<'_>, looked_at: &[String]) -> Failure {
    let key = platform.key();
    let configs = if looked_at.is_empty() {
        format!(".appduct/config.json (searched upwards from {})", places.cwd.display())
    } else {
        looked_at.join(", ")
    };
    Failure::usage(format!("No app id found. Tried:\n  1. the --app-id flag\n  2. {configs} (\"appId.{key}\")"))
        .with_hint(format!(
            "Pass `--app-id <id>`, or record it as \"appId.{key}\" with `appduct init {} <id>`.",
            platform.init_option()
        ))
}

#[cfg(test)]
#[expect(clippy::unwrap_in_result, reason = "a test that cannot go on fails right there")]
mod tests {
    use std::fs;

    use super::*;

    fn resolve_in(files: &[(&str, &str)], flag: Option<&str>, platform: AppPlatform) -> Result<String, (u8, String)> {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("home");
        let cwd = home.join("work/app");
        fs::create_dir_all(&cwd).unwrap();
        for (path, text) in files {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let state_dir = home.join("state");
        let places = Places { cwd: &cwd, home: Some(&home), state_dir: &state_dir, state_config: &state_dir.join("c") };
        let shown =
            |failure: Failure| (failure.kind.exit_code(), failure.message.replace(&home.display().to_string(), "~"));
        resolve(flag, platform, &places).map_err(shown)
    }

    #[test]
    fn the_nearest_configuration_with_the_platforms_id_wins() {
        let files = [
            ("work/app/.appduct/config.json", r#"{"scheme":"demo","appId":{"ios":"near.ios"}}"#),
            ("work/.appduct/config.json", r#"{"appId":{"ios":"far.ios","android":"far.android"}}"#),
            (".appduct/config.json", r#"{"appId":7}"#),
        ];
        assert_eq!(resolve_in(&files, None, AppPlatform::Ios).unwrap(), "near.ios");
        assert_eq!(resolve_in(&files, None, AppPlatform::Android).unwrap(), "far.android");
        assert_eq!(resolve_in(&files, Some("flag"), AppPlatform::Android).unwrap(), "flag");
    }

    #[test]
    fn what_is_wrong_in_a_file_is_named() {
        for (text, message) in [
            (r#"{"appId":7}"#, "has an \"appId\" that is not an object."),
            (
                r#"{"appId":{"web":"x"}}"#,
                "has an \"appId\" with the key \"web\"; only \"ios\" and \"android\" are known.",
            ),
            (r#"{"appId":{"ios":""}}"#, "has an \"appId.ios\" that is not a non-empty string."),
            ("[]", "must hold a JSON object."),
        ] {
            let refused = resolve_in(&[("work/.appduct/config.json", text)], None, AppPlatform::Ios).unwrap_err();
            assert_eq!(refused, (64, format!("~/work/.appduct/config.json {message}")));
        }
    }

    #[test]
    fn an_id_has_a_shape() {
        for id in ["com.example.app", "a", "9-x_Y.z"] {
            assert_eq!(resolve_in(&[], Some(id), AppPlatform::Ios).as_deref(), Ok(id));
        }
        for id in ["-x", ".x", "_x", "a b", "a;reboot", "a'b", "a\n", "a$b", "ü", "a/b"] {
            let (code, message) = resolve_in(&[], Some(id), AppPlatform::Ios).unwrap_err();
            assert_eq!(code, 64);
            assert!(message.contains("(from --app-id) is not a valid app id"), "{message}");
        }
        let file = [("work/.appduct/config.json", r#"{"appId":{"android":"a;b"}}"#)];
        let (_, message) = resolve_in(&file, None, AppPlatform::Android).unwrap_err();
        assert!(
            message.starts_with("\"a;b\" (from ~/work/.appduct/config.json (\"appId.android\")) is not"),
            "{message}"
        );
    }

    #[test]
    fn without_any_every_place_is_listed() {
        assert_eq!(
            resolve_in(&[], None, AppPlatform::Android).unwrap_err().1,
            "No app id found. Tried:\n  1. the --app-id flag\n  2. .appduct/config.json (searched upwards from ~/work/app) \
             (\"appId.android\")"
        );
        let (_, message) = resolve_in(&[("work/.appduct/config.json", "{}")], None, AppPlatform::Ios).unwrap_err();
        assert!(message.ends_with("\n  2. ~/work/.appduct/config.json (\"appId.ios\")"), "{message}");
    }
}
