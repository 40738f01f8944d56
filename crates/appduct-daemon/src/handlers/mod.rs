//! Requests of the control socket: each into one command of the host, its outcome into a reply.
//!
//! A request is checked and a reply is written on its connection's task; only the command itself runs in the event loop.

mod call;
mod daemon;
mod events;
mod link;
mod notification;
mod policy;
mod refusal;
mod reply;
mod sessions;
mod subscription;
mod tools;
mod web;

use appduct_proto::Now;
use appduct_proto::host::CallId;
use appduct_rpc::methods::{
    DaemonShutdown, DaemonStatus, Done, EventsList, EventsSince, EventsSubscribe, LinkCreate, Method, PolicyExplain,
    SessionsDescribe, SessionsList, SessionsRevoke, ToolsCall, ToolsCancel, ToolsList, WebAttach,
};
use appduct_rpc::{RpcError, line};

use crate::state::State;
use crate::validation::Check;

pub(crate) use call::{Ended, InFlight, call, end_checks, finished, result_checked};
pub(crate) use notification::{Notification, daemon_started};
pub(crate) use refusal::error_type;
pub(crate) use reply::Reply;
pub(crate) use subscription::Subscription;
pub(crate) use web::{page_ready, page_refused};

macro_rules! requests {
    ($($method:ident),* $(,)?) => {
        /// A request with checked parameters.
        #[derive(Debug)]
        pub(crate) enum Request {
            $($method($method),)*
        }

        impl Request {
            /// Checks a request. The error is ready to be sent.
            pub(crate) fn parse(request: &line::Request) -> Result<Self, RpcError> {
                match request.method.as_str() {
                    $($method::NAME => request.parse().map(Self::$method),)*
                    unknown => Err(RpcError::method_not_found(unknown)),
                }
            }
        }
    };
}

requests! {
    DaemonStatus,
    DaemonShutdown,
    LinkCreate,
    SessionsList,
    SessionsDescribe,
    SessionsRevoke,
    ToolsList,
    ToolsCall,
    ToolsCancel,
    EventsSubscribe,
    EventsSince,
    EventsList,
    PolicyExplain,
    WebAttach,
}

impl Request {
    /// Whether the reply tells of the policy. Calls look at it by themselves, when their arguments have been checked.
    fn shows_policy(&self) -> bool {
        matches!(self, Self::DaemonStatus(_) | Self::ToolsList(_) | Self::PolicyExplain(_))
    }
}

/// What becomes of a request.
pub(crate) enum Answer {
    /// It is answered.
    Reply(Reply),
    /// It is answered when this call ends; its connection hears of the call meanwhile where it follows it.
    AfterCall { call: CallId, follow: bool },
    /// Its arguments are checked first; [`call()`] goes on with the verdict.
    AfterCheck { check: Check, params: Box<ToolsCall> },
    /// It is answered, and from then on its connection gets notifications.
    Subscribe(Subscription),
    /// It is answered when its browser has been asked.
    AfterBrowser(WebAttach),
    /// It is answered, and then the daemon goes.
    Shutdown,
}

/// Carries a request out.
pub(crate) fn handle(state: &mut State, now: Now, request: Request) -> Result<Answer, RpcError> {
    if request.shows_policy() {
        state.refresh_policy(now);
    }
    let reply = match request {
        Request::DaemonStatus(DaemonStatus) => Reply::Status(Box::new(daemon::status(state, now))),
        Request::DaemonShutdown(DaemonShutdown) => return Ok(Answer::Shutdown),
        Request::LinkCreate(params) => Reply::Link(link::create(state, now, &params)?),
        Request::SessionsList(SessionsList) => Reply::Sessions(state.host.sessions()),
        Request::SessionsDescribe(params) => Reply::Session(Box::new(sessions::describe(state, &params)?)),
        Request::SessionsRevoke(params) => sessions::revoke(state, now, &params).map(|()| Reply::Done(Done::OK))?,
        Request::ToolsList(params) => Reply::Tools(tools::list(state, params)?),
        Request::WebAttach(params) => return Ok(Answer::AfterBrowser(params)),
        Request::ToolsCall(params) => return call(state, now, params, None),
        Request::ToolsCancel(params) => Reply::Cancelled(tools::cancel(state, now, &params)?),
        Request::EventsSubscribe(params) => return Ok(Answer::Subscribe(Subscription::new(params))),
        Request::EventsSince(params) => Reply::EventPage(events::since(state, &params)?),
        Request::PolicyExplain(params) => Reply::PolicyExplained(Box::new(policy::explain(state, &params)?)),
        Request::EventsList(params) => Reply::DeclaredEvents(events::list(state, &params)?),
    };
    Ok(Answer::Reply(reply))
}

/// A count of the control socket as the host counts; what the machine cannot count is as good as endless.
fn count(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
