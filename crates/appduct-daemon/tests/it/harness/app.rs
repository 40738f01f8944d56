//! A raw app: a WebSocket over pinned TLS, or over plain TCP as a web page has it, and nothing on top.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;

use appduct_proto::wire::{Bootstrap, Pin};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

use super::PATIENCE;

pub(crate) type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// How to do TLS.
#[derive(Clone)]
pub(crate) struct TlsOptions {
    pub(crate) versions: &'static [&'static rustls::SupportedProtocolVersion],
    pub(crate) alpn: Vec<Vec<u8>>,
    /// Trust only this key; `None` trusts every key.
    pub(crate) pin: Option<Pin>,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self { versions: rustls::ALL_VERSIONS, alpn: Vec::new(), pin: None }
    }
}

/// A TLS connection whose handshake is done.
pub(crate) fn tls_stream(port: u16, options: &TlsOptions) -> std::io::Result<TlsStream> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(PinVerifier { pin: options.pin, provider: Arc::clone(&provider) });
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(options.versions)
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = options.alpn.clone();
    config.resumption = rustls::client::Resumption::disabled();
    let name = ServerName::IpAddress(Ipv4Addr::LOCALHOST.into());
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_nodelay(true)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    Ok(StreamOwned::new(connection, socket))
}

#[derive(Debug)]
struct PinVerifier {
    pin: Option<Pin>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let pin = pin_of(end_entity);
        if self.pin.is_none_or(|expected| expected == pin) {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(rustls::Error::General("another key".to_owned()))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The pin of a certificate.
fn pin_of(certificate: &CertificateDer<'_>) -> Pin {
    Pin::of_spki(&ParsedCertificate::try_from(certificate).unwrap().subject_public_key_info())
}

/// One WebSocket, and what its session has told it.
pub(crate) struct App<S = TlsStream> {
    pub(crate) ws: WebSocket<S>,
    pub(crate) session_id: String,
    pub(crate) resume_token: String,
    pub(crate) alias: String,
}

/// A web page's socket.
pub(crate) type WebApp = App<TcpStream>;

impl App {
    pub(crate) fn connect(port: u16) -> Self {
        Self::over(tls_stream(port, &TlsOptions::default()).unwrap())
    }

    pub(crate) fn over(stream: TlsStream) -> Self {
        let request = "wss://127.0.0.1/any".into_client_request().unwrap();
        let config = tungstenite::protocol::WebSocketConfig::default();
        let (ws, _) = tungstenite::client::client_with_config(request, stream, Some(config)).unwrap();
        Self::new(ws)
    }

    /// A socket to a daemon that may be gone; `None` then.
    pub(crate) fn try_connect(port: u16) -> Option<Self> {
        let stream = tls_stream(port, &TlsOptions::default()).ok()?;
        let request = "wss://127.0.0.1/any".into_client_request().unwrap();
        tungstenite::client(request, stream).ok().map(|(ws, _)| Self::new(ws))
    }

    /// Goes without a word.
    pub(crate) fn vanish(self) -> (String, String) {
        self.ws.get_ref().sock.shutdown(std::net::Shutdown::Both).unwrap();
        (self.session_id, self.resume_token)
    }
}

impl WebApp {
    /// A program on this machine: it has no origin.
    pub(crate) fn connect_to_web(port: u16) -> Self {
        web_upgrade(port, None).unwrap()
    }
}

/// Asks the web listener for a WebSocket as a page of `origin` does. The error is the status of a refusal.
pub(crate) fn web_upgrade(port: u16, origin: Option<&str>) -> Result<WebApp, u16> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut request = format!("ws://127.0.0.1:{port}/").into_client_request().unwrap();
    if let Some(origin) = origin {
        request.headers_mut().insert("origin", origin.parse().unwrap());
    }
    match tungstenite::client(request, stream) {
        Ok((ws, _)) => Ok(App::new(ws)),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            Err(response.status().as_u16())
        }
        Err(other) => panic!("{other}"),
    }
}

/// The claim of a link.
pub(crate) fn claim(link: &Value, model: &str) -> Value {
    let bootstrap = Bootstrap::decode(link["deepLinkPayload"].as_str().unwrap()).unwrap();
    json!({
        "type": "session_claim", "protocol_version": 2, "session_id": bootstrap.session_id,
        "token": bootstrap.token_text(), "device_model": model,
    })
}

/// The resume of a session.
pub(crate) fn resume(session_id: &str, resume_token: &str) -> Value {
    json!({
        "type": "session_resume", "protocol_version": 2, "session_id": session_id, "resume_token": resume_token,
    })
}

impl<S: Read + Write> App<S> {
    fn new(ws: WebSocket<S>) -> Self {
        Self { ws, session_id: String::new(), resume_token: String::new(), alias: String::new() }
    }

    pub(crate) fn send(&mut self, frame: Value) {
        self.send_text(&frame.to_string());
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        self.ws.send(Message::text(text)).unwrap();
    }

    /// Sends to a daemon that may be gone; `None` then.
    pub(crate) fn try_send(&mut self, frame: &Value) -> Option<()> {
        self.ws.send(Message::text(frame.to_string())).ok()
    }

    /// The next message of a daemon that may be gone; `None` then.
    pub(crate) fn try_message(&mut self) -> Option<Message> {
        match self.ws.read() {
            Ok(message) => Some(message),
            Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                panic!("the daemon says nothing: {error}")
            }
            Err(_) => None,
        }
    }

    pub(crate) fn claim(&mut self, link: &Value, model: &str) {
        self.send(claim(link, model));
    }

    pub(crate) fn resume(&mut self, session_id: &str, resume_token: &str) {
        self.send(resume(session_id, resume_token));
    }

    /// The next text frame as its text.
    pub(crate) fn text(&mut self) -> String {
        loop {
            match self.ws.read().unwrap() {
                Message::Text(text) => return text.to_string(),
                Message::Ping(_) | Message::Pong(_) => {}
                other @ (Message::Binary(_) | Message::Close(_) | Message::Frame(_)) => panic!("{other:?}"),
            }
        }
    }

    pub(crate) fn frame(&mut self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    pub(crate) fn expect_ack(&mut self) -> Value {
        let ack = self.frame();
        assert_eq!(ack["type"], "session_ack", "{ack}");
        let text = |key: &str| ack[key].as_str().unwrap().to_owned();
        (self.session_id, self.resume_token, self.alias) = (text("session_id"), text("resume_token"), text("alias"));
        ack
    }

    /// Proves that this app has the ack.
    pub(crate) fn send_snapshot(&mut self, tools: Value) {
        self.send(json!({"type": "tool_registry_snapshot", "session_id": self.session_id, "tools": tools}));
    }

    /// Reads to the close frame; frames before it are dropped.
    pub(crate) fn closed(mut self) -> (u16, String) {
        loop {
            match self.ws.read() {
                Ok(Message::Close(Some(CloseFrame { code, reason }))) => return (code.into(), reason.to_string()),
                Ok(Message::Close(None)) => panic!("a close frame without a code"),
                Ok(_) => {}
                Err(error) => panic!("no close frame: {error}"),
            }
        }
    }

    pub(crate) fn expect_close(self, code: u16, reason: &str) {
        assert_eq!(self.closed(), (code, reason.to_owned()));
    }
}
