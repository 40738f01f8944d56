//! Device connections: socket bytes and close codes into the host's inputs, its outputs onto sockets.

mod listener;
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
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::event_loop::{Event, Mailbox};
use crate::leaf::LeafResolver;
use upgrade::Refused;

pub(crate) use listener::{BindError, Bound};
pub(crate) use outbox::{Outbox, Overfull};

/// Connections that may be between accept and WebSocket at once; further ones wait in the system's queue.
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
) -> Result<Vec<tokio::task::JoinHandle<()>>, rustls::Error> {
    let acceptor = tls::acceptor(resolver)?;
    let handshakes = Arc::new(Semaphore::new(MAX_HANDSHAKES));
    let accept = |listener| {
        let native =
            Native { acceptor: acceptor.clone(), doorway: doorway.clone(), handshakes: Arc::clone(&handshakes) };
        tokio::spawn(native.accept(listener))
    };
    Ok(bound.into_listeners().into_iter().map(accept).collect())
}

struct Native {
    acceptor: TlsAcceptor,
    doorway: Doorway,
    handshakes: Arc<Semaphore>,
}

impl Native {
    async fn accept(self, listener: TcpListener) {
        let native = Arc::new(self);
        loop {
            let permit = Arc::clone(&native.handshakes).acquire_owned().await;
            let stream = listener::accept(&listener).await;
            let native = Arc::clone(&native);
            tokio::spawn(async move {
                let opened = timeout(native.doorway.handshake_timeout, native.open(stream)).await;
                drop(permit);
                match opened {
                    Ok(Ok((stream, early))) => native.doorway.hold(stream, early, Transport::Native).await,
                    Ok(Err(Refused::Status(status))) => tracing::debug!(status, "plain HTTP on the device port"),
                    Ok(Err(Refused::Io(error))) => {
                        tracing::debug!(%error, "a device connection ended in its handshake")
                    }
                    Err(_) => tracing::debug!("a device connection took too long over its handshake"),
                }
            });
        }
    }

    /// The WebSocket's stream, and what came with the request's head.
    async fn open(&self, stream: TcpStream) -> Result<(DeviceStream, Vec<u8>), Refused> {
        stream.set_nodelay(true)?;
        let mut stream = Box::new(self.acceptor.accept(stream).await?);
        match upgrade::upgrade(&mut stream).await {
            Ok(early) => Ok((stream, early)),
            Err(refused) => {
                if let Refused::Status(_) = refused {
                    goodbye(&mut stream).await;
                }
                Err(refused)
            }
        }
    }
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
