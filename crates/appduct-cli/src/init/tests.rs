//! Every order in which a project's configuration is checked, chosen and written.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;

struct Project {
    temp: TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let project = Self { temp };
        fs::create_dir_all(project.cwd()).unwrap();
        for (path, text) in files {
            let path = project.cwd().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        project
    }

    /// A project whose configuration holds `config`.
    fn with(config: &str) -> Self {
        Self::new(&[(".appduct/config.json", config)])
    }

    fn cwd(&self) -> PathBuf {
        self.temp.path().join("home/app")
    }

    fn config(&self) -> PathBuf {
        self.cwd().join(".appduct/config.json")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.config()).unwrap()
    }

    fn run(&self, args: &[&str]) -> Result<Initialized, Failure> {
        self.run_in(&self.cwd(), &self.temp.path().join("home/state"), args)
    }

    fn run_in(&self, cwd: &Path, state_dir: &Path, args: &[&str]) -> Result<Initialized, Failure> {
        let mut settings = InitSettings::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || Some((*args.next().unwrap()).to_owned());
            match *arg {
                "--scheme" => settings.scheme = value(),
                "--ios-app-id" => settings.ios_app_id = value(),
                "--android-app-id" => settings.android_app_id = value(),
                "--force" => settings.force = true,
                other => panic!("{other}"),
            }
        }
        let home = self.temp.path().join("home");
        let state_config = state_dir.join("config.json");
        run(&settings, &Places { cwd, home: Some(&home), state_dir, state_config: &state_config })
    }

    #[track_caller]
    fn refused(&self, args: &[&str], message: &str) {
        let failure = self.run(args).unwrap_err();
        let got = failure.message.replace(&self.cwd().display().to_string(), "~");
        assert_eq!((failure.kind.exit_code(), got.as_str()), (64, message), "{args:?}");
    }
}

const EXPO: (&str, &str) = ("app.json", r#"{"expo":{"scheme":"expo"}}"#);

#[test]
fn a_new_project_gets_a_private_file() {
    let project = Project::new(&[]);
    let done = project.run(&["--scheme", "demo", "--android-app-id", "com.example.app"]).unwrap();
    assert_eq!((done.source, done.created, done.changed), ("--scheme", true, true));
    assert_eq!(done.mcp_server_entry.args, ["mcp", "--scheme", "demo"]);
    assert_eq!(
        project.text(),
        "{\n  \"scheme\": \"demo\",\n  \"appId\": {\n    \"android\": \"com.example.app\"\n  }\n}\n"
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&project.config()), mode(project.config().parent().unwrap())), (0o600, 0o700));
    assert_eq!(fs::read_dir(project.cwd().join(".appduct")).unwrap().count(), 1, "no temporary file stays");
}

#[test]
fn nothing_to_change_writes_nothing_but_makes_it_private() {
    let text = r#"{ "scheme":"demo", "other": [1] }"#;
    let project = Project::with(text);
    fs::set_permissions(project.config(), fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(project.cwd().join(".appduct"), fs::Permissions::from_mode(0o755)).unwrap();
    let before = fs::metadata(project.config()).unwrap();
    for args in [&[][..], &["--scheme", "demo"], &["--force"]] {
        let done = project.run(args).unwrap();
        assert_eq!((done.created, done.changed), (false, false));
    }
    let after = fs::metadata(project.config()).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    assert_eq!(project.text(), text);
    assert_eq!(after.permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(project.cwd().join(".appduct")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_else_the_file_has_stays_in_its_order() {
    let project = Project::with(r#"{"z":1,"scheme":"old","appId":{"ios":"a"},"a":null}"#);
    project.run(&["--scheme", "new", "--force", "--android-app-id", "b"]).unwrap();
    assert_eq!(
        project.text(),
        "{\n  \"z\": 1,\n  \"scheme\": \"new\",\n  \"appId\": {\n    \"ios\": \"a\",\n    \"android\": \"b\"\n  },\n  \"a\": null\n}\n"
    );
}

#[test]
fn a_state_directory_is_never_written() {
    let project = Project::new(&[]);
    let home = project.temp.path().join("home");
    let state_dir = home.join("state");
    for (cwd, state_dir) in [(&home, &state_dir), (&project.cwd(), &project.cwd().join(".appduct"))] {
        let failure = project.run_in(cwd, state_dir, &["--scheme", "://"]).unwrap_err();
        assert!(failure.message.starts_with("Refusing to write"), "{}", failure.message);
        assert!(!cwd.join(".appduct").exists());
    }
    let link = project.temp.path().join("link");
    symlink(&home, &link).unwrap();
    assert!(project.run_in(&link, &state_dir, &["--scheme", "demo"]).is_err());
}

#[test]
fn the_line_is_checked_before_the_file() {
    let broken = Project::with("{");
    let failure = broken.run(&["--scheme", "demo://", "--ios-app-id", "-x"]).unwrap_err();
    assert!(failure.message.starts_with("Invalid deep-link scheme \"demo://\" (from --scheme)"), "{}", failure.message);
    let failure = broken.run(&["--scheme", "demo", "--ios-app-id", "-x"]).unwrap_err();
    assert!(failure.message.starts_with("\"-x\" (from --ios-app-id) is not a valid app id"), "{}", failure.message);
    let failure = broken.run(&["--android-app-id", ""]).unwrap_err();
    assert!(failure.message.starts_with("\"\" (from --android-app-id) is not a valid app id"), "{}", failure.message);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    Project::new(&[(".appduct", "file")]).refused(&["--scheme", "demo"], "~/.appduct is not a directory.");
    Project::new(&[(".appduct/config.json/x", "")])
        .refused(&["--scheme", "demo"], "~/.appduct/config.json is a directory.");
    Project::with("[]").refused(&["--scheme", "demo"], "~/.appduct/config.json must hold a JSON object.");
    let failure = Project::with("{").run(&["--scheme", "demo", "--force"]).unwrap_err();
    assert!(failure.message.contains("Could not parse"), "{}", failure.message);
}

#[test]
fn a_wrong_record_must_be_replaced_on_purpose() {
    let message = "~/.appduct/config.json has a \"scheme\" that is not a non-empty string.";
    Project::with(r#"{"scheme":7}"#).refused(&[], message);
    assert_eq!(Project::with(r#"{"scheme":7}"#).run(&["--scheme", "demo"]).unwrap().scheme, "demo");
    let project = Project::with(r#"{"scheme":"demo://"}"#);
    assert!(project.run(&[]).unwrap_err().message.starts_with("Invalid deep-link scheme \"demo://\""));
    assert!(project.run(&["--force"]).unwrap_err().message.starts_with("No deep-link scheme found"));

    let ids = r#"{"scheme":"demo","appId":{"ios":7,"android":"a"}}"#;
    let message = "~/.appduct/config.json has an \"appId.ios\" that is not a non-empty string.";
    Project::with(ids).refused(&[], message);
    Project::with(ids).refused(&["--android-app-id", "a"], message);
    let done = Project::with(ids).run(&["--ios-app-id", "b"]).unwrap();
    assert_eq!(done.app_id, Some(AppIds { ios: Some("b".to_owned()), android: Some("a".to_owned()) }));
    let project = Project::with(ids);
    let done = project.run(&["--force"]).unwrap();
    assert_eq!((done.app_id.unwrap().ios, done.changed), (None, true));
    Project::with(r#"{"scheme":"demo","appId":[]}"#)
        .refused(&[], "~/.appduct/config.json has an \"appId\" that is not an object.");
    let shell = Project::with(r#"{"scheme":"demo","appId":{"ios":"a;b"}}"#).run(&[]).unwrap_err();
    assert!(shell.message.contains("is not a valid app id"), "{}", shell.message);
}

#[test]
fn another_recorded_id_must_be_replaced_on_purpose() {
    let project = Project::with(r#"{"scheme":"demo","appId":{"ios":"i","android":"a"}}"#);
    project.refused(
        &["--android-app-id", "b", "--ios-app-id", "j"],
        "~/.appduct/config.json already records \"i\" as \"appId.ios\".",
    );
    project.refused(&["--android-app-id", "b"], "~/.appduct/config.json already records \"a\" as \"appId.android\".");
    assert!(!project.run(&["--android-app-id", "a"]).unwrap().changed);
    assert!(project.run(&["--android-app-id", "b", "--force"]).unwrap().changed);
}

#[test]
fn ids_come_before_the_projects_files_and_these_before_the_recorded_scheme() {
    let conflict = ("app.json", "{");
    let project = Project::new(&[(".appduct/config.json", r#"{"scheme":"demo","appId":{"ios":"i"}}"#), conflict]);
    project.refused(&["--ios-app-id", "j"], "~/.appduct/config.json already records \"i\" as \"appId.ios\".");
    let failure = project.run(&["--scheme", "other"]).unwrap_err();
    assert!(failure.message.starts_with("Could not parse"), "{}", failure.message);
    let invalid =
        Project::new(&[("app.json", r#"{"expo":{"scheme":"x://"}}"#)]).run(&["--scheme", "demo"]).unwrap_err();
    assert!(invalid.message.starts_with("Invalid deep-link scheme \"x://\""), "{}", invalid.message);
}

#[test]
fn another_recorded_scheme_must_be_replaced_on_purpose() {
    let project = Project::with(r#"{"scheme":"demo"}"#);
    project.refused(&["--scheme", "other"], "~/.appduct/config.json already records the scheme \"demo\".");
    let done = project.run(&["--scheme", "other", "--force"]).unwrap();
    assert_eq!((done.scheme.as_str(), done.created, done.changed), ("other", false, true));
}

#[test]
fn the_scheme_is_the_lines_then_the_records_then_the_projects() {
    let found = Project::new(&[EXPO]).run(&[]).unwrap();
    assert_eq!((found.scheme.as_str(), found.source), ("expo", "app.json"));
    assert!(found.origin.unwrap().ends_with("/app.json"));

    let yml = Project::new(&[("project.yml", "CFBundleURLSchemes: [native]")]).run(&[]).unwrap();
    assert_eq!(yml.source, "ios-project-yml");
    assert!(yml.origin.unwrap().starts_with("\"CFBundleURLSchemes\" in /"));

    let both = Project::new(&[(".appduct/config.json", r#"{"scheme":"demo"}"#), EXPO]);
    let kept = both.run(&[]).unwrap();
    assert_eq!((kept.scheme.as_str(), kept.source, kept.changed), ("demo", "already-recorded", false));
    let note = kept.note.unwrap();
    assert!(note.contains("\"demo\"") && note.contains("\"expo\"") && note.contains("appduct init --force"), "{note}");
    assert_eq!(both.run(&["--scheme", "demo"]).unwrap().note, None);
    let forced = both.run(&["--force"]).unwrap();
    assert_eq!((forced.scheme.as_str(), forced.source, forced.changed, forced.note), ("expo", "app.json", true, None));
}

#[test]
fn without_any_scheme_every_place_is_listed() {
    let failure = Project::new(&[]).run(&[]).unwrap_err();
    assert!(failure.message.starts_with("No deep-link scheme found. Tried:\n  1. the --scheme flag\n  2. /"));
    assert_eq!(failure.message.lines().count(), 8);
}
