//! Opens a link on a device with the platform's own tools.
//!
//! A tool is started with a list of arguments and never through a shell of this machine. Whatever is another's text is
//! checked or quoted before it gets near a shell of a device.

mod android;
mod devicectl;
mod ios_device;
mod ios_simulator;
mod process;
#[cfg(test)]
mod script;

use crate::args::OpenTarget;
use crate::error::Failure;

pub(crate) use process::{Processes, Runner};

/// Where to open a link.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) target: OpenTarget,
    /// A serial or UDID; the only device that is there without one.
    pub(crate) device: Option<String>,
    /// The app's id where the target takes one.
    pub(crate) app_id: Option<String>,
    /// Whether an app that runs is ended first.
    pub(crate) relaunch: bool,
    /// Whether the environment tells `adb` which device to use.
    pub(crate) has_adb_serial: bool,
}

/// What to open.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'a> {
    /// A secret until it is claimed.
    pub(crate) link: &'a str,
    /// The daemon's device port.
    pub(crate) port: u16,
}

impl Delivery {
    /// The address that the link must name instead of the advertised one: an emulator and a device behind `adb reverse`
    /// reach this machine as their own.
    pub(crate) fn address_override(&self) -> Option<&'static str> {
        match self.target {
            OpenTarget::Android | OpenTarget::IosSim => Some("127.0.0.1"),
            OpenTarget::IosDevice => None,
        }
    }

    /// Refuses an endpoint that the target cannot reach.
    pub(crate) fn check_endpoint(&self, address: &str) -> Result<(), Failure> {
        if self.target != OpenTarget::IosDevice || !is_loopback(address) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "The daemon advertises {address}, which a device cannot reach. The link was made and opened nowhere."
        ))
        .with_hint(
            "Set \"advertisedIp\" in the state directory's config.json to this machine's address in the network.",
        ))
    }

    /// Opens a link.
    pub(crate) fn open(&self, opening: Opening<'_>, runner: &dyn Runner) -> Result<(), Failure> {
        match self.target {
            OpenTarget::Android => android::open(self, opening, runner),
            OpenTarget::IosSim => ios_simulator::open(self, opening, runner),
            OpenTarget::IosDevice => ios_device::open(self, opening, runner),
        }
    }

    /// The app's id; the settings see to it that a target that takes one has one.
    fn app_id(&self) -> Result<&str, Failure> {
        self.app_id.as_deref().ok_or_else(|| Failure::internal("The app's id is not known."))
    }
}

fn is_loopback(address: &str) -> bool {
    let address = address.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    matches!(address.as_str(), "localhost" | "::1" | "0.0.0.0" | "::") || address.starts_with("127.")
}

/// A device that is there, and what to open a link on it with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) target: OpenTarget,
    pub(crate) id: String,
    pub(crate) name: Option<String>,
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} ({}, {})", self.target.as_str(), self.id),
            None => write!(f, "{} ({})", self.id, self.target.as_str()),
        }
    }
}

/// The booted simulators and attached Android devices, those of `android_serial` only where it is given. A platform whose
/// tools fail has none. A physical iPhone is never among them: nobody chooses one unasked.
pub(crate) fn found(runner: &dyn Runner, android_serial: Option<&str>) -> Vec<Found> {
    let of = |target: OpenTarget, devices: Vec<Device>| {
        devices.into_iter().map(move |Device { id, name }| Found { target, id, name })
    };
    let simulators = ios_simulator::present(runner);
    let mut android = android::present(runner);
    android.retain(|device| android_serial.is_none_or(|serial| device.id == serial));
    of(OpenTarget::IosSim, simulators).chain(of(OpenTarget::Android, android)).collect()
}

/// A device as people know it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Device {
    id: String,
    name: Option<String>,
}

/// The only device of a list.
fn only(devices: Vec<Device>, kind: &str, how_to_get_one: &str) -> Result<Device, Failure> {
    let mut all = devices.into_iter();
    match (all.next(), all.next()) {
        (Some(device), None) => Ok(device),
        (None, _) => Err(Failure::usage(format!("There is no {kind}.")).with_hint(how_to_get_one)),
        (Some(first), Some(second)) => {
            let shown: Vec<_> = [first, second]
                .into_iter()
                .chain(all)
                .map(|device| match device.name {
                    Some(name) => format!("  {name} ({})", device.id),
                    None => format!("  {}", device.id),
                })
                .collect();
            Err(Failure::usage(format!("There is more than one {kind}:\n{}", shown.join("\n")))
                .with_hint("Name the right one with `--device <id>`."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_are_there_are_found_and_tools_that_fail_find_none() {
        use super::script::{Played, Script};
        let simulators = r#"{"devices":{"iOS":[{"udid":"A1","name":"iPhone","state":"Booted"}]}}"#;
        let android = "List of devices attached\nemulator-5554\tdevice\nX\tdevice\n";
        let of = |first: Played, second: Played, serial: Option<&str>| {
            let found = found(&Script::new([first, second]), serial);
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            of(Played::Says(simulators), Played::Says(android), None),
            ["iPhone (ios-sim, A1)", "emulator-5554 (android)", "X (android)"]
        );
        assert_eq!(of(Played::IsMissing, Played::Says(android), Some("X")), ["X (android)"]);
        assert!(of(Played::Fails("no simctl"), Played::CannotStart, None).is_empty());
    }

    #[test]
    fn an_endpoint_on_this_machine_is_none_for_a_device() {
        let delivery = |target| Delivery { target, device: None, app_id: None, relaunch: false, has_adb_serial: false };
        let device = delivery(OpenTarget::IosDevice);
        for address in ["127.0.0.1", "127.1", "localhost", "LocalHost", "::1", "[::1]", "0.0.0.0", "::", "[::]"] {
            let failure = device.check_endpoint(address).unwrap_err();
            assert_eq!(failure.kind.exit_code(), 64);
            assert!(failure.message.contains(address) && failure.hint.unwrap().contains("advertisedIp"));
            assert_eq!(delivery(OpenTarget::IosSim).check_endpoint(address), Ok(()));
        }
        for address in ["192.168.1.5", "fe80::1", "128.0.0.1"] {
            assert_eq!(device.check_endpoint(address), Ok(()), "{address}");
        }
    }
}
