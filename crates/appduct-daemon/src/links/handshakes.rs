//! Connections between accept and WebSocket: bounded by letting the oldest go, so that whoever says nothing keeps nobody out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The handshakes of one port.
#[derive(Clone, Debug)]
pub(super) struct Handshakes {
    max: usize,
    waiting: Arc<Mutex<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    /// Those that have not sent a byte.
    silent: BTreeMap<u64, oneshot::Sender<()>>,
    /// Those that have.
    speaking: BTreeMap<u64, oneshot::Sender<()>>,
}

/// A connection's place among the handshakes; dropped, it is free.
#[derive(Debug)]
pub(super) struct Place {
    number: u64,
    handshakes: Handshakes,
}

/// Fails once the place is lost.
pub(super) type Evicted = oneshot::Receiver<()>;

impl Handshakes {
    pub(super) fn new(max: usize) -> Self {
        Self { max, waiting: Arc::default() }
    }

    /// A place for a new connection. Over the bound the oldest silent one loses its own, or else the oldest.
    pub(super) fn enter(&self) -> (Place, Evicted) {
        let (evict, evicted) = oneshot::channel();
        let mut waiting = self.waiting();
        while waiting.silent.len() + waiting.speaking.len() >= self.max.max(1) {
            if waiting.silent.pop_first().is_none() {
                waiting.speaking.pop_first();
            }
        }
        let number = waiting.next;
        waiting.next += 1;
        waiting.silent.insert(number, evict);
        (Place { number, handshakes: self.clone() }, evicted)
    }

    /// The oldest silent connection has to go, or else the oldest. `false` if there is none.
    pub(super) fn evict(&self) -> bool {
        let mut waiting = self.waiting();
        waiting.silent.pop_first().is_some() || waiting.speaking.pop_first().is_some()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The connection has sent something.
    pub(super) fn speaks(&self) {
        let mut waiting = self.handshakes.waiting();
        if let Some(evict) = waiting.silent.remove(&self.number) {
            waiting.speaking.insert(self.number, evict);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut waiting = self.handshakes.waiting();
        waiting.silent.remove(&self.number);
        waiting.speaking.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_lost(evicted: &mut Evicted) -> bool {
        evicted.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    #[test]
    fn the_oldest_silent_one_goes_first_then_the_oldest() {
        let handshakes = Handshakes::new(2);
        let (speaker, mut speaking) = handshakes.enter();
        speaker.speaks();
        let (_silent, mut silent) = handshakes.enter();
        let (newer, mut third) = handshakes.enter();
        assert!(is_lost(&mut silent) && !is_lost(&mut speaking) && !is_lost(&mut third));
        newer.speaks();
        let (_newest, mut fourth) = handshakes.enter();
        assert!(is_lost(&mut speaking) && !is_lost(&mut third) && !is_lost(&mut fourth));
        assert!(handshakes.evict() && is_lost(&mut fourth) && !is_lost(&mut third));
        assert!(handshakes.evict() && is_lost(&mut third));
        assert!(!handshakes.evict());
    }

    #[test]
    fn a_place_that_is_given_back_is_free() {
        let handshakes = Handshakes::new(1);
        drop(handshakes.enter());
        let (_place, mut evicted) = handshakes.enter();
        assert!(!is_lost(&mut evicted));
    }
}
