//! One device socket: a WebSocket between a peer and the event loop.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use appduct_proto::host::{SocketFault, SocketId};
use appduct_proto::wire::{Close, MAX_FRAME_BYTES, Received};
use bytes::Bytes;
use futures_util::{Sink, SinkExt, Stream};
use std::future::{Future, poll_fn};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as WsError, Message};

use super::outbox::{Ending, Item, Queue};
use super::{LINGER, goodbye};
use crate::event_loop::{Event, Mailbox};

/// Small, because most sessions are idle most of the time.
const BUFFER_BYTES: usize = 4 * 1024;

/// How much is handed to the socket before it must be written out.
const BATCH_BYTES: usize = 64 * 1024;

fn websocket_config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_message_size(Some(MAX_FRAME_BYTES))
        .max_frame_size(Some(MAX_FRAME_BYTES))
}

/// Runs the socket until either side ends it, and says so to the event loop as the last thing.
pub(super) async fn run<S: AsyncRead + AsyncWrite + Unpin + Send>(
    id: SocketId,
    stream: S,
    early: Vec<u8>,
    queue: Queue,
    mailbox: &Mailbox,
) {
    let ws = WebSocketStream::from_partially_read(stream, early, Role::Server, Some(websocket_config())).await;
    let mut socket = Socket { id, ws, queue, mailbox, unwritten_bytes: 0, must_flush: false };
    let end = socket.relay().await;
    // A peer that is gone is reported before the farewell, which can take a while.
    let close = match &end {
        End::ByPeer(close) => close.clone(),
        End::ByDaemon(_) | End::Broken => None,
    };
    if !matches!(end, End::ByDaemon(_)) {
        mailbox.send(Event::SocketClosed { socket: id, close: close.clone() }).await.ok();
    }
    let by_daemon = matches!(end, End::ByDaemon(_));
    timeout(LINGER, socket.finish(end)).await.ok();
    if by_daemon {
        mailbox.send(Event::SocketClosed { socket: id, close: None }).await.ok();
    }
}

struct Socket<'a, S> {
    id: SocketId,
    ws: WebSocketStream<S>,
    queue: Queue,
    mailbox: &'a Mailbox,
    /// Handed to the WebSocket, not yet known to be written.
    unwritten_bytes: usize,
    must_flush: bool,
}

/// Why the relay ended.
enum End {
    /// The event loop wants it.
    ByDaemon(Ending),
    /// The peer left, with or without a close frame.
    ByPeer(Option<Close>),
    /// The peer broke the WebSocket protocol itself.
    Broken,
}

/// What the socket has to deal with next.
enum Step {
    Ending(Ending),
    Incoming(Option<Result<Message, WsError>>),
    WriteFailed,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Socket<'_, S> {
    async fn relay(&mut self) -> End {
        loop {
            let message = match poll_fn(|context| self.poll_step(context)).await {
                Step::Ending(ending) => return End::ByDaemon(ending),
                Step::WriteFailed => return self.report(SocketFault::SendFailed).await,
                Step::Incoming(message) => message,
            };
            let sent = match message {
                None => return End::ByPeer(None),
                Some(Ok(Message::Text(text))) => {
                    let received = Received::decode(&Bytes::from(text));
                    self.mailbox.send(Event::SocketReceived { socket: self.id, received }).await
                }
                Some(Ok(Message::Binary(_))) => return self.report(SocketFault::Binary).await,
                Some(Ok(Message::Pong(_))) => self.mailbox.send(Event::SocketPong { socket: self.id }).await,
                Some(Ok(Message::Ping(_))) => {
                    // The answer is queued by the library and goes out with the next flush.
                    self.must_flush = true;
                    Ok(())
                }
                Some(Ok(Message::Close(frame))) => {
                    let close = |frame: CloseFrame| Close { code: frame.code.into(), reason: frame.reason.to_string() };
                    return End::ByPeer(frame.map(close));
                }
                // Raw frames are never read.
                Some(Ok(Message::Frame(_))) => Ok(()),
                Some(Err(WsError::Capacity(_))) => return self.report(SocketFault::TooBig).await,
                Some(Err(WsError::Utf8(_))) => return self.report(SocketFault::InvalidUtf8).await,
                Some(Err(WsError::Protocol(fault))) if fault != ProtocolError::ResetWithoutClosingHandshake => {
                    return End::Broken;
                }
                Some(Err(_)) => return End::ByPeer(None),
            };
            if sent.is_err() {
                return End::ByDaemon(Ending::Abort);
            }
        }
    }

    /// Hands a fault to the host, takes nothing more from the peer, and waits for what the host makes of it.
    async fn report(&mut self, fault: SocketFault) -> End {
        if self.mailbox.send(Event::SocketFault { socket: self.id, fault }).await.is_err() {
            return End::ByDaemon(Ending::Abort);
        }
        End::ByDaemon((&mut self.queue.ending).await.unwrap_or(Ending::Abort))
    }

    /// Writes what waits, reads what comes, and stays ready to be ended while either of them blocks.
    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        if let Poll::Ready(ending) = Pin::new(&mut self.queue.ending).poll(context) {
            return Poll::Ready(Step::Ending(ending.unwrap_or(Ending::Abort)));
        }
        if let Poll::Ready(Err(_)) = self.poll_write(context) {
            return Poll::Ready(Step::WriteFailed);
        }
        Pin::new(&mut self.ws).poll_next(context).map(Step::Incoming)
    }

    /// Pending, always, unless a write fails: there is always more to wait for.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<Result<(), WsError>> {
        loop {
            while self.unwritten_bytes < BATCH_BYTES {
                let ws = Pin::new(&mut self.ws);
                if ws.poll_ready(context)?.is_pending() {
                    break;
                }
                let Poll::Ready(Some(item)) = self.queue.items.poll_recv(context) else { break };
                self.unwritten_bytes += item.len_bytes();
                self.must_flush = true;
                Pin::new(&mut self.ws).start_send(message(item))?;
            }
            if !self.must_flush {
                return Poll::Pending;
            }
            ready!(Pin::new(&mut self.ws).poll_flush(context))?;
            self.queue.written(std::mem::take(&mut self.unwritten_bytes));
            self.must_flush = false;
        }
    }

    /// Says goodbye as far as the peer lets us.
    async fn finish(mut self, end: End) {
        let frame = match end {
            End::ByDaemon(Ending::Abort) => return,
            End::ByDaemon(Ending::Close { close, discard_queue }) => {
                while let Ok(item) = self.queue.items.try_recv() {
                    if !discard_queue && self.ws.feed(message(item)).await.is_err() {
                        return;
                    }
                }
                Some(CloseFrame { code: close.code.into(), reason: close.reason.into() })
            }
            End::Broken => Some(CloseFrame { code: CloseCode::Protocol, reason: "".into() }),
            // Flushing sends the answer to the peer's close frame.
            End::ByPeer(_) => None,
        };
        match frame {
            Some(frame) => self.ws.send(Message::Close(Some(frame))).await.ok(),
            None => self.ws.flush().await.ok(),
        };
        goodbye(self.ws.get_mut()).await;
    }
}

fn message(item: Item) -> Message {
    match item {
        Item::Text(text) => Message::text(text),
        Item::Ping => Message::Ping(Bytes::new()),
    }
}
