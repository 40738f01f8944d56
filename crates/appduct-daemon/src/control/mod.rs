//! The control socket: JSON-RPC lines into requests, replies and notifications into lines.

mod client;
mod connection;

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;

use crate::event_loop::Mailbox;

pub(crate) use client::{Client, ClientId, Slot};

/// Connections that may be open at once; further ones wait in the system's queue.
const MAX_CONNECTIONS: usize = 1024;
const BACKLOG: i32 = 128;
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Listens at `path`, where nothing may be. Nobody can connect before the file is closed to others, whatever the process's
/// umask: its mode is set between bind and listen.
pub(crate) fn bind(path: &Path) -> io::Result<UnixListener> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    let listening = (|| {
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)
    })();
    match listening {
        Ok(()) => UnixListener::from_std(socket.into()),
        Err(error) => {
            fs::remove_file(path).ok();
            Err(error)
        }
    }
}

/// Accepts clients until the task is aborted. `open` is held by every connection: when all are gone, everything is written.
pub(crate) fn serve(listener: UnixListener, mailbox: Mailbox, open: mpsc::Sender<()>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let next_client = AtomicU64::new(0);
        let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let permit = Arc::clone(&connections).acquire_owned().await;
            let stream = accept(&listener).await;
            let client = ClientId(next_client.fetch_add(1, Ordering::Relaxed));
            let (mailbox, open) = (mailbox.clone(), open.clone());
            tokio::spawn(async move {
                connection::run(client, stream, &mailbox).await;
                drop((permit, open));
            });
        }
    })
}

async fn accept(listener: &UnixListener) -> UnixStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) if is_ours(&stream) => return stream,
            Ok(_) => tracing::warn!("refused a control connection of another user"),
            Err(error) => {
                tracing::warn!(%error, "cannot accept a control connection; trying on");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// The directory's and the file's mode keep others out; this holds even if somebody opens them up.
fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == 0 || peer.uid() == rustix::process::geteuid().as_raw())
}
