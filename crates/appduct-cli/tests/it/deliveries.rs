//! `link --open`: what the platforms' tools are called with, and what is said when they fail.

use std::fs;

use serde_json::json;

use crate::fake_daemon::{FakeDaemon, plain_status, result};
use crate::fake_tools::FakeTools;
use crate::run::Place;

const LINK: &str = "demo:///?appduct=AQQ&pin=sha256%2FAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%3D";

const ONE_DEVICE: &str = r#"case "$*" in *devices) printf 'List of devices attached\nemulator-5554\tdevice\n' ;; esac"#;

fn daemon_at(address: &'static str) -> FakeDaemon {
    FakeDaemon::new(move |method, params| {
        match method {
        "daemon.status" => plain_status(),
        _ => result(
            json!({
                "sessionId": "s1",
                "deepLinkPayload": "AQQ",
                "endpoint": { "family": 4, "address": params["addressOverride"].as_str().unwrap_or(address), "port": 8443 },
                "expiresAt": 1_773_741_600,
                "pin": "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            })
            .to_string(),
        ),
    }
    })
}

fn daemon() -> FakeDaemon {
    daemon_at("192.168.1.5")
}

const ANDROID: &[&str] = &["link", "--scheme", "demo", "--open", "android", "--app-id", "com.example.app"];
const SIMULATOR: &[&str] = &["link", "--scheme", "demo", "--open", "ios-sim"];
const DEVICE: &[&str] = &["link", "--scheme", "demo", "--open", "ios-device", "--app-id", "com.example.app"];

#[test]
fn an_android_device_gets_the_port_and_the_link() {
    let daemon = daemon();
    let tools = FakeTools::new(&daemon.place).with("adb", ONE_DEVICE);
    insta::assert_snapshot!("link_open_android", tools.run(&daemon.place, ANDROID));
    assert_eq!(daemon.seen(), [("link.create".to_owned(), json!({ "addressOverride": "127.0.0.1" }))]);
    let start = ["adb", "shell", "am", "start", "-a", "android.intent.action.VIEW", "-d"];
    let quoted = format!("'{LINK}'");
    let expected = [
        vec!["adb", "devices"],
        vec!["adb", "reverse", "tcp:8443", "tcp:8443"],
        [&start[..], &[&quoted, "-p", "com.example.app"]].concat(),
    ];
    assert_eq!(tools.calls(), expected);

    let document = tools.run(&daemon.place, &[ANDROID, &["--json", "--device", "X;reboot"]].concat()).json();
    assert_eq!((&document["data"]["delivered"], &document["data"]["target"]), (&json!(true), &json!("android")));
    let calls = tools.calls();
    assert_eq!(calls[0], ["adb", "-s", "X;reboot", "reverse", "tcp:8443", "tcp:8443"]);
    assert_eq!(calls[1][..4], ["adb", "-s", "X;reboot", "shell"]);

    tools.run_with(&daemon.place, ANDROID, &[("ANDROID_SERIAL", "emulator-5556")]).ok();
    assert_eq!(tools.calls()[0], ["adb", "reverse", "tcp:8443", "tcp:8443"]);
}

#[test]
fn the_app_id_may_stand_in_the_projects_configuration() {
    let daemon = daemon();
    let tools = FakeTools::new(&daemon.place).with("adb", ONE_DEVICE);
    fs::create_dir(daemon.place.work().join(".appduct")).unwrap();
    let config = r#"{"scheme":"demo","appId":{"android":"com.example.recorded"}}"#;
    fs::write(daemon.place.work().join(".appduct/config.json"), config).unwrap();
    tools.run(&daemon.place, &["link", "--open", "android"]).ok();
    assert_eq!(tools.calls()[2].last().unwrap(), "com.example.recorded");
}

#[test]
fn each_failure_of_adb_is_told() {
    let daemon = daemon();
    let place = &daemon.place;
    let shows = |name: &str, body: Option<&str>| {
        let bin = place.root().join("bin");
        if bin.exists() {
            fs::remove_dir_all(&bin).unwrap();
        }
        let tools = FakeTools::new(place);
        let tools = match body {
            Some(body) => tools.with("adb", body),
            None => tools,
        };
        insta::assert_snapshot!(format!("link_open_android_{name}"), tools.run(place, ANDROID));
    };
    shows("missing", None);
    shows("no_device", Some("printf 'List of devices attached\\nX\\tunauthorized\\n\\n'"));
    shows("two_devices", Some("printf 'List of devices attached\\nA\\tdevice\\nB\\tdevice\\n'"));
    shows(
        "no_reverse",
        Some(&format!("{ONE_DEVICE}\ncase \"$1\" in reverse) echo 'adb: error: closed' >&2; exit 1 ;; esac")),
    );
    shows(
        "not_installed",
        Some(&format!(
            "{ONE_DEVICE}\ncase \"$1\" in shell) printf 'Starting: Intent\\nError: Activity not started, unable to resolve \
             Intent\\n' ;; esac"
        )),
    );
    shows(
        "hostile",
        Some(&format!("{ONE_DEVICE}\ncase \"$1\" in shell) printf 'bad \\033[2J\\nline' >&2; exit 3 ;; esac")),
    );
}

#[test]
fn a_simulator_is_told_to_open_the_link() {
    let daemon = daemon();
    let booted =
        r#"case "$*" in *--json) echo '{"devices":{"a":[{"udid":"A1","name":"iPhone","state":"Booted"}]}}' ;; esac"#;
    let tools = FakeTools::new(&daemon.place).with("xcrun", booted);
    let document = tools.run(&daemon.place, &[SIMULATOR, &["--json"]].concat()).json();
    assert_eq!(document["data"]["target"], "ios-sim");
    assert_eq!(daemon.seen()[0].1, json!({ "addressOverride": "127.0.0.1" }));
    let expected = [
        vec!["xcrun", "simctl", "list", "devices", "booted", "--json"],
        vec!["xcrun", "simctl", "openurl", "A1", LINK],
    ];
    assert_eq!(tools.calls(), expected);
}

/// Writes a listing where `devicectl` is told to.
const TWO_LISTED: &str = r#"
while [ $# -gt 0 ]; do
  if [ "$1" = --json-output ]; then
    printf '%s' '{"result":{"devices":[
      {"identifier":"I1","hardwareProperties":{"udid":"U1","platform":"iOS"},"deviceProperties":{"name":"Phone"}},
      {"identifier":"I2","hardwareProperties":{"platform":"tvOS"}}]}}' > "$2"
  fi
  shift
done"#;

#[test]
fn a_device_launches_the_app_with_the_link() {
    let daemon = daemon();
    let tools = FakeTools::new(&daemon.place).with("xcrun", TWO_LISTED);
    let ran = tools.run(&daemon.place, &[DEVICE, &["--relaunch"]].concat());
    assert!(ran.ok().contains("\n  Delivered  yes (ios-device)\n"), "{ran}");
    assert_eq!(daemon.seen()[0].1, json!({}));
    let calls = tools.calls();
    assert_eq!(calls[0][..7], ["xcrun", "devicectl", "list", "devices", "--timeout", "5", "--json-output"]);
    let listing = std::path::Path::new(&calls[0][7]);
    assert!(listing.ends_with("devicectl.json") && calls[0][7].contains("/appduct-devicectl-"), "{}", calls[0][7]);
    assert!(!listing.parent().unwrap().exists());
    let launch = ["xcrun", "devicectl", "device", "process", "launch", "--device", "U1", "--terminate-existing"];
    assert_eq!(calls[1], [&launch[..], &["--payload-url", LINK, "com.example.app"]].concat());

    let gone = daemon.place.root().join("gone");
    let ran = tools.run_with(&daemon.place, &[DEVICE, &["--json"]].concat(), &[("TMPDIR", gone.to_str().unwrap())]);
    let (code, kind, message) = ran.failure();
    assert_eq!((code, kind.as_str()), (70, "connection_error"));
    assert!(message.starts_with("A temporary directory cannot be made"), "{message}");
}

#[test]
fn a_device_is_not_sent_to_itself() {
    let daemon = daemon_at("127.0.0.1");
    let tools = FakeTools::new(&daemon.place).with("xcrun", TWO_LISTED);
    insta::assert_snapshot!("link_open_device_loopback", tools.run(&daemon.place, DEVICE));
    assert_eq!(tools.calls(), Vec::<Vec<String>>::new());
}

#[test]
fn options_that_fit_no_target_are_refused_before_anything_is_minted() {
    let place = Place::new();
    for (args, message) in [
        (&["--open", "Android"][..], "\"--open\" must be android, ios-sim, ios-device, or web; got \"Android\"."),
        (&["--open"], "\"--open\" requires a value."),
        (&["--device", "x"], "\"--device\" only applies together with \"--open\"."),
        (&["--app-id", "x"], "\"--app-id\" only applies to \"--open android\" and \"--open ios-device\"."),
        (
            &["--open", "ios-sim", "--app-id", "x"],
            "\"--app-id\" only applies to \"--open android\" and \"--open ios-device\".",
        ),
        (&["--relaunch"], "\"--relaunch\" only applies to \"--open ios-device\"."),
        (&["--open", "android", "--relaunch"], "\"--relaunch\" only applies to \"--open ios-device\"."),
        (&["--open", "android", "--device", "-x"], "\"--device\" requires a value."),
        (&["--open", "android", "--device=-x"], "\"--device\" must be a serial or UDID; got \"-x\"."),
        (&["--open", "android", "--device", "a\nb"], "\"--device\" must be a serial or UDID; got \"a\\nb\"."),
        (&["--ttl", "0", "--device", "x"], "\"--ttl\" must be a positive integer."),
    ] {
        let refused = place.run(&[&["--json", "link", "--scheme", "demo"], args].concat()).failure();
        assert_eq!(refused, (64, "usage_error".to_owned(), message.to_owned()), "{args:?}");
    }
    assert!(!place.state_dir().exists());
}

#[test]
fn hostile_values_reach_no_program() {
    let daemon = daemon();
    let tools = FakeTools::new(&daemon.place).with("adb", ONE_DEVICE).with("xcrun", "exit 9");
    for hostile in ["a;reboot", "a'b", "a\"b", "a b", "a\nb", "$(reboot)", "`reboot`", "a|b", "a&b"] {
        for args in [
            &["link", "--open", "android", "--app-id", "com.example.app", "--scheme", hostile][..],
            &["link", "--open", "android", "--scheme", "demo", "--app-id", hostile],
            &["link", "--open", "ios-device", "--scheme", "demo", "--app-id", hostile],
        ] {
            let (code, kind, _) = tools.run(&daemon.place, &[&["--json"], args].concat()).failure();
            assert_eq!((code, kind.as_str()), (64, "usage_error"), "{args:?}");
        }
    }
    assert_eq!(tools.run(&daemon.place, &[DEVICE, &["--app-id=-x"]].concat()).code, Some(64));
    assert_eq!(tools.calls(), Vec::<Vec<String>>::new());
    assert_eq!(daemon.seen(), []);
}
