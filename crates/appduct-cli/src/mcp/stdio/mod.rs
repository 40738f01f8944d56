//! The protocol on standard input and output: a message a line.
//!
//! The library drops a line that it cannot read, and its sender then waits for ever. So lines are read here: what can be
//! repaired is, and whatever else has an id is answered.

mod line;

use std::collections::HashSet;
use std::io::{self, Write};
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, serve_server};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::message::{self, Input};
use super::server::Server;
use line::Lines;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// Messages that wait for the library; a client that sends more is read more slowly.
const QUEUED_MESSAGES: usize = 256;
/// Lines that wait for the client; the library waits where it reads more slowly.
const QUEUED_LINES: usize = 256;
/// How long requests that were there before the end of the input may still take.
const LAST_REPLIES: Duration = Duration::from_millis(200);

/// Serves the client at the other end until it closes its end.
pub(super) async fn serve(server: Server) -> io::Result<()> {
    let (messages, incoming) = mpsc::channel(QUEUED_MESSAGES);
    let (outgoing, lines) = mpsc::channel(QUEUED_LINES);
    let unanswered = watch::Sender::new(Unanswered::default());
    let answered = unanswered.clone();
    std::thread::Builder::new().name("mcp stdout".to_owned()).spawn(move || write(lines, &answered))?;
    let transport = Stdio { incoming, outgoing: outgoing.clone(), is_opening: true };
    let ended = server.ended();
    let library = tokio::spawn(async move {
        // It fails where the client goes before its first message, which is no failure.
        if let Ok(running) = serve_server(server, transport).await {
            running.waiting().await.ok();
        }
    });
    read(tokio::io::stdin(), messages, outgoing, &unanswered).await;
    ended.cancel();
    // What was asked and needs no wait is answered still.
    timeout(LAST_REPLIES, unanswered.subscribe().wait_for(Unanswered::is_empty)).await.map(drop).unwrap_or_default();
    library.abort();
    Ok(())
}

/// The requests that the library has and that are not answered.
#[derive(Debug, Default)]
struct Unanswered {
    /// The ids of those that a reply is owed.
    ids: HashSet<RequestId>,
    /// The ids of those that were taken back, which stay taken: no reply says when the library is done with them. They are as
    /// many as the client has spent.
    taken_back: HashSet<RequestId>,
    /// Whether a reply is being written. Its id is free from the first byte on: the client may be as quick.
    is_writing: bool,
}

impl Unanswered {
    /// Whether this id was free.
    fn begin(&mut self, id: &RequestId) -> bool {
        !self.taken_back.contains(id) && self.ids.insert(id.clone())
    }

    /// Whether there was a request with this id.
    fn take_back(&mut self, id: &RequestId) -> bool {
        self.ids.take(id).is_some_and(|id| self.taken_back.insert(id))
    }

    fn is_empty(&self) -> bool {
        self.ids.is_empty() && !self.is_writing
    }
}

/// Reads until the client closes its end.
async fn read(
    mut stdin: impl AsyncRead + Unpin,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<Outgoing>,
    unanswered: &watch::Sender<Unanswered>,
) {
    let mut lines = Lines::default();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = match stdin.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(read) => read,
        };
        lines.push(&chunk[..read]);
        while let Some(input) = lines.next_input() {
            let sent = match noted(input, unanswered) {
                Input::Message(message) => messages.send(*message).await.is_ok(),
                Input::Refused(line) => outgoing.send(Outgoing { line, answers: None }).await.is_ok(),
            };
            if !sent {
                return;
            }
        }
    }
}

/// Notes what begins or is taken back. A request with the id of one that may still run is refused: the library would answer
/// only one of them.
fn noted(input: Input, unanswered: &watch::Sender<Unanswered>) -> Input {
    let Input::Message(message) = &input else { return input };
    match &**message {
        ClientJsonRpcMessage::Request(request) => {
            let is_new = unanswered.send_if_modified(|unanswered| unanswered.begin(&request.id));
            if is_new { input } else { Input::Refused(message::in_use(&request.id)) }
        }
        ClientJsonRpcMessage::Notification(notification) => {
            if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                let id = &cancelled.params.request_id;
                unanswered.send_if_modified(|unanswered| id.as_ref().is_some_and(|id| unanswered.take_back(id)));
            }
            input
        }
        ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => input,
    }
}

/// A line for the client.
#[derive(Debug)]
struct Outgoing {
    line: String,
    /// The request of the library's that it answers.
    answers: Option<RequestId>,
}

/// Writes lines on a thread of its own: a client that reads slowly holds nothing else up.
fn write(mut lines: mpsc::Receiver<Outgoing>, unanswered: &watch::Sender<Unanswered>) {
    let mut stdout = io::stdout().lock();
    while let Some(Outgoing { mut line, answers }) = lines.blocking_recv() {
        line.push('\n');
        if let Some(id) = &answers {
            unanswered.send_modify(|unanswered| {
                unanswered.ids.remove(id);
                unanswered.is_writing = true;
            });
        }
        if stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).is_err() {
            return;
        }
        if answers.is_some() {
            unanswered.send_modify(|unanswered| unanswered.is_writing = false);
        }
    }
}

/// The library's end.
struct Stdio {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<Outgoing>,
    /// Whether the client has not said yet which era it speaks. Until then the library takes requests only, and gives up
    /// at anything else.
    is_opening: bool,
}

impl Stdio {
    fn passes(&mut self, message: &ClientJsonRpcMessage) -> bool {
        if !self.is_opening {
            return true;
        }
        let ClientJsonRpcMessage::Request(request) = message else { return false };
        self.is_opening = !settles(&request.request);
        true
    }
}

/// Whether a request says which era its client speaks.
fn settles(request: &ClientRequest) -> bool {
    if matches!(request, ClientRequest::InitializeRequest(_)) {
        return true;
    }
    if matches!(request, ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)) {
        return false;
    }
    let meta = request.get_meta();
    let is_whole = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
    is_whole && meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let answers = match &message {
                ServerJsonRpcMessage::Response(response) => Some(response.id.clone()),
                ServerJsonRpcMessage::Error(error) => error.id.clone(),
                ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
            };
            let line = serde_json::to_string(&message)?;
            outgoing.send(Outgoing { line, answers }).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.incoming.recv().await?;
            if self.passes(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
