//! A booted simulator, through `simctl`.

use serde_json::Value;

use super::process::{Runner, Tool, run};
use super::{Delivery, Device, Opening, only};
use crate::error::Failure;

/// Opens the link in the simulator, which asks the app that has the scheme.
pub(super) fn open(delivery: &Delivery, opening: Opening<'_>, runner: &dyn Runner) -> Result<(), Failure> {
    let xcrun = |args: &[&str]| run(runner, Tool::Xcrun, args, opening.link);
    let udid = match &delivery.device {
        Some(udid) => udid.clone(),
        None => {
            let listing = xcrun(&["simctl", "list", "devices", "booted", "--json"])?;
            only(booted(&listing.stdout), "booted simulator", "Boot one in the Simulator app.")?.id
        }
    };
    xcrun(&["simctl", "openurl", &udid, opening.link]).map(drop)
}

/// The simulators that are up.
pub(super) fn present(runner: &dyn Runner) -> Vec<Device> {
    let listing = run(runner, Tool::Xcrun, &["simctl", "list", "devices", "booted", "--json"], "");
    listing.map(|listing| booted(&listing.stdout)).unwrap_or_default()
}

/// The simulators that are up; a listing that cannot be read has none.
fn booted(listing: &str) -> Vec<Device> {
    let listing: Value = serde_json::from_str(listing).unwrap_or_default();
    let runtimes = listing["devices"].as_object().into_iter().flat_map(|runtimes| runtimes.values());
    let device = |device: &Value| {
        let text = |key: &str| device[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        (device["state"] == "Booted").then_some(())?;
        Some(Device { id: text("udid")?, name: text("name") })
    };
    runtimes.filter_map(Value::as_array).flatten().filter_map(device).collect()
}

#[cfg(test)]
mod tests {
    use super::super::script::{Played, Script};
    use super::*;
    use crate::args::OpenTarget;

    const LINK: &str = "demo:///?appduct=AQQ";

    fn run_with(
        device: Option<&str>,
        answers: impl IntoIterator<Item = Played>,
    ) -> (Result<(), Failure>, Vec<Vec<String>>) {
        let script = Script::new(answers);
        let device = device.map(str::to_owned);
        let target = OpenTarget::IosSim;
        let delivery = Delivery { target, device, app_id: None, relaunch: false, has_adb_serial: true };
        let ended = open(&delivery, Opening { link: LINK, port: 1 }, &script);
        (ended, script.calls())
    }

    const ONE: &str = r#"{"devices":{"iOS-26-0":[{"udid":"A1","name":"iPhone","state":"Booted"},
        {"udid":"B2","name":"iPad","state":"Shutdown"},{"udid":"","state":"Booted"}],"iOS-25":[],"odd":7}}"#;
    const TWO: &str = r#"{"devices":{"a":[{"udid":"A1","name":"iPhone","state":"Booted"}],
        "b":[{"udid":"B2","state":"Booted"}]}}"#;

    #[test]
    fn the_only_booted_simulator_opens_it() {
        let (ended, calls) = run_with(None, [Played::Says(ONE), Played::Says("")]);
        ended.unwrap();
        assert_eq!(
            calls,
            [
                &["xcrun", "simctl", "list", "devices", "booted", "--json"][..],
                &["xcrun", "simctl", "openurl", "A1", LINK]
            ]
        );
        let (ended, calls) = run_with(Some("C3"), [Played::Says("")]);
        ended.unwrap();
        assert_eq!(calls, [["xcrun", "simctl", "openurl", "C3", LINK]]);
    }

    #[test]
    fn each_failure_says_what_is_wrong() {
        for (answers, code, message) in [
            (vec![Played::IsMissing], 70, "\"xcrun\" was not found on PATH."),
            (vec![Played::Fails("no simctl")], 70, "`xcrun simctl list devices booted --json` failed: no simctl"),
            (vec![Played::Says("not json")], 64, "There is no booted simulator."),
            (vec![Played::Says(r#"{"devices":[]}"#)], 64, "There is no booted simulator."),
            (vec![Played::Says(TWO)], 64, "There is more than one booted simulator:\n  iPhone (A1)\n  B2"),
            (
                vec![Played::Says(ONE), Played::Fails("Simulator device failed to open demo:///?appduct=AQQ.")],
                70,
                "`xcrun simctl openurl A1 <link>` failed: Simulator device failed to open <link>.",
            ),
        ] {
            let failure = run_with(None, answers).0.unwrap_err();
            assert_eq!((failure.kind.exit_code(), failure.message.as_str()), (code, message));
        }
    }
}
