//! An Android device or emulator, through `adb`.

use super::process::{Runner, Tool, one_line, run, without};
use super::{Delivery, Device, Opening, only};
use crate::error::Failure;

/// Makes the daemon's port the device's own, and starts the app with the link.
pub(super) fn open(delivery: &Delivery, opening: Opening<'_>, runner: &dyn Runner) -> Result<(), Failure> {
    let app_id = delivery.app_id()?;
    let chosen: &[&str] = match &delivery.device {
        Some(serial) => &["-s", serial],
        None if delivery.has_adb_serial => &[],
        None => {
            let devices = run(runner, Tool::Adb, &["devices"], opening.link)?;
            only(
                attached(&devices.stdout),
                "connected Android device",
                "Start an emulator, or connect a device; `adb devices` lists them.",
            )?;
            &[]
        }
    };
    let adb = |args: &[&str]| run(runner, Tool::Adb, &[chosen, args].concat(), opening.link);

    let port = format!("tcp:{}", opening.port);
    adb(&["reverse", &port, &port])?;
    let link = quoted_for_shell(opening.link);
    let started = adb(&["shell", "am", "start", "-a", "android.intent.action.VIEW", "-d", &link, "-p", app_id])?;
    match refusal(&started.stdout).or_else(|| refusal(&started.stderr)) {
        None => Ok(()),
        Some(refusal) => Err(Failure::usage(format!(
            "The device did not open the link in \"{app_id}\": {}",
            without(opening.link, &one_line(refusal))
        ))
        .with_hint("Check that the app is installed, that its id is right, and that it opens links of this scheme.")),
    }
}

/// The devices that are ready.
pub(super) fn present(runner: &dyn Runner) -> Vec<Device> {
    run(runner, Tool::Adb, &["devices"], "").map(|listing| attached(&listing.stdout)).unwrap_or_default()
}

/// The devices that are ready, from `adb devices`.
fn attached(listing: &str) -> Vec<Device> {
    let device = |line: &str| {
        let mut words = line.split_whitespace();
        let id = words.next()?;
        (words.next() == Some("device")).then(|| Device { id: id.to_owned(), name: None })
    };
    listing.lines().filter_map(device).collect()
}

/// `am` says that it failed, and may exit like one that did not.
fn refusal(output: &str) -> Option<&str> {
    output.lines().find(|line| {
        line.starts_with("Error:")
            || line.contains("Exception occurred while executing")
            || line.contains("Security exception:")
    })
}

/// One word of the device's shell, which reads the whole command line anew.
fn quoted_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::super::script::{Played, Script};
    use super::*;
    use crate::args::OpenTarget;

    const LINK: &str = "demo:///?appduct=AQQ&pin=sha256%2FAAAA%3D";

    fn delivery(device: Option<&str>) -> Delivery {
        Delivery {
            target: OpenTarget::Android,
            device: device.map(str::to_owned),
            app_id: Some("com.example.app".to_owned()),
            relaunch: false,
            has_adb_serial: false,
        }
    }

    fn run_with(delivery: &Delivery, answers: impl IntoIterator<Item = Played>) -> (Result<(), Failure>, Vec<String>) {
        let script = Script::new(answers);
        let ended = open(delivery, Opening { link: LINK, port: 8443 }, &script);
        (ended, script.calls().iter().map(|words| words.join(" ")).collect())
    }

    const ONE: &str = "List of devices attached\nemulator-5554\tdevice\n192.168.1.7:5555\toffline\nX\tunauthorized\n\n";

    #[test]
    fn the_only_device_needs_no_name() {
        let (ended, calls) =
            run_with(&delivery(None), [Played::Says(ONE), Played::Says("8443"), Played::Says("Starting")]);
        ended.unwrap();
        assert_eq!(
            calls,
            [
                "adb devices",
                "adb reverse tcp:8443 tcp:8443",
                "adb shell am start -a android.intent.action.VIEW -d 'demo:///?appduct=AQQ&pin=sha256%2FAAAA%3D' -p \
                 com.example.app",
            ]
        );
    }

    #[test]
    fn a_named_device_is_not_looked_for() {
        let (ended, calls) = run_with(&delivery(Some("X 1")), [Played::Says(""), Played::Says("")]);
        ended.unwrap();
        assert_eq!(calls[0], "adb -s X 1 reverse tcp:8443 tcp:8443");
        assert!(calls[1].starts_with("adb -s X 1 shell am start "), "{}", calls[1]);

        let environment = Delivery { has_adb_serial: true, ..delivery(None) };
        let (ended, calls) = run_with(&environment, [Played::Says(""), Played::Says("")]);
        ended.unwrap();
        assert_eq!(calls[0], "adb reverse tcp:8443 tcp:8443");
    }

    #[track_caller]
    fn fails(answers: impl IntoIterator<Item = Played>, code: u8, message: &str) {
        let (ended, _) = run_with(&delivery(None), answers);
        let failure = ended.unwrap_err();
        assert_eq!((failure.kind.exit_code(), failure.message.as_str()), (code, message));
    }

    #[test]
    fn each_failure_says_what_is_wrong() {
        fails([Played::IsMissing], 70, "\"adb\" was not found on PATH.");
        fails([Played::CannotStart], 70, "\"adb\" could not be started: permission denied.");
        fails([Played::Fails("adb: no server\n")], 70, "`adb devices` failed: adb: no server");
        fails([Played::Says("List of devices attached\n\n")], 64, "There is no connected Android device.");
        fails(
            [Played::Says("List of devices attached\na\tdevice\nb device usb:1 product:x\n")],
            64,
            "There is more than one connected Android device:\n  a\n  b",
        );
        fails(
            [Played::Says(ONE), Played::Fails("adb: error: closed\nsecond\n")],
            70,
            "`adb reverse tcp:8443 tcp:8443` failed: adb: error: closed; second",
        );
        fails(
            [Played::Says(ONE), Played::Says(""), Played::Fails("")],
            70,
            "`adb shell am start -a android.intent.action.VIEW -d '<link>' -p com.example.app` failed",
        );
    }

    #[test]
    fn a_start_that_only_says_that_it_failed_has_failed() {
        let refused = "The device did not open the link in \"com.example.app\": ";
        for (answer, shown) in [
            (
                Played::Says(
                    "Starting: Intent { .. }\nError: Activity not started, unable to resolve Intent { dat=demo:///?appduct=AQQ&pin=sha256%2FAAAA%3D }\n",
                ),
                "Error: Activity not started, unable to resolve Intent { dat=<link> }",
            ),
            (Played::Warns("Error: Activity class does not exist."), "Error: Activity class does not exist."),
            (
                Played::Warns("\nException occurred while executing 'start':\njava.lang.X"),
                "Exception occurred while executing 'start':",
            ),
            (Played::Says("Security exception: Permission Denial"), "Security exception: Permission Denial"),
        ] {
            fails([Played::Says(ONE), Played::Says(""), answer], 64, &format!("{refused}{shown}"));
        }
        let harmless = Played::Says(
            "Starting: Intent { dat=Error: }\nWarning: Activity not started, its current task has been brought to the front\n",
        );
        let (ended, _) = run_with(&delivery(None), [Played::Says(ONE), Played::Says(""), harmless]);
        ended.unwrap();
    }

    #[test]
    fn a_word_for_a_shell_stays_one_word() {
        for (text, quoted) in [
            ("a&b;c", "'a&b;c'"),
            ("$(reboot)`id`", "'$(reboot)`id`'"),
            ("'; reboot; '", r"''\''; reboot; '\'''"),
            ("a\nb", "'a\nb'"),
        ] {
            assert_eq!(quoted_for_shell(text), quoted);
            let echoed =
                std::process::Command::new("sh").args(["-c", &format!("printf %s {quoted}")]).output().unwrap();
            assert_eq!(String::from_utf8(echoed.stdout).unwrap(), text);
        }
    }
}
