//! File descriptors: as many as the system gives, and some that no flood of devices can take.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Kept for files and control connections.
const RESERVED: u64 = 256;

/// More than this nobody needs, and counting further is not worth it.
const MAX_COUNTED: u64 = 1 << 20;

/// What macOS takes where it calls the hard limit infinite.
const MAX_OF_MACOS: u64 = 10_240;

/// Raises the soft limit to the hard one. Returns how many connections of devices there may be.
pub(crate) fn raise() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    for wanted in [maximum, Some(MAX_OF_MACOS)] {
        let is_more = current.is_some_and(|current| wanted.is_none_or(|wanted| wanted > current));
        if !is_more || setrlimit(Resource::Nofile, Rlimit { current: wanted, maximum }).is_ok() {
            break;
        }
    }
    for_devices(getrlimit(Resource::Nofile).current)
}

fn for_devices(limit: Option<u64>) -> usize {
    let limit = limit.map_or(MAX_COUNTED, |limit| limit.min(MAX_COUNTED));
    let room = limit.saturating_sub(RESERVED).max(limit / 2);
    usize::try_from(room).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_get_what_is_not_reserved_and_half_of_a_tight_limit() {
        for (limit, room) in
            [(Some(256), 128), (Some(1024), 768), (Some(u64::MAX), (1 << 20) - 256), (None, (1 << 20) - 256)]
        {
            assert_eq!(for_devices(limit), room, "{limit:?}");
        }
    }

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        assert!(raise() > 0);
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert!(current == maximum || current == Some(MAX_OF_MACOS), "{current:?} {maximum:?}");
    }
}
