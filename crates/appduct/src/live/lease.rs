//! Where the lease is kept: in the memory of the process, never on disk.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use appduct_proto::app::Lease;

/// Every slot of the process.
static SLOTS: Mutex<Slots> = Mutex::new(Slots { clients: 0, slots: BTreeMap::new() });

struct Slots {
    /// How many clients there have been.
    clients: u64,
    slots: BTreeMap<String, Kept>,
}

struct Kept {
    /// The client that wrote or read it last. Older ones cannot touch it.
    owner: u64,
    lease: Option<Lease>,
}

/// A client's access to its slot.
pub(super) struct LeaseSlot {
    name: String,
    client: u64,
}

impl LeaseSlot {
    /// Access for a new client, which is younger than all before it.
    pub(super) fn open(name: String) -> Self {
        let client = locked(|slots| {
            slots.clients += 1;
            slots.clients
        });
        Self { name, client }
    }

    /// Takes the lease over, so that the client which left it can no longer change it.
    pub(super) fn load(&self) -> Option<Lease> {
        self.owned(|lease| lease.clone()).flatten()
    }

    pub(super) fn store(&self, lease: Lease) {
        self.owned(|kept| *kept = Some(lease)).unwrap_or_default();
    }

    pub(super) fn clear(&self) {
        self.owned(|kept| *kept = None).unwrap_or_default();
    }

    /// `None` if a younger client owns the slot.
    fn owned<T>(&self, with: impl FnOnce(&mut Option<Lease>) -> T) -> Option<T> {
        locked(|slots| {
            let kept = slots.slots.entry(self.name.clone()).or_insert(Kept { owner: self.client, lease: None });
            if kept.owner > self.client {
                return None;
            }
            kept.owner = self.client;
            Some(with(&mut kept.lease))
        })
    }
}

fn locked<T>(with: impl FnOnce(&mut Slots) -> T) -> T {
    with(&mut SLOTS.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn lease(alias: &str) -> Lease {
        Lease {
            session_id: "s".to_owned(),
            resume_token: "r".to_owned(),
            alias: alias.to_owned(),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 1,
            keepalive_interval_s: 15.0,
            grace_s: 60.0,
            disconnected_at: None,
            link_pin: None,
        }
    }

    #[test]
    fn an_older_client_cannot_touch_the_lease_of_a_younger_one() {
        let older = LeaseSlot::open("an older client".to_owned());
        let younger = LeaseSlot::open("an older client".to_owned());
        older.store(lease("first"));
        assert_eq!(younger.load(), Some(lease("first")));

        older.store(lease("late"));
        older.clear();
        assert_eq!(older.load(), None);
        assert_eq!(younger.load(), Some(lease("first")));
        younger.clear();
        assert_eq!(younger.load(), None);
    }

    #[test]
    fn slots_do_not_see_each_other() {
        let left = LeaseSlot::open("left".to_owned());
        let right = LeaseSlot::open("right".to_owned());
        left.store(lease("left"));
        assert_eq!(right.load(), None);
    }
}
