//! An iPhone or iPad, through `devicectl`.

use std::fs;

use super::process::{Runner, Tool, run};
use super::{Delivery, Opening, devicectl, only};
use crate::error::Failure;

/// Launches the app with the link.
pub(super) fn open(delivery: &Delivery, opening: Opening<'_>, runner: &dyn Runner) -> Result<(), Failure> {
    let app_id = delivery.app_id()?;
    let udid = match &delivery.device {
        Some(udid) => udid.clone(),
        None => {
            let listing = list(opening, runner)?;
            only(
                devicectl::devices(&listing),
                "paired iOS device",
                "Connect and unlock a device that trusts this machine.",
            )?
            .id
        }
    };
    let mut args = vec!["devicectl", "device", "process", "launch", "--device", &udid];
    if delivery.relaunch {
        args.push("--terminate-existing");
    }
    args.extend(["--payload-url", opening.link, app_id]);
    run(runner, Tool::Xcrun, &args, opening.link).map(drop)
}

/// `devicectl` writes its listing into a file. It names the devices of a person, so nobody else may look at it.
fn list(opening: Opening<'_>, runner: &dyn Runner) -> Result<String, Failure> {
    let directory = tempfile::Builder::new().prefix("appduct-devicectl-").tempdir().map_err(|error| {
        Failure::connection(format!("A temporary directory cannot be made: {error}."))
            .with_hint("Point TMPDIR at a directory that can be written.")
    })?;
    let file = directory.path().join("devicectl.json");
    let path = file.to_str().ok_or_else(|| {
        Failure::connection("The path of the temporary directory is not UTF-8.").with_hint("Point TMPDIR elsewhere.")
    })?;
    run(runner, Tool::Xcrun, &["devicectl", "list", "devices", "--timeout", "5", "--json-output", path], opening.link)?;
    Ok(fs::read_to_string(&file).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::script::{Played, Script};
    use super::*;
    use crate::args::OpenTarget;

    const LINK: &str = "demo:///?appduct=AQQ";

    fn run_with(relaunch: bool, answers: impl IntoIterator<Item = Played>) -> (Result<(), Failure>, Vec<Vec<String>>) {
        let script = Script::new(answers);
        let delivery = Delivery {
            target: OpenTarget::IosDevice,
            device: Some("A1".to_owned()),
            app_id: Some("com.example.app".to_owned()),
            relaunch,
            has_adb_serial: false,
        };
        let ended = open(&delivery, Opening { link: LINK, port: 1 }, &script);
        (ended, script.calls())
    }

    #[test]
    fn the_app_is_launched_and_ended_before_only_where_that_was_asked() {
        let (ended, calls) = run_with(false, [Played::Says("")]);
        ended.unwrap();
        let launch = ["xcrun", "devicectl", "device", "process", "launch", "--device", "A1"];
        assert_eq!(calls, [[&launch[..], &["--payload-url", LINK, "com.example.app"]].concat()]);
        let (ended, calls) = run_with(true, [Played::Says("")]);
        ended.unwrap();
        assert_eq!(
            calls,
            [[&launch[..], &["--terminate-existing", "--payload-url", LINK, "com.example.app"]].concat()]
        );
    }

    #[test]
    fn a_launch_that_fails_keeps_the_link_to_itself() {
        let (ended, _) = run_with(false, [Played::Fails("ERROR: not installed (demo:///?appduct=AQQ)")]);
        assert_eq!(
            ended.unwrap_err().message,
            "`xcrun devicectl device process launch --device A1 --payload-url <link> com.example.app` failed: ERROR: not \
             installed (<link>)"
        );
    }
}
