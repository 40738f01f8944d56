//! Lines of the control socket, shared by both ends.
//!
//! Every writer ends its line with one `\n`. App JSON goes in byte for byte, but for raw line breaks: outside strings they
//! are white space, inside strings JSON has none, so each becomes a space and no JSON can break a line.

mod decode;
mod lines;

use appduct_proto::wire::{FieldFault, Fields, Object, RawJson};

use crate::methods::Method;
use crate::{ErrorType, RpcError};

pub use decode::{BadRequest, Incoming, MalformedLine, decode_incoming, decode_request};
pub use lines::{Line, Lines};

/// The longest request line, newline not counted.
pub const MAX_LINE_BYTES: usize = 1_048_576;

/// The most that may wait to be written to one connection when a notification is due.
pub const MAX_BACKLOG_BYTES: usize = 4_194_304;

/// The method of every notification.
const EVENT: &str = "event";

/// A request as the daemon reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Echoed in the reply, whatever JSON it is; `null` where the request has none.
    pub id: RawJson,
    /// The method's name; not empty.
    pub method: String,
    /// As sent; `{}` where the request has none or `null`. [`Request::parse`] refuses what is not an object.
    pub params: RawJson,
}

impl Request {
    /// Checks the parameters for the method `M`, whose name this request must have. The error is ready to be sent.
    pub fn parse<M: Method>(&self) -> Result<M, RpcError> {
        let refused = |fault: FieldFault| {
            RpcError::new(ErrorType::InvalidRequest, format!("invalid params for {}: {fault}", M::NAME))
        };
        match Fields::parse(self.params.as_str()) {
            Some(fields) => M::parse(&fields).map_err(refused),
            None => Err(RpcError::new(
                ErrorType::InvalidRequest,
                format!("invalid params for {}: must be a JSON object", M::NAME),
            )),
        }
    }
}

/// A request.
#[must_use]
pub fn request(id: u64, method: &str, params: &RawJson) -> String {
    let id = id.to_string();
    line(&[r#"{"jsonrpc":"2.0","id":"#, &id, r#","method":"#, &quoted(method), r#","params":"#, params.as_str(), "}"])
}

/// The reply to a request that did what it asks.
#[must_use]
pub fn reply(id: &RawJson, result: &RawJson) -> String {
    line(&[r#"{"jsonrpc":"2.0","id":"#, id.as_str(), r#","result":"#, result.as_str(), "}"])
}

/// The reply to a request that failed.
#[must_use]
pub fn error(id: &RawJson, error: &RpcError) -> String {
    let mut object = Object::new().display("code", error.code).text("message", &error.message);
    if error.kind.is_some() || error.details.is_some() {
        let data = Object::new()
            .optional_text("type", error.kind.as_ref().map(crate::ErrorName::as_str))
            .optional_raw("details", error.details.as_ref());
        object = object.raw("data", &data.into_raw());
    }
    line(&[r#"{"jsonrpc":"2.0","id":"#, id.as_str(), r#","error":"#, &object.finish(), "}"])
}

/// A notification. `params` is an `EventNotification`.
#[must_use]
pub fn event(params: &RawJson) -> String {
    line(&[r#"{"jsonrpc":"2.0","method":"event","params":"#, params.as_str(), "}"])
}

fn line(parts: &[&str]) -> String {
    let mut line = String::with_capacity(parts.iter().map(|part| part.len()).sum::<usize>() + 1);
    for part in parts {
        line.push_str(part);
    }
    if memchr::memchr2(b'\n', b'\r', line.as_bytes()).is_some() {
        line = line.replace(['\n', '\r'], " ");
    }
    line.push('\n');
    line
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("every string has a JSON form")
}

#[cfg(test)]
mod tests;
