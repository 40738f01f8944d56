//! A page as its tab shows it: the document in it, what that says through the binding, and what is said to it.

use appduct_proto::wire::{Close, Fields, IntegerFrom, Length, Object, RawJson};

use super::devtools::{self, DevtoolsEvent};

/// The function of the page that reaches the relay.
const BINDING: &str = "__appductBinding";

/// The document of a tab.
#[derive(Debug)]
pub(super) struct Page {
    /// The tab's own frame. Frames inside of it have the binding too, and are not listened to.
    frame: String,
    /// Where the document's scripts run; absent between two documents.
    context: Option<u64>,
}

/// What has become of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Happened {
    /// The document is gone; another may come.
    Left,
    /// It says this.
    Said(FromPage),
}

/// What a page says through the binding.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FromPage {
    /// It wants a socket. Its numbers count up from document to document.
    Open { socket: u64 },
    /// A frame for the daemon.
    Send { text: String },
    /// It is done with its socket.
    Close(Close),
}

impl Page {
    /// What is known of a tab before anything is.
    pub(super) fn new() -> Self {
        Self { frame: String::new(), context: None }
    }

    /// The tab's own frame is this one.
    pub(super) fn is_in(&mut self, frame: String) {
        self.frame = frame;
    }

    /// Takes an event in, and what the page says with it.
    pub(super) fn hear(&mut self, event: &DevtoolsEvent) -> Option<Happened> {
        if self.leaves(event) {
            self.context = None;
            return Some(Happened::Left);
        }
        match event.method.as_str() {
            "Runtime.executionContextCreated" => {
                self.context = self.own_context(&event.params).or(self.context);
                None
            }
            "Runtime.bindingCalled" => self.said(&event.params),
            _ => None,
        }
    }

    fn said(&self, params: &RawJson) -> Option<Happened> {
        let params = devtools::fields(params)?;
        let context = integer(&params, "executionContextId")?;
        if self.context != Some(context) || !params.is_text("name", BINDING) {
            return None;
        }
        let payload = params.text("payload", Length::ANY).ok()?;
        FromPage::parse(&payload).map(Happened::Said)
    }

    fn own_context(&self, params: &RawJson) -> Option<u64> {
        let params = devtools::fields(params)?;
        let context = devtools::object(&params, "context")?;
        let about = devtools::object(&context, "auxData")?;
        let is_own = about.is_text("frameId", &self.frame) && about.optional_boolean("isDefault") == Ok(Some(true));
        integer(&context, "id").filter(|_| is_own)
    }

    fn leaves(&self, event: &DevtoolsEvent) -> bool {
        match event.method.as_str() {
            "Runtime.executionContextsCleared" | "Inspector.targetCrashed" => self.context.is_some(),
            "Runtime.executionContextDestroyed" => {
                let gone = devtools::fields(&event.params).and_then(|params| integer(&params, "executionContextId"));
                self.context.is_some() && self.context == gone
            }
            _ => false,
        }
    }
}

impl FromPage {
    /// What is none of the three is nothing.
    fn parse(json: &str) -> Option<Self> {
        let fields = Fields::parse(json)?;
        let kind = fields.text("kind", Length::ANY).ok()?;
        match &*kind {
            "open" => Some(Self::Open { socket: integer(&fields, "socket")? }),
            "send" => Some(Self::Send { text: fields.text("text", Length::ANY).ok()?.into_owned() }),
            "close" => {
                let code = integer(&fields, "code").and_then(|code| u16::try_from(code).ok());
                let reason = fields.text("reason", Length::ANY).map(std::borrow::Cow::into_owned);
                Some(Self::Close(Close { code: code.unwrap_or(1000), reason: reason.unwrap_or_default() }))
            }
            _ => None,
        }
    }
}

fn integer(fields: &Fields<'_>, key: &str) -> Option<u64> {
    fields.optional_integer(key, IntegerFrom::Zero).ok().flatten()
}

/// What a page is told.
#[derive(Debug)]
pub(super) enum ToPage<'a> {
    /// The socket is open.
    Open,
    /// A frame of the daemon.
    Message(&'a str),
    /// The socket is closed.
    Close(&'a Close),
}

/// Parameters of `Runtime.evaluate`.
#[derive(Debug)]
pub(super) struct Script;

impl Script {
    /// Is the page's SDK there?
    pub(super) fn has_sdk(page: &Page) -> RawJson {
        let sdk = "typeof window.__APPDUCT__?.connect === \"function\" && typeof window.__APPDUCT__?.receive === \"function\"";
        evaluate(page, sdk, false)
    }

    /// Has the SDK claim a link through the binding; ends when it has taken the link, or refused it.
    pub(super) fn connect(page: &Page, payload: &str) -> RawJson {
        let link = quoted(payload);
        evaluate(page, &format!("window.__APPDUCT__.connect({link}, {{transport: \"devtools\"}})"), true)
    }

    /// Tells the SDK about its socket.
    pub(super) fn receive(page: &Page, socket: u64, what: &ToPage<'_>) -> RawJson {
        let message = match what {
            ToPage::Open => Object::new().text("kind", "open").display("socket", socket),
            ToPage::Message(text) => Object::new().text("kind", "message").display("socket", socket).text("text", text),
            ToPage::Close(Close { code, reason }) => Object::new()
                .text("kind", "close")
                .display("socket", socket)
                .display("code", code)
                .text("reason", reason),
        };
        evaluate(page, &format!("window.__APPDUCT__?.receive({})", quoted(&message.finish())), false)
    }
}

fn evaluate(page: &Page, expression: &str, await_promise: bool) -> RawJson {
    Object::new()
        .text("expression", expression)
        .optional_display("contextId", page.context)
        .display("awaitPromise", await_promise)
        .into_raw()
}

/// A JSON string is a JavaScript string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Parameters of `Runtime.addBinding`.
pub(super) fn binding() -> RawJson {
    Object::new().text("name", BINDING).into_raw()
}

/// Parameters of `Page.navigate`.
pub(super) fn address(url: &str) -> RawJson {
    Object::new().text("url", url).into_raw()
}

/// Whether an expression is `true`.
pub(super) fn is_true(answer: &RawJson) -> bool {
    devtools::fields(answer)
        .and_then(|answer| devtools::object(&answer, "result"))
        .is_some_and(|result| result.optional_boolean("value") == Ok(Some(true)))
}

/// What an expression threw.
pub(super) fn thrown(answer: &RawJson) -> Option<String> {
    let answer = devtools::fields(answer)?;
    let exception = devtools::object(&answer, "exceptionDetails")?;
    let text = |fields: &Fields<'_>, key| fields.text(key, Length::ANY).ok().map(std::borrow::Cow::into_owned);
    let thrown = devtools::object(&exception, "exception")
        .and_then(|thrown| text(&thrown, "description").or_else(|| text(&thrown, "value")));
    Some(thrown.or_else(|| text(&exception, "text")).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(method: &str, params: &str) -> DevtoolsEvent {
        DevtoolsEvent { method: method.to_owned(), params: RawJson::parse(params).unwrap() }
    }

    fn created(id: u64, frame: &str, is_default: bool) -> DevtoolsEvent {
        let params =
            format!(r#"{{"context":{{"id":{id},"auxData":{{"frameId":"{frame}","isDefault":{is_default}}}}}}}"#);
        event("Runtime.executionContextCreated", &params)
    }

    fn says(context: u64, name: &str, payload: &str) -> DevtoolsEvent {
        let params =
            Object::new().text("name", name).text("payload", payload).display("executionContextId", context).finish();
        event("Runtime.bindingCalled", &params)
    }

    fn page() -> Page {
        let mut page = Page::new();
        page.is_in("F".to_owned());
        assert_eq!(page.hear(&created(3, "F", true)), None);
        page
    }

    #[test]
    fn only_the_tabs_own_document_is_heard() {
        let mut page = page();
        for other in [created(4, "inner", true), created(5, "F", false)] {
            assert_eq!(page.hear(&other), None);
        }
        let open = r#"{"kind":"open","socket":1}"#;
        for stranger in [says(4, BINDING, open), says(5, BINDING, open), says(3, "other", open)] {
            assert_eq!(page.hear(&stranger), None);
        }
        assert_eq!(page.hear(&says(3, BINDING, open)), Some(Happened::Said(FromPage::Open { socket: 1 })));
    }

    #[test]
    fn a_document_leaves_once_and_the_next_one_is_heard() {
        let cleared = || event("Runtime.executionContextsCleared", "{}");
        let destroyed = |id| event("Runtime.executionContextDestroyed", &format!(r#"{{"executionContextId":{id}}}"#));
        let mut page = page();
        assert_eq!(page.hear(&destroyed(4)), None);
        assert_eq!(page.hear(&destroyed(3)), Some(Happened::Left));
        assert_eq!(page.hear(&cleared()), None);
        assert_eq!(page.hear(&says(3, BINDING, r#"{"kind":"open","socket":1}"#)), None);
        assert_eq!(page.hear(&created(7, "F", true)), None);
        assert_eq!(page.hear(&event("Inspector.targetCrashed", "{}")), Some(Happened::Left));
    }

    #[test]
    fn a_page_says_three_things_and_anything_else_is_nothing() {
        let close = |code, reason: &str| Some(FromPage::Close(Close { code, reason: reason.to_owned() }));
        for (text, expected) in [
            (r#"{"kind":"open","socket":2.0}"#, Some(FromPage::Open { socket: 2 })),
            (
                r#"{"kind":"send","text":"{\"a\":\"\\ud800\"}"}"#,
                Some(FromPage::Send { text: r#"{"a":"\ud800"}"#.to_owned() }),
            ),
            (r#"{"kind":"close","code":1001,"reason":"app_backgrounded"}"#, close(1001, "app_backgrounded")),
            (r#"{"kind":"close"}"#, close(1000, "")),
            (r#"{"kind":"close","code":99999}"#, close(1000, "")),
            (r#"{"kind":"open"}"#, None),
            (r#"{"kind":"send"}"#, None),
            (r#"{"kind":"else"}"#, None),
            ("[]", None),
            ("", None),
        ] {
            assert_eq!(FromPage::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn what_a_page_is_told_cannot_leave_its_string() {
        let text = "\");alert(\"\\\n\u{2028}`${x}";
        let script = Script::receive(&page(), 4, &ToPage::Message(text));
        let script = devtools::fields(&script).unwrap();
        let expression = script.text("expression", Length::ANY).unwrap().into_owned();
        let literal = expression.strip_prefix("window.__APPDUCT__?.receive(").unwrap().strip_suffix(')').unwrap();
        let message: String = serde_json::from_str(literal).unwrap();
        let message = Fields::parse(&message).unwrap();
        assert_eq!(message.text("text", Length::ANY).unwrap(), text);
        assert_eq!(integer(&script, "contextId"), Some(3));
    }

    #[test]
    fn what_was_thrown_is_told_in_the_pages_words() {
        let thrown_by = |text: &str| thrown(&RawJson::parse(text).unwrap());
        assert_eq!(thrown_by(r#"{"result":{"value":true}}"#), None);
        let error = r#"{"exceptionDetails":{"text":"Uncaught","exception":{"description":"Error: no link"}}}"#;
        assert_eq!(thrown_by(error).as_deref(), Some("Error: no link"));
        assert_eq!(thrown_by(r#"{"exceptionDetails":{"text":"Uncaught"}}"#).as_deref(), Some("Uncaught"));
    }
}
