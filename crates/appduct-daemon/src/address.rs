//! The address that links tell apps to connect to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address that the configuration names is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotAnAddress(pub(crate) String);

/// `configured` where there is one, else the best address of this machine's interfaces.
pub(crate) fn advertised(configured: Option<&str>) -> Result<IpAddr, NotAnAddress> {
    match configured {
        Some(text) => text.parse().map_err(|_| NotAnAddress(text.to_owned())),
        None => Ok(select(interface_addresses())),
    }
}

/// In the system's order, loopback left out.
fn interface_addresses() -> Vec<IpAddr> {
    match if_addrs::get_if_addrs() {
        Ok(interfaces) => interfaces.into_iter().filter(|one| !one.is_loopback()).map(|one| one.ip()).collect(),
        Err(error) => {
            tracing::warn!(%error, "cannot list the network interfaces; links will say 127.0.0.1");
            Vec::new()
        }
    }
}

/// The first of the best class: private IPv4, other IPv4, unique-local IPv6, other IPv6, loopback.
///
/// Docker's bridge (172.17.0.0/16), carrier-grade NAT (100.64.0.0/10, which VPNs use) and link-local IPv6 cannot be
/// reached by a phone and are never chosen.
fn select(addresses: impl IntoIterator<Item = IpAddr>) -> IpAddr {
    let best = addresses
        .into_iter()
        .filter_map(|address| rank(address).map(|rank| (rank, address)))
        // Of equal ranks `min_by_key` gives the first.
        .min_by_key(|(rank, _)| *rank);
    best.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |(_, address)| address)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    PrivateV4,
    OtherV4,
    UniqueLocalV6,
    OtherV6,
}

fn rank(address: IpAddr) -> Option<Rank> {
    match address {
        IpAddr::V4(v4) if is_docker_bridge(v4) || is_shared_space(v4) || v4.is_loopback() => None,
        IpAddr::V4(v4) if v4.is_private() => Some(Rank::PrivateV4),
        IpAddr::V4(_) => Some(Rank::OtherV4),
        IpAddr::V6(v6) if v6.is_loopback() || v6.is_unicast_link_local() => None,
        IpAddr::V6(v6) if is_fd(v6) => Some(Rank::UniqueLocalV6),
        IpAddr::V6(_) => Some(Rank::OtherV6),
    }
}

fn is_docker_bridge(v4: Ipv4Addr) -> bool {
    matches!(v4.octets(), [172, 17, ..])
}

fn is_shared_space(v4: Ipv4Addr) -> bool {
    matches!(v4.octets(), [100, second, ..] if second & 0b1100_0000 == 64)
}

/// `fd00::/8`, the half of the unique-local space that is in use.
fn is_fd(v6: Ipv6Addr) -> bool {
    v6.octets()[0] == 0xFD
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(addresses: &[&str], expected: &str) {
        let addresses = addresses.iter().map(|text| text.parse().unwrap());
        assert_eq!(select(addresses).to_string(), expected);
    }

    #[test]
    fn the_best_class_wins_and_within_it_the_first() {
        check(&["8.8.8.8", "fd00::2", "192.168.1.4", "10.0.0.1"], "192.168.1.4");
        check(&["2001:db8::1", "8.8.8.8", "fd00::2"], "8.8.8.8");
        check(&["2001:db8::1", "fd00::2", "fd00::3"], "fd00::2");
        check(&["fe80::1", "2001:db8::1", "2001:db8::2"], "2001:db8::1");
        check(&["fc00::1", "fd00::1"], "fd00::1");
    }

    #[test]
    fn what_a_phone_cannot_reach_is_left_out() {
        check(&["172.17.0.1", "100.64.0.1", "100.127.255.254", "fe80::1", "127.0.0.2", "::1"], "127.0.0.1");
        check(&["172.17.0.1", "172.18.0.1"], "172.18.0.1");
        check(&["172.16.0.1"], "172.16.0.1");
        check(&["172.32.0.1", "100.63.0.1"], "172.32.0.1");
        check(&["100.128.0.1"], "100.128.0.1");
        check(&[], "127.0.0.1");
    }

    #[test]
    fn a_configured_address_wins() {
        assert_eq!(advertised(Some("203.0.113.7")), Ok("203.0.113.7".parse().unwrap()));
        assert_eq!(advertised(Some("my-mac.local")), Err(NotAnAddress("my-mac.local".to_owned())));
    }
}
