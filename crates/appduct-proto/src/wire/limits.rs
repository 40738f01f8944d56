//! The numbers of the protocol. Characters are UTF-16 code units; frames are UTF-8 bytes.

/// The `protocol_version` of every claim and resume.
pub const PROTOCOL_VERSION: u32 = 2;

/// The largest frame in either direction, in UTF-8 bytes. Exactly this many pass.
pub const MAX_FRAME_BYTES: usize = 262_144;

/// The longest id or token, in UTF-16 units. The shortest is 1.
pub const MAX_ID_UNITS: usize = 128;

/// The longest description, message, event name or reason, in UTF-16 units. The shortest is 1.
pub const MAX_TEXT_UNITS: usize = 4096;

/// The longest device field, in UTF-16 units. The shortest is 0.
pub const MAX_DEVICE_UNITS: usize = 256;

/// How long a call may take when neither caller nor tool says, in milliseconds.
pub const DEFAULT_TOOL_TIMEOUT_MS: u64 = 10_000;

/// The shortest deadline of a call, in milliseconds; shorter requests are raised to it.
pub const MIN_TOOL_TIMEOUT_MS: u64 = 1_000;

/// The longest deadline of a call, in milliseconds; longer requests are lowered to it.
pub const MAX_TOOL_TIMEOUT_MS: u64 = 600_000;

/// Brings a requested deadline into the range that both ends keep, truncating fractions of a millisecond.
#[must_use]
pub fn clamp_timeout_ms(requested: f64) -> u64 {
    if !requested.is_finite() {
        return DEFAULT_TOOL_TIMEOUT_MS;
    }
    // Clamped to [1000, 600000] first, so the conversion is exact.
    requested.trunc().clamp(MIN_TOOL_TIMEOUT_MS as f64, MAX_TOOL_TIMEOUT_MS as f64) as u64
}
