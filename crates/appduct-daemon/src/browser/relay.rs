//! Frames between one page's binding and a socket to the web port.

use std::net::Ipv4Addr;
use std::time::Duration;

use appduct_proto::wire::{Close, RawJson};
use appduct_rpc::RpcError;
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::devtools::{Answer, Said, Tab, TabGone};
use super::page::{self, FromPage, Happened, Page, Script, ToPage};
use super::refusal;

/// How long the page's SDK may take to say that it has taken a link. One that says nothing has been told all the same.
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);

/// How long a socket that is closed may take to go.
const LINGER: Duration = Duration::from_secs(2);

/// The longest reason of a close frame.
const MAX_REASON_BYTES: usize = 123;

/// Why the page's socket is closed when its document is gone.
const PAGE_GONE: &str = "page_gone";

/// Why it is closed when the page asks for another.
const PAGE_REOPENED: &str = "page_reopened";

/// Why it is closed when the daemon goes.
const DAEMON_GOES: &str = "daemon_shutdown";

/// Carries frames for as long as the tab is there.
#[derive(Debug)]
pub(crate) struct Relay {
    tab: Tab,
    page: Page,
    web_port: u16,
    stop: oneshot::Receiver<&'static str>,
    id: (String, u64),
    socket: Option<Socket>,
}

/// The page's socket.
#[derive(Debug)]
struct Socket {
    /// The page's number of it.
    number: u64,
    ws: WebSocketStream<TcpStream>,
}

/// What happens next.
enum Step {
    Stop(&'static str),
    TimeUp,
    Tab(Result<Said, TabGone>),
    Daemon(Option<Result<Message, WsError>>),
}

/// An answer that is waited for.
struct Awaited {
    id: u64,
    until: Instant,
}

/// How a stretch of relaying ended.
enum End {
    /// The awaited answer is there, or its time is up.
    Answered(Option<Answer>),
    Stopped(&'static str),
    TabGone,
}

impl Relay {
    pub(super) fn new(
        tab: Tab,
        page: Page,
        web_port: u16,
        stop: oneshot::Receiver<&'static str>,
        id: (String, u64),
    ) -> Self {
        Self { tab, page, web_port, stop, id, socket: None }
    }

    /// The tab and the relay's number.
    pub(crate) fn id(&self) -> (String, u64) {
        self.id.clone()
    }

    /// Tells the page's SDK to claim a link, and carries its frames until it says that it has taken it.
    pub(super) async fn connect(&mut self, payload: &str) -> Result<(), RpcError> {
        let gone = || refusal("the tab was closed before its page was attached");
        let script = Script::connect(&self.page, payload);
        let id = self.tab.send("Runtime.evaluate", &script).await.map_err(|TabGone| gone())?;
        let awaited = Awaited { id, until: Instant::now() + CONNECT_PATIENCE };
        let refused = match self.relay(Some(awaited)).await {
            End::Answered(None) => return Ok(()),
            End::Answered(Some(Answer { result: Ok(answer), .. })) => match page::thrown(&answer) {
                None => return Ok(()),
                Some(thrown) => refusal(format!("the page does not take the link: {thrown:?}")),
            },
            End::Answered(Some(Answer { result: Err(error), .. })) => {
                refusal(format!("the page does not take the link: {error:?}"))
            }
            End::Stopped(reason) => {
                self.leave(reason).await;
                refusal(format!("the page was not attached: {reason}"))
            }
            End::TabGone => gone(),
        };
        self.drop_socket(PAGE_GONE).await;
        Err(refused)
    }

    /// Carries frames until the tab is gone or the relay is stopped.
    pub(crate) async fn run(mut self) {
        match self.relay(None).await {
            End::Stopped(reason) => self.leave(reason).await,
            End::TabGone | End::Answered(_) => self.drop_socket(PAGE_GONE).await,
        }
    }

    async fn relay(&mut self, awaited: Option<Awaited>) -> End {
        loop {
            let until = awaited.as_ref().map(|awaited| awaited.until);
            // Stopping comes first: what a page says after its next relay has begun is not for this one.
            let step = tokio::select! {
                biased;
                reason = &mut self.stop => Step::Stop(reason.unwrap_or(DAEMON_GOES)),
                () = time_up(until) => Step::TimeUp,
                message = next_message(&mut self.socket) => Step::Daemon(message),
                said = self.tab.next() => Step::Tab(said),
            };
            let gone = match step {
                Step::Stop(reason) => return End::Stopped(reason),
                Step::TimeUp => return End::Answered(None),
                Step::Tab(Err(gone)) => Err(gone),
                Step::Tab(Ok(Said::Answer(answer))) => {
                    if awaited.as_ref().is_some_and(|awaited| awaited.id == answer.id) {
                        return End::Answered(Some(answer));
                    }
                    Ok(())
                }
                Step::Tab(Ok(Said::Event(event))) => match self.page.hear(&event) {
                    Some(Happened::Left) => {
                        self.drop_socket(PAGE_GONE).await;
                        Ok(())
                    }
                    Some(Happened::Said(said)) => self.page_says(said).await,
                    None => Ok(()),
                },
                Step::Daemon(message) => self.daemon_says(message).await,
            };
            if let Err(TabGone) = gone {
                return End::TabGone;
            }
        }
    }

    async fn page_says(&mut self, said: FromPage) -> Result<(), TabGone> {
        match said {
            FromPage::Open { socket } => self.open(socket).await,
            FromPage::Send { text } => {
                if let Some(socket) = &mut self.socket {
                    // Where this fails, what the daemon said last is still to be read, its close above all.
                    socket.ws.send(Message::text(text)).await.ok();
                }
                Ok(())
            }
            FromPage::Close(close) => {
                if let Some(socket) = self.socket.take() {
                    end(socket, close).await;
                }
                Ok(())
            }
        }
    }

    async fn open(&mut self, number: u64) -> Result<(), TabGone> {
        self.drop_socket(PAGE_REOPENED).await;
        match connect(self.web_port).await {
            Ok(ws) => {
                self.socket = Some(Socket { number, ws });
                self.tell(number, &ToPage::Open).await
            }
            Err(error) => {
                tracing::debug!(%error, "a page's relay cannot reach the web port");
                self.tell(number, &ToPage::Close(&abnormal())).await
            }
        }
    }

    async fn daemon_says(&mut self, message: Option<Result<Message, WsError>>) -> Result<(), TabGone> {
        let Some(Socket { number, ws }) = &mut self.socket else { return Ok(()) };
        let number = *number;
        let close = match message {
            Some(Ok(Message::Text(text))) => return self.tell(number, &ToPage::Message(&text)).await,
            Some(Ok(Message::Ping(_))) => {
                // The answer is queued by the library. If it cannot leave, the next read says so.
                ws.flush().await.ok();
                return Ok(());
            }
            Some(Ok(Message::Binary(_) | Message::Pong(_) | Message::Frame(_))) => return Ok(()),
            Some(Ok(Message::Close(Some(frame)))) => {
                Close { code: frame.code.into(), reason: frame.reason.to_string() }
            }
            Some(Ok(Message::Close(None))) => Close { code: 1005, reason: String::new() },
            Some(Err(_)) | None => abnormal(),
        };
        if let Some(mut socket) = self.socket.take() {
            // Flushing sends the answer to the daemon's close frame.
            socket.ws.flush().await.ok();
        }
        self.tell(number, &ToPage::Close(&close)).await
    }

    /// Closes the page's socket; the page hears nothing of it.
    async fn drop_socket(&mut self, reason: &str) {
        if let Some(socket) = self.socket.take() {
            end(socket, Close { code: 1001, reason: reason.to_owned() }).await;
        }
    }

    /// Closes the page's socket and tells the page, which is still there.
    async fn leave(&mut self, reason: &str) {
        if let Some(socket) = self.socket.take() {
            let number = socket.number;
            let close = Close { code: 1001, reason: reason.to_owned() };
            end(socket, close.clone()).await;
            timeout(LINGER, self.tell(number, &ToPage::Close(&close))).await.ok();
        }
    }

    async fn tell(&mut self, socket: u64, what: &ToPage<'_>) -> Result<(), TabGone> {
        let script: RawJson = Script::receive(&self.page, socket, what);
        self.tab.send("Runtime.evaluate", &script).await.map(|_| ())
    }
}

async fn connect(web_port: u16) -> Result<WebSocketStream<TcpStream>, WsError> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, web_port)).await?;
    stream.set_nodelay(true)?;
    // Without an origin: this is a program of this machine. What the page is, its user has decided.
    let (ws, _) = client_async(format!("ws://127.0.0.1:{web_port}/"), stream).await?;
    Ok(ws)
}

async fn next_message(socket: &mut Option<Socket>) -> Option<Result<Message, WsError>> {
    match socket {
        Some(socket) => socket.ws.next().await,
        None => std::future::pending().await,
    }
}

async fn time_up(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Sends a close frame, and takes what still comes for as long as it may: unread bytes could destroy the frame on its way.
async fn end(mut socket: Socket, Close { code, reason }: Close) {
    let code = if matches!(code, 1000 | 1001 | 3000..=4999) { code } else { 1000 };
    let reason = if reason.len() <= MAX_REASON_BYTES { reason } else { String::new() };
    let frame = CloseFrame { code: code.into(), reason: reason.into() };
    let farewell = async {
        socket.ws.close(Some(frame)).await?;
        while socket.ws.next().await.transpose()?.is_some() {}
        Ok::<(), WsError>(())
    };
    timeout(LINGER, farewell).await.ok();
}

fn abnormal() -> Close {
    Close { code: 1006, reason: String::new() }
}
