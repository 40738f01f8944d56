//! What registries of both ends ask of their entries.

use super::{EventDescriptor, RawJson, ToolDescriptor};

/// A descriptor whose name is unique in its registry.
pub(crate) trait Named {
    fn name(&self) -> &str;

    /// The descriptor as it was sent.
    fn text(&self) -> &RawJson;
}

impl Named for ToolDescriptor {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn text(&self) -> &RawJson {
        self.raw()
    }
}

impl Named for EventDescriptor {
    fn name(&self) -> &str {
        &self.name
    }

    fn text(&self) -> &RawJson {
        self.raw()
    }
}
