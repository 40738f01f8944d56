//! What an app sends.

use std::fmt;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::outcome::{ToolErrorType, ToolFault};
use crate::wire::{
    Device, EventDescriptor, FieldFault, Fields, IntegerFrom, Length, Number, Object, PROTOCOL_VERSION, RawJson, Rule,
    ToolDescriptor,
};

/// The first frame of a socket. Tokens are secret: `Debug` leaves them out.
#[derive(Clone, PartialEq, Eq)]
pub enum Hello {
    /// Claims a link.
    Claim {
        /// The session that the link names.
        session_id: String,
        /// The link's one-time token, as text.
        token: String,
        /// The device that the app runs on.
        device: Device,
    },
    /// Resumes a session.
    Resume {
        /// The session.
        session_id: String,
        /// The newest resume token.
        resume_token: String,
    },
}

/// A frame of a claimed session.
#[derive(Clone, Debug, PartialEq)]
pub enum AppFrame {
    /// Replaces the tool registry.
    ToolSnapshot(Vec<ToolDescriptor>),
    /// Adds or replaces one tool.
    ToolUpsert(Box<ToolDescriptor>),
    /// Removes one tool by name.
    ToolRemove(String),
    /// Replaces the event registry.
    EventSnapshot(Vec<EventDescriptor>),
    /// Adds or replaces one event.
    EventUpsert(Box<EventDescriptor>),
    /// Removes one event by name.
    EventRemove(String),
    /// A call succeeded.
    ToolResult {
        /// The call.
        id: String,
        /// Any JSON, `null` included.
        result: RawJson,
    },
    /// A call failed.
    ToolError {
        /// The call.
        id: String,
        /// How.
        error: ToolFault,
    },
    /// A call goes on; neither field makes it a bare sign of life.
    ToolCallProgress {
        /// The call.
        id: String,
        /// Any finite number; 0 to 1 by custom.
        progress: Option<Number>,
        /// For people, 1 to 4096 UTF-16 units.
        message: Option<String>,
    },
    /// Something happened in the app.
    Event {
        /// 1 to 4096 UTF-16 units.
        name: String,
        /// The app's own time in milliseconds since the Unix epoch.
        ts: Number,
        /// Anything.
        payload: Option<RawJson>,
    },
}

/// A text message from an app, decoded as far as it can be without knowing its session.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// Not JSON, or JSON but not an object.
    NotAnObject,
    /// A claim or resume that passes its guard.
    Hello(Hello),
    /// An object of a type that apps send after the claim.
    Frame {
        /// `session_id`, where it is a string.
        session_id: Option<String>,
        /// The frame, or what breaks its guard.
        frame: Result<AppFrame, FieldFault>,
        /// Whether the frame is about a registry: a broken guard closes with another reason then.
        is_registry: bool,
    },
    /// An object of any other type, or a claim or resume that breaks its guard.
    Unknown,
}

impl Received {
    /// Decodes a text message. Raw JSON in the frame shares `text`'s buffer; descriptors have buffers of their own.
    #[must_use]
    pub fn decode(text: &Bytes) -> Self {
        let Some(fields) = std::str::from_utf8(text).ok().and_then(Fields::parse) else { return Self::NotAnObject };
        let Ok(kind) = fields.text("type", Length::ANY) else { return Self::Unknown };
        if let Some(hello) = Hello::parse(&kind, &fields) {
            return hello.map_or(Self::Unknown, Self::Hello);
        }
        let frame = match kind.as_ref() {
            "tool_registry_snapshot" => tool_snapshot(&fields),
            "tool_registry_delta" => tool_delta(&fields),
            "event_registry_snapshot" => event_snapshot(&fields),
            "event_registry_delta" => event_delta(&fields),
            "tool_result" => tool_result(text, &fields),
            "tool_error" => tool_error(text, &fields),
            "tool_call_progress" => tool_call_progress(&fields),
            "event" => event(text, &fields),
            _ => return Self::Unknown,
        };
        Self::Frame {
            session_id: fields.text("session_id", Length::ANY).ok().map(Into::into),
            frame,
            is_registry: kind.ends_with("_registry_snapshot") || kind.ends_with("_registry_delta"),
        }
    }
}

impl Hello {
    /// `None` if the frame is of another type.
    fn parse(kind: &str, fields: &Fields<'_>) -> Option<Result<Self, FieldFault>> {
        match kind {
            "session_claim" => Some(Self::parse_claim(fields)),
            "session_resume" => Some(Self::parse_resume(fields)),
            _ => None,
        }
    }

    fn parse_claim(fields: &Fields<'_>) -> Result<Self, FieldFault> {
        protocol_version(fields)?;
        Ok(Self::Claim {
            session_id: fields.text("session_id", Length::ID)?.into_owned(),
            token: fields.text("token", Length::ID)?.into_owned(),
            device: Device::parse(fields)?,
        })
    }

    fn parse_resume(fields: &Fields<'_>) -> Result<Self, FieldFault> {
        protocol_version(fields)?;
        Ok(Self::Resume {
            session_id: fields.text("session_id", Length::ID)?.into_owned(),
            resume_token: fields.text("resume_token", Length::ID)?.into_owned(),
        })
    }

    /// The frame's text.
    #[must_use]
    pub fn encode(&self) -> String {
        match self {
            Self::Claim { session_id, token, device } => hello("session_claim", session_id)
                .text("token", token)
                .optional_text("device_manufacturer", device.manufacturer.as_deref())
                .optional_text("device_model", device.model.as_deref())
                .optional_text("device_os", device.os.as_deref())
                .finish(),
            Self::Resume { session_id, resume_token } => {
                hello("session_resume", session_id).text("resume_token", resume_token).finish()
            }
        }
    }
}

fn hello(kind: &str, session_id: &str) -> Object {
    Object::new().text("type", kind).display("protocol_version", PROTOCOL_VERSION).text("session_id", session_id)
}

impl AppFrame {
    /// The frame's text.
    #[must_use]
    pub fn encode(&self, session_id: &str) -> String {
        let frame = |kind| Object::frame(kind, session_id);
        match self {
            Self::ToolSnapshot(tools) => {
                frame("tool_registry_snapshot").raws("tools", tools.iter().map(ToolDescriptor::raw))
            }
            Self::ToolUpsert(tool) => frame("tool_registry_delta").text("operation", "upsert").raw("tool", tool.raw()),
            Self::ToolRemove(name) => frame("tool_registry_delta").text("operation", "remove").text("name", name),
            Self::EventSnapshot(events) => {
                frame("event_registry_snapshot").raws("events", events.iter().map(EventDescriptor::raw))
            }
            Self::EventUpsert(event) => {
                frame("event_registry_delta").text("operation", "upsert").raw("event", event.raw())
            }
            Self::EventRemove(name) => frame("event_registry_delta").text("operation", "remove").text("name", name),
            Self::ToolResult { id, result } => frame("tool_result").text("id", id).raw("result", result),
            Self::ToolError { id, error } => {
                let error = Object::new()
                    .text("type", error.kind.as_str())
                    .text("message", &error.message)
                    .optional_raw("details", error.details.as_ref());
                frame("tool_error").text("id", id).object("error", error)
            }
            Self::ToolCallProgress { id, progress, message } => {
                // A number that JSON cannot write would fail the frame, and with it the session.
                let progress = progress.filter(|progress| progress.0.is_finite());
                frame("tool_call_progress")
                    .text("id", id)
                    .optional_display("progress", progress)
                    .optional_text("message", message.as_deref())
            }
            Self::Event { name, ts, payload } => {
                frame("event").text("name", name).optional_raw("payload", payload.as_ref()).display("ts", ts)
            }
        }
        .finish()
    }
}

fn protocol_version(fields: &Fields<'_>) -> Result<(), FieldFault> {
    let version = fields.optional_integer("protocol_version", IntegerFrom::One)?;
    if version == Some(u64::from(PROTOCOL_VERSION)) {
        Ok(())
    } else {
        Err(FieldFault::new("protocol_version", Rule::Required))
    }
}

fn tool_snapshot(fields: &Fields<'_>) -> Result<AppFrame, FieldFault> {
    let parse = |raw: &RawValue| ToolDescriptor::read(RawJson::copied(raw));
    fields.array("tools")?.into_iter().map(parse).collect::<Result<_, _>>().map(AppFrame::ToolSnapshot)
}

fn event_snapshot(fields: &Fields<'_>) -> Result<AppFrame, FieldFault> {
    let parse = |raw: &RawValue| EventDescriptor::read(RawJson::copied(raw));
    fields.array("events")?.into_iter().map(parse).collect::<Result<_, _>>().map(AppFrame::EventSnapshot)
}

const OPERATIONS: &[&str] = &["upsert", "remove"];

fn tool_delta(fields: &Fields<'_>) -> Result<AppFrame, FieldFault> {
    match fields.text("operation", Length::ANY)?.as_ref() {
        "upsert" => {
            let tool = ToolDescriptor::read(RawJson::copied(fields.required("tool")?))?;
            Ok(AppFrame::ToolUpsert(Box::new(tool)))
        }
        "remove" => Ok(AppFrame::ToolRemove(fields.text("name", Length::TEXT)?.into_owned())),
        _ => Err(FieldFault::new("operation", Rule::OneOf(OPERATIONS))),
    }
}

fn event_delta(fields: &Fields<'_>) -> Result<AppFrame, FieldFault> {
    match fields.text("operation", Length::ANY)?.as_ref() {
        "upsert" => {
            let event = EventDescriptor::read(RawJson::copied(fields.required("event")?))?;
            Ok(AppFrame::EventUpsert(Box::new(event)))
        }
        "remove" => Ok(AppFrame::EventRemove(fields.text("name", Length::TEXT)?.into_owned())),
        _ => Err(FieldFault::new("operation", Rule::OneOf(OPERATIONS))),
    }
}

fn call_id(fields: &Fields<'_>) -> Result<String, FieldFault> {
    fields.text("id", Length::ID).map(Into::into)
}

fn tool_result(frame: &Bytes, fields: &Fields<'_>) -> Result<AppFrame, FieldFault> {
    Ok(AppFrame::ToolResult { id: call_id(fields)?, result: RawJson::sliced(frame, fields.required("result")?) })
}

fn tool_error(frame: &Bytes, fields: &Fields<'_>) -> Result<AppFrame, FieldFault> {
    let outer = "error";
    let error = Fields::parse(fields.required(outer)?.get()).ok_or_else(|| FieldFault::new(outer, Rule::Object))?;
    let kind = error.text("type", Length::ANY).map_err(|fault| fault.inside(outer))?;
    let kind = ToolErrorType::parse(&kind).ok_or_else(|| FieldFault::new("error.type", Rule::Unknown))?;
    let message = error.text("message", Length::TEXT).map_err(|fault| fault.inside(outer))?.into_owned();
    let details = error.get("details").map(|details| RawJson::sliced(frame, details));
    Ok(AppFrame::ToolError { id: call_id(fields)?, error: ToolFault { kind, message, details } })
}

fn tool_call_progress(fields: &Fields<'_>) -> Result<AppFrame, FieldFault> {
    Ok(AppFrame::ToolCallProgress {
        id: call_id(fields)?,
        progress: fields.optional_number("progress")?.map(Number),
        message: fields.optional_text("message", Length::TEXT)?.map(Into::into),
    })
}

fn event(frame: &Bytes, fields: &Fields<'_>) -> Result<AppFrame, FieldFault> {
    Ok(AppFrame::Event {
        name: fields.text("name", Length::TEXT)?.into_owned(),
        ts: fields.optional_number("ts")?.map(Number).ok_or_else(|| FieldFault::new("ts", Rule::Required))?,
        payload: fields.get("payload").map(|payload| RawJson::sliced(frame, payload)),
    })
}

impl fmt::Debug for Hello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim { session_id, device, .. } => {
                f.debug_struct("Claim").field("session_id", session_id).field("device", device).finish_non_exhaustive()
            }
            Self::Resume { session_id, .. } => {
                f.debug_struct("Resume").field("session_id", session_id).finish_non_exhaustive()
            }
        }
    }
}
