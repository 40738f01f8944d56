//! The life of one socket: open, speak, close.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use appduct_proto::app::{SocketError, SocketId, SocketLoss};
use appduct_proto::wire::{Close, MAX_FRAME_BYTES};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::tls::is_pin_mismatch;
use super::{CLOSING_TIME, OPENING_TIME, Order, SocketEvent};
use crate::error::PIN_MISMATCH;

type WebSocket = WebSocketStream<TlsStream<TcpStream>>;

pub(super) struct Connection {
    socket: SocketId,
    events: mpsc::Sender<(SocketId, SocketEvent)>,
    orders: mpsc::UnboundedReceiver<Order>,
    queued_bytes: Arc<AtomicUsize>,
}

/// Why a side of the socket came to its end.
enum End {
    /// The driver closes, or is gone. It gives that a time of its own.
    Ours(Option<Close>),
    /// The peer closed, or the stream broke.
    Theirs(SocketLoss),
    /// A write failed.
    Unwritable,
}

impl Connection {
    pub(super) fn new(
        socket: SocketId,
        events: mpsc::Sender<(SocketId, SocketEvent)>,
        orders: mpsc::UnboundedReceiver<Order>,
        queued_bytes: Arc<AtomicUsize>,
    ) -> Self {
        Self { socket, events, orders, queued_bytes }
    }

    pub(super) async fn run(mut self, address: SocketAddr, tls: TlsConnector) {
        let opened = tokio::select! {
            opened = timeout(OPENING_TIME, open(address, tls)) => opened,
            // Nothing is sent before the socket is open, so the first order is to close it.
            _ = self.orders.recv() => return,
        };
        let websocket = match opened {
            Ok(Ok(websocket)) => websocket,
            Ok(Err(error)) => return self.tell(SocketEvent::Lost(failed(error))).await,
            Err(_) => {
                let message = format!("{address} did not answer within {} seconds", OPENING_TIME.as_secs());
                let error = SocketError { code: "host_unreachable", message, retryable: true };
                return self.tell(SocketEvent::Lost(failed(error))).await;
            }
        };
        self.tell(SocketEvent::Opened).await;
        let (mut sink, mut stream) = websocket.split();
        let end = tokio::select! {
            end = write(&mut sink, &mut self.orders, &self.queued_bytes) => end,
            end = read(&mut stream, self.socket, &self.events) => end,
        };
        match end {
            End::Ours(close) => say_goodbye(&mut sink, &mut stream, close).await,
            End::Theirs(loss) => {
                self.tell(SocketEvent::Lost(loss)).await;
                // The peer's close is answered, if it still listens.
                drop(timeout(CLOSING_TIME, sink.close()).await);
            }
            End::Unwritable => self.tell(SocketEvent::SendFailed).await,
        }
    }

    async fn tell(&self, event: SocketEvent) {
        // The driver is gone only when it has given up every socket.
        self.events.send((self.socket, event)).await.unwrap_or_default();
    }
}

async fn open(address: SocketAddr, tls: TlsConnector) -> Result<WebSocket, SocketError> {
    let error = |code, message| SocketError { code, message, retryable: true };
    let stream = TcpStream::connect(address)
        .await
        .map_err(|cause| error("host_unreachable", format!("cannot connect to {address}: {cause}")))?;
    // Frames are small and somebody waits for each.
    stream
        .set_nodelay(true)
        .map_err(|cause| error("connection_failed", format!("the connection to {address} failed: {cause}")))?;
    let stream = tls.connect(ServerName::from(address.ip()), stream).await.map_err(|cause| {
        if is_pin_mismatch(&cause) {
            let message = format!("the key of the daemon at {address} matches no pin that the app trusts");
            SocketError { code: PIN_MISMATCH, message, retryable: false }
        } else {
            error("tls_handshake_failed", format!("no secure connection to {address}: {cause}"))
        }
    })?;
    let config =
        WebSocketConfig::default().max_message_size(Some(MAX_FRAME_BYTES)).max_frame_size(Some(MAX_FRAME_BYTES));
    let (websocket, _) = client_async_with_config(format!("wss://{address}/"), stream, Some(config))
        .await
        .map_err(|cause| error("connection_failed", format!("{address} refused the WebSocket: {cause}")))?;
    Ok(websocket)
}

/// Writes what the driver orders until it orders to close.
async fn write(
    sink: &mut SplitSink<WebSocket, Message>,
    orders: &mut mpsc::UnboundedReceiver<Order>,
    queued_bytes: &AtomicUsize,
) -> End {
    while let Some(order) = orders.recv().await {
        let mut next = Some(order);
        let mut written = 0;
        // What waits goes out in one piece.
        while let Some(order) = next {
            let message = match order {
                Order::Text(text) => {
                    written += text.len();
                    Message::text(text)
                }
                Order::Ping => Message::Ping(Bytes::new()),
                Order::Close(close) => return End::Ours(Some(close)),
            };
            if sink.feed(message).await.is_err() {
                return End::Unwritable;
            }
            next = orders.try_recv().ok();
        }
        if sink.flush().await.is_err() {
            return End::Unwritable;
        }
        queued_bytes.fetch_sub(written, Ordering::Relaxed);
    }
    End::Ours(None)
}

/// Reads until the peer closes or the stream breaks.
async fn read(
    stream: &mut SplitStream<WebSocket>,
    socket: SocketId,
    events: &mpsc::Sender<(SocketId, SocketEvent)>,
) -> End {
    loop {
        let event = match stream.next().await {
            Some(Ok(Message::Text(text))) => SocketEvent::Text(text.into()),
            Some(Ok(Message::Binary(_))) => SocketEvent::Binary,
            Some(Ok(Message::Pong(_))) => SocketEvent::Pong,
            // Pings are answered beneath, and frames come assembled.
            Some(Ok(Message::Ping(_) | Message::Frame(_))) => continue,
            Some(Ok(Message::Close(close))) => return End::Theirs(closed(close)),
            Some(Err(error)) => return End::Theirs(broken(&error)),
            None => return End::Theirs(broken(&Error::ConnectionClosed)),
        };
        if events.send((socket, event)).await.is_err() {
            return End::Ours(None);
        }
    }
}

/// Closes from this side and waits for the peer to agree.
async fn say_goodbye(
    sink: &mut SplitSink<WebSocket, Message>,
    stream: &mut SplitStream<WebSocket>,
    close: Option<Close>,
) {
    let frame = close.map(|close| CloseFrame { code: close.code.into(), reason: close.reason.into() });
    if sink.send(Message::Close(frame)).await.is_ok() {
        while let Some(Ok(message)) = stream.next().await
            && !message.is_close()
        {}
    }
}

fn closed(frame: Option<CloseFrame>) -> SocketLoss {
    let (code, reason) = match frame {
        Some(frame) => (Some(frame.code.into()), Some(frame.reason.to_string())),
        None => (None, None),
    };
    SocketLoss { code, reason, error: None }
}

fn broken(error: &Error) -> SocketLoss {
    let is_end = match error {
        Error::ConnectionClosed | Error::AlreadyClosed => true,
        Error::Io(cause) => cause.kind() == io::ErrorKind::UnexpectedEof,
        Error::Protocol(fault) => *fault == ProtocolError::ResetWithoutClosingHandshake,
        Error::Tls(_)
        | Error::Capacity(_)
        | Error::WriteBufferFull(_)
        | Error::Utf8(_)
        | Error::AttackAttempt
        | Error::Url(_)
        | Error::Http(_)
        | Error::HttpFormat(_) => false,
    };
    let message = if is_end {
        "the connection ended without a close".to_owned()
    } else {
        format!("the connection broke: {error}")
    };
    failed(SocketError { code: "receive_failed", message, retryable: true })
}

fn failed(error: SocketError) -> SocketLoss {
    SocketLoss { error: Some(error), ..SocketLoss::default() }
}
