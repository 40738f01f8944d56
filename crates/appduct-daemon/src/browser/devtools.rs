//! One tab's side of the DevTools protocol: commands with numbers, their answers, and events in between.

use appduct_proto::wire::{Fields, IntegerFrom, Length, Object, RawJson};
use appduct_rpc::RpcError;
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::endpoint::Endpoint;
use super::page::Page;
use super::refusal;
use super::targets::Target;

/// The longest message of a browser that is read: the largest frame, escaped twice, fits several times.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// A socket to one tab.
#[derive(Debug)]
pub(super) struct Tab {
    ws: WebSocketStream<TcpStream>,
    next_id: u64,
}

/// What a browser says.
#[derive(Debug)]
pub(super) enum Said {
    /// A command has ended.
    Answer(Answer),
    /// Something has happened.
    Event(DevtoolsEvent),
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) id: u64,
    /// The error is the browser's text.
    pub(super) result: Result<RawJson, String>,
}

#[derive(Debug)]
pub(super) struct DevtoolsEvent {
    pub(super) method: String,
    pub(super) params: RawJson,
}

/// The tab is gone, or its browser is.
#[derive(Debug)]
pub(super) struct TabGone;

impl Tab {
    pub(super) async fn open(endpoint: &Endpoint, target: &Target) -> Result<Self, RpcError> {
        let failed = |error: String| refusal(format!("cannot open the tab {:?}: {error}", target.id));
        let stream = endpoint.connect().await.map_err(|error| failed(error.to_string()))?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let address = format!("ws://{}{}", endpoint.authority(), target.path);
        let (ws, _) =
            client_async_with_config(address, stream, Some(config)).await.map_err(|error| failed(error.to_string()))?;
        Ok(Self { ws, next_id: 1 })
    }

    /// Sends a command and waits for its answer.
    pub(super) async fn call(&mut self, page: &mut Page, method: &str, params: &RawJson) -> Result<RawJson, RpcError> {
        let answer = self.ask(page, method, params).await?;
        answer.map_err(|error| refusal(format!("the browser refuses {method}: {error:?}")))
    }

    /// The same, where the browser may refuse it, in its own words. The page's record follows what happens meanwhile; what
    /// the page itself says is of a life before its link, and dropped.
    pub(super) async fn ask(
        &mut self,
        page: &mut Page,
        method: &str,
        params: &RawJson,
    ) -> Result<Result<RawJson, String>, RpcError> {
        let gone = |TabGone| refusal("the tab was closed, or somebody else debugs it");
        let id = self.send(method, params).await.map_err(gone)?;
        loop {
            match self.next().await.map_err(gone)? {
                Said::Answer(answer) if answer.id == id => return Ok(answer.result),
                Said::Answer(_) => {}
                Said::Event(event) => {
                    page.hear(&event);
                }
            }
        }
    }

    /// Sends a command and returns its number.
    pub(super) async fn send(&mut self, method: &str, params: &RawJson) -> Result<u64, TabGone> {
        let id = self.next_id;
        self.next_id += 1;
        let command = Object::new().display("id", id).text("method", method).raw("params", params).finish();
        self.ws.send(Message::text(command)).await.map_err(|_| TabGone)?;
        Ok(id)
    }

    /// The next that the browser says. Nothing is lost when it is dropped half-way.
    pub(super) async fn next(&mut self) -> Result<Said, TabGone> {
        loop {
            match self.ws.next().await {
                Some(Ok(Message::Text(text))) => {
                    if let Some(said) = parse(&text) {
                        return Ok(said);
                    }
                }
                Some(Ok(Message::Ping(_))) => self.ws.flush().await.map_err(|_| TabGone)?,
                Some(Ok(Message::Binary(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(TabGone),
            }
        }
    }
}

/// What is neither an answer nor an event is nothing.
fn parse(text: &str) -> Option<Said> {
    let fields = Fields::parse(text)?;
    let raw = |key| fields.get(key).and_then(|raw| RawJson::parse(raw.get()).ok());
    if let Ok(Some(id)) = fields.optional_integer("id", IntegerFrom::One) {
        let result = match raw("error") {
            Some(error) => Err(Fields::parse(error.as_str())
                .and_then(|error| error.text("message", Length::ANY).ok().map(std::borrow::Cow::into_owned))
                .unwrap_or_default()),
            None => Ok(raw("result").unwrap_or_else(RawJson::empty_object)),
        };
        return Some(Said::Answer(Answer { id, result }));
    }
    let method = fields.text("method", Length::NON_EMPTY).ok()?.into_owned();
    Some(Said::Event(DevtoolsEvent { method, params: raw("params").unwrap_or_else(RawJson::empty_object) }))
}

pub(super) fn fields(raw: &RawJson) -> Option<Fields<'_>> {
    Fields::parse(raw.as_str())
}

/// The object under `key`.
pub(super) fn object<'a>(fields: &Fields<'a>, key: &str) -> Option<Fields<'a>> {
    fields.get(key).and_then(|raw| Fields::parse(raw.get()))
}
