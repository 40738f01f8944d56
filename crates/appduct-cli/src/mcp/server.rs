//! The protocol's requests: the list of tools, calls of them, and the one resource.

use std::sync::Arc;

use appduct_rpc::methods::SessionsList;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::consent::Consents;
use super::daemon::{Connection, Daemon};
use super::refusal::Refusal;
use super::scope::Scope;
use super::spill::Spill;
use super::tools::{self, Name};
use super::{LinkOptions, catalog};

/// The resource with the sessions.
const SESSIONS_URI: &str = "appduct://sessions";

/// Methods of the protocol whose parameters the library reads itself. What it cannot read it takes for methods of ours.
const METHODS: &[&str] = &[
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
];

/// What every tool needs.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) daemon: Daemon,
    pub(super) scope: Scope,
    pub(super) spill: Spill,
    pub(super) links: LinkOptions,
}

/// The server; its clones are one.
#[derive(Clone, Debug)]
pub(super) struct Server {
    shared: Arc<Shared>,
    consents: Consents,
    ended: CancellationToken,
}

impl Server {
    /// A server; it must be made within a runtime.
    pub(super) fn new(shared: Shared) -> Self {
        Self { shared: Arc::new(shared), consents: Consents::start(), ended: CancellationToken::new() }
    }

    /// One with this state directory, and a daemon only where one is there already.
    #[cfg(test)]
    pub(super) fn of_test(place: &tempfile::TempDir) -> Self {
        use clap::Parser;

        use crate::settings::{Output, Settings, Terminals, Verb};

        let (global, command) = crate::args::Args::parse_from(["appduct", "mcp", "--scheme", "shop"]).into_parts();
        let env = crate::env::Env { state_dir: Some(place.path().to_owned()), ..crate::env::Env::default() };
        let terminals = Terminals { stdout: false, stderr: false, stdout_width: None, stderr_width: None };
        let output = Output::resolve(&global, &env, terminals);
        let command = command.expect("a command is named");
        let settings = Settings::resolve(&global, command, &env, output, terminals).expect("the command is right");
        let Verb::Mcp(mcp) = &settings.verb else { panic!("the command is another one") };
        Self::new(super::shared(&settings, mcp, appduct_rpc::DaemonLauncher::never()))
    }

    pub(super) fn consents(&self) -> &Consents {
        &self.consents
    }

    /// Cancelled, it ends everything that waits.
    pub(super) fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }

    /// Runs work that blocks on a connection of its own, on a thread for it.
    pub(super) async fn on_daemon<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, &mut Connection) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let shared = Arc::clone(&self.shared);
        let work = move || {
            let mut connection = shared.daemon.open()?;
            work(&shared, &mut connection)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Refusal::execution("the server stopped")))
    }

    async fn call(&self, request: CallToolRequestParams, context: &RequestContext<RoleServer>) -> CallToolResponse {
        let Some(name) = Name::parse(&request.name) else {
            let message = format!(
                "this server has no tool {:?}; tools of the app are listed by {} and called with {}",
                request.name,
                Name::ListTools.as_str(),
                Name::CallTool.as_str()
            );
            return Refusal::tool_not_found(message).into_result().into();
        };
        let work = tools::run(self, name, request, context);
        let outcome = tokio::select! {
            biased;
            () = self.ended.cancelled() => Err(Refusal::cancelled()),
            outcome = work => outcome,
        };
        match outcome {
            Ok(tools::Reply::Answer(answer)) => self.result(answer).await.into(),
            Ok(tools::Reply::Question(question)) => (*question).into(),
            Err(refusal) => refusal.into_result().into(),
        }
    }

    /// The result of an answer, which may have to be written to a file.
    async fn result(&self, answer: Answer) -> rmcp::model::CallToolResult {
        let spill = self.shared.spill.clone();
        let result = tokio::task::spawn_blocking(move || answer.into_result(&spill)).await;
        result.unwrap_or_else(|_| Refusal::execution("the server stopped").into_result())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        catalog::server(self.shared.daemon.version())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(catalog::tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.call(request, &context).await)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let sessions = Resource::new(SESSIONS_URI, "sessions")
            .with_title("Sessions")
            .with_description("The apps that are connected, as appduct_sessions lists them.")
            .with_mime_type("application/json");
        Ok(ListResourcesResult::with_all_items(vec![sessions]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != SESSIONS_URI {
            let message = format!("there is no resource {:?}; there is {SESSIONS_URI}", request.uri);
            let data = serde_json::json!({ "uri": request.uri });
            return Err(ErrorData::resource_not_found(message, Some(data)));
        }
        let sessions = self.on_daemon(|shared, daemon| {
            let mut sessions = daemon.request(&SessionsList)?;
            sessions.retain(|session| shared.scope.shows_session(session));
            serde_json::to_string(&sessions).map_err(|error| Refusal::execution(error.to_string()))
        });
        let text = sessions.await.map_err(|refusal| ErrorData::internal_error(refusal.text(), None))?;
        let contents = ResourceContents::text(text, SESSIONS_URI).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if METHODS.contains(&request.method.as_str()) {
            let message = format!("the parameters of {} are missing or have the wrong shape", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("there is no method {:?}", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }
}
