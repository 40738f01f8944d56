//! One app: the core that every SDK is made of, a socket, and tools that answer at once.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};
use appduct_proto::app::{Answer, ClientEvent, Core, Jitter, Options, Output, SocketId, SocketLoss, State, Trust};
use appduct_proto::wire::{Device, Fields, RawJson};
use futures_util::{SinkExt, StreamExt};
use tokio::sync::watch;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::tungstenite::Message;

use crate::clock;
use crate::socket::{self, WebSocket};

/// What all apps of a fleet share.
pub(crate) struct Common {
    pub(crate) connector: TlsConnector,
    pub(crate) port: u16,
    pub(crate) tools: Vec<RawJson>,
    /// How many apps have an active session.
    pub(crate) active: AtomicUsize,
    /// How many calls the apps have answered.
    pub(crate) answered: AtomicUsize,
    /// How many apps have given up.
    pub(crate) lost: AtomicUsize,
}

type Opening = Pin<Box<dyn Future<Output = Result<WebSocket>> + Send>>;

/// What every app of a fleet must do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders {
    /// How often it must have lost its socket.
    pub(crate) drops: u64,
    /// What it registers besides the tools that it was made with.
    pub(crate) more_tools: Arc<[RawJson]>,
}

/// One app and its driver.
pub(crate) struct App {
    who: u32,
    core: Core,
    common: Arc<Common>,
    orders: watch::Receiver<Orders>,
    done: Orders,
    socket: Option<(SocketId, WebSocket)>,
    opening: Option<(SocketId, Opening)>,
    is_active: bool,
}

impl App {
    /// An app that follows `link`.
    pub(crate) fn new(who: u32, link: &str, common: Arc<Common>, orders: watch::Receiver<Orders>) -> Result<Self> {
        let device = Device { model: Some(format!("App {who}")), ..Device::default() };
        let trust = Trust { embedded_pins: Vec::new(), mode: None, allow_private_lan_only: true };
        let options = Options { device, trust, jitter: Jitter::Seeded(u64::from(who)), pings: true };
        let mut core = Core::new(options);
        let now = clock::now();
        for tool in &common.tools {
            core.register_tool(now, tool).ok().context("a tool of the load is refused")?;
        }
        core.connect_link(now, link).ok().context("a link of the load is refused")?;
        Ok(Self { who, core, common, orders, done: Orders::default(), socket: None, opening: None, is_active: false })
    }

    /// Runs until the session is over.
    pub(crate) async fn run(mut self) {
        loop {
            let until = self.settle().await;
            if self.core.state() == State::Closed {
                self.common.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            let deadline = tokio::time::Instant::from_std(
                until.map_or_else(|| std::time::Instant::now() + std::time::Duration::from_secs(3600), clock::instant),
            );
            tokio::select! {
                opened = async { self.opening.as_mut().expect("asked only if there is one").1.as_mut().await },
                    if self.opening.is_some() => self.opened(opened),
                message = async { self.socket.as_mut().expect("asked only if there is one").1.next().await },
                    if self.socket.is_some() => self.received(message),
                changed = self.orders.changed() => match changed {
                    Ok(()) => self.obey(),
                    Err(_) => return,
                },
                () = tokio::time::sleep_until(deadline) => self.core.handle_timeout(clock::now()),
            }
        }
    }

    fn opened(&mut self, opened: Result<WebSocket>) {
        let Some((id, _)) = self.opening.take() else { return };
        let now = clock::now();
        match opened {
            Ok(socket) => {
                self.socket = Some((id, socket));
                self.core.handle_opened(now, id);
            }
            Err(_) => self.core.handle_lost(now, id, SocketLoss::default()),
        }
    }

    fn received(&mut self, message: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>) {
        let Some((id, _)) = &self.socket else { return };
        let (id, now) = (*id, clock::now());
        match message {
            Some(Ok(Message::Text(text))) => self.core.handle_text(now, id, &text.into()),
            Some(Ok(Message::Pong(_))) => self.core.handle_pong(now, id),
            Some(Ok(Message::Ping(_) | Message::Binary(_) | Message::Frame(_))) => {}
            Some(Ok(Message::Close(frame))) => {
                self.socket = None;
                let code = frame.as_ref().map(|frame| frame.code.into());
                let reason = frame.map(|frame| frame.reason.to_string());
                self.core.handle_lost(now, id, SocketLoss { code, reason, error: None });
            }
            Some(Err(_)) | None => {
                self.socket = None;
                self.core.handle_lost(now, id, SocketLoss::default());
            }
        }
    }

    fn obey(&mut self) {
        let orders = self.orders.borrow_and_update().clone();
        for tool in orders.more_tools.iter().skip(self.done.more_tools.len()) {
            // What the core refuses is missed by whoever counts.
            self.core.register_tool(clock::now(), tool).map(drop).unwrap_or_default();
        }
        // As a network does it: without a word.
        if orders.drops > self.done.drops
            && let Some((id, _)) = self.socket.take()
        {
            self.core.handle_lost(clock::now(), id, SocketLoss::default());
        }
        self.done = orders;
    }

    /// Carries out what the core wants. Returns its next deadline.
    async fn settle(&mut self) -> Option<appduct_proto::Moment> {
        let mut must_flush = false;
        let until = loop {
            match self.core.poll_output() {
                Output::Idle { until } => break until,
                Output::Open { socket, port, .. } => {
                    debug_assert_eq!(port, self.common.port, "every app of a fleet dials the same daemon");
                    let (who, common) = (self.who, Arc::clone(&self.common));
                    let opening: Opening =
                        Box::pin(async move { socket::dial(who, common.port, &common.connector).await });
                    self.opening = Some((socket, opening));
                }
                Output::Send { socket, text } => must_flush |= self.feed(socket, Message::text(text)).await,
                Output::Ping { socket } => must_flush |= self.feed(socket, Message::Ping(bytes::Bytes::new())).await,
                Output::Close { socket, .. } => {
                    self.opening.take_if(|(id, _)| *id == socket);
                    self.socket.take_if(|(id, _)| *id == socket);
                }
                Output::Event(ClientEvent::State { state, .. }) => self.count(state == State::Active),
                Output::RunTool { call, args, .. } => {
                    self.core.respond(clock::now(), &call, Answer::Result(sum(&args)));
                    self.common.answered.fetch_add(1, Ordering::Relaxed);
                }
                Output::StoreLease(_)
                | Output::ClearLease
                | Output::Event(ClientEvent::Session(_) | ClientEvent::Error(_))
                | Output::CancelTool { .. }
                | Output::Settled { .. } => {}
            }
        };
        if must_flush && let Some((_, socket)) = &mut self.socket {
            // A socket that cannot be written ends for its reader too.
            socket.flush().await.unwrap_or_default();
        }
        until
    }

    async fn feed(&mut self, to: SocketId, message: Message) -> bool {
        match &mut self.socket {
            Some((id, socket)) if *id == to => socket.feed(message).await.is_ok(),
            Some(_) | None => false,
        }
    }

    fn count(&mut self, is_active: bool) {
        match (self.is_active, is_active) {
            (false, true) => self.common.active.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.common.active.fetch_sub(1, Ordering::Relaxed),
            (true, true) | (false, false) => 0,
        };
        self.is_active = is_active;
    }
}

/// What every tool of the load does.
fn sum(args: &RawJson) -> RawJson {
    let number = |name: &str| {
        let fields = Fields::parse(args.as_str())?;
        fields.get(name).and_then(|raw| raw.get().parse::<f64>().ok())
    };
    let total = number("a").unwrap_or_default() + number("b").unwrap_or_default();
    RawJson::of(&serde_json::json!({ "total": total })).unwrap_or_else(|_| RawJson::null())
}
