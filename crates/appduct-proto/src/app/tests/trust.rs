//! Which pins and addresses count.

use super::rig::{Rig, input, options, pin};
use crate::app::{ConnectFault, ConnectInput, Core, Options, Trust};

fn trust(mode: Option<&str>, embedded: &[&str]) -> Trust {
    Trust {
        embedded_pins: embedded.iter().map(|text| pin(text)).collect(),
        mode: mode.map(str::to_owned),
        allow_private_lan_only: true,
    }
}

#[test]
fn embedded_pins_are_exactly_the_ones_that_count() {
    for mode in [None, Some("link"), Some("pin"), Some("nonsense")] {
        let trust = trust(mode, &["a", "b"]);
        assert_eq!(trust.pins(Some(pin("link"))), Ok(vec![pin("a"), pin("b")]), "{mode:?}");
        assert_eq!(trust.pins(None), Ok(vec![pin("a"), pin("b")]), "{mode:?}");
        assert_eq!(trust.effective(), "pin");
    }
}

#[test]
fn without_embedded_pins_the_mode_decides() {
    for mode in [None, Some(""), Some("link")] {
        assert_eq!(trust(mode, &[]).pins(Some(pin("link"))), Ok(vec![pin("link")]));
        assert_eq!(trust(mode, &[]).pins(None), Err(ConnectFault::NoLinkPin));
        assert_eq!(trust(mode, &[]).effective(), "link");
    }
    assert_eq!(trust(Some("pin"), &[]).pins(Some(pin("link"))), Err(ConnectFault::NoEmbeddedPins));
    for mode in ["Link", " link", "none", "unreadable"] {
        let fault = ConnectFault::UnknownTrustMode(mode.into());
        assert_eq!(trust(Some(mode), &[]).pins(Some(pin("link"))), Err(fault), "never the default");
        assert_eq!(trust(Some(mode), &[]).effective(), mode);
    }
}

#[test]
fn private_addresses_are_the_same_for_links_and_explicit_connects() {
    let private = [
        "127.0.0.1",
        "127.255.255.255",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "::1",
        "fe80::1",
        "febf::1",
        "fc00::1",
        "fdff::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
    ];
    let public = [
        "8.8.8.8",
        "0.0.0.0",
        "11.0.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.169.0.1",
        "169.254.0.1",
        "100.64.0.1",
        "255.255.255.255",
        "::",
        "2001:db8::1",
        "fec0::1",
        "fe00::1",
        "ff02::1",
        "::ffff:8.8.8.8",
        "::10.0.0.1",
    ];
    let connect = |address: &str, lan_only| {
        let trust = Trust { allow_private_lan_only: lan_only, ..options().trust };
        let mut rig = Rig::with(Options { trust, ..options() });
        rig.connect(ConnectInput { address: address.parse().unwrap(), ..input() }).map(|_| ())
    };
    for address in private {
        assert_eq!(connect(address, true), Ok(()), "{address}");
    }
    for address in public {
        assert_eq!(connect(address, true), Err(ConnectFault::PublicAddress), "{address}");
        assert_eq!(connect(address, false), Ok(()), "{address}");
    }
}

#[test]
fn a_plain_socket_goes_to_loopback_only_and_has_no_pins() {
    let trust = Trust { allow_private_lan_only: false, mode: Some("pin".into()), ..Trust::default() };
    let mut rig = Rig::of(Core::over_plain_loopback(Options { trust, ..options() }), super::rig::START_MS);
    for address in ["192.168.1.2", "8.8.8.8", "fd00::1"] {
        let elsewhere = ConnectInput { address: address.parse().unwrap(), ..input() };
        assert_eq!(rig.connect(elsewhere), Err(ConnectFault::PublicAddress), "{address}");
    }
    rig.outputs.clear();
    let here = ConnectInput { address: "127.0.0.1".parse().unwrap(), link_pin: None, ..input() };
    rig.connect(here).unwrap();
    assert_eq!(rig.pins(), [vec![]]);
}

#[test]
fn a_pinned_socket_always_has_a_pin() {
    for mode in [None, Some("link"), Some("pin"), Some("x")] {
        for embedded in [&[] as &[&str], &["a"]] {
            for link_pin in [None, Some(pin("link"))] {
                let mut rig = Rig::with(Options { trust: trust(mode, embedded), ..options() });
                let _refused = rig.connect(ConnectInput { link_pin, ..input() });
                assert!(rig.pins().iter().all(|pins| !pins.is_empty()));
            }
        }
    }
}
