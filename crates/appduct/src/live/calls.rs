//! The calls whose handlers run.

use std::collections::BTreeMap;

use appduct_proto::wire::RawJson;
use tokio::sync::watch;

use super::call::{Port, Serial, Start};
use super::handler::Handler;

/// Calls in flight, as the driver knows them.
pub(super) struct Calls {
    port: Port,
    last: Serial,
    by_serial: BTreeMap<Serial, Running>,
    /// By the daemon's id: the call of that id that is in flight.
    by_id: BTreeMap<String, Serial>,
}

pub(super) struct Running {
    pub(super) id: String,
    pub(super) tool: String,
    ended: watch::Sender<Option<String>>,
}

impl Calls {
    /// No calls yet; handlers answer through `port`.
    pub(super) fn new(port: Port) -> Self {
        Self { port, last: Serial(0), by_serial: BTreeMap::new(), by_id: BTreeMap::new() }
    }

    pub(super) fn start(&mut self, handler: &Handler, id: String, session_id: String, args: RawJson) {
        self.last.0 += 1;
        let serial = self.last;
        let (ended, ended_out) = watch::channel(None);
        self.by_id.insert(id.clone(), serial);
        self.by_serial.insert(serial, Running { id: id.clone(), tool: handler.tool.clone(), ended });
        self.port.start(handler, Start { serial, id, session_id, args, ended: ended_out });
    }

    /// Tells a handler to stop. What it still says is dropped.
    pub(super) fn cancel(&mut self, id: &str, reason: String) {
        if let Some(call) = self.by_id.remove(id).and_then(|serial| self.by_serial.remove(&serial)) {
            call.ended.send(Some(reason)).unwrap_or_default();
        }
    }

    /// The daemon's id of a call, if it is in flight.
    pub(super) fn id_in_flight(&self, serial: Serial) -> Option<String> {
        self.by_serial.get(&serial).map(|call| call.id.clone())
    }

    /// Takes a call out that has its answer; `None` if it ended before.
    pub(super) fn finish(&mut self, serial: Serial) -> Option<Running> {
        let call = self.by_serial.remove(&serial)?;
        self.by_id.remove(&call.id);
        Some(call)
    }
}
