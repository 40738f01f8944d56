//! Which place wins, and what is said where none does.

use std::fs;

use super::*;

struct Project {
    temp: tempfile::TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("home/work/app")).unwrap();
        for (path, text) in files {
            let path = temp.path().join("home").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { temp }
    }

    fn resolve(&self) -> Result<String, Failure> {
        let home = self.temp.path().join("home");
        let cwd = home.join("work/app");
        let state_dir = home.join("state");
        let state_config = state_dir.join("config.json");
        in_files(&Places { cwd: &cwd, home: Some(&home), state_dir: &state_dir, state_config: &state_config })
    }

    /// The failure's message with the temporary directory cut out.
    fn refusal(&self) -> (u8, String) {
        let failure = self.resolve().unwrap_err();
        let root = self.temp.path().join("home").display().to_string();
        (failure.kind.exit_code(), failure.message.replace(&root, "~"))
    }
}

#[test]
fn the_nearest_project_configuration_with_a_scheme_wins() {
    let project = Project::new(&[
        ("work/app/.appduct/config.json", r#"{"appId":{"ios":"x"}}"#),
        ("work/.appduct/config.json", r#"{"scheme":"near"}"#),
        (".appduct/config.json", r#"{"scheme":"the-state-directory"}"#),
        ("state/config.json", r#"{"scheme":"far"}"#),
    ]);
    assert_eq!(project.resolve().unwrap(), "near");
}

#[test]
fn the_state_directory_comes_before_the_projects_files() {
    let files = [
        (".appduct/config.json", r#"{"scheme":"no"}"#),
        ("state/config.json", r#"{"scheme":"far","wssPort":0}"#),
        ("work/app/app.json", r#"{"expo":{"scheme":"expo"}}"#),
    ];
    assert_eq!(Project::new(&files).resolve().unwrap(), "far");
    assert_eq!(Project::new(&files[2..]).resolve().unwrap(), "expo");
}

#[test]
fn the_first_string_of_an_expo_list_counts() {
    let files = [("work/app/app.json", r#"{"expo":{"scheme":["",4,"two"]}}"#)];
    assert_eq!(Project::new(&files).resolve().unwrap(), "two");
}

#[test]
fn native_files_must_agree() {
    let gradle = ("work/app/app/build.gradle", r#"manifestPlaceholders["appductScheme"] = "demo""#);
    let yml = |scheme| format!("CFBundleURLSchemes: [{scheme}]");
    let same = yml("demo");
    assert_eq!(Project::new(&[gradle, ("work/app/project.yml", &same)]).resolve().unwrap(), "demo");
    let other = yml("other");
    let (code, message) = Project::new(&[gradle, ("work/app/project.yml", &other)]).refusal();
    assert_eq!(code, 64);
    assert_eq!(
        message,
        "Conflicting deep-link schemes in this project:\n  \
         ~/work/app/app/build.gradle (\"manifestPlaceholders.appductScheme\") has \"demo\"\n  \
         ~/work/app/project.yml (\"CFBundleURLSchemes\") has \"other\""
    );
}

#[test]
fn broken_files_are_named() {
    for (file, text, code, message) in [
        ("work/app/app.json", "{", 64, "Could not parse ~/work/app/app.json: "),
        ("work/.appduct/config.json", "{", 64, "Could not parse ~/work/.appduct/config.json: "),
        ("work/.appduct/config.json", "[]", 64, "~/work/.appduct/config.json must hold a JSON object."),
        (
            "work/.appduct/config.json",
            r#"{"scheme":""}"#,
            64,
            "~/work/.appduct/config.json has a \"scheme\" that is not a non-empty string.",
        ),
        ("state/config.json", "nope", 1, "~/state/config.json is not valid JSON: "),
        ("state/config.json", r#"{"scheme":7}"#, 1, "~/state/config.json has a \"scheme\" that is not a string."),
    ] {
        let (got_code, got) = Project::new(&[(file, text)]).refusal();
        assert_eq!(got_code, code, "{got}");
        assert!(got.starts_with(message), "{got}");
    }
}

#[test]
fn a_scheme_that_is_none_is_named_with_its_origin() {
    let (code, message) = Project::new(&[("state/config.json", r#"{"scheme":"demo://"}"#)]).refusal();
    assert_eq!(code, 64);
    assert_eq!(
        message,
        "Invalid deep-link scheme \"demo://\" (from ~/state/config.json (\"scheme\")): it must be a letter followed by \
         letters, digits, \"+\", \".\" or \"-\", without \"://\"."
    );
}

#[test]
fn without_any_scheme_every_place_is_listed() {
    let (code, message) = Project::new(&[]).refusal();
    assert_eq!(code, 64);
    assert_eq!(
        message,
        "No deep-link scheme found. Tried:\n  \
         1. the --scheme flag\n  \
         2. the APPDUCT_SCHEME environment variable\n  \
         3. .appduct/config.json (searched upwards from ~/work/app)\n  \
         4. ~/state/config.json (\"scheme\")\n  \
         5. ~/work/app/app.json (\"expo.scheme\")\n  \
         6. ~/work/app/app/build.gradle.kts, ~/work/app/app/build.gradle (manifestPlaceholders \"appductScheme\")\n  \
         7. ~/work/app/app/src/main/AndroidManifest.xml (android:scheme of a VIEW intent filter)\n  \
         8. Info.plist at most two directories below ~/work/app (\"CFBundleURLSchemes\")\n  \
         9. ~/work/app/project.yml (\"CFBundleURLSchemes\")"
    );
    let (_, message) = Project::new(&[("work/.appduct/config.json", "{}")]).refusal();
    assert!(message.contains("\n  3. ~/work/.appduct/config.json\n"), "{message}");
}
