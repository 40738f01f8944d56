//! The client as apps hold it.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use appduct_proto::app::State;
use appduct_proto::wire::ToolDescriptor;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::Engine;
use crate::tool::Output;
use crate::{
    Builder, ConnectError, Context, EventDeclaration, Events, PostError, RegisterError, Registration, Stopped, Tool,
    ToolError, ToolGroup,
};

/// An Appduct client: a registry of tools and events, and at most one session with a daemon.
///
/// Clones are handles to the same client. It works on a thread of its own, so it needs no async runtime and goes well
/// with any. Once the last handle is dropped the thread ends; the daemon then sees the app go away, and the session can
/// still be [restored](Self::restore_session) for a while.
///
/// Methods that are not `async` wait for that thread, which takes microseconds: it never runs code of the app.
#[derive(Clone)]
pub struct Appduct {
    engine: Arc<Engine>,
}

impl Appduct {
    /// Sets up a client.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn over(engine: Engine) -> Self {
        Self { engine: Arc::new(engine) }
    }

    /// Registers a tool, or replaces the tool of that name in its place. It may happen at any time; a daemon that is
    /// there hears of it at once.
    ///
    /// The handler runs on the tokio runtime that `register` is called in. Called outside of one, each call of the
    /// handler gets a thread of its own, with tokio's timers and sockets. A handler that blocks or panics harms no other:
    /// a panic answers the call with `tool_execution_error`, and a call that takes too long is answered for the handler
    /// with `tool_timeout`. The handler itself is not stopped then, but told through its [`Context`].
    ///
    /// ```
    /// use appduct::{Appduct, NoArgs, Tool};
    ///
    /// let app = Appduct::builder().build();
    /// let ping = app.register(Tool::new("ping", "Answers."), |_: NoArgs, call| async move {
    ///     call.progress(0.5, "half way");
    ///     Ok("pong")
    /// })?;
    /// ping.remove();
    /// # Ok::<(), appduct::RegisterError>(())
    /// ```
    pub fn register<Args, Out, R, F, Fut>(
        &self,
        tool: Tool<Args, Out>,
        handler: F,
    ) -> Result<Registration, RegisterError>
    where
        Args: DeserializeOwned + Send + 'static,
        Out: Output<R>,
        R: Serialize,
        F: Fn(Args, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.engine.register_tool(tool.spec, handler).map(Registration)
    }

    /// A group to register tools into: `checkout`, or one level deeper `checkout/payment`.
    ///
    /// ```
    /// use appduct::{Appduct, Tool};
    ///
    /// let app = Appduct::builder().build();
    /// let cart = app.tool_group("cart")?;
    /// cart.register(Tool::new("clear_cart", "Empties the cart.").destructive(), |_, _| async { Ok(()) })?;
    /// # Ok::<(), appduct::RegisterError>(())
    /// ```
    pub fn tool_group(&self, group: impl Into<String>) -> Result<ToolGroup, RegisterError> {
        let group = group.into();
        self.engine.check_group(&group)?;
        Ok(ToolGroup::new(self.clone(), group))
    }

    /// The registered tools in order of first registration, as a daemon sees them.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolDescriptor> {
        self.engine.tools()
    }

    /// Declares an event, or replaces the declaration of that name.
    pub fn register_event(&self, event: &EventDeclaration) -> Result<Registration, RegisterError> {
        self.engine.register_event(event).map(Registration)
    }

    /// Posts an event to the daemon, where callers wait for it or read it later. Nothing is kept while no session is
    /// active. A payload that is `null` in JSON is left out.
    ///
    /// ```
    /// use appduct::Appduct;
    ///
    /// let app = Appduct::builder().build();
    /// if let Err(error) = app.post_event("cart_changed", &serde_json::json!({ "items": 3 })) {
    ///     eprintln!("nobody heard of the cart: {error}");
    /// }
    /// ```
    pub fn post_event(&self, name: &str, payload: &(impl Serialize + ?Sized)) -> Result<(), PostError> {
        self.engine.post_event(name, payload)
    }

    /// Connects by a link that a person or an agent made with `appduct link`, and waits until the daemon has accepted it.
    /// A session that is there is given up for it; a link for that very session changes nothing.
    ///
    /// A claim whose socket drops is tried again until the link expires. Dropping the future does not stop it;
    /// [`disconnect`](Self::disconnect) does. The future needs no particular runtime.
    ///
    /// ```
    /// use appduct::{Appduct, ConnectError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let app = Appduct::builder().build();
    /// match app.connect("https://example.com/").await {
    ///     Ok(()) => println!("paired as {}", app.alias().unwrap_or_default()),
    ///     Err(ConnectError::Disabled) => {}
    ///     Err(error) => eprintln!("{error}"),
    /// }
    /// # }
    /// ```
    pub async fn connect(&self, link: &str) -> Result<(), ConnectError> {
        self.engine.connect(link).await
    }

    /// Takes a URL that the system handed to the app. `true` if it is an appduct link, whatever comes of it; what goes
    /// wrong goes to [`events`](Self::events).
    #[must_use = "a URL that is no appduct link is the app's to handle"]
    pub fn handle_url(&self, url: &str) -> bool {
        self.engine.handle_url(url)
    }

    /// Gives the session up, cancels its calls and closes the socket. Safe to repeat. The registries stay.
    pub fn disconnect(&self) {
        self.engine.disconnect();
    }

    /// Goes on with the session that an earlier client of this process left behind, if its grace has not passed. `true`
    /// if there is one; [`wait_until`](Self::wait_until) tells when it is active. The memory of it never leaves the
    /// process.
    pub fn restore_session(&self) -> bool {
        self.engine.restore_session()
    }

    /// Says that the system put the app in the background: the socket is given up, calls are cancelled, and nothing
    /// reconnects until [`foreground`](Self::foreground). The session lives on for its grace.
    pub fn background(&self) {
        self.engine.background();
    }

    /// Says that the app is in the foreground again.
    pub fn foreground(&self) {
        self.engine.foreground();
    }

    /// Where the client stands.
    #[must_use]
    pub fn state(&self) -> State {
        self.engine.state()
    }

    /// The session that is held or being claimed.
    #[must_use]
    pub fn session_id(&self) -> Option<String> {
        self.engine.session_id()
    }

    /// What the daemon calls the session that is held.
    #[must_use]
    pub fn alias(&self) -> Option<String> {
        self.engine.alias()
    }

    /// Waits until the client stands at `state`; at once if it does.
    pub async fn wait_until(&self, state: State) -> Result<(), Stopped> {
        self.engine.wait_until(state).await
    }

    /// Receives what happens from here on.
    #[must_use]
    pub fn events(&self) -> Events {
        Events(self.engine.subscribe())
    }

    /// Ends the client and waits until its sockets are closed, two seconds at most. The session is not given up: call
    /// [`disconnect`](Self::disconnect) first if it shall be. Every handle is dead afterwards.
    pub async fn shutdown(&self) {
        self.engine.shutdown().await;
    }
}

impl fmt::Debug for Appduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Appduct").field("state", &self.state()).field("alias", &self.alias()).finish_non_exhaustive()
    }
}
