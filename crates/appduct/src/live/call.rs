//! A call while its handler runs.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::thread::ThreadId;

use appduct_proto::app::Answer;
use appduct_proto::wire::RawJson;
use futures_util::FutureExt;
use tokio::sync::{mpsc, watch};

use super::handler::Handler;
use super::mailbox::{Reply, ask};
use super::threads;
use crate::{Context, Stopped, ToolError};

/// What comes from a running handler. The queue has no bound of its own: progress waits for its turn, and a call ends
/// once.
pub(super) enum CallEvent {
    Progress { call: Serial, fraction: Option<f64>, message: Option<String>, reply: Reply<()> },
    Done { call: Serial, answer: Answer },
}

/// The number of a call on this client. Unlike its id, no daemon chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Serial(pub(super) u64);

/// What a handler holds of its call.
#[derive(Clone)]
pub(crate) struct Call(Arc<Inner>);

struct Inner {
    serial: Serial,
    id: String,
    session_id: String,
    tool: String,
    driver: Port,
    /// Why the call ended before its answer. The sender goes away when the answer has been taken.
    ended: watch::Receiver<Option<String>>,
}

/// The way from handlers to the driver.
#[derive(Clone)]
pub(super) struct Port {
    pub(super) events: mpsc::UnboundedSender<CallEvent>,
    pub(super) thread: ThreadId,
}

/// A call to start.
pub(super) struct Start {
    pub(super) serial: Serial,
    pub(super) id: String,
    pub(super) session_id: String,
    pub(super) args: RawJson,
    pub(super) ended: watch::Receiver<Option<String>>,
}

impl Port {
    /// Runs `handler` where it belongs. Whatever becomes of it, one `Done` follows.
    pub(super) fn start(&self, handler: &Handler, start: Start) {
        let Start { serial, id, session_id, args, ended } = start;
        let done = Done { port: self.clone(), serial, is_sent: false };
        let tool = handler.tool.clone();
        let context = Context(Call(Arc::new(Inner { serial, id, session_id, tool, driver: self.clone(), ended })));
        let running = handler.run(args, context);
        let tool = handler.tool.clone();
        let work = async move {
            let answer = AssertUnwindSafe(running).catch_unwind().await;
            done.send(answer.unwrap_or_else(|panic| panicked(&tool, panic.as_ref())));
        };
        // The task is left to itself. Where it cannot start, dropping it answers the call.
        if let Some(runtime) = &handler.runtime {
            drop(runtime.spawn(work));
        } else if let Some(runtime) = threads::handle() {
            drop(runtime.clone().spawn_blocking(move || runtime.block_on(work)));
        }
    }
}

/// The answer that a call owes.
struct Done {
    port: Port,
    serial: Serial,
    is_sent: bool,
}

impl Done {
    fn send(mut self, answer: Answer) {
        self.is_sent = true;
        self.post(answer);
    }

    fn post(&self, answer: Answer) {
        // Once the driver is gone nobody waits for the answer.
        self.port.events.send(CallEvent::Done { call: self.serial, answer }).unwrap_or_default();
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        if !self.is_sent {
            self.post(ToolError::new("the runtime of the tool's handler is not running").into());
        }
    }
}

fn panicked(tool: &str, panic: &(dyn std::any::Any + Send)) -> Answer {
    let words = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let words = words.unwrap_or("no message");
    ToolError::new(format!("Tool \"{tool}\" handler panicked: {words}")).into()
}

impl Call {
    pub(crate) fn call_id(&self) -> &str {
        &self.0.id
    }

    pub(crate) fn session_id(&self) -> &str {
        &self.0.session_id
    }

    pub(crate) fn tool(&self) -> &str {
        &self.0.tool
    }

    pub(crate) fn progress(&self, fraction: Option<f64>, message: Option<&str>) {
        let Port { events, thread } = &self.0.driver;
        let (call, message) = (self.0.serial, message.map(str::to_owned));
        // Progress is best effort, and without a driver there is nobody to tell.
        ask(Some(*thread), |reply| {
            events.send(CallEvent::Progress { call, fraction, message, reply }).map_err(|_| Stopped)
        })
        .unwrap_or_default();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.ended.borrow().is_some()
    }

    pub(crate) async fn cancelled(&self) -> String {
        let mut ended = self.0.ended.clone();
        if let Ok(reason) = ended.wait_for(Option::is_some).await
            && let Some(reason) = reason.clone()
        {
            return reason;
        }
        // The call was answered: it can no longer be cancelled.
        std::future::pending().await
    }
}
