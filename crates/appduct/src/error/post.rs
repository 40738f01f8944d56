//! Why an event was not posted.

use appduct_proto::app::PostFault;
use appduct_proto::wire::{MAX_FRAME_BYTES, MAX_TEXT_UNITS};

use super::Stopped;

/// Why [`post_event`](crate::Appduct::post_event) sent nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostError {
    /// The session has no socket. Events are not kept for later.
    #[error("no appduct session is active")]
    NotActive,
    /// The name is not 1 to 4096 UTF-16 units long.
    #[error("an event name must be 1 to {MAX_TEXT_UNITS} characters")]
    Name,
    /// The event does not fit into a frame.
    #[error("the event takes {bytes} bytes, over the {MAX_FRAME_BYTES}-byte limit")]
    TooBig {
        /// The size of its frame.
        bytes: usize,
    },
    /// The payload cannot be written as JSON.
    #[error("the payload is not JSON: {0}")]
    Payload(#[from] serde_json::Error),
    /// The client is not running.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<PostFault> for PostError {
    fn from(fault: PostFault) -> Self {
        match fault {
            PostFault::NotActive => Self::NotActive,
            PostFault::Name => Self::Name,
            PostFault::TooBig { bytes } => Self::TooBig { bytes },
        }
    }
}
