//! Every environment variable that the command reads; the daemon reads `APPDUCT_LOG` besides.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the script of `appduct completions` sets.
pub(crate) const COMPLETE: &str = "APPDUCT_COMPLETE";

/// The environment, read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    /// `APPDUCT_STATE_DIR`: the state directory where `--state-dir` is not given.
    pub(crate) state_dir: Option<PathBuf>,
    /// `APPDUCT_SCHEME`: the app's link scheme where `--scheme` is not given.
    pub(crate) scheme: Option<String>,
    /// `APPDUCT_DAEMON_RESTART`: `1` or `true` replaces an older daemon even where sessions are live.
    pub(crate) daemon_restart: Option<OsString>,
    /// `NO_COLOR`: anything but nothing switches colour off.
    pub(crate) no_color: bool,
    /// `FORCE_COLOR` or `CLICOLOR_FORCE`: anything but nothing and `0` switches colour on.
    pub(crate) force_color: bool,
    /// `TERM` is `dumb`.
    pub(crate) dumb_terminal: bool,
    /// `COLUMNS`: how wide a terminal is taken to be.
    pub(crate) columns: Option<usize>,
    /// `ANDROID_SERIAL`: the device that `adb` uses.
    pub(crate) adb_serial: Option<String>,
    /// `APPDUCT_COMPLETE`: the shell whose completion asks; set by the script of `appduct completions`.
    pub(crate) complete: Option<String>,
    /// `_CLAP_COMPLETE_INDEX`: which word is completed; set by the script too, where the shell has words after it.
    pub(crate) complete_index: Option<usize>,
    /// `HOME`: the default state directory is `.appduct` in it.
    pub(crate) home: Option<PathBuf>,
}

impl Env {
    /// Reads the process's environment.
    pub(crate) fn read() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let on = |name: &str| set(name).is_some_and(|value| value != "0");
        Self {
            state_dir: set("APPDUCT_STATE_DIR").map(PathBuf::from),
            scheme: set("APPDUCT_SCHEME").map(lossy),
            daemon_restart: set("APPDUCT_DAEMON_RESTART"),
            no_color: set("NO_COLOR").is_some(),
            force_color: on("FORCE_COLOR") || on("CLICOLOR_FORCE"),
            dumb_terminal: set("TERM").is_some_and(|value| value == "dumb"),
            columns: set("COLUMNS").and_then(|value| value.to_str()?.parse().ok()).filter(|columns| *columns > 0),
            adb_serial: set("ANDROID_SERIAL").map(lossy),
            complete: set(COMPLETE).map(lossy),
            complete_index: set("_CLAP_COMPLETE_INDEX").and_then(|index| index.to_str()?.parse().ok()),
            home: set("HOME").map(PathBuf::from),
        }
    }
}

/// Text that is not UTF-8 fails later, by the rule of whatever it is for.
fn lossy(value: OsString) -> String {
    value.to_string_lossy().into_owned()
}
