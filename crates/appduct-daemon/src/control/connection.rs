//! One control connection.

use std::sync::Arc;
use std::time::Duration;

use appduct_proto::wire::RawJson;
use appduct_rpc::RpcError;
use appduct_rpc::line::{self, BadRequest, Line, Lines, MAX_LINE_BYTES};
use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use super::client::{Client, ClientId, Outgoing, Queue, Slot};
use crate::event_loop::{Event, Mailbox};
use crate::handlers::Request;

/// Requests of one connection that may wait for their replies; the next one is read when one of them has been written.
const MAX_OPEN_REQUESTS: usize = 4096;
const READ_BYTES: usize = 64 * 1024;

/// How long what is still to be written may take once the client has stopped sending.
const LINGER: Duration = Duration::from_secs(2);

/// Serves a client until it hangs up, breaks the rules of lines, or is dropped.
pub(super) async fn run(client: ClientId, stream: UnixStream, mailbox: &Mailbox) {
    let (handle, queue) = Client::new();
    let (reading, writing) = stream.into_split();
    let reader =
        Reader { client, mailbox, outgoing: handle.sender(), slots: Arc::new(Semaphore::new(MAX_OPEN_REQUESTS)) };
    if mailbox.send(Event::ClientConnected { client, handle }).await.is_err() {
        return;
    }
    let (outgoing, mut killed, unsent_bytes) = queue.into_parts();
    let written = |bytes| Queue::written(&unsent_bytes, bytes);
    let mut writer = std::pin::pin!(write(writing, outgoing, written));
    let wrote_all = tokio::select! {
        () = reader.read(reading) => {
            // What was asked before is answered still; calls are over.
            mailbox.send(Event::ClientGone { client }).await.ok();
            timeout(LINGER, writer.as_mut()).await.is_ok()
        }
        () = writer.as_mut() => {
            mailbox.send(Event::ClientGone { client }).await.ok();
            true
        }
        Ok(()) = &mut killed => {
            mailbox.send(Event::ClientGone { client }).await.ok();
            false
        }
    };
    if !wrote_all {
        tracing::debug!("a control connection ended before everything was written");
    }
}

struct Reader<'a> {
    client: ClientId,
    mailbox: &'a Mailbox,
    outgoing: mpsc::WeakUnboundedSender<Outgoing>,
    slots: Arc<Semaphore>,
}

impl Reader<'_> {
    /// Reads requests until the client hangs up or its lines are too long.
    async fn read(self, mut stream: OwnedReadHalf) {
        let mut lines = Lines::bounded(MAX_LINE_BYTES);
        loop {
            while let Some(line) = lines.next_line() {
                match line {
                    Line::Complete(line) => {
                        if self.handle(line).await.is_err() {
                            return;
                        }
                    }
                    Line::TooLong => {
                        self.refuse(RawJson::null(), RpcError::line_too_long()).await.ok();
                        return;
                    }
                    Line::Endless => return,
                }
            }
            lines.tail().reserve(READ_BYTES);
            match (&mut stream).take(READ_BYTES as u64).read_buf(lines.tail()).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }

    async fn handle(&self, line: Bytes) -> Result<(), Gone> {
        let request = match line::decode_request(&line) {
            Ok(request) => request,
            Err(BadRequest { id, error }) => return self.refuse(id, error).await,
        };
        match Request::parse(&request) {
            Ok(parsed) => {
                let slot = self.slot().await?;
                let event = Event::ClientRequest { client: self.client, id: request.id, request: parsed, slot };
                self.mailbox.send(event).await.map_err(|_| Gone)
            }
            Err(error) => self.refuse(request.id, error).await,
        }
    }

    async fn refuse(&self, id: RawJson, error: RpcError) -> Result<(), Gone> {
        let slot = self.slot().await?;
        let outgoing = self.outgoing.upgrade().ok_or(Gone)?;
        outgoing.send(Outgoing::Reply { id, result: Err(error), slot, written: None }).map_err(|_| Gone)
    }

    async fn slot(&self) -> Result<Slot, Gone> {
        Arc::clone(&self.slots).acquire_owned().await.map(Slot::from).map_err(|_| Gone)
    }
}

/// The other side of a queue is gone.
struct Gone;

/// Writes until nobody can queue anything more, or the client is gone.
async fn write(
    mut stream: impl AsyncWrite + Unpin,
    mut outgoing: mpsc::UnboundedReceiver<Outgoing>,
    notification_written: impl Fn(usize),
) {
    while let Some(item) = outgoing.recv().await {
        let written = match item {
            Outgoing::Notification(text) => {
                let result = stream.write_all(text.as_bytes()).await;
                notification_written(text.len());
                result
            }
            Outgoing::Reply { id, result, slot, written } => {
                let line = match result.and_then(|reply| reply.encode()) {
                    Ok(result) => line::reply(&id, &result),
                    Err(error) => line::error(&id, &error),
                };
                let result = stream.write_all(line.as_bytes()).await;
                if let (Ok(()), Some(written)) = (&result, written) {
                    written.send(()).ok();
                }
                drop(slot);
                result
            }
        };
        if written.is_err() {
            return;
        }
    }
}
