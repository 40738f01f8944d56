//! Whom the app trusts: which addresses it dials and which pins it accepts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::fault::ConnectFault;
use crate::wire::Pin;

/// The trust configuration of the app's build. Whether the build is for debugging or for release plays no part.
///
/// A configuration that can trust nobody fails every connect; it never fails the app's start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Pins built into the app; where there are any, only these count.
    pub embedded_pins: Vec<Pin>,
    /// `link` (the default where absent or empty), `pin`, or a mistake that fails every connect.
    pub mode: Option<String>,
    /// Whether only loopback and private addresses may be dialled; the default of every build is `true`.
    pub allow_private_lan_only: bool,
}

/// How the driver's sockets are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sockets {
    /// TLS with a pinned key.
    Pinned,
    /// A browser's plain WebSocket. The daemon's listener for it is on loopback, so nothing else may be dialled: a token
    /// would cross the network in the clear.
    PlainLoopback,
}

impl Trust {
    /// What the configuration comes to, as build information shows it: `pin`, `link`, or the mistake word for word.
    #[must_use]
    pub fn effective(&self) -> &str {
        match self.mode.as_deref() {
            _ if !self.embedded_pins.is_empty() => "pin",
            None | Some("") => "link",
            Some(mode) => mode,
        }
    }

    /// The pins of which the daemon's key must match one. Embedded pins can never be widened: where there are any, neither
    /// the mode nor the link's pin is looked at.
    pub fn pins(&self, link_pin: Option<Pin>) -> Result<Vec<Pin>, ConnectFault> {
        if !self.embedded_pins.is_empty() {
            return Ok(self.embedded_pins.clone());
        }
        match self.mode.as_deref() {
            None | Some("" | "link") => link_pin.map(|pin| vec![pin]).ok_or(ConnectFault::NoLinkPin),
            Some("pin") => Err(ConnectFault::NoEmbeddedPins),
            Some(mode) => Err(ConnectFault::UnknownTrustMode(mode.to_owned())),
        }
    }

    /// Whether this address may be dialled, by a link and by an explicit connect alike.
    pub fn check_address(&self, address: IpAddr) -> Result<(), ConnectFault> {
        if self.allow_private_lan_only && !is_private(address) { Err(ConnectFault::PublicAddress) } else { Ok(()) }
    }

    /// The pins for a socket to `address`.
    pub(super) fn admit(
        &self,
        sockets: Sockets,
        address: IpAddr,
        link_pin: Option<Pin>,
    ) -> Result<Vec<Pin>, ConnectFault> {
        match sockets {
            Sockets::Pinned => {
                self.check_address(address)?;
                self.pins(link_pin)
            }
            Sockets::PlainLoopback if address.to_canonical().is_loopback() => Ok(Vec::new()),
            Sockets::PlainLoopback => Err(ConnectFault::PublicAddress),
        }
    }
}

/// Loopback (127/8, `::1`), RFC 1918 (10/8, 172.16/12, 192.168/16), IPv6 link-local (`fe80::/10`) and unique-local
/// (`fc00::/7`). An IPv4-mapped IPv6 address is judged as the IPv4 address that it reaches. IPv4 link-local is not private
/// here, as in every published SDK.
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => is_private_v4(v4),
        IpAddr::V6(v6) => is_private_v6(v6),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_private()
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback() || address.is_unicast_link_local() || address.is_unique_local()
}
