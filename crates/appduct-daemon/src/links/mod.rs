//! Device connections: socket bytes and close codes into the host's inputs, its outputs onto sockets.

mod handshakes;
mod listener;
mod origin;
mod outbox;
mod socket;
mod tls;
mod upgrade;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use appduct_proto::host::{SocketId, Transport};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::event_loop::{Event, Mailbox};
use crate::leaf::LeafResolver;
use handshakes::{Evicted, Handshakes, Place};
use upgrade::Refused;

pub(crate) use listener::{BindError, Bound};
pub(crate) use origin::Origins;
pub(crate) use outbox::{Outbox, Overfull};

/// Connections that may be between accept and WebSocket at once; with a further one the oldest silent one goes.
const MAX_HANDSHAKES: usize = 256;

/// How long a connection that is being closed may take to go, and how much of what the peer still sends is taken from it
/// meanwhile: bytes that nobody reads would turn the end into a reset, which can destroy the close frame on its way.
const LINGER: Duration = Duration::from_secs(2);
const MAX_DRAIN_BYTES: usize = 4 * 1024 * 1024;

/// What every accepted connection shares.
#[derive(Clone)]
pub(crate) struct Doorway {
    /// Where events go.
    pub(crate) mailbox: Mailbox,
    /// Bytes that may wait for one device.
    pub(crate) queue_bytes: usize,
    /// Connections that each device port may hold, whatever their state.
    pub(crate) connections_per_port: usize,
    /// From accept to WebSocket.
    pub(crate) handshake_timeout: Duration,
    /// Held by every open socket: when all are gone, the last close frame is out.
    pub(crate) open: mpsc::Sender<()>,
    /// Numbers the sockets of all listeners.
    pub(crate) next_socket: Arc<AtomicU64>,
}

/// Accepts native apps until the process ends or the returned tasks are aborted.
pub(crate) fn serve_native(
    bound: Bound,
    resolver: LeafResolver,
    doorway: &Doorway,
) -> Result<Vec<JoinHandle<()>>, rustls::Error> {
    Ok(serve(bound, Entrance::Native(tls::acceptor(resolver)?), doorway))
}

/// Accepts web pages of `origins` until the process ends or the returned tasks are aborted.
pub(crate) fn serve_web(bound: Bound, origins: Origins, doorway: &Doorway) -> Vec<JoinHandle<()>> {
    serve(bound, Entrance::Web(origins), doorway)
}

fn serve(bound: Bound, entrance: Entrance, doorway: &Doorway) -> Vec<JoinHandle<()>> {
    let handshakes = Handshakes::new(MAX_HANDSHAKES);
    let room = Arc::new(Semaphore::new(doorway.connections_per_port));
    let port = Arc::new(Port { entrance, doorway: doorway.clone(), handshakes, room });
    bound.into_listeners().into_iter().map(|listener| tokio::spawn(Arc::clone(&port).accept(listener))).collect()
}

/// A device port. Each has its own bounds, so a flood of one keeps nobody out of the other.
struct Port {
    entrance: Entrance,
    doorway: Doorway,
    handshakes: Handshakes,
    /// A permit for each connection.
    room: Arc<Semaphore>,
}

/// What comes before the WebSocket.
enum Entrance {
    /// TLS.
    Native(TlsAcceptor),
    /// Nothing but the question where the page is from.
    Web(Origins),
}

impl Port {
    async fn accept(self: Arc<Self>, listener: TcpListener) {
        loop {
            let stream = listener::accept(&listener).await;
            let Some(permit) = self.admit().await else {
                tracing::debug!("a device connection was closed at once: there is no room for it");
                continue;
            };
            let place = self.handshakes.enter();
            let port = Arc::clone(&self);
            tokio::spawn(async move {
                match &port.entrance {
                    Entrance::Native(acceptor) => {
                        let opened = port.handshake(place, stream, |stream| open_native(acceptor, stream)).await;
                        port.hold(opened, Transport::Native).await;
                    }
                    Entrance::Web(origins) => {
                        let opened = port.handshake(place, stream, |stream| open_web(origins, stream)).await;
                        port.hold(opened, Transport::Web).await;
                    }
                }
                drop(permit);
            });
        }
    }

    /// Room for one more connection, at the cost of the oldest silent one where there is none.
    async fn admit(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() {
            return Some(permit);
        }
        if !self.handshakes.evict() {
            return None;
        }
        Arc::clone(&self.room).acquire_owned().await.ok()
    }

    /// Everything up to the WebSocket, in its time and while there is a place for it.
    async fn handshake<S, F: Future<Output = Result<(S, Vec<u8>), Refused>>>(
        &self,
        (place, evicted): (Place, Evicted),
        stream: TcpStream,
        open: impl FnOnce(TcpStream) -> F,
    ) -> Option<(S, Vec<u8>)> {
        let opening = async {
            // Unlike readiness, a byte to look at is never a false alarm.
            stream.peek(&mut [0]).await?;
            place.speaks();
            open(stream).await
        };
        let opened = tokio::select! {
            opened = timeout(self.doorway.handshake_timeout, opening) => opened,
            _ = evicted => {
                tracing::debug!("a silent device connection made room for another");
                return None;
            }
        };
        match opened {
            Ok(Ok(opened)) => return Some(opened),
            Ok(Err(Refused::Status(status))) => tracing::debug!(status, "no WebSocket on a device port"),
            Ok(Err(Refused::Io(error))) => tracing::debug!(%error, "a device connection ended in its handshake"),
            Err(_) => tracing::debug!("a device connection took too long over its handshake"),
        }
        None
    }

    async fn hold<S: AsyncRead + AsyncWrite + Unpin + Send>(&self, opened: Option<(S, Vec<u8>)>, transport: Transport) {
        if let Some((stream, early)) = opened {
            self.doorway.hold(stream, early, transport).await;
        }
    }
}

/// The WebSocket's stream, and what came with the request's head.
async fn open_native(acceptor: &TlsAcceptor, stream: TcpStream) -> Result<(DeviceStream, Vec<u8>), Refused> {
    stream.set_nodelay(true)?;
    let mut first = [0];
    stream.peek(&mut first).await?;
    if upgrade::is_plain_http(first[0]) {
        let mut stream = stream;
        let refused = upgrade::refuse_plain(&mut stream).await;
        return Err(leave(&mut stream, refused).await);
    }
    open(Box::new(acceptor.accept(stream).await?), None).await
}

/// The same without TLS.
async fn open_web(origins: &Origins, stream: TcpStream) -> Result<(TcpStream, Vec<u8>), Refused> {
    stream.set_nodelay(true)?;
    open(stream, Some(origins)).await
}

async fn open<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    origins: Option<&Origins>,
) -> Result<(S, Vec<u8>), Refused> {
    match upgrade::upgrade(&mut stream, origins).await {
        Ok(early) => Ok((stream, early)),
        Err(refused) => Err(leave(&mut stream, refused).await),
    }
}

/// Gives the peer time to read its answer, if it has got one.
async fn leave<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, refused: Refused) -> Refused {
    if let Refused::Status(_) = refused {
        goodbye(stream).await;
    }
    refused
}

type DeviceStream = Box<tokio_rustls::server::TlsStream<TcpStream>>;

impl Doorway {
    /// Runs one WebSocket until it ends.
    async fn hold<S: AsyncRead + AsyncWrite + Unpin + Send>(&self, stream: S, early: Vec<u8>, transport: Transport) {
        let id = SocketId(self.next_socket.fetch_add(1, Ordering::Relaxed));
        let open = self.open.clone();
        let (outbox, queue) = Outbox::new(self.queue_bytes);
        if self.mailbox.send(Event::SocketOpened { socket: id, transport, outbox }).await.is_ok() {
            socket::run(id, stream, early, queue, &self.mailbox).await;
        }
        drop(open);
    }
}

/// Ends the sending side and takes what the peer still sends, within bounds.
async fn goodbye<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) {
    let drained = async {
        stream.shutdown().await?;
        let mut scrap = vec![0; 4096];
        let mut total = 0;
        while total < MAX_DRAIN_BYTES {
            match stream.read(&mut scrap).await? {
                0 => break,
                read => total += read,
            }
        }
        Ok::<(), io::Error>(())
    };
    // However it ends, the connection is dropped next.
    timeout(LINGER, drained).await.ok();
}
