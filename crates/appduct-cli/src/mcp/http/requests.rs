//! Requests as the library can take them: read whole, and answered here where it would not.

use std::collections::HashSet;
use std::fmt::Display;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId};
use tokio::sync::watch;
use tokio::time::timeout;

use super::super::message::{self, Input, MAX_BYTES};
use super::{Reply, plain};

/// How long a client may take to send what it has to say.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The header with the session of the older eras.
const SESSION: &str = "mcp-session-id";

/// A request that can be passed on.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) request: Request<Full<Bytes>>,
    /// Whether it opens a session.
    pub(super) is_opening: bool,
    /// Its place among those that run, where it is of a session.
    pub(super) place: Option<Place>,
}

/// Reads the body of a request.
pub(super) async fn take(request: Request<Incoming>, running: &Running) -> Result<Taken, Reply> {
    let (head, body) = request.into_parts();
    if head.method != Method::POST {
        let request = Request::from_parts(head, Full::default());
        return Ok(Taken { request, is_opening: false, place: None });
    }
    let mut text = message::repaired(&read(body).await?);
    let (mut is_opening, mut place) = (false, None);
    match message::input(&text) {
        Some(Input::Refused(reply)) => return Err(refused(reply)),
        Some(Input::Message(message)) => match *message {
            ClientJsonRpcMessage::Request(request) => {
                is_opening = matches!(request.request, ClientRequest::InitializeRequest(_));
                place = running.enter(&head.headers, request.id).map_err(refused)?;
            }
            // It may stand for a response that the library could not read.
            error @ ClientJsonRpcMessage::Error(_) => text = serde_json::to_string(&error).unwrap_or(text),
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Notification(_) => {}
        },
        // The library has a status for it.
        None => {}
    }
    let request = Request::from_parts(head, Full::new(Bytes::from(text)));
    Ok(Taken { request, is_opening, place })
}

async fn read<B: Body<Error: Into<Box<dyn std::error::Error + Send + Sync>>>>(body: B) -> Result<Bytes, Reply> {
    let too_large = || closing(StatusCode::PAYLOAD_TOO_LARGE, format!("a message has {MAX_BYTES} bytes at most\n"));
    if body.size_hint().lower() > MAX_BYTES as u64 {
        return Err(too_large());
    }
    match timeout(BODY_TIMEOUT, Limited::new(body, MAX_BYTES).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(closing(StatusCode::BAD_REQUEST, "the body cannot be read\n")),
        Err(_) => Err(closing(StatusCode::REQUEST_TIMEOUT, "the body took too long\n")),
    }
}

/// A reply to a request that was not read to its end.
fn closing(status: StatusCode, text: impl Display) -> Reply {
    let mut reply = plain(status, text.to_string());
    reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    reply
}

fn refused(text: String) -> Reply {
    let mut reply = plain(StatusCode::BAD_REQUEST, text);
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// The requests of sessions that run. The library would answer only one of two with the same id.
#[derive(Clone, Debug)]
pub(super) struct Running(watch::Sender<HashSet<Key>>);

type Key = (HeaderValue, RequestId);

impl Running {
    pub(super) fn none() -> Self {
        Self(watch::Sender::new(HashSet::new()))
    }

    /// A place for a request, or the answer to it where its id is taken.
    fn enter(&self, headers: &HeaderMap, id: RequestId) -> Result<Option<Place>, String> {
        let Some(session) = headers.get(SESSION) else { return Ok(None) };
        let key = (session.clone(), id);
        if self.0.send_if_modified(|running| running.insert(key.clone())) {
            return Ok(Some(Place { running: self.clone(), key }));
        }
        Err(message::in_use(&key.1))
    }
}

/// The place of a request, which is free when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    running: Running,
    key: Key,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.running.0.send_if_modified(|running| running.remove(&self.key));
    }
}
