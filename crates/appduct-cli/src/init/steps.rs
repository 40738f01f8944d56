//! What a project needs after `init`.

use std::path::Path;

use serde_json::Value;

use crate::report::AppIds;

/// What a project is built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ReactNative,
    Ios,
    Android,
    Rust,
    Unknown,
}

/// The next steps, in order.
pub(super) fn next(cwd: &Path, origin: Option<&str>, ids: &AppIds) -> Vec<String> {
    let kind = kind_of(cwd);
    let mut steps = vec![
        add_the_sdk(kind).to_owned(),
        "Paste the MCP server entry into your agent's configuration. Instead of --scheme, APPDUCT_SCHEME or this file may name \
         the scheme."
            .to_owned(),
        match kind {
            Kind::Rust => "Pair: run `appduct link` and open the link in the app.",
            Kind::Android => "Pair: run `appduct link --open android`.",
            Kind::Ios => "Pair: run `appduct link --open ios-sim`.",
            Kind::ReactNative | Kind::Unknown => {
                "Pair: run `appduct link --open ios-sim` or `appduct link --open android`."
            }
        }
        .to_owned(),
    ];
    if let Some(origin) = origin {
        steps.push(format!("The scheme was read from {origin}. Run `appduct init --force` after a change there."));
    }
    if *ids == AppIds::default() {
        steps.push(
            "For `link --open android` and `link --open ios-device`, record the app's id: `appduct init --android-app-id <id>`, \
             `appduct init --ios-app-id <id>`."
                .to_owned(),
        );
    }
    steps.push(
        "Commit .appduct/config.json: it holds no secret. Never point --state-dir at this directory, which would put keys into \
         it."
            .to_owned(),
    );
    steps
}

fn add_the_sdk(kind: Kind) -> &'static str {
    match kind {
        Kind::ReactNative => "Add `import \"@appduct/react-native/auto\"` to the app's entry file.",
        Kind::Ios => "Add AppductCore to the app's target, and hand the links that the app opens to it.",
        Kind::Android => {
            "Add com.callstack.appduct:core to debug builds and core-noop to release builds, and hand the links that the app \
             opens to it."
        }
        Kind::Rust => "Run `cargo add appduct`, and hand the links that the app opens to `Appduct::handle_url`.",
        Kind::Unknown => "Add the SDK to the app, and hand the links that the app opens to it.",
    }
}

fn kind_of(cwd: &Path) -> Kind {
    let has = |file: &str| cwd.join(file).exists();
    let has_extension = |extension: &str| {
        let mut entries = std::fs::read_dir(cwd).into_iter().flatten().flatten();
        entries.any(|entry| entry.path().extension().is_some_and(|found| found == extension))
    };
    if has("app.json") || is_react_native(cwd) {
        Kind::ReactNative
    } else if has("app/build.gradle.kts") || has("app/build.gradle") {
        Kind::Android
    } else if has("project.yml") || has("Package.swift") || has_extension("xcodeproj") || has_extension("xcworkspace") {
        Kind::Ios
    } else if has("Cargo.toml") {
        Kind::Rust
    } else {
        Kind::Unknown
    }
}

fn is_react_native(cwd: &Path) -> bool {
    let package = std::fs::read_to_string(cwd.join("package.json")).unwrap_or_default();
    let package: Value = serde_json::from_str(&package).unwrap_or_default();
    ["react-native", "expo"].iter().any(|name| package["dependencies"].get(name).is_some())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_project_is_known_by_its_files() {
        for (file, text, kind) in [
            ("app.json", "{}", Kind::ReactNative),
            ("package.json", r#"{"dependencies":{"react-native":"1"}}"#, Kind::ReactNative),
            ("package.json", r#"{"dependencies":{"react":"1"}}"#, Kind::Unknown),
            ("package.json", "broken", Kind::Unknown),
            ("app/build.gradle", "", Kind::Android),
            ("Demo.xcodeproj/project.pbxproj", "", Kind::Ios),
            ("project.yml", "", Kind::Ios),
            ("Cargo.toml", "", Kind::Rust),
            ("README.md", "", Kind::Unknown),
        ] {
            let temp = tempfile::tempdir().unwrap();
            let path = temp.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            assert_eq!(kind_of(temp.path()), kind, "{file}");
        }
    }

    #[test]
    fn steps_depend_on_what_is_known() {
        let temp = tempfile::tempdir().unwrap();
        let ids = AppIds { ios: Some("a".to_owned()), android: None };
        assert_eq!(next(temp.path(), None, &ids).len(), 4);
        let steps = next(temp.path(), Some("x"), &AppIds::default());
        assert_eq!(steps.len(), 6);
        assert!(steps[3].contains("read from x"), "{}", steps[3]);
        assert!(steps[4].contains("--android-app-id"), "{}", steps[4]);
    }
}
