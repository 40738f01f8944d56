//! Frames: one JSON object per text message, in both directions.
//!
//! A frame is decoded without knowing the session, so that it can be done where the bytes arrive: [`Received`] and
//! [`DaemonReceived`] say what is in the text, and the state machine that gets them decides in which order faults count.

mod app;
mod daemon;
mod outcome;

pub use app::{AppFrame, Hello, Received};
pub use daemon::{DaemonFrame, DaemonReceived, SessionAck};
pub use outcome::{ToolErrorType, ToolFault};
