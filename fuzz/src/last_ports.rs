//! `last-ports.json`, after whatever happened to it on disk.

use appduct_daemon::LastPorts;

/// Reads the bytes as the ports of the last daemon.
pub fn target(data: &[u8]) {
    let ports = LastPorts::parse(data);
    assert_eq!(LastPorts::parse(ports.encode().as_bytes()), ports);
}
