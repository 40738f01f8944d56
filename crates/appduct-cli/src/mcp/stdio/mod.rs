//! The protocol on standard input and output: a message a line.
//!
//! The library drops a line that it cannot read, and its sender then waits for ever. So lines are read here: what can be
//! repaired is, and whatever else has an id is answered.

mod line;

use std::io::{self, Write};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta, ProtocolVersion, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, serve_server};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::server::Server;
use line::{Input, Lines};

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
    let unanswered = watch::Sender::new(0_usize);
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
    timeout(LAST_REPLIES, unanswered.subscribe().wait_for(|count| *count == 0)).await.map(drop).unwrap_or_default();
    library.abort();
    Ok(())
}

/// Reads until the client closes its end.
async fn read(
    mut stdin: impl AsyncRead + Unpin,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    outgoing: mpsc::Sender<Outgoing>,
    unanswered: &watch::Sender<usize>,
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
            let sent = match input {
                Input::Message(message) => {
                    if matches!(*message, ClientJsonRpcMessage::Request(_)) {
                        unanswered.send_modify(|count| *count += 1);
                    }
                    messages.send(*message).await.is_ok()
                }
                Input::Refused(reply) => outgoing.send(Outgoing { line: reply, answers: false }).await.is_ok(),
            };
            if !sent {
                return;
            }
        }
    }
}

/// A line for the client.
#[derive(Debug)]
struct Outgoing {
    line: String,
    /// Whether it answers a request that the library has.
    answers: bool,
}

/// Writes lines on a thread of its own: a client that reads slowly holds nothing else up.
fn write(mut lines: mpsc::Receiver<Outgoing>, unanswered: &watch::Sender<usize>) {
    let mut stdout = io::stdout().lock();
    while let Some(Outgoing { mut line, answers }) = lines.blocking_recv() {
        line.push('\n');
        if stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).is_err() {
            return;
        }
        if answers {
            unanswered.send_modify(|count| *count = count.saturating_sub(1));
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
            let answers = matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_));
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
