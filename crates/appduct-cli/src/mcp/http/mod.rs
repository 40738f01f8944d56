//! The same server over streamable HTTP, for clients that cannot start a program.
//!
//! Whoever reaches the port must show the token of this user's state directory. A page of a browser must come from this
//! machine besides, and must know the server by one of its names.

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
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::server::Server;

pub(super) use token::Token;

/// Where the server is below its address.
pub(super) const PATH: &str = "/mcp";
/// Connections at once; the next one waits.
const MAX_CONNECTIONS: usize = 256;
/// How long a client may take to say what it wants.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an idle session of the older eras is kept; longer than any wait.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// The names of this machine for itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

type Reply = Response<BoxBody<Bytes, Infallible>>;
type Front = TowerToHyperService<StreamableHttpService<Server, LocalSessionManager>>;

/// Serves clients until `stop` comes.
pub(super) async fn serve(
    server: Server,
    listener: TcpListener,
    token: Token,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let ended = server.ended();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts(address))
        .with_allowed_origins(LOOPBACK.map(|host| format!("http://{host}:*")))
        .enforce_origin_validation()
        .with_cancellation_token(ended.clone());
    let mut sessions = SessionConfig::default();
    sessions.keep_alive = Some(KEPT);
    let mut manager = LocalSessionManager::default();
    manager.session_config = sessions;
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::new(manager), config);
    let front = TowerToHyperService::new(service);
    let (token, places) = (Arc::new(token), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
    let mut stop = std::pin::pin!(stop);
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = async { (place.await, listener.accept().await) } => accepted,
        };
        // A connection that is gone before it is taken in is its client's business.
        if let (Ok(place), Ok((stream, _))) = accepted {
            let (front, token) = (front.clone(), Arc::clone(&token));
            tokio::spawn(async move {
                connection(stream, front, &token).await;
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

async fn connection(stream: TcpStream, front: Front, token: &Token) {
    let service = service_fn(|request| reply(request, &front, token));
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    // What a client breaks off is its own business.
    http.serve_connection(TokioIo::new(stream), service).await.unwrap_or_default();
}

async fn reply(request: Request<Incoming>, front: &Front, token: &Token) -> Result<Reply, Infallible> {
    if request.uri().path() != PATH {
        return Ok(plain(StatusCode::NOT_FOUND, "the MCP server is at /mcp\n"));
    }
    let shown = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if !shown.is_some_and(|shown| token.admits(shown)) {
        let mut reply = plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong\n");
        reply.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
        return Ok(reply);
    }
    front.call(request).await
}

fn plain(status: StatusCode, text: &'static str) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("text/plain"));
    reply
}
