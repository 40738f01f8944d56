//! The HTTP part of a device connection: one request that asks for a WebSocket.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response, create_response};
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue, Method, Version, header};

use super::origin::Origins;

/// The longest request head.
const MAX_HEAD_BYTES: usize = 8 * 1024;
const MAX_HEADERS: usize = 64;

/// Why a connection does not become a WebSocket.
#[derive(Debug)]
pub(super) enum Refused {
    /// The peer is gone, or sends what is no TLS.
    Io(io::Error),
    /// It got this status instead.
    Status(&'static str),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Answers the request. Any path will do; of offered subprotocols the first is taken; no extension is. Where there are
/// `origins`, the request must come from one of them. Returns what came after the head.
pub(super) async fn upgrade<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    origins: Option<&Origins>,
) -> Result<Vec<u8>, Refused> {
    let (request, early) = read_head(stream).await?;
    if !request.headers().contains_key(header::UPGRADE) {
        let body = "this port takes WebSocket connections of Appduct apps only";
        return Err(refuse(stream, "426 Upgrade Required", body).await);
    }
    if origins.is_some_and(|origins| !origins.admit(request.headers())) {
        let body = "pages of this origin may not connect: it is neither on loopback nor listed in \"webOrigins\"";
        return Err(refuse(stream, "403 Forbidden", body).await);
    }
    let Ok(response) = create_response(&request) else {
        return Err(refuse(stream, "426 Upgrade Required", "this is not a WebSocket request of version 13").await);
    };
    stream.write_all(&response_head(&response, first_subprotocol(&request))).await?;
    stream.flush().await?;
    Ok(early)
}

/// Whether a connection that begins with this byte speaks HTTP where TLS is spoken: methods are capital letters, and no TLS
/// record begins with one.
pub(super) fn is_plain_http(first: u8) -> bool {
    first.is_ascii_uppercase()
}

/// Answers a request that came without TLS, whatever it asks for.
pub(super) async fn refuse_plain<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> Refused {
    match read_head(stream).await {
        Ok(_) => {
            let body = "this port takes WebSocket connections of Appduct apps only, and over TLS: wss, not ws or http";
            refuse(stream, "426 Upgrade Required", body).await
        }
        Err(refused) => refused,
    }
}

/// The request, and what came after its head. What is none is answered.
async fn read_head<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> Result<(Request, Vec<u8>), Refused> {
    let mut buffer = Vec::with_capacity(1024);
    loop {
        match parse_head(&buffer) {
            Ok(Some((request, length))) => return Ok((request, buffer.split_off(length))),
            Ok(None) if buffer.len() >= MAX_HEAD_BYTES => {
                let body = "the request head is too long";
                return Err(refuse(stream, "431 Request Header Fields Too Large", body).await);
            }
            Ok(None) => {}
            Err(NotHttp) => return Err(refuse(stream, "400 Bad Request", "this is not HTTP/1.1").await),
        }
        let room = MAX_HEAD_BYTES - buffer.len();
        if (&mut *stream).take(room as u64).read_buf(&mut buffer).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    }
}

/// The bytes are no head of an HTTP request.
struct NotHttp;

/// The request and the length of its head, once the head is whole.
fn parse_head(bytes: &[u8]) -> Result<Option<(Request, usize)>, NotHttp> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(NotHttp),
    };
    let mut request = Request::new(());
    *request.method_mut() = parsed.method.and_then(|method| method.parse().ok()).unwrap_or(Method::GET);
    *request.version_mut() = if parsed.version == Some(1) { Version::HTTP_11 } else { Version::HTTP_10 };
    for header in parsed.headers {
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| NotHttp)?;
        let value = HeaderValue::from_bytes(header.value).map_err(|_| NotHttp)?;
        request.headers_mut().append(name, value);
    }
    Ok(Some((request, length)))
}

fn first_subprotocol(request: &Request) -> Option<&[u8]> {
    let offered = request.headers().get(header::SEC_WEBSOCKET_PROTOCOL)?.as_bytes();
    let first = offered.split(|&byte| byte == b',').next()?.trim_ascii();
    (!first.is_empty()).then_some(first)
}

fn response_head(response: &Response, subprotocol: Option<&[u8]>) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {}\r\n", response.status()).into_bytes();
    let mut line = |name: &str, value: &[u8]| {
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value);
        head.extend_from_slice(b"\r\n");
    };
    for (name, value) in response.headers() {
        line(name.as_str(), value.as_bytes());
    }
    if let Some(subprotocol) = subprotocol {
        line("sec-websocket-protocol", subprotocol);
    }
    head.extend_from_slice(b"\r\n");
    head
}

async fn refuse<S: AsyncWrite + Unpin>(stream: &mut S, status: &'static str, body: &str) -> Refused {
    let length = body.len() + 1;
    let response = format!(
        "HTTP/1.1 {status}\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Content-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\r\n{body}\n"
    );
    let written = async {
        stream.write_all(response.as_bytes()).await?;
        stream.flush().await
    };
    match written.await {
        Ok(()) => Refused::Status(status),
        Err(error) => Refused::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";

    /// What the peer sends, piece by piece, and what it hears.
    async fn exchange(pieces: &[&[u8]]) -> (Result<Vec<u8>, Refused>, String) {
        exchange_with(None, pieces).await
    }

    async fn exchange_with(origins: Option<&Origins>, pieces: &[&[u8]]) -> (Result<Vec<u8>, Refused>, String) {
        let (mut ours, mut theirs) = tokio::io::duplex(64 * 1024);
        let sending = async {
            for piece in pieces {
                theirs.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let (result, ()) = tokio::join!(upgrade(&mut ours, origins), sending);
        drop(ours);
        let mut heard = String::new();
        theirs.read_to_string(&mut heard).await.unwrap();
        (result, heard)
    }

    fn websocket_request(extra: &str) -> Vec<u8> {
        format!("GET /any/path?x=1 HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n{KEY}{extra}\r\n")
            .into_bytes()
    }

    #[tokio::test]
    async fn a_websocket_request_is_taken_however_it_is_cut() {
        let mut whole = websocket_request("");
        whole.extend_from_slice(b"early frame");
        let pieces: Vec<&[u8]> = whole[..40].chunks(7).chain([&whole[40..]]).collect();
        let (result, heard) = exchange(&pieces).await;
        assert_eq!(result.unwrap(), b"early frame");
        assert!(heard.starts_with("HTTP/1.1 101 "), "{heard}");
        assert!(heard.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{heard}");
        assert!(!heard.to_ascii_lowercase().contains("sec-websocket-protocol"), "{heard}");
    }

    #[tokio::test]
    async fn the_first_subprotocol_is_echoed() {
        let request = websocket_request(
            "Sec-WebSocket-Protocol: appduct.v2 , other\r\nSec-WebSocket-Extensions: permessage-deflate\r\n",
        );
        let (result, heard) = exchange(&[&request]).await;
        assert!(result.is_ok());
        assert!(heard.contains("sec-websocket-protocol: appduct.v2\r\n"), "{heard}");
        assert!(!heard.to_ascii_lowercase().contains("extensions"), "{heard}");
    }

    #[tokio::test]
    async fn plain_http_is_told_what_this_port_is_for() {
        for request in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST /x HTTP/1.0\r\nContent-Length: 0\r\n\r\n"] {
            let (result, heard) = exchange(&[request.as_bytes()]).await;
            assert!(matches!(result, Err(Refused::Status(_))));
            assert!(heard.starts_with("HTTP/1.1 426 Upgrade Required\r\n"), "{heard}");
            assert!(heard.contains("text/plain"), "{heard}");
            let (_, body) = heard.split_once("\r\n\r\n").unwrap();
            assert_eq!(body.lines().count(), 1, "{body}");
        }
    }

    #[tokio::test]
    async fn a_half_websocket_request_is_refused() {
        let request =
            b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n\r\n";
        let (result, heard) = exchange(&[request]).await;
        assert!(matches!(result, Err(Refused::Status(_))));
        assert!(heard.starts_with("HTTP/1.1 426 ") && heard.contains("Sec-WebSocket-Version: 13"), "{heard}");
    }

    #[tokio::test]
    async fn where_origins_matter_a_strangers_upgrade_is_forbidden() {
        let origins = Origins::new(Vec::new());
        let strange = websocket_request("Origin: https://evil.example\r\n");
        let (result, heard) = exchange_with(Some(&origins), &[&strange]).await;
        assert!(matches!(result, Err(Refused::Status("403 Forbidden"))));
        assert!(heard.starts_with("HTTP/1.1 403 Forbidden\r\n") && heard.contains("webOrigins"), "{heard}");
        let local = websocket_request("Origin: http://localhost:3000\r\n");
        assert!(exchange_with(Some(&origins), &[&local]).await.0.is_ok());
        assert!(exchange(&[&strange]).await.0.is_ok(), "a native app is no page");
        let plain = b"GET / HTTP/1.1\r\nOrigin: https://evil.example\r\n\r\n";
        let (_, heard) = exchange_with(Some(&origins), &[plain]).await;
        assert!(heard.starts_with("HTTP/1.1 426 "), "{heard}");
    }

    #[tokio::test]
    async fn an_endless_head_and_garbage_are_refused() {
        let endless = format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(MAX_HEAD_BYTES));
        let (_, heard) = exchange(&[endless.as_bytes()]).await;
        assert!(heard.starts_with("HTTP/1.1 431 "), "{heard}");
        let (_, heard) = exchange(&[b"\x00\x01\x02 nonsense\r\n\r\n"]).await;
        assert!(heard.starts_with("HTTP/1.1 400 "), "{heard}");
    }
}
