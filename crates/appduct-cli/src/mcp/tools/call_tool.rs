//! `appduct_call_tool`

use std::time::Duration;

use appduct_proto::wire::{Fields, Length, MAX_TOOL_TIMEOUT_MS, MIN_TOOL_TIMEOUT_MS, RawJson};
use appduct_rpc::methods::{
    CallResult, Caller, Consent, EventKind, EventNotification, Session, ToolsCall, ToolsCancel,
};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::super::answer::Answer;
use super::super::arguments::Arguments;
use super::super::consent::{Proposal, Response, Verdict};
use super::super::daemon::{Connection, HangUp};
use super::super::progress::{Progress, Step};
use super::super::refusal::Refusal;
use super::super::server::{Server, Shared};
use super::entry::Entry;
use super::{Reply, registry};

/// What the app is told of a call that the client took back.
const CANCELLED: &str = "mcp_client_cancelled";
/// How long the id of a call may be on its way, which is as long as the arguments are being checked.
const ID_PATIENCE: Duration = Duration::from_secs(2);
/// Progress that waits to be passed on; an app that reports more loses what is in between.
const QUEUED_STEPS: usize = 64;

/// What to call.
#[derive(Debug)]
pub(super) struct Call {
    selector: Option<String>,
    name: String,
    args: RawJson,
    timeout_ms: Option<u64>,
}

impl Call {
    pub(super) fn read(mut arguments: Arguments) -> Result<Self, Refusal> {
        let args = arguments.object("args")?.unwrap_or_default();
        Ok(Self {
            selector: arguments.text("selector")?,
            name: arguments.required_text("name")?,
            args: RawJson::of(&args).map_err(|error| Refusal::execution(error.to_string()))?,
            timeout_ms: arguments.in_range("timeoutMs", MIN_TOOL_TIMEOUT_MS, MAX_TOOL_TIMEOUT_MS)?,
        })
    }
}

/// Calls a tool of the app, after a person agreed where the policy wants that.
pub(super) async fn run(
    server: &Server,
    call: Call,
    response: Response,
    context: &RequestContext<RoleServer>,
) -> Result<Reply, Refusal> {
    let (proposal, timeout_ms) = server.on_daemon(move |shared, daemon| prepare(shared, daemon, call)).await?;
    let session = proposal.session.clone();
    let about = |refusal: Refusal| refusal.of(&session);
    let mut consent = None;
    if proposal.policy == "prompt" {
        match server.consents().ask(&proposal, response, context).await.map_err(about)? {
            Verdict::Given => consent = Some(Consent::Elicitation),
            Verdict::NoChannel => {}
            Verdict::Ask(question) => return Ok(Reply::Question(question)),
        }
    }
    let request = ToolsCall {
        selector: Some(session.session_id.clone()),
        name: proposal.tool,
        args: proposal.args,
        timeout_ms: Some(timeout_ms as f64),
        caller: Some(Caller::Mcp),
        consent,
        validate: None,
        follow: Some(true),
    };
    let CallResult { result, call_id } = send(server, request, &session, context).await.map_err(about)?;
    Ok(Reply::Answer(Answer::of_app(result, &call_id).of(&session)))
}

/// Everything that can be found wrong before a person is asked.
fn prepare(shared: &Shared, daemon: &mut Connection, call: Call) -> Result<(Proposal, u64), Refusal> {
    let Call { selector, name, args, timeout_ms } = call;
    let session = registry::session(shared, daemon, selector.as_deref())?;
    let entry = Entry::find(shared, daemon, &session, &name).map_err(|refusal| refusal.of(&session))?;
    let own_ms = entry.deadline_ms();
    if let Some(timeout_ms) = timeout_ms
        && timeout_ms > own_ms
    {
        let message = format!("\"timeoutMs\" only shortens a call: the deadline of {name:?} is {own_ms} ms");
        return Err(Refusal::invalid(message).of(&session));
    }
    let policy = entry.policy();
    Ok((Proposal { session, tool: name, args, policy }, timeout_ms.unwrap_or(own_ms)))
}

/// Sends the call and waits for its end. Where the client takes it back, the app hears of it.
async fn send(
    server: &Server,
    request: ToolsCall,
    session: &Session,
    context: &RequestContext<RoleServer>,
) -> Result<CallResult, Refusal> {
    let (steps, told) = mpsc::channel(QUEUED_STEPS);
    let (open, opened) = oneshot::channel::<HangUp>();
    let (start, mut started) = oneshot::channel::<String>();
    let work = server.on_daemon(move |_, daemon| {
        // Nobody waits any more.
        open.send(daemon.hang_up()?).map_err(|_| Refusal::cancelled())?;
        let mut start = Some(start);
        let patience = request.reply_timeout();
        daemon.request_with_events(&request, patience, &mut |event| follow(&event, &mut start, &steps))
    });
    let progress = Progress::of(context);
    let mut work = std::pin::pin!(progress.during_call(told, work));
    let mut hang_up = None;
    let mut opened = std::pin::pin!(opened);
    loop {
        tokio::select! {
            biased;
            () = context.ct.cancelled() => break,
            Ok(handle) = &mut opened, if hang_up.is_none() => hang_up = Some(handle),
            result = &mut work => return result,
        }
    }
    // The id may be on its way. A call that gets none ends with its connection.
    let call_id = timeout(ID_PATIENCE, async {
        tokio::select! {
            biased;
            id = &mut started => id.ok(),
            _ = &mut work => None,
        }
    });
    if let Ok(Some(call_id)) = call_id.await {
        let cancel =
            ToolsCancel { selector: Some(session.session_id.clone()), call_id, reason: Some(CANCELLED.to_owned()) };
        let is_told = server.on_daemon(move |_, daemon| daemon.request(&cancel)).await.is_ok();
        if let Some(hang_up) = hang_up.filter(|_| is_told) {
            hang_up.release();
        }
    }
    Err(Refusal::cancelled())
}

/// Passes on what the daemon says of the call.
fn follow(event: &EventNotification, start: &mut Option<oneshot::Sender<String>>, steps: &mpsc::Sender<Step>) {
    let Some(data) = Fields::parse(event.data.as_str()) else { return };
    if event.kind == EventKind::ToolCallStarted.as_str() {
        if let (Some(start), Ok(id)) = (start.take(), data.text("callId", Length::NON_EMPTY)) {
            start.send(id.into_owned()).unwrap_or_default();
        }
    } else if event.kind == EventKind::ToolCallProgress.as_str() {
        let message = data.optional_text("message", Length::ANY).ok().flatten();
        let step = Step {
            progress: data.optional_number("progress").ok().flatten(),
            message: message.map(std::borrow::Cow::into_owned),
        };
        steps.try_send(step).unwrap_or_default();
    }
}
