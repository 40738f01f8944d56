//! The same server over streamable HTTP, for clients that cannot start a program.
//!
//! Whoever reaches the port must show the token of this user's state directory. A page of a browser must come from this
//! machine besides, and must know the server by one of its names.

mod requests;
mod token;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::message;
use super::server::Server;
use requests::{Running, Taken};

pub(super) use token::Token;

/// Where the server is below its address.
pub(super) const PATH: &str = "/mcp";
/// Connections at once; the next one waits.
const MAX_CONNECTIONS: usize = 256;
/// How long a client may take to say what it wants.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an idle session of the older eras is kept; longer than any wait.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// Sessions of the older eras at once.
const MAX_SESSIONS: usize = 1024;
/// The names of this machine for itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

type Reply = Response<BoxBody<Bytes, Infallible>>;

/// What all connections share.
#[derive(Clone)]
struct Front {
    library: TowerToHyperService<StreamableHttpService<Server, LocalSessionManager>>,
    sessions: Arc<LocalSessionManager>,
    running: Running,
    token: Arc<Token>,
}

impl Front {
    /// It must be made within a runtime.
    fn new(server: Server, address: SocketAddr, token: Token) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts(address))
            .with_allowed_origins(LOOPBACK.map(|host| format!("http://{host}:*")))
            .enforce_origin_validation()
            .with_max_request_body_bytes(message::MAX_BYTES)
            .with_cancellation_token(server.ended());
        let mut manager = LocalSessionManager::default();
        let mut sessions = SessionConfig::default();
        sessions.keep_alive = Some(KEPT);
        manager.session_config = sessions;
        let sessions = Arc::new(manager);
        let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&sessions), config);
        let library = TowerToHyperService::new(service);
        Self { library, sessions, running: Running::none(), token: Arc::new(token) }
    }
}

/// Serves clients until `stop` comes.
pub(super) async fn serve(
    server: Server,
    listener: TcpListener,
    token: Token,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let ended = server.ended();
    let front = Front::new(server, address, token);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut stop = std::pin::pin!(stop);
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = async { (place.await, listener.accept().await) } => accepted,
        };
        // A connection that is gone before it is taken in is its client's business.
        if let (Ok(place), Ok((stream, _))) = accepted {
            let front = front.clone();
            tokio::spawn(async move {
                connection(stream, front).await;
                drop(place);
            });
        }
    }
    ended.cancel();
    Ok(())
}

/// The names that a request may have for the server. One that listens to others is known by names that nobody knows here.
fn hosts(address: SocketAddr) -> Vec<String> {
    if !address.ip().is_loopback() {
        return Vec::new();
    }
    LOOPBACK.map(|host| format!("{host}:{}", address.port())).to_vec()
}

async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin, front: Front) {
    let service = service_fn(|request| reply(request, &front));
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    // What a client breaks off is its own business.
    http.serve_connection(TokioIo::new(stream), service).await.unwrap_or_default();
}

async fn reply(request: Request<Incoming>, front: &Front) -> Result<Reply, Infallible> {
    if request.uri().path() != PATH {
        return Ok(plain(StatusCode::NOT_FOUND, "the MCP server is at /mcp\n"));
    }
    let shown = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if !shown.is_some_and(|shown| front.token.admits(shown)) {
        let mut reply = plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong\n");
        reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return Ok(reply);
    }
    let Taken { request, is_opening, place } = match requests::take(request, &front.running).await {
        Ok(taken) => taken,
        Err(refused) => return Ok(refused),
    };
    if is_opening && front.sessions.sessions.read().await.len() >= MAX_SESSIONS {
        return Ok(plain(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions; end some with DELETE\n"));
    }
    let reply = front.library.call(request).await?;
    // The request runs until its reply has ended.
    Ok(reply.map(|body| {
        body.map_frame(move |frame| {
            let _ = &place;
            frame
        })
        .boxed()
    }))
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(text.into()).boxed());
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    reply
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    use super::*;

    /// What a client reads that sends this and waits, and for how long.
    async fn answer(bytes: &[u8]) -> (String, Duration) {
        let place = tempfile::tempdir().unwrap();
        let token = Token::load(&place.path().join("token")).unwrap();
        let front = Front::new(Server::of_test(&place), SocketAddr::from(([127, 0, 0, 1], 1)), token);
        let (mut client, stream) = duplex(64 * 1024);
        let token = std::fs::read_to_string(place.path().join("token")).unwrap();
        let head = format!("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAuthorization: Bearer {token}\r\n");
        tokio::spawn(connection(stream, front));
        client.write_all(&[head.as_bytes(), bytes].concat()).await.unwrap();
        let (sent, mut text) = (Instant::now(), String::new());
        client.read_to_string(&mut text).await.unwrap();
        (text, sent.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_goes_on_for_ever_is_cut_off() {
        let (text, after) = answer(b"Content-Length: 9\r\n\r\n{").await;
        assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
        assert_eq!(after.as_secs(), 30);
        let (text, after) = answer(b"X-Slow: ").await;
        assert_eq!((text.as_str(), after.as_secs()), ("", HEADER_TIMEOUT.as_secs()));
    }
}
