//! The wire between an app and the daemon: frames, descriptors, links, pins and limits, to and from bytes.
//!
//! JSON that belongs to the app (`args`, `result`, `details`, payloads, schemas) stays the text that came in, as
//! [`RawJson`]. Fields that are ours are checked by [`Fields`] under the rules that all peers share: lengths count UTF-16
//! units, `null` is not absent, the last of duplicate keys wins, unknown keys are tolerated, and a lone surrogate in a
//! field that is decoded becomes U+FFFD.

mod bootstrap;
mod canonical;
mod close;
mod device;
mod entries;
mod event;
mod fields;
mod frame;
mod group;
mod limits;
mod link;
mod named;
mod number;
mod object;
mod pin;
mod raw;
mod text;
mod tool;

pub use bootstrap::{Bootstrap, BootstrapFault, address_text};
pub use close::{Close, CloseReason};
pub use device::Device;
pub(crate) use entries::Entries;
pub use event::EventDescriptor;
pub use fields::{FieldFault, Fields, IntegerFrom, Length, Rule, utf16_cmp, utf16_len};
pub use frame::{AppFrame, DaemonFrame, DaemonReceived, Hello, Received, SessionAck, ToolErrorType, ToolFault};
pub use group::{Group, GroupFault};
pub use limits::{
    DEFAULT_TOOL_TIMEOUT_MS, MAX_DEVICE_UNITS, MAX_FRAME_BYTES, MAX_ID_UNITS, MAX_TEXT_UNITS, MAX_TOOL_TIMEOUT_MS,
    MIN_TOOL_TIMEOUT_MS, PROTOCOL_VERSION, clamp_timeout_ms,
};
pub use link::{DeepLink, LinkFault};
pub(crate) use named::Named;
pub use number::Number;
pub use object::Object;
pub use pin::{Pin, PinFault};
pub(crate) use raw::kind_of;
pub use raw::{JsonKind, NotJson, RawJson};
pub(crate) use text::Text;
pub use tool::{Annotations, ToolDescriptor, ToolName, ToolNameFault};

#[cfg(test)]
mod tests;
