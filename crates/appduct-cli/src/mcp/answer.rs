//! What a tool of this server answers: JSON as the client takes it in, within bounds.

use appduct_proto::wire::{Object, RawJson};
use appduct_rpc::methods::Session;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::Value;

use super::image;
use super::spill::Spill;

/// The most that a result of an app may have as text. Clients cut or refuse answers of some 25,000 tokens.
pub(super) const MAX_RESULT_BYTES: usize = 64 * 1024;
/// How much of a larger result is shown.
const PREVIEW_BYTES: usize = 4096;

/// An answer, and the session that gave it.
#[derive(Debug)]
pub(super) struct Answer {
    body: Body,
    session: Option<Box<Session>>,
}

#[derive(Debug)]
enum Body {
    /// Ours, whose shape is fixed.
    Own(RawJson),
    /// The app's.
    App { result: RawJson, name: String },
}

impl Answer {
    /// An answer of this server's own.
    pub(super) fn own(json: RawJson) -> Self {
        Self { body: Body::Own(json), session: None }
    }

    /// The same, of an object.
    pub(super) fn own_object(object: Object) -> Self {
        Self::own(object.into_raw())
    }

    /// What the app answered to the call of this id.
    pub(super) fn of_app(result: RawJson, call_id: &str) -> Self {
        Self { body: Body::App { result, name: call_id.to_owned() }, session: None }
    }

    /// The same answer with the session that it is about.
    pub(super) fn of(self, session: &Session) -> Self {
        Self { session: Some(Box::new(session.clone())), ..self }
    }

    /// The result of the tool. What is too large for it goes into a file.
    pub(super) fn into_result(self, spill: &Spill) -> CallToolResult {
        let mut result = match self.body {
            Body::Own(json) => whole(&json),
            Body::App { result, name } => of_app(&result, &name, spill),
        };
        result.meta = self.session.as_deref().map(session_meta);
        result
    }
}

/// The block that says which session answered.
pub(super) fn session_meta(session: &Session) -> MetaObject {
    let mut meta = MetaObject::default();
    let about = serde_json::json!({
        "sessionId": session.session_id, "alias": session.alias, "device": session.device,
    });
    meta.0.insert("appduct/session".to_owned(), about);
    meta
}

fn of_app(result: &RawJson, name: &str, spill: &Spill) -> CallToolResult {
    if let Some(content) = image::content(result, name, spill) {
        return CallToolResult::success(content);
    }
    let bytes = result.len_bytes();
    if bytes <= MAX_RESULT_BYTES {
        return whole(result);
    }
    let text = result.as_str();
    let preview = &text[..text.floor_char_boundary(PREVIEW_BYTES)];
    let object = Object::new().display("truncated", true).display("bytes", bytes);
    let object = match spill.write(name, "json", text.as_bytes()) {
        Ok(path) => object.text("path", &path.display().to_string()),
        Err(error) => object.text("fault", &format!("the whole result cannot be kept in a file: {error}")),
    };
    whole(&object.text("preview", preview).into_raw())
}

/// JSON as text, and an object as structured content too: exactly the same, so that a client may leave one of them out.
fn whole(json: &RawJson) -> CallToolResult {
    // What cannot be held without loss stays text.
    let value = serde_json::from_str::<Value>(json.as_str()).ok();
    let compact = value.as_ref().map_or_else(|| json.as_str().to_owned(), Value::to_string);
    let mut result = CallToolResult::success(vec![ContentBlock::text(compact)]);
    result.structured_content = value.filter(Value::is_object);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    fn text(result: &CallToolResult) -> &str {
        &result.content[0].as_text().unwrap().text
    }

    #[test]
    fn objects_come_twice_and_everything_else_once() {
        let (_dir, spill) = Spill::of_test();
        let result = Answer::of_app(raw("{ \"b\" : 1, \"a\" : [2.5] }"), "call_x").into_result(&spill);
        assert_eq!(text(&result), r#"{"b":1,"a":[2.5]}"#);
        assert_eq!(result.structured_content.unwrap().to_string(), r#"{"b":1,"a":[2.5]}"#);
        for other in ["[1]", "null", "\"x\"", "5"] {
            let result = Answer::of_app(raw(other), "call_x").into_result(&spill);
            assert_eq!((text(&result), &result.structured_content), (other, &None));
        }
    }

    #[test]
    fn what_json_here_cannot_hold_stays_text() {
        let (_dir, spill) = Spill::of_test();
        let result = Answer::of_app(raw(r#"{"n":1e400}"#), "call_x").into_result(&spill);
        assert_eq!((text(&result), &result.structured_content), (r#"{"n":1e400}"#, &None));
    }

    #[test]
    fn a_large_result_comes_as_a_preview_and_a_file() {
        let (_dir, spill) = Spill::of_test();
        let large = format!("{{\"a\":\"{}\"}}", "ü".repeat(MAX_RESULT_BYTES));
        let result = Answer::of_app(raw(&large), "call_x").into_result(&spill);
        let value = result.structured_content.clone().unwrap();
        assert_eq!(std::fs::read_to_string(value["path"].as_str().unwrap()).unwrap(), large);
        assert_eq!(value["bytes"], large.len());
        assert!(large.starts_with(value["preview"].as_str().unwrap()));
        assert!(text(&result).len() < PREVIEW_BYTES + 500);
    }

    #[test]
    fn the_answer_says_which_session_gave_it() {
        let (_dir, spill) = Spill::of_test();
        let session: Session = serde_json::from_str(
            r#"{"sessionId":"s","alias":"pixel","state":"active","device":{"model":"Pixel"},"createdAt":"","toolCount":0}"#,
        )
        .unwrap();
        let result = Answer::own(raw("{}")).of(&session).into_result(&spill);
        let meta = result.meta.unwrap();
        assert_eq!(
            serde_json::to_value(&meta.0["appduct/session"]).unwrap(),
            serde_json::json!({"sessionId": "s", "alias": "pixel", "device": {"model": "Pixel"}})
        );
    }
}
