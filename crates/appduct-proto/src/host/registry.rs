//! What an app has registered, by name.

use std::cmp::Ordering;
use std::sync::Arc;

use super::groups::GroupCounts;
use crate::wire::{EventDescriptor, Named, ToolDescriptor};

/// How much a registry may hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) entries: usize,
    /// Of the descriptors' texts.
    pub(super) bytes: usize,
}

/// The registry would hold more than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

/// Entries in name order. Readers share them.
#[derive(Debug)]
pub(super) struct Registry<T> {
    entries: Vec<Arc<T>>,
    bytes: usize,
}

pub(super) type EventRegistry = Registry<EventDescriptor>;

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), bytes: 0 }
    }
}

impl<T: Named> Registry<T> {
    pub(super) fn as_slice(&self) -> &[Arc<T>] {
        &self.entries
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Arc<T>> {
        self.place(name).ok().map(|place| &self.entries[place])
    }

    /// Replaces everything; the last of several with one name wins. Nothing changes if the rest is too many.
    pub(super) fn replace(&mut self, entries: Vec<T>, room: Room) -> Result<(), Full> {
        let mut entries: Vec<_> = entries.into_iter().map(Arc::new).collect();
        // The sort is stable, so reversed, the last of a name comes first and is the one that stays.
        entries.reverse();
        entries.sort_by(|a, b| by_utf16(a.name(), b.name()));
        entries.dedup_by(|later, first| later.name() == first.name());
        let bytes = entries.iter().map(size).sum();
        if entries.len() > room.entries || bytes > room.bytes {
            return Err(Full);
        }
        entries.shrink_to_fit();
        *self = Self { entries, bytes };
        Ok(())
    }

    /// Adds an entry, or replaces the one of its name, which is returned.
    pub(super) fn upsert(&mut self, entry: T, room: Room) -> Result<Option<Arc<T>>, Full> {
        let place = self.place(entry.name());
        let replaced = place.map_or(0, |place| size(&self.entries[place]));
        let bytes = self.bytes - replaced + entry.text().as_str().len();
        if bytes > room.bytes || (place.is_err() && self.entries.len() >= room.entries) {
            return Err(Full);
        }
        self.bytes = bytes;
        match place {
            Ok(place) => Ok(Some(std::mem::replace(&mut self.entries[place], Arc::new(entry)))),
            Err(place) => {
                self.entries.insert(place, Arc::new(entry));
                Ok(None)
            }
        }
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Arc<T>> {
        let removed = self.place(name).ok().map(|place| self.entries.remove(place));
        self.bytes -= removed.as_ref().map_or(0, size);
        removed
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| by_utf16(entry.name(), name))
    }
}

fn size<T: Named>(entry: &Arc<T>) -> usize {
    entry.text().as_str().len()
}

/// A tool registry, which also counts by group.
#[derive(Debug, Default)]
pub(super) struct ToolRegistry {
    tools: Registry<ToolDescriptor>,
    groups: GroupCounts,
}

impl ToolRegistry {
    pub(super) fn as_slice(&self) -> &[Arc<ToolDescriptor>] {
        self.tools.as_slice()
    }

    pub(super) fn len(&self) -> usize {
        self.tools.len()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Arc<ToolDescriptor>> {
        self.tools.find(name)
    }

    pub(super) fn groups(&self) -> &GroupCounts {
        &self.groups
    }

    pub(super) fn replace(&mut self, tools: Vec<ToolDescriptor>, room: Room) -> Result<(), Full> {
        self.tools.replace(tools, room)?;
        self.groups = GroupCounts::default();
        for tool in self.tools.as_slice() {
            self.groups.add(tool.group.as_ref());
        }
        Ok(())
    }

    pub(super) fn upsert(&mut self, tool: ToolDescriptor, room: Room) -> Result<(), Full> {
        let group = tool.group.clone();
        let replaced = self.tools.upsert(tool, room)?;
        self.groups.add(group.as_ref());
        if let Some(replaced) = replaced {
            self.groups.remove(replaced.group.as_ref());
        }
        Ok(())
    }

    /// Whether there was such a tool.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let removed = self.tools.remove(name);
        if let Some(removed) = &removed {
            self.groups.remove(removed.group.as_ref());
        }
        removed.is_some()
    }
}

/// Orders as JavaScript orders strings: by UTF-16 code units.
fn by_utf16(a: &str, b: &str) -> Ordering {
    // UTF-8 orders by code point. UTF-16 differs only in that U+E000 to U+FFFF, whose first byte is EE or EF, come after
    // everything that takes a surrogate pair, whose first byte is F0 or more.
    let weight = |byte: u8| if matches!(byte, 0xEE | 0xEF) { u16::from(byte) + 0x100 } else { u16::from(byte) };
    a.bytes().map(weight).cmp(b.bytes().map(weight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::RawJson;

    fn event(name: &str, description: &str) -> EventDescriptor {
        let text = serde_json::json!({ "name": name, "description": description }).to_string();
        EventDescriptor::parse(&RawJson::parse(&text).unwrap()).unwrap()
    }

    fn tool(name: &str, group: Option<&str>) -> ToolDescriptor {
        let mut tool = serde_json::json!({ "name": name, "description": "d" });
        if let Some(group) = group {
            tool["group"] = group.into();
        }
        ToolDescriptor::parse(&RawJson::parse(&tool.to_string()).unwrap()).unwrap()
    }

    fn room(entries: usize) -> Room {
        Room { entries, bytes: usize::MAX }
    }

    fn shown(registry: &EventRegistry) -> Vec<(&str, &str)> {
        registry.as_slice().iter().map(|event| (event.name.as_str(), event.description.as_str())).collect()
    }

    #[test]
    fn names_are_in_utf16_order() {
        let names = ["a", "a\u{E000}", "a😀", "aé", "a\u{FFFD}", "b", "", "ab", "a\u{D7FF}"];
        let mut ours = names;
        ours.sort_by(|a, b| by_utf16(a, b));
        let mut javascript = names;
        javascript.sort_by_key(|name| name.encode_utf16().collect::<Vec<_>>());
        assert_eq!(ours, javascript);
    }

    #[test]
    fn the_last_of_a_name_wins() {
        let mut registry = EventRegistry::default();
        registry.replace(vec![event("b", "1"), event("a", "2"), event("b", "3")], room(2)).unwrap();
        assert_eq!(shown(&registry), [("a", "2"), ("b", "3")]);
    }

    #[test]
    fn a_full_registry_takes_replacements_only() {
        let mut registry = EventRegistry::default();
        registry.replace(vec![event("a", "1"), event("b", "1")], room(2)).unwrap();
        assert_eq!(registry.upsert(event("c", "1"), room(2)), Err(Full));
        assert!(registry.upsert(event("a", "2"), room(2)).is_ok());
        assert_eq!(shown(&registry), [("a", "2"), ("b", "1")]);
    }

    #[test]
    fn a_snapshot_over_the_bound_changes_nothing() {
        let mut registry = EventRegistry::default();
        registry.upsert(event("a", "1"), room(1)).unwrap();
        assert_eq!(registry.replace(vec![event("b", "1"), event("c", "1")], room(1)), Err(Full));
        assert_eq!(shown(&registry), [("a", "1")]);
    }

    #[test]
    fn bytes_are_counted_over_every_change() {
        let one = event("a", "1").raw().as_str().len();
        let room = Room { entries: 10, bytes: 2 * one };
        let mut registry = EventRegistry::default();
        assert_eq!(registry.replace(vec![event("a", "1"), event("b", "1"), event("c", "1")], room), Err(Full));
        registry.replace(vec![event("a", "1"), event("a", "2"), event("b", "1")], room).unwrap();
        assert_eq!(registry.upsert(event("a", "longer"), room), Err(Full));
        assert_eq!(registry.upsert(event("c", "1"), room), Err(Full));
        assert_eq!(shown(&registry), [("a", "2"), ("b", "1")]);
        registry.upsert(event("a", "3"), room).unwrap();
        assert!(registry.remove("b").is_some() && registry.remove("b").is_none());
        registry.upsert(event("c", "1"), room).unwrap();
        registry.replace(vec![event("a", "longer")], room).unwrap();
        assert_eq!(registry.upsert(event("c", "1"), room), Err(Full));
    }

    #[test]
    fn group_counts_follow_every_change() {
        let mut registry = ToolRegistry::default();
        registry.replace(vec![tool("a", Some("g")), tool("b", None), tool("a", Some("h/i"))], room(10)).unwrap();
        registry.upsert(tool("c", Some("h")), room(10)).unwrap();
        registry.upsert(tool("b", Some("h/i")), room(10)).unwrap();
        assert!(registry.remove("a"));
        assert!(!registry.remove("a"));
        let totals = registry.groups().totals();
        let totals: Vec<_> =
            totals.iter().map(|row| (row.group.as_ref().map(|group| group.as_str()), row.total)).collect();
        assert_eq!(totals, [(Some("h"), 2), (Some("h/i"), 1)]);
    }
}
