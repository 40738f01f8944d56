//! Calls: one end each, one run each, and the answer of the handler that ran.

use appduct_proto::host::{FinishedCall, Outcome};
use appduct_proto::wire::{RawJson, ToolErrorType};

use super::{Oracle, Promise};

#[derive(Debug)]
pub(super) struct CallTruth {
    /// Which daemon took it.
    daemon: u64,
    session: String,
    started: u64,
    timeout_ms: u64,
    cancelled: bool,
    ran: u32,
    answered: Option<Answered>,
    ended: u32,
}

/// What a handler gave first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answered {
    Result(RawJson),
    Failure(ToolErrorType),
}

impl Oracle {
    /// The daemon took a call.
    pub(crate) fn call_started(&mut self, call: &str, daemon: u64, session: &str, timeout_ms: u64) {
        self.counts.calls += 1;
        let truth = CallTruth {
            daemon,
            session: session.to_owned(),
            started: self.now,
            timeout_ms,
            cancelled: false,
            ran: 0,
            answered: None,
            ended: 0,
        };
        let earlier = self.calls.insert(call.to_owned(), truth);
        self.require(earlier.is_none(), Promise::OneEnd, || format!("the id {call} is used twice"));
    }

    pub(crate) fn call_cancelled(&mut self, call: &str) {
        if let Some(truth) = self.calls.get_mut(call) {
            truth.cancelled = true;
        }
    }

    /// An app runs the handler of a call.
    pub(crate) fn call_ran(&mut self, call: &str, session: Option<&str>) {
        let Some(truth) = self.calls.get_mut(call) else {
            self.violate(Promise::OneEnd, format!("{call} runs, and nobody made it"));
            return;
        };
        truth.ran += 1;
        let (ran, is_own) = (truth.ran, session == Some(truth.session.as_str()));
        self.require(ran == 1, Promise::OneEnd, || format!("{call} runs {ran} times"));
        self.require(is_own, Promise::OneEnd, || format!("{call} runs in the app of another session"));
    }

    /// A handler answers.
    pub(crate) fn call_answered(&mut self, call: &str, answer: Answered) {
        if let Some(truth) = self.calls.get_mut(call) {
            truth.answered.get_or_insert(answer);
        }
    }

    /// The caller hears how its call ended. `slept_ms` is how long the daemon slept since it began.
    pub(crate) fn call_ended(&mut self, finished: &FinishedCall, daemon: u64, slept_ms: u64) {
        let call = &*finished.call.0;
        let now = self.now;
        let Some(truth) = self.calls.get_mut(call) else {
            self.violate(Promise::OneEnd, format!("{call} ends, and nobody made it"));
            return;
        };
        truth.ended += 1;
        let took = now - truth.started;
        let fault = if truth.ended > 1 {
            Some(format!("ended {} times", truth.ended))
        } else if truth.daemon != daemon {
            Some("ended in another daemon".to_owned())
        } else if took > truth.timeout_ms + slept_ms {
            Some(format!("ended after {took} ms of {}", truth.timeout_ms))
        } else {
            truth.fault(&finished.outcome, took).map(str::to_owned)
        };
        if matches!(finished.outcome, Outcome::Result(_)) {
            self.counts.results += 1;
        }
        if let Some(fault) = fault {
            self.violate(Promise::OneEnd, format!("{call} {fault}: {:?}", finished.outcome));
        }
    }

    /// The daemon is dead: its callers' connections ended, and their calls with them.
    pub(crate) fn callers_lost(&mut self, daemon: u64) {
        for truth in self.calls.values_mut().filter(|truth| truth.daemon == daemon && truth.ended == 0) {
            truth.ended = 1;
        }
    }

    /// Calls of this daemon that its callers still wait for.
    pub(crate) fn calls_waiting(&self, daemon: u64) -> Vec<String> {
        let waiting = self.calls.iter().filter(|(_, truth)| truth.daemon == daemon && truth.ended == 0);
        waiting.map(|(call, _)| call.clone()).collect()
    }
}

impl CallTruth {
    /// What is wrong with such an end.
    fn fault(&self, outcome: &Outcome, took: u64) -> Option<&'static str> {
        match outcome {
            Outcome::Result(result) => {
                let given = matches!(&self.answered, Some(Answered::Result(given)) if given == result);
                (!given || self.ran != 1).then_some("has a result that its handler did not give")
            }
            Outcome::Error(fault) => match fault.kind {
                ToolErrorType::ToolCancelled => (!self.cancelled).then_some("was cancelled by nobody"),
                ToolErrorType::ToolTimeout => (took < 1_000).then_some("timed out at once"),
                ToolErrorType::ToolNotFound => (self.ran != 0).then_some("ran, and its tool was not found"),
                kind @ (ToolErrorType::ToolInputValidationError
                | ToolErrorType::ToolOutputValidationError
                | ToolErrorType::ToolExecutionError
                | ToolErrorType::ToolSerializationError) => (self.answered != Some(Answered::Failure(kind)))
                    .then_some("has an error that its handler did not give"),
            },
            Outcome::TimedOut(_) => (took < self.timeout_ms).then_some("timed out early"),
            Outcome::Suspended(_) | Outcome::Resumed | Outcome::SessionGone => None,
        }
    }
}
