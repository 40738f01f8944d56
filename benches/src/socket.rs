//! WebSockets over TLS on loopback, dialled from many addresses so that no run is short of ports.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::Result;
use appduct_proto::wire::MAX_FRAME_BYTES;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

pub(crate) type WebSocket = WebSocketStream<TlsStream<TcpStream>>;

/// How many loopback addresses dialling is spread over; each has some 28,000 ports.
const SOURCES: u32 = 64;

/// Buffers as small as the daemon's: thousands of these live in one process.
pub(crate) fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(4096)
        .write_buffer_size(4096)
        .max_message_size(Some(MAX_FRAME_BYTES))
        .max_frame_size(Some(MAX_FRAME_BYTES))
}

/// Dials `port` of loopback as number `who`.
pub(crate) async fn tls(who: u32, port: u16, connector: &TlsConnector) -> Result<TlsStream<TcpStream>> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 1, u8::try_from(who % SOURCES + 1)?], 0)))?;
    let stream = socket.connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
    stream.set_nodelay(true)?;
    let name = ServerName::from(IpAddr::from(Ipv4Addr::LOCALHOST));
    Ok(connector.connect(name, stream).await?)
}

pub(crate) async fn dial(who: u32, port: u16, connector: &TlsConnector) -> Result<WebSocket> {
    let stream = tls(who, port, connector).await?;
    let (socket, _) = client_async_with_config("wss://127.0.0.1/", stream, Some(config())).await?;
    Ok(socket)
}
