//! The relays that run: one for each tab.

use std::collections::BTreeMap;

use tokio::sync::{mpsc, oneshot};

/// Relays that may run at once.
const MAX_RELAYS: usize = 256;

/// Every relay that has not ended. Dropped, it ends them all.
#[derive(Debug)]
pub(crate) struct Running {
    relays: BTreeMap<String, (u64, oneshot::Sender<&'static str>)>,
    next: u64,
    /// Held by every relay: when all are gone, the last page has been told.
    open: mpsc::Sender<()>,
}

/// There are as many relays as may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) limit: usize,
}

impl Running {
    pub(crate) fn new(open: mpsc::Sender<()>) -> Self {
        Self { relays: BTreeMap::new(), next: 0, open }
    }

    /// What a task that attaches has to hold while it runs.
    pub(crate) fn hold(&self) -> mpsc::Sender<()> {
        self.open.clone()
    }

    /// Whether a relay of `target` has a place.
    pub(crate) fn check(&self, target: &str) -> Result<(), Full> {
        let is_full = self.relays.len() >= MAX_RELAYS && !self.relays.contains_key(target);
        if is_full { Err(Full { limit: MAX_RELAYS }) } else { Ok(()) }
    }

    /// A place for the relay of `target`; another one of it ends.
    pub(crate) fn start(&mut self, target: String) -> (u64, oneshot::Receiver<&'static str>) {
        let number = self.next;
        self.next += 1;
        let (stop, stopped) = oneshot::channel();
        if let Some((_, older)) = self.relays.insert(target, (number, stop)) {
            older.send("relay_replaced").ok();
        }
        (number, stopped)
    }

    /// A relay has ended.
    pub(crate) fn ended(&mut self, target: &str, number: u64) {
        if self.relays.get(target).is_some_and(|(running, _)| *running == number) {
            self.relays.remove(target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running() -> Running {
        Running::new(mpsc::channel(1).0)
    }

    #[test]
    fn a_tab_has_one_relay_the_last_one() {
        let mut running = running();
        let (first, mut first_stop) = running.start("A".to_owned());
        let (second, mut second_stop) = running.start("A".to_owned());
        assert_eq!(first_stop.try_recv(), Ok("relay_replaced"));
        running.ended("A", first);
        assert!(second_stop.try_recv() == Err(oneshot::error::TryRecvError::Empty), "the first one's end is not its");
        running.ended("A", second);
        assert_eq!(second_stop.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    }

    #[test]
    fn there_are_only_so_many() {
        let mut running = running();
        let stops: Vec<_> = (0..MAX_RELAYS).map(|tab| running.start(tab.to_string())).collect();
        assert_eq!(running.check("one more"), Err(Full { limit: MAX_RELAYS }));
        assert_eq!(running.check("0"), Ok(()));
        drop(stops);
    }
}
