//! What the app has registered: tools and events by name, in order of first registration.

use std::collections::BTreeMap;

use super::{Core, Registration, SocketId};
use crate::app::event::{ClientError, ClientEvent, Phase};
use crate::app::output::Output;
use crate::app::state::{Active, Standing};
use crate::wire::{AppFrame, EventDescriptor, FieldFault, Named, RawJson, ToolDescriptor};

/// Descriptors in order of first registration; a replacement keeps its predecessor's place.
#[derive(Debug)]
pub(super) struct Registry<D> {
    by_place: BTreeMap<u64, Entry<D>>,
    places: BTreeMap<String, u64>,
    holders: BTreeMap<Registration, u64>,
}

#[derive(Debug)]
struct Entry<D> {
    registration: Registration,
    descriptor: D,
}

impl<D> Default for Registry<D> {
    fn default() -> Self {
        Self { by_place: BTreeMap::new(), places: BTreeMap::new(), holders: BTreeMap::new() }
    }
}

impl<D: Named> Registry<D> {
    fn insert(&mut self, registration: Registration, descriptor: D) {
        // Registrations rise, so the number of the first one of a name is its place.
        let place = *self.places.entry(descriptor.name().to_owned()).or_insert(registration.0);
        self.holders.insert(registration, place);
        if let Some(replaced) = self.by_place.insert(place, Entry { registration, descriptor }) {
            self.holders.remove(&replaced.registration);
        }
    }

    /// Takes out what `registration` registered, if nothing has replaced it.
    fn remove(&mut self, registration: Registration) -> Option<D> {
        let place = self.holders.remove(&registration)?;
        let entry = self.by_place.remove(&place)?;
        self.places.remove(entry.descriptor.name());
        Some(entry.descriptor)
    }

    pub(super) fn registration(&self, name: &str) -> Option<(Registration, &D)> {
        let entry = self.by_place.get(self.places.get(name)?)?;
        Some((entry.registration, &entry.descriptor))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &D> {
        self.by_place.values().map(|entry| &entry.descriptor)
    }
}

impl Core {
    pub(super) fn add_tool(&mut self, text: &RawJson) -> Result<Registration, FieldFault> {
        let tool = ToolDescriptor::for_app(text)?;
        let registration = self.mint_registration();
        self.tools.insert(registration, tool.clone());
        if self.sends_tool_deltas() {
            let name = tool.name.to_string();
            self.send_delta(&AppFrame::ToolUpsert(Box::new(tool)), Some(name));
        }
        Ok(registration)
    }

    pub(super) fn remove_tool(&mut self, registration: Registration) {
        let Some(tool) = self.tools.remove(registration) else { return };
        if self.sends_tool_deltas() {
            let name = tool.name.to_string();
            self.send_delta(&AppFrame::ToolRemove(name.clone()), Some(name));
        }
    }

    pub(super) fn add_event(&mut self, text: &RawJson) -> Result<Registration, FieldFault> {
        let event = EventDescriptor::for_app(text)?;
        let registration = self.mint_registration();
        self.events.insert(registration, event.clone());
        if self.sends_event_deltas() {
            self.send_delta(&AppFrame::EventUpsert(Box::new(event)), None);
        }
        Ok(registration)
    }

    pub(super) fn remove_event(&mut self, registration: Registration) {
        let Some(event) = self.events.remove(registration) else { return };
        if self.sends_event_deltas() {
            self.send_delta(&AppFrame::EventRemove(event.name), None);
        }
    }

    /// The snapshot of the tools for the session that was acked on `socket`; the error if it is too big.
    pub(super) fn take_tool_snapshot(&mut self, socket: SocketId) -> Option<Output> {
        let active = self.standing.active_on(socket)?;
        active.tool_snapshot_waits = false;
        let tools = self.tools.iter().cloned().collect();
        Some(snapshot(active, &AppFrame::ToolSnapshot(tools)))
    }

    /// The snapshot of the events, likewise.
    pub(super) fn take_event_snapshot(&mut self, socket: SocketId) -> Option<Output> {
        let active = self.standing.active_on(socket)?;
        active.event_snapshot_waits = false;
        let events = self.events.iter().cloned().collect();
        Some(snapshot(active, &AppFrame::EventSnapshot(events)))
    }

    /// Whether the daemon hears of a tool by itself: what is registered while the snapshot waits is in the snapshot.
    fn sends_tool_deltas(&self) -> bool {
        matches!(&self.standing, Standing::Active(active) if !active.tool_snapshot_waits)
    }

    /// Likewise; and only a daemon whose ack on this socket said so takes event registry frames.
    fn sends_event_deltas(&self) -> bool {
        matches!(&self.standing, Standing::Active(active) if active.takes_events && !active.event_snapshot_waits)
    }

    fn send_delta(&mut self, frame: &AppFrame, tool: Option<String>) {
        if let Err(bytes) = self.send(frame) {
            self.outputs.error(ClientError { tool, ..ClientError::of_size(Phase::Tool, bytes) });
        }
    }
}

fn snapshot(active: &Active, frame: &AppFrame) -> Output {
    active
        .output(frame)
        .unwrap_or_else(|bytes| Output::Event(ClientEvent::Error(ClientError::of_size(Phase::Tool, bytes))))
}
