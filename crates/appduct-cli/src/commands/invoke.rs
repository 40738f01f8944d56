//! `invoke`

use std::time::Duration;

use appduct_proto::signature::signature;
use appduct_proto::wire::{Fields, Length, MAX_TOOL_TIMEOUT_MS, MIN_TOOL_TIMEOUT_MS, RawJson, ToolName};
use appduct_rpc::methods::{EventKind, EventNotification, EventsSubscribe, ToolsCall, ToolsList};
use appduct_rpc::{ErrorName, ErrorType};
use signal_hook::consts::SIGINT;

use super::control::Control;
use super::interrupt::Interrupt;
use super::{Stage, tools, words};
use crate::args::how_to_use;
use crate::error::{Failure, Kind};
use crate::report::{Report, Step};
use crate::settings::{CallSettings, Input, ProgressMode, Settings, read_source};

/// What the daemon has to answer in over the call's own deadline.
const GRACE: Duration = Duration::from_secs(5);

/// Calls a tool. Ctrl-C gives up waiting, which cancels the call in the app.
pub(super) fn run(settings: &Settings, call: &CallSettings, stage: &mut dyn Stage) -> Result<Report, Failure> {
    let interrupt = Interrupt::watch(&[SIGINT])?;
    let outcome = attempt(settings, call, &interrupt, stage);
    if interrupt.came() {
        return Err(cancelled(call));
    }
    outcome
}

fn cancelled(call: &CallSettings) -> Failure {
    let kind = Kind::Remote(ErrorName::Known(ErrorType::ToolCancelled));
    Failure::new(kind, format!("The call of \"{}\" was cancelled.", call.tool))
}

/// Reads the input; `None` if Ctrl-C comes first.
fn read(named: String, interrupt: &Interrupt) -> Result<Option<RawJson>, Failure> {
    let explained = |failure: Failure| match failure.hint {
        Some(_) => failure,
        None => failure.with_hint(how_to_use("invoke")),
    };
    interrupt.unless_it_comes(move || read_source(&named))?.transpose().map_err(explained)
}

fn attempt(
    settings: &Settings,
    call: &CallSettings,
    interrupt: &Interrupt,
    stage: &mut dyn Stage,
) -> Result<Report, Failure> {
    let (object, words) = match &call.input {
        Input::Object(args) => (args.clone(), &[][..]),
        Input::Words(words) => (RawJson::empty_object(), words.as_slice()),
        Input::Source(named) => (read(named.clone(), interrupt)?.ok_or_else(|| cancelled(call))?, &[][..]),
    };
    let mut control = Control::open(settings, stage)?;
    interrupt.ends(control.shutdown_handle()?);
    let args = if words.is_empty() {
        object
    } else {
        let entry = if words::need_schema(words) { entry(&mut control, call)? } else { None };
        let signature = || entry.as_ref().and_then(signature_of);
        words::object(words, entry.as_ref()).map_err(|failure| Failure { signature: signature(), ..failure })?
    };
    if let Some(text) = call.timeout_ms.and_then(clamped) {
        stage.notice(&text);
    }
    let request = ToolsCall {
        selector: call.selector.clone(),
        name: call.tool.clone(),
        args,
        timeout_ms: call.timeout_ms.map(to_number),
        caller: None,
        consent: None,
        validate: None,
        follow: None,
    };
    let reply = if call.progress == ProgressMode::None {
        control.request_within(&request, patience(call.timeout_ms))
    } else {
        control.request(&EventsSubscribe {
            session_selector: call.selector.clone(),
            kinds: Some(vec![EventKind::ToolCallStarted, EventKind::ToolCallProgress]),
            ..EventsSubscribe::default()
        })?;
        let mut running = Running { tool: &call.tool, started: Vec::new() };
        control.request_with_events(&request, patience(call.timeout_ms), &mut |event| {
            if let Some(step) = running.step(&event) {
                stage.progress(&step);
            }
        })
    };
    match reply {
        Ok(reply) => Ok(Report::Called(reply.result)),
        Err(failure) if failure.is(ErrorType::ToolInputValidationError) => {
            let signature = entry(&mut control, call).ok().flatten().and_then(|entry| signature_of(&entry));
            let hint = format!("Run `appduct tools {}` to see the input schema.", call.tool);
            Err(Failure { signature, ..failure }.with_hint(hint))
        }
        Err(failure) if failure.is(ErrorType::ToolNotFound) => {
            Err(tools::or_did_you_mean(&mut control, failure, call.selector.as_deref(), &call.tool))
        }
        Err(failure) => Err(control.with_aliases(failure, call.selector.as_deref())),
    }
}

/// What there is to say of a deadline that the daemon will not take as it is.
fn clamped(timeout_ms: u64) -> Option<String> {
    let taken = timeout_ms.clamp(MIN_TOOL_TIMEOUT_MS, MAX_TOOL_TIMEOUT_MS);
    (taken != timeout_ms).then(|| {
        format!(
            "\"--timeout {timeout_ms}\" is outside {MIN_TOOL_TIMEOUT_MS} to {MAX_TOOL_TIMEOUT_MS} ms: {taken} is used."
        )
    })
}

/// How long to wait for the reply: the call's deadline as the daemon sets it, and what it needs to answer.
fn patience(timeout_ms: Option<u64>) -> Duration {
    let deadline = timeout_ms.unwrap_or(MAX_TOOL_TIMEOUT_MS).clamp(MIN_TOOL_TIMEOUT_MS, MAX_TOOL_TIMEOUT_MS);
    Duration::from_millis(deadline) + GRACE
}

#[expect(clippy::cast_precision_loss, reason = "whole numbers up to 2^53 were let through")]
fn to_number(timeout_ms: u64) -> f64 {
    timeout_ms as f64
}

/// The tool's entry, if the session has it.
fn entry(control: &mut Control, call: &CallSettings) -> Result<Option<RawJson>, Failure> {
    // The filter takes 256 characters; longer words are no tool's name.
    if call.tool.parse::<ToolName>().is_err() {
        return Ok(None);
    }
    let request =
        ToolsList { selector: call.selector.clone(), filter: Some(call.tool.clone()), ..ToolsList::default() };
    Ok(tools::find(&control.request(&request)?.tools, &call.tool))
}

fn signature_of(entry: &RawJson) -> Option<Box<str>> {
    let fields = Fields::parse(entry.as_str())?;
    let raw = |key: &str| fields.get(key).and_then(|value| RawJson::parse(value.get()).ok());
    let name = fields.text("name", Length::ANY).ok()?;
    Some(signature(&name, raw("input_schema").as_ref(), raw("output_schema").as_ref()).into())
}

/// Finds the progress of our call among everybody's.
///
/// The call's id is known only with its reply. Until then it is the one call of that tool that started after we subscribed;
/// where somebody else starts the same tool in the same moment, nobody can tell, and nothing is shown.
struct Running<'a> {
    tool: &'a str,
    started: Vec<String>,
}

impl Running<'_> {
    fn step(&mut self, event: &EventNotification) -> Option<Step> {
        let fields = Fields::parse(event.data.as_str())?;
        let call_id = fields.text("callId", Length::ANY).ok()?;
        if event.kind == EventKind::ToolCallStarted.as_str() {
            if fields.is_text("name", self.tool) {
                self.started.push(call_id.into_owned());
            }
            return None;
        }
        let is_ours = event.kind == EventKind::ToolCallProgress.as_str()
            && matches!(self.started.as_slice(), [only] if *only == call_id);
        if is_ours { serde_json::from_str(event.data.as_str()).ok() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventKind, data: &str) -> EventNotification {
        EventNotification {
            kind: kind.as_str().to_owned(),
            session_id: Some("s1".to_owned()),
            alias: Some("x".to_owned()),
            data: RawJson::parse(data).unwrap(),
            ts: 0,
            seq: 0,
        }
    }

    #[test]
    fn only_the_progress_of_our_call_is_shown() {
        let mut running = Running { tool: "slow_task", started: Vec::new() };
        let half = |id: &str| event(EventKind::ToolCallProgress, &format!(r#"{{"callId":"{id}","progress":0.5}}"#));
        let started = |name: &str, id: &str| {
            event(EventKind::ToolCallStarted, &format!(r#"{{"name":"{name}","callId":"{id}"}}"#))
        };
        assert_eq!(running.step(&half("call_old")), None);
        assert_eq!(running.step(&started("other", "call_o")), None);
        assert_eq!(running.step(&started("slow_task", "call_a")), None);
        assert_eq!(running.step(&half("call_a")).unwrap().progress, Some(0.5));
        assert_eq!(running.step(&half("call_o")), None);
        assert_eq!(running.step(&started("slow_task", "call_b")), None);
        assert_eq!(running.step(&half("call_a")), None);
        assert_eq!(running.step(&half("call_b")), None);
    }

    #[test]
    fn the_wait_outlives_the_deadline_that_the_daemon_sets() {
        for (timeout_ms, seconds) in [(None, 605), (Some(1), 6), (Some(20_000), 25), (Some(9_000_000), 605)] {
            assert_eq!(patience(timeout_ms), Duration::from_secs(seconds));
        }
    }
}
