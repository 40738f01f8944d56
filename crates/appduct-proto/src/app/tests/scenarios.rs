//! The language-neutral session scenarios, as every binding runs them.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::rig::{ADDRESS, PORT, Rig, failure, options, pin, raw};
use crate::app::{Answer, ClientEvent, ConnectInput, Core, Jitter, Options, Output, Secret, SessionChange, SocketId};
use crate::wire::{Device, ToolErrorType};

const FOREGROUND: &str = include_str!("../../../../../fixtures/session-scenarios.json");
const BACKGROUND: &str = include_str!("../../../../../fixtures/session-scenarios-background.json");

struct Runner {
    rig: Rig,
    greeted: BTreeSet<SocketId>,
    wire: VecDeque<Value>,
    app: VecDeque<Value>,
}

/// Runs one scenario; the first step that goes wrong, in words.
fn run(scenario: &Value) -> Result<(), String> {
    let random = scenario["random"].as_f64().unwrap();
    let core = Core::new(Options { jitter: Jitter::Fixed(random), pings: false, ..options() });
    let rig = Rig::of(core, scenario["startMs"].as_u64().unwrap());
    let mut runner = Runner { rig, greeted: BTreeSet::new(), wire: VecDeque::new(), app: VecDeque::new() };
    for (index, step) in scenario["steps"].as_array().unwrap().iter().enumerate() {
        let done = match step["drive"].as_str() {
            Some(verb) => runner.check_silence().map(|()| runner.drive(verb, step)),
            None => runner.expect(step),
        };
        done.map_err(|fault| format!("step {index} {step}: {fault}"))?;
    }
    runner.check_silence()
}

impl Runner {
    fn drive(&mut self, verb: &str, step: &Value) {
        let text = |key: &str| step[key].as_str().unwrap().to_owned();
        let rig = &mut self.rig;
        match verb {
            "connect" => {
                let _refused = rig.connect(ConnectInput {
                    address: ADDRESS,
                    port: PORT,
                    session_id: text("sessionId"),
                    secret: Secret::Token(text("token")),
                    expires_at: step["expiresAt"].as_u64().unwrap(),
                    device: Device::default(),
                    link_pin: Some(pin("daemon")),
                });
            }
            "receive" => rig.receive(&step["frame"].to_string()),
            "close" => {
                let code = step["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap();
                let reason = step["reason"].as_str().map(str::to_owned);
                rig.lose(crate::app::SocketLoss { code: Some(code), reason, error: None });
            }
            "drop" => rig.drop_socket(),
            "advance" => rig.advance(step["ms"].as_u64().unwrap()),
            "registerTool" => {
                let descriptor = raw(&step["descriptor"].to_string());
                rig.drive(|core, now| core.register_tool(now, &descriptor)).unwrap();
            }
            "respond" => rig.respond(&text("call"), answer(step)),
            "disconnect" => rig.drive(Core::disconnect),
            "failNextConnect" => rig.next_failure = Some(failure("connection_failed", true)),
            "background" => rig.drive(Core::handle_background),
            "foreground" => rig.drive(Core::handle_foreground),
            verb => panic!("unknown verb {verb}"),
        }
        self.sort_out();
    }

    /// Puts what came out on the two channels.
    fn sort_out(&mut self) {
        for output in self.rig.outputs.drain(..) {
            match output {
                Output::Send { socket, text } => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    self.wire.push_back(if self.greeted.insert(socket) {
                        greeting(&frame)
                    } else {
                        json!({"expect": "send", "frame": frame})
                    });
                }
                Output::Close { close, .. } if close.reason == "app_backgrounded" && close.code == 1001 => {
                    self.wire.push_back(json!({"expect": "suspend"}));
                }
                Output::Event(ClientEvent::State { state, reason }) => {
                    self.app.push_back(with_reason(json!({"expect": "state", "state": state.as_str()}), reason));
                }
                Output::Event(ClientEvent::Session(change)) => {
                    let (kind, reason) = match change {
                        SessionChange::Claimed { .. } => ("claimed", None),
                        SessionChange::Resumed { .. } => ("resumed", None),
                        SessionChange::Lost { reason } => ("lost", Some(reason)),
                    };
                    self.app.push_back(with_reason(json!({"expect": "session", "type": kind}), reason));
                }
                Output::RunTool { call, name, args, .. } => {
                    let args: Value = serde_json::from_str(args.as_str()).unwrap();
                    self.app.push_back(json!({"expect": "call", "call": call, "name": name, "args": args}));
                }
                Output::CancelTool { call, reason } => {
                    self.app.push_back(json!({"expect": "cancel", "call": call, "reason": reason}));
                }
                Output::Open { .. }
                | Output::Ping { .. }
                | Output::Close { .. }
                | Output::StoreLease(_)
                | Output::ClearLease
                | Output::Event(ClientEvent::Error(_))
                | Output::Settled { .. }
                | Output::Idle { .. } => {}
            }
        }
    }

    fn expect(&mut self, step: &Value) -> Result<(), String> {
        let channel = match step["expect"].as_str().unwrap() {
            "connect" | "send" | "suspend" => &mut self.wire,
            _ => &mut self.app,
        };
        match channel.pop_front() {
            Some(came) if came == *step => Ok(()),
            came => Err(format!("came {}", came.unwrap_or(Value::Null))),
        }
    }

    fn check_silence(&self) -> Result<(), String> {
        match self.wire.front().or(self.app.front()) {
            Some(left) => Err(format!("nobody expected {left}")),
            None => Ok(()),
        }
    }
}

fn greeting(frame: &Value) -> Value {
    let session_id = &frame["session_id"];
    match frame["type"].as_str().unwrap() {
        "session_claim" => {
            json!({"expect": "connect", "mode": "claim", "sessionId": session_id, "token": frame["token"]})
        }
        "session_resume" => json!({
            "expect": "connect", "mode": "resume", "sessionId": session_id, "resumeToken": frame["resume_token"]
        }),
        other => json!({"expect": "connect", "mode": other}),
    }
}

fn with_reason(mut entry: Value, reason: Option<String>) -> Value {
    if let Some(reason) = reason {
        entry["reason"] = reason.into();
    }
    entry
}

fn answer(step: &Value) -> Answer {
    match step.get("error") {
        None => Answer::Result(raw(&step["result"].to_string())),
        Some(error) => Answer::Error {
            kind: ToolErrorType::parse(error["type"].as_str().unwrap()).unwrap(),
            message: error["message"].as_str().unwrap().to_owned(),
            details: error.get("details").map(|details| raw(&details.to_string())),
        },
    }
}

fn scenarios(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

fn check_all(text: &str) {
    let faults: Vec<_> = scenarios(text)
        .iter()
        .filter_map(|scenario| Some(format!("{}: {}", scenario["name"], run(scenario).err()?)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_session_scenario_runs_as_written() {
    check_all(FOREGROUND);
}

#[test]
fn every_background_scenario_runs_as_written() {
    check_all(BACKGROUND);
}

#[test]
fn a_scenario_with_any_expectation_left_out_or_changed_fails() {
    for scenario in scenarios(FOREGROUND).into_iter().chain(scenarios(BACKGROUND)) {
        let steps = scenario["steps"].as_array().unwrap();
        for (index, step) in steps.iter().enumerate() {
            if step["expect"].is_null() {
                continue;
            }
            let mut without = steps.clone();
            without.remove(index);
            let mut changed = steps.clone();
            changed[index]["surplus"] = true.into();
            for steps in [without, changed] {
                let wrong = json!({"startMs": scenario["startMs"], "random": scenario["random"], "steps": steps});
                assert!(run(&wrong).is_err(), "{} without step {index} passes", scenario["name"]);
            }
        }
    }
}

#[test]
fn a_scenario_that_expects_what_never_comes_fails() {
    for extra in [json!({"expect": "state", "state": "active"}), json!({"expect": "suspend"})] {
        let wrong = json!({"startMs": 0, "random": 0.5, "steps": [{"drive": "advance", "ms": 1}, extra]});
        assert!(run(&wrong).is_err(), "{extra}");
    }
}

#[test]
fn a_frame_that_differs_in_one_value_fails_its_scenario() {
    let mut scenario = scenarios(FOREGROUND).swap_remove(0);
    let steps = scenario["steps"].as_array_mut().unwrap();
    let send = steps.iter_mut().find(|step| step["expect"] == "send").unwrap();
    send["frame"]["tools"] = json!([]);
    assert!(run(&scenario).is_err());
}
