//! The floor of a call: a line from a Unix socket goes over a TLS WebSocket and its echo comes back, on the crates of the
//! product and with no logic in between.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result};
use appduct_proto::wire::Pin;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async_with_config};

use crate::{socket, tls};

/// Where the lines for peers, or for connections, go.
type Routes = Arc<Mutex<BTreeMap<u32, mpsc::UnboundedSender<String>>>>;

/// Forwards until it is ended. A line is `<peer> <connection> <anything>`; the connection's number is put there by the
/// sender, who learns it from the first line that it gets.
pub(crate) async fn forward(socket_path: &Path) -> Result<()> {
    let (acceptor, pin) = tls::acceptor()?;
    let devices = TcpListener::bind("127.0.0.1:0").await?;
    let clients = UnixListener::bind(socket_path)?;
    say(&format!("{} {pin}", devices.local_addr()?.port()))?;
    let (peers, connections) = (Routes::default(), Routes::default());
    let routes = (Arc::clone(&peers), Arc::clone(&connections));
    let accept_devices = async move {
        while let Ok((stream, _)) = devices.accept().await {
            stream.set_nodelay(true).unwrap_or_default();
            let (acceptor, (peers, connections)) = (acceptor.clone(), (Arc::clone(&routes.0), Arc::clone(&routes.1)));
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                if let Ok(ws) = accept_async_with_config(stream, Some(socket::config())).await {
                    serve_device(ws, &peers, &connections).await;
                }
            });
        }
    };
    let accept_clients = async move {
        let mut number = 0;
        while let Ok((stream, _)) = clients.accept().await {
            number += 1;
            let (peers, connections) = (Arc::clone(&peers), Arc::clone(&connections));
            tokio::spawn(serve_client(number, stream, peers, connections));
        }
    };
    tokio::join!(accept_devices, accept_clients);
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the parent reads where the forwarder listens")]
fn say(line: &str) -> Result<()> {
    println!("{line}");
    Ok(std::io::Write::flush(&mut std::io::stdout())?)
}

fn route(routes: &Routes, to: u32, line: String) {
    let routes = routes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(route) = routes.get(&to) {
        // Whoever is gone gets nothing.
        route.send(line).unwrap_or_default();
    }
}

fn add(routes: &Routes, number: u32) -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    routes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(number, sender);
    receiver
}

/// The `index`th word of a line, as a number.
fn number(line: &str, index: usize) -> Option<u32> {
    line.split(' ').nth(index)?.parse().ok()
}

async fn serve_device<S>(ws: WebSocketStream<S>, peers: &Routes, connections: &Routes)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let (mut sink, mut stream) = ws.split();
    let Some(Ok(Message::Text(hello))) = stream.next().await else { return };
    let Some(who) = number(&hello, 0) else { return };
    let mut lines = add(peers, who);
    // From here on lines reach it.
    if sink.send(Message::Text(hello)).await.is_err() {
        return;
    }
    let write = async {
        while let Some(line) = lines.recv().await {
            if sink.send(Message::text(line)).await.is_err() {
                return;
            }
        }
    };
    let read = async {
        while let Some(Ok(message)) = stream.next().await {
            if let Message::Text(text) = message
                && let Some(connection) = number(&text, 1)
            {
                route(connections, connection, text.as_str().to_owned());
            }
        }
    };
    tokio::select! {
        () = write => {}
        () = read => {}
    }
}

async fn serve_client(number_of_client: u32, stream: tokio::net::UnixStream, peers: Routes, connections: Routes) {
    let (reading, mut writing) = stream.into_split();
    let mut replies = add(&connections, number_of_client);
    let write = async {
        let mut line = format!("{number_of_client}\n");
        loop {
            if writing.write_all(line.as_bytes()).await.is_err() {
                return;
            }
            match replies.recv().await {
                Some(reply) => line = reply + "\n",
                None => return,
            }
        }
    };
    let read = async {
        let mut lines = tokio::io::BufReader::new(reading).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(peer) = number(&line, 0) {
                route(&peers, peer, line);
            }
        }
    };
    tokio::select! {
        () = write => {}
        () = read => {}
    }
}

/// A forwarder in a process of its own, and peers in this one that send back whatever they get.
#[derive(Debug)]
pub(crate) struct Floor {
    process: Child,
    folder: tempfile::TempDir,
}

impl Floor {
    pub(crate) fn start(peers: u32, runtime: &Handle) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("apf-").tempdir()?;
        let mut process = Command::new(std::env::current_exe()?)
            .arg("forward")
            .arg(folder.path().join("s"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
        let (port, pin) = line.trim().split_once(' ').context("a forwarder says where it listens")?;
        let (port, pin) = (port.parse::<u16>()?, pin.parse::<Pin>().ok().context("a forwarder has a pin")?);
        let connector = tls::connector(pin);
        let floor = Self { process, folder };
        let echoes = (0..peers).map(|who| echo(who, port, connector.clone()));
        let connected = runtime.block_on(futures_util::future::join_all(echoes));
        for socket in connected {
            runtime.spawn(answer(socket?));
        }
        Ok(floor)
    }

    pub(crate) fn socket(&self) -> std::path::PathBuf {
        self.folder.path().join("s")
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        self.process.kill().unwrap_or_default();
        self.process.wait().map(drop).unwrap_or_default();
    }
}

async fn echo(who: u32, port: u16, connector: TlsConnector) -> Result<socket::WebSocket> {
    let mut socket = socket::dial(who, port, &connector).await?;
    socket.send(Message::text(who.to_string())).await?;
    socket.next().await.context("the forwarder answers a peer")??;
    Ok(socket)
}

async fn answer(mut socket: socket::WebSocket) {
    while let Some(Ok(message)) = socket.next().await {
        if message.is_text() && socket.send(message).await.is_err() {
            return;
        }
    }
}
