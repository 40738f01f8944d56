//! Apps that come back to every daemon: raw ones, and some of the SDK.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use appduct::{Appduct, Tool};
use appduct_proto::wire::DeepLink;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{Chance, Stage};
use crate::harness::{App, Control, claim, resume};

/// How many sessions an app may leave behind; each must be there at the end.
const LEFT_BEHIND: usize = 6;

/// An app and the sessions that it has an ack for.
pub(super) struct RawApp {
    number: u64,
    /// A link that is still to be claimed, and whether another daemon than its own has been up since.
    link: Option<(Value, u64)>,
    session: Option<(String, String)>,
    left: Vec<(String, String)>,
}

impl RawApp {
    pub(super) fn new(number: u64) -> Self {
        Self { number, link: None, session: None, left: Vec::new() }
    }

    /// Comes back to every daemon until all is over.
    pub(super) fn run(mut self, stage: &Stage, chance: &mut Chance) -> Self {
        let mut known = u64::MAX;
        while let Some(life) = stage.life.next(known) {
            known = life;
            if self.left.len() < LEFT_BEHIND && chance.percent(30) {
                self.left.extend(self.session.take());
            }
            // It leaves and comes back of its own accord now and then, until the daemon is gone.
            while self.live(stage, life, chance).is_some() && stage.life.now() == life {}
        }
        self
    }

    /// One connection. `None` when the daemon is gone.
    fn live(&mut self, stage: &Stage, life: u64, chance: &mut Chance) -> Option<()> {
        if self.session.is_none() && self.link.is_none() {
            let params = json!({"ttlSeconds": 86_400});
            let link = Control::try_connect(&stage.paths.socket())?.try_call("link.create", params)?.unwrap();
            self.link = Some((link, life));
        }
        let mut app = App::try_connect(stage.port)?;
        match (&self.session, &self.link) {
            (Some((id, token)), _) => app.try_send(&resume(id, token))?,
            (None, Some((link, _))) => app.try_send(&claim(link, "x"))?,
            (None, None) => return None,
        }
        match app.try_message()? {
            Message::Text(text) => {
                let ack: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(ack["type"], "session_ack", "{ack}");
                let text = |key: &str| ack[key].as_str().unwrap().to_owned();
                app.session_id = text("session_id");
                self.session = Some((text("session_id"), text("resume_token")));
                self.link = None;
            }
            Message::Close(Some(frame)) => {
                // A link is promised by its ack and not before: the daemon that made it may have died unsaved.
                let (_, made_in) = self.link.take().filter(|_| self.session.is_none()).unwrap_or_else(|| {
                    panic!("app {} is turned away from its session: {} {}", self.number, frame.code, frame.reason)
                });
                assert!(made_in < life && frame.reason == "unknown_session", "{} {}", frame.code, frame.reason);
                stage.ledger.lost_links.fetch_add(1, Ordering::Relaxed);
                return Some(());
            }
            other @ (Message::Binary(_)
            | Message::Ping(_)
            | Message::Pong(_)
            | Message::Close(None)
            | Message::Frame(_)) => panic!("{other:?}"),
        }
        stage.step();
        // Some die, or leave, before they prove that they have the ack.
        if chance.percent(10) {
            return Some(());
        }
        let id = app.session_id.clone();
        let tools = json!([{"name": "work", "description": "d"}]);
        app.try_send(&json!({"type": "tool_registry_snapshot", "session_id": id, "tools": tools}))?;
        serve(stage, &mut app, chance)
    }

    /// Every session that this app ever had an ack for. Returns how many.
    pub(super) fn resume_everything(&mut self, stage: &Stage) -> usize {
        let sessions: Vec<_> = self.left.drain(..).chain(self.session.take()).collect();
        for (id, token) in &sessions {
            let mut app = App::connect(stage.port);
            app.resume(id, token);
            app.expect_ack();
            assert_eq!(app.session_id, *id);
        }
        sessions.len()
    }
}

/// Answers calls for a while. `None` when the daemon is gone.
fn serve(stage: &Stage, app: &mut App, chance: &mut Chance) -> Option<()> {
    let id = app.session_id.clone();
    // Calls are not always answered in their order.
    let mut held: Option<Value> = None;
    for _ in 0..20 + chance.below(60) {
        let text = match app.try_message()? {
            Message::Text(text) => text,
            Message::Pong(_) => {
                if let Some(waiting) = held.take() {
                    app.try_send(&waiting)?;
                }
                continue;
            }
            Message::Ping(_) => continue,
            other @ (Message::Binary(_) | Message::Close(_) | Message::Frame(_)) => panic!("{other:?}"),
        };
        let call: Value = serde_json::from_str(&text).unwrap();
        if call["type"] != "tool_call" {
            continue;
        }
        let number = call["args"]["n"].as_u64().unwrap();
        stage.ledger.ran(number, call["id"].as_str());
        stage.step();
        if chance.percent(30) {
            app.try_send(&json!({"type": "event", "session_id": id, "name": "ran", "ts": 1, "payload": number}))?;
        }
        if chance.percent(30) {
            app.try_send(&json!({"type": "tool_call_progress", "session_id": id, "id": call["id"], "progress": 0.5}))?;
        }
        let result = json!({"type": "tool_result", "session_id": id, "id": call["id"], "result": {"did": number}});
        if held.is_none() && chance.percent(20) {
            // Until the pong; calls that come before it overtake this one.
            app.ws.send(Message::Ping(Vec::new().into())).ok()?;
            held = Some(result);
        } else {
            app.try_send(&result)?;
        }
    }
    Some(())
}

/// An app of the SDK, which reconnects by itself.
pub(super) struct SdkApp {
    pub(super) session_id: String,
    _app: Appduct,
    _work: appduct::Registration,
}

impl SdkApp {
    /// Pairs with the daemon that is up. The apps' own threads look after them from then on.
    pub(super) fn pair(stage: &Stage, number: u64) -> Self {
        // Apps of one process share a slot for their lease unless they say otherwise.
        let app = Appduct::builder().device_model("sdk").lease_slot(format!("crash loop {number}")).build();
        let ledger = Arc::clone(&stage.ledger);
        let work = app
            .register(Tool::new("work", "Works.").input_schema(json!({"type": "object"})), move |args: Value, _| {
                let number = args["n"].as_u64().unwrap();
                ledger.ran(number, None);
                async move { Ok(json!({"did": number})) }
            })
            .unwrap();
        let link = Control::connect(&stage.paths.socket()).call("link.create", json!({})).unwrap();
        let text = |key: &str| link[key].as_str().unwrap().to_owned();
        let url = DeepLink { payload: text("deepLinkPayload"), pin: Some(text("pin").parse().unwrap()) };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(app.connect(&url.compose("app").unwrap())).unwrap();
        Self { session_id: text("sessionId"), _app: app, _work: work }
    }
}
