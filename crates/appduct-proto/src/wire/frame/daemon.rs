//! What the daemon sends.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use crate::wire::{FieldFault, Fields, Length, Number, Object, RawJson, Rule};

/// The answer to a claim or resume. The token is secret: `Debug` leaves it out.
#[derive(Clone, PartialEq)]
pub struct SessionAck {
    /// The name that people call the session by.
    pub alias: String,
    /// What the next resume must carry.
    pub resume_token: String,
    /// How often either side should ping, in seconds, greater than zero.
    pub keepalive_interval_s: Number,
    /// How long a lost session may be resumed, in seconds, greater than zero.
    pub grace_s: Number,
    /// Whether the daemon takes event registry frames.
    pub event_registry: bool,
}

/// A frame from the daemon.
#[derive(Clone, Debug, PartialEq)]
pub enum DaemonFrame {
    /// The claim or resume is accepted.
    Ack(SessionAck),
    /// Calls a tool. No deadline travels.
    ToolCall {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// A JSON object.
        args: RawJson,
    },
    /// Asks the app to stop a call.
    ToolCancel {
        /// The call.
        id: String,
        /// Why, 1 to 4096 UTF-16 units; `client_cancelled` where the frame does not say.
        reason: String,
    },
}

/// A text message from the daemon, decoded as far as it can be without knowing the session.
#[derive(Clone, Debug, PartialEq)]
pub enum DaemonReceived {
    /// Not JSON, or JSON but not an object.
    NotAnObject,
    /// A JSON object.
    Frame {
        /// `session_id`, where it is a string.
        session_id: Option<String>,
        /// The frame; `Ok(None)` if it is of a type that this version does not know.
        frame: Result<Option<DaemonFrame>, FieldFault>,
        /// A non-empty `reason` of the frame itself, whatever its type.
        reason: Option<String>,
    },
}

impl DaemonFrame {
    /// The frame's text.
    #[must_use]
    pub fn encode(&self, session_id: &str) -> String {
        let frame = |kind| Object::frame(kind, session_id);
        match self {
            Self::Ack(ack) => {
                let frame = frame("session_ack")
                    .text("status", "ok")
                    .text("alias", &ack.alias)
                    .text("resume_token", &ack.resume_token)
                    .display("keepalive_interval_s", ack.keepalive_interval_s)
                    .display("grace_s", ack.grace_s);
                // Absent means no; `false` is not a value that apps accept.
                if ack.event_registry { frame.display("event_registry", true) } else { frame }
            }
            Self::ToolCall { id, name, args } => frame("tool_call").text("id", id).text("name", name).raw("args", args),
            Self::ToolCancel { id, reason } => frame("tool_cancel").text("id", id).text("reason", reason),
        }
        .finish()
    }
}

impl DaemonReceived {
    /// Decodes a text message. Raw JSON in the frame shares `text`'s buffer.
    #[must_use]
    pub fn decode(text: &Bytes) -> Self {
        let Some(fields) = std::str::from_utf8(text).ok().and_then(Fields::parse) else { return Self::NotAnObject };
        let kind = fields.text("type", Length::ANY).unwrap_or_default();
        let frame = match kind.as_ref() {
            "session_ack" => ack(&fields).map(DaemonFrame::Ack).map(Some),
            "tool_call" => tool_call(text, &fields).map(Some),
            "tool_cancel" => tool_cancel(&fields).map(Some),
            _ => Ok(None),
        };
        Self::Frame {
            session_id: fields.text("session_id", Length::ANY).ok().map(Into::into),
            frame,
            reason: fields.text("reason", Length::NON_EMPTY).ok().map(Into::into),
        }
    }
}

fn ack(fields: &Fields<'_>) -> Result<SessionAck, FieldFault> {
    if !fields.is_text("status", "ok") {
        return Err(FieldFault::new("status", Rule::Exactly("ok")));
    }
    let event_registry = fields.optional_boolean("event_registry")?;
    if event_registry == Some(false) {
        return Err(FieldFault::new("event_registry", Rule::Boolean));
    }
    Ok(SessionAck {
        alias: fields.text("alias", Length::ID)?.into_owned(),
        resume_token: fields.text("resume_token", Length::ID)?.into_owned(),
        keepalive_interval_s: positive(fields, "keepalive_interval_s")?,
        grace_s: positive(fields, "grace_s")?,
        event_registry: event_registry.unwrap_or(false),
    })
}

fn positive(fields: &Fields<'_>, key: &str) -> Result<Number, FieldFault> {
    let number = fields.optional_number(key)?.filter(|&number| number > 0.0);
    number.map(Number).ok_or_else(|| FieldFault::new(key, Rule::FiniteNumber))
}

fn tool_call(frame: &Bytes, fields: &Fields<'_>) -> Result<DaemonFrame, FieldFault> {
    let args = fields.optional_object("args")?.ok_or_else(|| FieldFault::new("args", Rule::Required))?;
    Ok(DaemonFrame::ToolCall {
        id: fields.text("id", Length::ID)?.into_owned(),
        name: fields.text("name", Length::TEXT)?.into_owned(),
        args: RawJson::sliced(frame, args),
    })
}

fn tool_cancel(fields: &Fields<'_>) -> Result<DaemonFrame, FieldFault> {
    // A cancel that cannot say why is still a cancel.
    let reason = fields.text("reason", Length::TEXT).unwrap_or(Cow::Borrowed("client_cancelled"));
    Ok(DaemonFrame::ToolCancel { id: fields.text("id", Length::ID)?.into_owned(), reason: reason.into_owned() })
}

impl fmt::Debug for SessionAck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionAck")
            .field("alias", &self.alias)
            .field("keepalive_interval_s", &self.keepalive_interval_s)
            .field("grace_s", &self.grace_s)
            .field("event_registry", &self.event_registry)
            .finish_non_exhaustive()
    }
}
