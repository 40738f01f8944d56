//! From a line to what it says.

use std::fmt;

use appduct_proto::wire::{Fields, Length, RawJson};

use super::{EVENT, Request};
use crate::{ErrorName, RpcError};

/// A line that is no request. Both parts go into the reply; the connection stays usable.
#[derive(Clone, Debug, PartialEq)]
pub struct BadRequest {
    /// The id, where one could be read; `null` otherwise.
    pub id: RawJson,
    /// What is wrong with the line.
    pub error: RpcError,
}

/// A line as a client reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A reply.
    Reply {
        /// The request's id; `null` where the daemon could not read one.
        id: RawJson,
        /// What came of it.
        result: Result<RawJson, RpcError>,
    },
    /// An `event` notification's parameters.
    Event(RawJson),
    /// A notification that this version does not know.
    Unknown,
}

/// A line that no daemon sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MalformedLine {
    /// It is not UTF-8.
    NotUtf8,
    /// It is not one JSON object.
    NotAnObject,
    /// It has neither a result nor an error nor a method.
    Shapeless,
    /// Its error has no code or message.
    ShapelessError,
}

impl fmt::Display for MalformedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUtf8 => "the line is not UTF-8",
            Self::NotAnObject => "the line is not a JSON object",
            Self::Shapeless => "the line is neither a reply nor a notification",
            Self::ShapelessError => "the error has no code or no message",
        })
    }
}

impl std::error::Error for MalformedLine {}

/// Reads a request. The line has no newline at its end.
pub fn decode_request(line: &[u8]) -> Result<Request, BadRequest> {
    let unreadable = |error| BadRequest { id: RawJson::null(), error };
    let text = std::str::from_utf8(line).map_err(|_| unreadable(RpcError::parse_error()))?;
    let Some(fields) = Fields::parse(text) else {
        return Err(unreadable(match RawJson::parse(text) {
            Ok(_) => RpcError::not_a_request("a request is one JSON object"),
            Err(_) => RpcError::parse_error(),
        }));
    };
    let id = raw(&fields, "id").unwrap_or_else(RawJson::null);
    let Ok(method) = fields.text("method", Length::NON_EMPTY) else {
        return Err(BadRequest { id, error: RpcError::not_a_request("\"method\" must be a non-empty string") });
    };
    let params = raw(&fields, "params").filter(|params| *params != RawJson::null());
    Ok(Request { id, method: method.into_owned(), params: params.unwrap_or_else(RawJson::empty_object) })
}

/// Reads a reply or notification. The line has no newline at its end.
pub fn decode_incoming(line: &[u8]) -> Result<Incoming, MalformedLine> {
    let text = std::str::from_utf8(line).map_err(|_| MalformedLine::NotUtf8)?;
    let fields = Fields::parse(text).ok_or(MalformedLine::NotAnObject)?;
    if fields.get("method").is_some() {
        return Ok(match raw(&fields, "params") {
            Some(params) if fields.is_text("method", EVENT) => Incoming::Event(params),
            Some(_) | None => Incoming::Unknown,
        });
    }
    let id = raw(&fields, "id").unwrap_or_else(RawJson::null);
    if let Some(error) = fields.get("error").filter(|error| error.get() != "null") {
        return Ok(Incoming::Reply { id, result: Err(decode_error(error.get())?) });
    }
    let result = raw(&fields, "result").ok_or(MalformedLine::Shapeless)?;
    Ok(Incoming::Reply { id, result: Ok(result) })
}

fn decode_error(text: &str) -> Result<RpcError, MalformedLine> {
    let fields = Fields::parse(text).ok_or(MalformedLine::ShapelessError)?;
    let code = fields.optional_number("code").ok().flatten().ok_or(MalformedLine::ShapelessError)?;
    let message = fields.text("message", Length::ANY).map_err(|_| MalformedLine::ShapelessError)?;
    let data = fields.get("data").and_then(|data| Fields::parse(data.get()));
    let kind = data.as_ref().and_then(|data| data.text("type", Length::ANY).ok());
    Ok(RpcError {
        // The cast saturates; no code of the protocol is near the ends.
        code: code as i64,
        kind: kind.map(|name| ErrorName::parse(&name)),
        message: message.into_owned(),
        details: data.as_ref().and_then(|data| raw(data, "details")),
    })
}

fn raw(fields: &Fields<'_>, key: &str) -> Option<RawJson> {
    fields.get(key).and_then(|value| RawJson::parse(value.get()).ok())
}
