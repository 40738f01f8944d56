//! The schemas of registered tools, each compiled once for its registration.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use appduct_proto::wire::{RawJson, ToolDescriptor};

use super::Side;
use super::schema::Schema;

/// How much memory compiled schemas may take together, as estimated. Over it the ones that were used least lately go.
const MAX_WEIGHT_BYTES: usize = 64 * 1024 * 1024;

/// One schema of one registration.
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// `None` inside for a schema that cannot be used.
    pub(super) schema: OnceLock<Option<Schema>>,
    state: AtomicU8,
}

/// How a schema may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// On the thread that asks.
    Here,
    /// On a thread for it.
    Elsewhere,
    /// Not at all: it cost too much.
    Never,
}

impl Slot {
    pub(super) fn usage(&self) -> Use {
        match self.state.load(Ordering::Relaxed) {
            0 => Use::Here,
            1 => Use::Elsewhere,
            _ => Use::Never,
        }
    }

    /// Returns whether this is news.
    pub(super) fn restrict(&self, usage: Use) -> bool {
        let state = match usage {
            Use::Here => 0,
            Use::Elsewhere => 1,
            Use::Never => 2,
        };
        self.state.fetch_max(state, Ordering::Relaxed) < state
    }
}

/// What is compiled, by registration.
#[derive(Debug)]
pub(super) struct Registrations {
    /// By the address of the descriptor. The weak reference in the entry keeps the address from being used anew.
    entries: HashMap<(usize, Side), Entry>,
    max_weight_bytes: usize,
    weight_bytes: usize,
    uses: u64,
    /// How many entries there may be before those of dead registrations are looked for.
    sweep_at: usize,
}

#[derive(Debug)]
struct Entry {
    tool: Weak<ToolDescriptor>,
    slot: Arc<Slot>,
    weight_bytes: usize,
    last_use: u64,
}

impl Default for Registrations {
    fn default() -> Self {
        Self::with_max_weight(MAX_WEIGHT_BYTES)
    }
}

impl Registrations {
    fn with_max_weight(max_weight_bytes: usize) -> Self {
        Self { entries: HashMap::new(), max_weight_bytes, weight_bytes: 0, uses: 0, sweep_at: MIN_SWEEP }
    }

    /// The place of a schema: one for as long as the app does not register the tool anew, unless many others push it out.
    pub(super) fn slot(&mut self, tool: &Arc<ToolDescriptor>, side: Side, schema: &RawJson) -> Arc<Slot> {
        self.uses += 1;
        let key = (Arc::as_ptr(tool).addr(), side);
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.last_use = self.uses;
            return Arc::clone(&entry.slot);
        }
        let weight_bytes = Schema::weight_bytes(schema);
        self.make_room(weight_bytes);
        let slot = Arc::new(Slot::default());
        let entry = Entry { tool: Arc::downgrade(tool), slot: Arc::clone(&slot), weight_bytes, last_use: self.uses };
        self.entries.insert(key, entry);
        self.weight_bytes += weight_bytes;
        slot
    }

    fn make_room(&mut self, weight_bytes: usize) {
        let is_over = self.weight_bytes + weight_bytes > self.max_weight_bytes;
        if !is_over && self.entries.len() < self.sweep_at {
            return;
        }
        self.entries.retain(|_, entry| entry.tool.strong_count() > 0);
        self.sweep_at = (self.entries.len() * 2).max(MIN_SWEEP);
        self.weight_bytes = self.entries.values().map(|entry| entry.weight_bytes).sum();
        if self.weight_bytes + weight_bytes <= self.max_weight_bytes {
            return;
        }
        // To half of the bound, so that it is a while until the next time.
        let mut by_use: Vec<_> = self.entries.iter().map(|(&key, entry)| (entry.last_use, key)).collect();
        by_use.sort_unstable_by_key(|&(last_use, _)| last_use);
        for (_, key) in by_use {
            if self.weight_bytes + weight_bytes <= self.max_weight_bytes / 2 {
                break;
            }
            if let Some(entry) = self.entries.remove(&key) {
                self.weight_bytes -= entry.weight_bytes;
            }
        }
    }
}

/// The fewest entries that are worth a search for dead ones.
const MIN_SWEEP: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn tool() -> Arc<ToolDescriptor> {
        let text = r#"{"name":"a","description":"d","input_schema":{},"output_schema":{}}"#;
        Arc::new(ToolDescriptor::parse(&RawJson::parse(text).unwrap()).unwrap())
    }

    fn slot(registrations: &mut Registrations, tool: &Arc<ToolDescriptor>) -> Arc<Slot> {
        registrations.slot(tool, Side::Args, &RawJson::empty_object())
    }

    #[test]
    fn a_registration_has_one_place_for_each_side() {
        let mut registrations = Registrations::default();
        let (one, same_text) = (tool(), tool());
        let first = slot(&mut registrations, &one);
        assert!(Arc::ptr_eq(&first, &slot(&mut registrations, &one)));
        assert!(!Arc::ptr_eq(&first, &slot(&mut registrations, &same_text)), "registered anew");
        let result = registrations.slot(&one, Side::Result, &RawJson::empty_object());
        assert!(!Arc::ptr_eq(&first, &result));
    }

    #[test]
    fn endless_registrations_leave_nothing_behind() {
        let mut registrations = Registrations::default();
        let kept = tool();
        let first = slot(&mut registrations, &kept);
        for _ in 0..10_000 {
            slot(&mut registrations, &tool());
        }
        assert!(registrations.entries.len() <= MIN_SWEEP + 1, "{}", registrations.entries.len());
        assert!(Arc::ptr_eq(&first, &slot(&mut registrations, &kept)));
    }

    #[test]
    fn the_schemas_used_least_lately_make_room() {
        let weight = Schema::weight_bytes(&RawJson::empty_object());
        let mut registrations = Registrations::with_max_weight(weight * 10);
        let tools: Vec<_> = (0..100).map(|_| tool()).collect();
        let kept = slot(&mut registrations, &tools[0]);
        for tool in &tools {
            slot(&mut registrations, tool);
            assert!(Arc::ptr_eq(&kept, &slot(&mut registrations, &tools[0])), "used all the time");
        }
        assert!(registrations.entries.len() <= 10);
        assert!(registrations.weight_bytes <= weight * 10);
    }

    #[test]
    fn a_restriction_is_never_taken_back() {
        let slot = Slot::default();
        assert_eq!(slot.usage(), Use::Here);
        assert!(slot.restrict(Use::Never));
        assert!(!slot.restrict(Use::Never));
        assert!(!slot.restrict(Use::Elsewhere));
        assert_eq!(slot.usage(), Use::Never);
    }
}
