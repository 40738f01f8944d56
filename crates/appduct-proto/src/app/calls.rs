//! Calls in flight: each gets at most one answer, and none once its socket is gone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::Core;
use crate::Now;
use crate::app::event::{ClientError, Phase};
use crate::app::fault::over_the_limit;
use crate::app::options::clipped;
use crate::app::output::Output;
use crate::app::timers::{Timer, Timers};
use crate::wire::{AppFrame, DEFAULT_TOOL_TIMEOUT_MS, MAX_TEXT_UNITS, Number, RawJson, ToolErrorType, ToolFault};

/// An answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Any JSON.
    Result(RawJson),
    /// The handler returned something that is not JSON.
    NotJson,
    /// A failure.
    Error {
        /// What kind.
        kind: ToolErrorType,
        /// For the caller. Empty becomes a default; over 4096 UTF-16 units it is cut.
        message: String,
        /// Anything.
        details: Option<RawJson>,
    },
}

/// A call whose handler runs.
#[derive(Debug)]
struct Call {
    /// When it came, among the calls of this core.
    turn: u64,
    tool: String,
    timeout_ms: u64,
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    in_flight: BTreeMap<Arc<str>, Call>,
    turns: u64,
}

impl Calls {
    fn insert(&mut self, id: Arc<str>, tool: String, timeout_ms: u64) {
        self.turns += 1;
        self.in_flight.insert(id, Call { turn: self.turns, tool, timeout_ms });
    }

    fn contains(&self, id: &str) -> bool {
        self.in_flight.contains_key(id)
    }

    /// Takes a call out, its deadline included.
    fn take(&mut self, id: &str, timers: &mut Timers) -> Option<Call> {
        let (id, call) = self.in_flight.remove_entry(id)?;
        timers.clear(&Timer::Call(id));
        Some(call)
    }

    /// Takes every call out, in the order in which they came.
    fn take_all(&mut self, timers: &mut Timers) -> Vec<Arc<str>> {
        let mut calls: Vec<_> = std::mem::take(&mut self.in_flight).into_iter().collect();
        calls.sort_by_key(|(_, call)| call.turn);
        calls.into_iter().map(|(id, _)| id).inspect(|id| timers.clear(&Timer::Call(Arc::clone(id)))).collect()
    }
}

impl Core {
    /// A `tool_call` came. An id that is in flight already is ignored: one id, one answer.
    pub(super) fn start_call(&mut self, now: Now, id: String, name: String, args: RawJson) {
        if self.calls.contains(&id) {
            return;
        }
        let Some((registration, tool)) = self.tools.registration(&name) else {
            let message = format!("Tool \"{name}\" is not registered in the app.");
            self.send_failure(&id, ToolErrorType::ToolNotFound, message);
            return;
        };
        let timeout_ms = tool.timeout_ms.unwrap_or(DEFAULT_TOOL_TIMEOUT_MS);
        let key: Arc<str> = id.as_str().into();
        self.timers.set(Timer::Call(Arc::clone(&key)), now.mono + Duration::from_millis(timeout_ms));
        self.calls.insert(key, name.clone(), timeout_ms);
        self.outputs.push(Output::RunTool { call: id, name, registration, args });
    }

    /// A `tool_cancel` came: the daemon is answered at once, whatever the handler makes of the signal.
    pub(super) fn cancel_call(&mut self, id: String, reason: String) {
        let Some(call) = self.calls.take(&id, &mut self.timers) else { return };
        self.send_failure(&id, ToolErrorType::ToolCancelled, format!("Tool \"{}\" was cancelled.", call.tool));
        self.outputs.push(Output::CancelTool { call: id, reason });
    }

    /// A call's deadline has come.
    pub(super) fn time_call_out(&mut self, id: &str) {
        let Some(call) = self.calls.take(id, &mut self.timers) else { return };
        let message = format!("Tool \"{}\" did not respond within {}ms.", call.tool, call.timeout_ms);
        self.send_failure(id, ToolErrorType::ToolTimeout, message);
        self.outputs.push(Output::CancelTool { call: id.to_owned(), reason: "timeout".to_owned() });
    }

    /// The socket of every call is gone: nobody waits for an answer.
    pub(super) fn suspend_calls(&mut self) {
        for id in self.calls.take_all(&mut self.timers) {
            let reason = "session_suspended".to_owned();
            self.outputs.push(Output::CancelTool { call: id.as_ref().to_owned(), reason });
        }
    }

    /// The app's answer; nothing if the call has ended.
    pub(super) fn answer_call(&mut self, id: &str, answer: Answer) {
        if self.calls.take(id, &mut self.timers).is_none() {
            return;
        }
        let frame = answer.into_frame(id);
        if let Err(bytes) = self.send(&frame) {
            self.send_failure(id, ToolErrorType::ToolSerializationError, over_the_limit(bytes));
        }
    }

    /// Progress; nothing if the call has ended. What the wire cannot carry is left out: a number that is not finite, an
    /// empty message, what a message has beyond 4096 units.
    pub(super) fn send_progress(&mut self, id: &str, progress: Option<f64>, message: Option<&str>) {
        let Some(call) = self.calls.in_flight.get(id) else { return };
        let tool = call.tool.clone();
        let frame = AppFrame::ToolCallProgress {
            id: id.to_owned(),
            progress: progress.filter(|number| number.is_finite()).map(Number),
            message: message.filter(|text| !text.is_empty()).map(|text| clipped(text, MAX_TEXT_UNITS).to_owned()),
        };
        if let Err(bytes) = self.send(&frame) {
            let error = ClientError::of_size(Phase::Tool, bytes);
            self.outputs.error(ClientError { tool: Some(tool), call: Some(id.to_owned()), ..error });
        }
    }

    /// Sends a failure that carries no details, so that it always fits into a frame.
    fn send_failure(&mut self, id: &str, kind: ToolErrorType, message: String) {
        let message = clipped(&message, MAX_TEXT_UNITS).to_owned();
        let error = ToolFault { kind, message, details: None };
        self.send(&AppFrame::ToolError { id: id.to_owned(), error })
            .expect("an id of 128 units and a message of 4096 fit into a frame");
    }
}

impl Answer {
    fn into_frame(self, id: &str) -> AppFrame {
        let id = id.to_owned();
        let (kind, message, details) = match self {
            Self::Result(result) => return AppFrame::ToolResult { id, result },
            Self::NotJson => {
                let message = "Appduct tool result is not JSON-serializable.".to_owned();
                (ToolErrorType::ToolSerializationError, message, None)
            }
            Self::Error { kind, message, details } => (kind, message, details),
        };
        let message = match message.as_str() {
            "" => "Appduct tool execution failed.",
            message => clipped(message, MAX_TEXT_UNITS),
        };
        AppFrame::ToolError { id, error: ToolFault { kind, message: message.to_owned(), details } }
    }
}
