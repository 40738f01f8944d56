//! The MCP server: a second renderer of what the commands do, for agents.
//!
//! [`catalog`] is what clients see, [`server`] takes their requests, [`tools`] turns each into requests to the daemon and
//! the replies into an [`answer`] or a [`refusal`]. [`stdio`] and [`http`] bring messages in and out. Everything that talks to the
//! daemon blocks and runs on threads of its own; the runtime exists for this command only.

mod answer;
mod arguments;
mod catalog;
mod consent;
mod daemon;
mod http;
mod image;
mod links;
mod message;
mod progress;
mod refusal;
mod scope;
mod server;
mod spill;
mod stdio;
mod tools;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use appduct_rpc::DaemonLauncher;
use tokio::net::TcpListener;

use crate::error::Failure;
use crate::playground::stopped;
use crate::scheme;
use crate::settings::{McpSettings, Settings};
use daemon::Daemon;
use http::Token;
use links::LinkOptions;
use scope::Scope;
use server::{Server, Shared};
use spill::Spill;

/// A server over HTTP that listens.
#[derive(Clone, Debug)]
pub(crate) struct Listening {
    /// Where.
    pub(crate) url: String,
    /// The file with the token that its clients show.
    pub(crate) token_file: PathBuf,
}

/// Serves one client on standard input and output until it closes its end; or any number of them over HTTP, after
/// `announce` was told where. A signal ends either.
pub(crate) fn run(
    settings: &Settings,
    mcp: &McpSettings,
    launcher: DaemonLauncher,
    announce: &mut dyn FnMut(&Listening) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| cannot("start", &error))?;
    let served = runtime.block_on(async {
        let server = Server::new(shared(settings, mcp, launcher));
        // Whoever is told where the server is may end it, so this comes first.
        let stop = stopped().map_err(|error| cannot("watch for Ctrl-C", &error))?;
        match mcp.http {
            None => tokio::select! {
                served = stdio::serve(server) => served.map_err(|error| cannot("start", &error)),
                () = stop => Ok(()),
            },
            Some(address) => over_http(settings, server, address, stop, announce).await,
        }
    });
    // Threads may still wait for the daemon; they end with the process.
    runtime.shutdown_background();
    served
}

async fn over_http(
    settings: &Settings,
    server: Server,
    address: SocketAddr,
    stop: impl Future<Output = ()>,
    announce: &mut dyn FnMut(&Listening) -> Result<(), Failure>,
) -> Result<(), Failure> {
    settings.state_dir.create()?;
    let token_file = settings.state_dir.mcp_token();
    let token = Token::load(&token_file)
        .map_err(|error| Failure::internal(format!("{} cannot be used: {error}.", token_file.display())))?;
    let listener = TcpListener::bind(address).await.map_err(|error| cannot(&format!("listen on {address}"), &error))?;
    let bound = listener.local_addr().map_err(|error| cannot("listen", &error))?;
    announce(&Listening { url: format!("http://{bound}{}", http::PATH), token_file })?;
    http::serve(server, listener, token, stop).await.map_err(|error| cannot("go on", &error))
}

fn cannot(what: &str, error: &io::Error) -> Failure {
    Failure::internal(format!("The server cannot {what}: {error}."))
}

fn shared(settings: &Settings, mcp: &McpSettings, launcher: DaemonLauncher) -> Shared {
    Shared {
        daemon: Daemon::new(settings.clone(), launcher, env!("CARGO_PKG_VERSION")),
        scope: Scope::new(mcp.session.clone(), mcp.groups.clone()),
        spill: Spill::new(settings.state_dir.results()),
        links: LinkOptions { scheme: mcp.scheme.clone(), android_serial: mcp.android_serial.clone() },
    }
}

/// What keeps `appduct_connect` from working, if anything does. It is no reason not to start.
pub(crate) fn scheme_fault(settings: &Settings, mcp: &McpSettings) -> Option<Failure> {
    scheme::resolve(settings, &mcp.scheme).err()
}
