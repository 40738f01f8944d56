//! A daemon as small as can be: it accepts sockets, and tests say what goes over them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use appduct::{Appduct, Pin, State};
use appduct_proto::wire::{Bootstrap, DeepLink};
use futures_util::{SinkExt, StreamExt};
use rcgen::{CertificateParams, KeyPair, PublicKeyData};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ResolvesServerCert;
use rustls::sign::CertifiedKey;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{WebSocketStream, accept_async};

use crate::within;

/// The session of every link.
pub(crate) const SESSION: &str = "session-1";

/// A key and a certificate over it, made for one test.
pub(crate) struct Identity {
    key: KeyPair,
    certificate: CertificateDer<'static>,
}

impl Identity {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap();
        Self { certificate: certificate.der().clone(), key }
    }

    pub(crate) fn pin(&self) -> Pin {
        Pin::of_spki(&self.key.subject_public_key_info())
    }

    fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.serialize_der()))
    }
}

pub(crate) struct Daemon {
    listener: TcpListener,
    tls: TlsAcceptor,
    pin: Pin,
}

impl Daemon {
    pub(crate) async fn start() -> Self {
        Self::start_as(&Identity::new(), rustls::ALL_VERSIONS).await
    }

    pub(crate) async fn start_as(identity: &Identity, versions: &[&'static rustls::SupportedProtocolVersion]) -> Self {
        let chain = vec![identity.certificate.clone()];
        let config = server_config(versions).with_single_cert(chain, identity.private_key()).unwrap();
        Self::listen(config, identity.pin()).await
    }

    /// A daemon that shows the certificate of `shown` and holds the key of another.
    pub(crate) async fn start_with_a_copied_certificate(shown: &Identity) -> Self {
        #[derive(Debug)]
        struct Forged(Arc<CertifiedKey>);
        impl ResolvesServerCert for Forged {
            fn resolve(&self, _: rustls::server::ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
                Some(Arc::clone(&self.0))
            }
        }
        let own_key = rustls::crypto::ring::sign::any_supported_type(&Identity::new().private_key()).unwrap();
        let forged = Forged(Arc::new(CertifiedKey::new(vec![shown.certificate.clone()], own_key)));
        let config = server_config(rustls::ALL_VERSIONS).with_cert_resolver(Arc::new(forged));
        Self::listen(config, shown.pin()).await
    }

    async fn listen(mut config: ServerConfig, pin: Pin) -> Self {
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        Self { listener, tls: TlsAcceptor::from(Arc::new(config)), pin }
    }

    /// A link that is good for a minute, and its token.
    pub(crate) fn link(&self) -> (String, String) {
        self.link_with(Some(self.pin), Duration::from_secs(60))
    }

    pub(crate) fn link_with(&self, pin: Option<Pin>, ttl: Duration) -> (String, String) {
        let address = self.listener.local_addr().unwrap();
        let expires = SystemTime::now() + ttl;
        let bootstrap = Bootstrap {
            address: address.ip(),
            port: address.port(),
            session_id: SESSION.to_owned(),
            token: [7; 32],
            expires_at: expires.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs(),
        };
        let link = DeepLink { payload: bootstrap.encode().unwrap(), pin };
        (link.compose("test").unwrap(), bootstrap.token_text())
    }

    /// The next TCP connection, on which nothing has been said.
    pub(crate) async fn accept_tcp(&self) -> TcpStream {
        within(self.listener.accept()).await.unwrap().0
    }

    /// The next TLS connection, or why the client gave it up.
    pub(crate) async fn accept_tls(&self) -> std::io::Result<TlsStream<TcpStream>> {
        within(self.tls.accept(self.accept_tcp().await)).await
    }

    pub(crate) async fn accept(&self) -> Socket {
        let stream = self.accept_tls().await.unwrap();
        Socket(within(accept_async(stream)).await.unwrap())
    }

    /// Pairs `app`: the socket is past the ack and both registry snapshots.
    pub(crate) async fn pair(&self, app: &Appduct) -> Socket {
        let (link, _) = self.link();
        let connecting = tokio::spawn({
            let app = app.clone();
            async move { app.connect(&link).await }
        });
        let mut socket = self.accept().await;
        assert_eq!(socket.receive().await["type"], "session_claim");
        socket.ack("resume-1").await;
        within(connecting).await.unwrap().unwrap();
        assert_eq!(app.state(), State::Active);
        socket.snapshots().await;
        socket
    }
}

fn server_config(
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> rustls::ConfigBuilder<ServerConfig, rustls::server::WantsServerCert> {
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
}

pub(crate) struct Socket(WebSocketStream<TlsStream<TcpStream>>);

impl Socket {
    /// The next frame.
    pub(crate) async fn receive(&mut self) -> Value {
        serde_json::from_str(&self.receive_text().await).unwrap()
    }

    /// The next frame's text, byte for byte.
    pub(crate) async fn receive_text(&mut self) -> String {
        let message = self.next().await;
        let Message::Text(text) = message else { panic!("a frame should come, not {message:?}") };
        text.to_string()
    }

    /// The code and reason with which the app closes.
    pub(crate) async fn receive_close(&mut self) -> (u16, String) {
        let message = self.next().await;
        let Message::Close(Some(CloseFrame { code, reason })) = message else {
            panic!("a close should come, not {message:?}")
        };
        // The answer goes out with the next read.
        drop(within(self.0.next()).await);
        (code.into(), reason.to_string())
    }

    async fn next(&mut self) -> Message {
        within(self.0.next()).await.expect("the app should not hang up").unwrap()
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        self.send_text(frame.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: String) {
        within(self.0.send(Message::text(text))).await.unwrap();
    }

    /// Sends a frame that the app gives up on before its end.
    pub(crate) async fn send_too_much(&mut self, bytes: usize) {
        drop(within(self.0.send(Message::text("x".repeat(bytes)))).await);
    }

    pub(crate) async fn ack(&mut self, resume_token: &str) {
        self.send(json!({
            "type": "session_ack",
            "session_id": SESSION,
            "status": "ok",
            "alias": "phone",
            "resume_token": resume_token,
            "keepalive_interval_s": 15,
            "grace_s": 60,
            "event_registry": true,
        }))
        .await;
    }

    pub(crate) async fn snapshots(&mut self) -> (Value, Value) {
        let (tools, events) = (self.receive().await, self.receive().await);
        assert_eq!(tools["type"], "tool_registry_snapshot");
        assert_eq!(events["type"], "event_registry_snapshot");
        (tools["tools"].clone(), events["events"].clone())
    }

    pub(crate) async fn call(&mut self, id: &str, name: &str, args: Value) {
        self.send(json!({ "type": "tool_call", "session_id": SESSION, "id": id, "name": name, "args": args })).await;
    }

    /// Calls a tool and takes the next frame for its answer.
    pub(crate) async fn answer(&mut self, name: &str, args: Value) -> Value {
        self.call(name, name, args).await;
        self.receive().await
    }

    pub(crate) async fn close(mut self, code: u16, reason: &str) {
        let frame = CloseFrame { code: code.into(), reason: reason.to_owned().into() };
        within(self.0.close(Some(frame))).await.unwrap();
        while let Some(Ok(_)) = within(self.0.next()).await {}
    }

    /// Cuts the wire without a word.
    pub(crate) fn drop_connection(self) {
        drop(self.0);
    }
}

/// An app whose session no other test can see.
pub(crate) fn app(slot: &str) -> Appduct {
    Appduct::builder().device_manufacturer("Acme").device_model("Phone").device_os("TestOS 1").lease_slot(slot).build()
}
