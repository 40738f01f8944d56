//! Leases, which come back from stores that anybody may write to.

use appduct_proto::app::{Core, Jitter, Lease, Options, State, Trust};
use appduct_proto::wire::Device;
use appduct_proto::{Moment, Now, Timestamp};

/// Reads the bytes as a stored lease and restores an app from it.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some(lease) = Lease::decode(&text) else { return };
    assert_eq!(Lease::decode(&lease.encode()).as_ref(), Some(&lease));
    let now = Now { mono: Moment(1), wall: Timestamp(1_700_000_000_000) };
    let options =
        Options { device: Device::default(), trust: Trust::default(), jitter: Jitter::Fixed(0.5), pings: true };
    let mut core = Core::new(options);
    let is_restored = core.restore_session(now, Some(lease.clone()));
    assert_eq!(is_restored, core.state() == State::Reconnecting);
    assert!(!is_restored || (core.session_id() == Some(&lease.session_id) && lease.link_pin.is_some()));
}
