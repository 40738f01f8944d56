//! Checks as a caller sees them, friendly schemas and hostile ones.

use serde_json::{Map, Value, json};

use super::issues::Issue;
use super::*;

fn tool(input: &Value) -> Arc<ToolDescriptor> {
    let text = json!({"name": "pay", "description": "d", "input_schema": input, "output_schema": {"type": "number"}});
    Arc::new(ToolDescriptor::parse(&RawJson::of(&text).unwrap()).unwrap())
}

/// Checks that a busy machine does not cut short.
fn patient() -> Validation {
    Validation::with_patience(Patience { wait: HANGS_AFTER, processor_time: HANGS_AFTER })
}

/// The same, but a check may not take more processor time than in a daemon.
fn patient_but_thrifty() -> Validation {
    Validation::with_patience(Patience { wait: HANGS_AFTER, ..Patience::default() })
}

const HANGS_AFTER: Duration = Duration::from_secs(120);

fn check(tool: &Arc<ToolDescriptor>, value: &str) -> Check {
    let value = RawJson::parse(value).unwrap();
    Check { alias: "pixel-8".to_owned(), tool: Arc::clone(tool), side: Side::Args, value }
}

async fn verdict_of(schema: &Value, value: &str) -> Verdict {
    patient().check(check(&tool(schema), value)).await
}

async fn issues_of(schema: &Value, value: &str) -> Vec<Issue> {
    match verdict_of(schema, value).await {
        Verdict::Misfit(issues) => issues.list().to_vec(),
        other @ (Verdict::Fits | Verdict::Unchecked) => panic!("{other:?}"),
    }
}

fn payment() -> Value {
    json!({
        "type": "object",
        "properties": {
            "amount": {"type": "integer", "minimum": 1},
            "to": {"type": "array", "items": {"type": "string"}},
            "currency": {"enum": ["EUR", "USD"]},
        },
        "required": ["amount"],
        "additionalProperties": false,
    })
}

#[tokio::test]
async fn arguments_that_fit_pass_and_others_are_told_where_they_do_not() {
    assert_eq!(verdict_of(&payment(), r#"{"amount":5,"to":["a"],"currency":"EUR"}"#).await, Verdict::Fits);
    let issues = issues_of(&payment(), r#"{"to":["a",7],"currency":"GBP","x":1}"#).await;
    let mut told: Vec<_> = issues.iter().map(|issue| (issue.path.as_str(), issue.keyword.as_str())).collect();
    told.sort_unstable();
    assert_eq!(told, [("", "additionalProperties"), ("", "required"), ("/currency", "enum"), ("/to/1", "type")]);
}

#[tokio::test]
async fn an_error_has_a_summary_and_details() {
    let Verdict::Misfit(issues) = verdict_of(&payment(), r#"{"amount":"5"}"#).await else { panic!() };
    assert_eq!(issues.summary(), r#"/amount: value is not of type "integer""#);
    let details = r#"{"issues":[{"path":"/amount","message":"value is not of type \"integer\"","keyword":"type"}]}"#;
    assert_eq!(issues.details().unwrap().as_str(), details);
    let Verdict::Misfit(issues) = verdict_of(&payment(), r#"{"y":1,"currency":2}"#).await else { panic!() };
    assert!(issues.summary().ends_with("(and 2 more)"), "{}", issues.summary());
}

#[tokio::test]
async fn the_values_themselves_are_not_told() {
    let schema = json!({"properties": {
        "a": {"type": "integer"}, "b": {"maxLength": 3}, "c": {"const": 1}, "d": {"pattern": "^x"}, "e": {"not": {}},
        "f": {"anyOf": [{"type": "null"}]}, "g": {"uniqueItems": true}, "h": {"enum": [1]}, "i": {"maximum": 1},
    }});
    let value = r#"{"a":"hunter2","b":"hunter2","c":"hunter2","d":"hunter2","e":"hunter2","f":"hunter2",
        "g":["hunter2","hunter2"],"h":"hunter2","i":424242}"#;
    let issues = issues_of(&schema, value).await;
    assert_eq!(issues.len(), 9);
    let text = format!("{issues:?}");
    assert!(!text.contains("hunter2") && !text.contains("424242"), "{text}");
}

#[tokio::test]
async fn issues_are_few_and_short() {
    let schema = json!({"items": {"type": "null"}});
    let many = format!("[{}0]", "0,".repeat(5000));
    assert_eq!(issues_of(&schema, &many).await.len(), 20);
    let name = "n".repeat(10_000);
    let long = json!({"additionalProperties": {"enum": ["e".repeat(10_000)]}});
    let issues = issues_of(&long, &format!(r#"{{"{name}":1}}"#)).await;
    assert!(issues[0].path.chars().count() <= 301 && issues[0].message.chars().count() <= 301, "{issues:?}");
}

#[tokio::test]
async fn the_dialect_is_the_schemas_own() {
    let tuple = |dialect: &str| json!({"$schema": dialect, "items": [{"type": "string"}]});
    let old = tuple("http://json-schema.org/draft-07/schema#");
    assert!(matches!(verdict_of(&old, "[1]").await, Verdict::Misfit(_)));
    assert_eq!(verdict_of(&old, r#"["a",1]"#).await, Verdict::Fits);
    // A list under `items` is no schema of the newest dialect, which is the default.
    assert_eq!(verdict_of(&json!({"items": [{"type": "string"}]}), "[1]").await, Verdict::Unchecked);
    assert!(matches!(verdict_of(&json!({"prefixItems": [{"type": "string"}]}), "[1]").await, Verdict::Misfit(_)));
}

#[tokio::test]
async fn results_are_checked_against_the_output_schema() {
    let validation = patient();
    let tool = tool(&json!({"type": "object"}));
    for (value, fits) in [("7", true), ("{}", false)] {
        let verdict = validation.check(Check { side: Side::Result, ..check(&tool, value) }).await;
        assert_eq!(verdict == Verdict::Fits, fits);
    }
}

#[tokio::test]
async fn a_tool_without_a_schema_takes_everything() {
    let text = RawJson::parse(r#"{"name":"a","description":"d"}"#).unwrap();
    let tool = Arc::new(ToolDescriptor::parse(&text).unwrap());
    assert_eq!(patient().check_now(&check(&tool, "{}")), Some(Verdict::Fits));
}

#[tokio::test]
async fn what_cannot_be_checked_goes_on_unchecked() {
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(MAX_FRAME_BYTES));
    for value in [deep.as_str(), &large, r#"{"a":1e999}"#] {
        assert_eq!(verdict_of(&json!({"maxProperties": 0}), value).await, Verdict::Unchecked);
    }
    let remote = json!({"$ref": "https://example.com/schema"});
    assert_eq!(verdict_of(&remote, "{}").await, Verdict::Unchecked);
}

#[tokio::test]
async fn lone_surrogates_break_nothing() {
    let text =
        r#"{"name":"a","description":"d","input_schema":{"properties":{"\ud800":{"maxLength":1}},"title":"\udfff"}}"#;
    let tool = Arc::new(ToolDescriptor::parse(&RawJson::parse(text).unwrap()).unwrap());
    let validation = patient();
    assert_eq!(validation.check(check(&tool, r#"{"\ud800":"\udc00"}"#)).await, Verdict::Fits);
    assert!(matches!(validation.check(check(&tool, r#"{"\ud800":"\udc00\ud800"}"#)).await, Verdict::Misfit(_)));
}

#[tokio::test]
async fn a_small_check_needs_no_thread_once_its_schema_is_compiled() {
    let validation = patient();
    let tool = tool(&payment());
    let (good, bad) = (check(&tool, r#"{"amount":5}"#), check(&tool, r#"{"amount":0}"#));
    assert_eq!(validation.check_now(&good), None, "the first use compiles");
    assert_eq!(validation.check(good.clone()).await, Verdict::Fits);
    assert_eq!(validation.check_now(&good), Some(Verdict::Fits));
    assert!(matches!(validation.check_now(&bad), Some(Verdict::Misfit(_))));
    let again = self::tool(&payment());
    assert_eq!(validation.check_now(&check(&again, "{}")), None, "registered anew");
}

/// Definitions `a0` to `aN` in which each refers to the next twice: 2^N ways from the first to the last.
fn doubling(levels: usize, keyword: &str, last: &Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/a{}", level + 1)});
        definitions.insert(format!("a{level}"), json!({keyword: [next, next]}));
    }
    definitions.insert(format!("a{levels}"), last.clone());
    json!({"$ref": "#/$defs/a0", "$defs": definitions})
}

/// A schema in which each definition holds the next in the way that `link` says.
fn chain(levels: usize, link: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        definitions.insert(format!("a{level}"), link(json!({"$ref": format!("#/$defs/a{}", level + 1)})));
    }
    definitions.insert(format!("a{levels}"), json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a0"}}}));
    json!({"$ref": "#/$defs/a0", "$defs": definitions})
}

fn nested(depth: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

fn hostile() -> Vec<(&'static str, Value, String)> {
    let draft_7 = |mut schema: Value| {
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        schema
    };
    let items = format!("[{}1]", "1,".repeat(100_000));
    let text = format!(r#"["{}"]"#, "a".repeat(200_000));
    let branches: Vec<_> =
        (0..1000).map(|n| json!({"properties": {"a": {"minimum": n}}, "maxProperties": 0})).collect();
    let recursive = |keyword: &str| json!({keyword: [{"properties": {"a": {"$ref": "#"}}, "maxProperties": 1}, {"properties": {"a": {"$ref": "#"}}, "type": "number"}]});
    vec![
        ("doubling any false", doubling(60, "anyOf", &json!(false)), "{}".to_owned()),
        ("doubling all true", doubling(60, "allOf", &json!(true)), "{}".to_owned()),
        ("doubling one true", doubling(60, "oneOf", &json!({})), "{}".to_owned()),
        ("doubling type", doubling(60, "allOf", &json!({"type": "object"})), "{}".to_owned()),
        ("doubling in draft 7", draft_7(doubling(60, "anyOf", &json!(false))), "{}".to_owned()),
        ("endless", json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}), "{}".to_owned()),
        ("endless not", json!({"not": {"$ref": "#"}}), "{}".to_owned()),
        ("endless dynamic", json!({"$dynamicAnchor": "n", "anyOf": [{"$dynamicRef": "#n"}, false]}), "{}".to_owned()),
        (
            "mutual",
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            "{}".to_owned(),
        ),
        ("long chain", chain(1100, |next| next), nested(100)),
        ("long chain of all", chain(900, |next| json!({"allOf": [next]})), nested(120)),
        ("long chain of not", chain(900, |next| json!({"not": next})), nested(120)),
        ("recursive any", recursive("anyOf"), nested(120)),
        ("recursive one", recursive("oneOf"), nested(120)),
        ("recursive all", recursive("allOf"), nested(120)),
        (
            "nested",
            serde_json::from_str(&format!("{}true{}", r#"{"not":"#.repeat(120), "}".repeat(120))).unwrap(),
            "{}".to_owned(),
        ),
        ("catastrophic", json!({"items": {"pattern": "^(a+)+$|(a|aa)+b"}}), text.clone()),
        ("large repetition", json!({"items": {"pattern": "(a?){90}b"}}), text.clone()),
        ("alternatives", json!({"items": {"pattern": format!("({}b)+c", "a|".repeat(5000))}}), text),
        ("parentheses", json!({"pattern": "(".repeat(60_000)}), "\"a\"".to_owned()),
        ("enum", json!({"items": {"enum": (0..10_000).collect::<Vec<_>>()}}), items.clone()),
        ("many branches", json!({"items": {"anyOf": branches}}), items.clone()),
        ("many failures", json!({"items": {"allOf": vec![json!({"minimum": 2}); 3000]}}), items.clone()),
        ("unique", json!({"allOf": vec![json!({"uniqueItems": true}); 3000]}), items.clone()),
        ("contains", json!({"allOf": vec![json!({"contains": {"minimum": 2}}); 2000]}), items),
        (
            "unevaluated",
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {"$ref": "#"}}, "unevaluatedProperties": {"$ref": "#"}}}, "unevaluatedProperties": false, "anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}),
            nested(120),
        ),
        (
            "names",
            json!({"propertyNames": {"anyOf": vec![json!({"maxLength": 0}); 3000]}}),
            format!("{{{}\"b\":1}}", (0..5000).map(|n| format!("\"{n}\":1,")).collect::<String>()),
        ),
        ("exact numbers", json!({"items": {"multipleOf": 1e-300}}), format!("[{}1]", "1e300,".repeat(30_000))),
    ]
}

#[tokio::test]
async fn no_schema_stalls_or_ends_the_daemon() {
    let validation = patient_but_thrifty();
    let friendly = tool(&payment());
    for (name, schema, value) in hostile() {
        // One for each thread.
        let tools = [tool(&schema), tool(&schema)];
        let started = Instant::now();
        let [first, second] = tools.each_ref().map(|tool| validation.check(check(tool, &value)));
        tokio::join!(first, second);
        let fits = validation.check(check(&friendly, r#"{"amount":1}"#)).await;
        assert!(started.elapsed() < HANGS_AFTER, "{name}");
        assert_eq!(fits, Verdict::Fits, "{name}: the threads are not free again");
    }
}

#[tokio::test]
async fn nobody_waits_longer_than_their_patience() {
    let validation = Validation::with_patience(Patience { wait: Duration::ZERO, ..Patience::default() });
    let tool = tool(&payment());
    assert_eq!(validation.check(check(&tool, r#"{"amount":1}"#)).await, Verdict::Unchecked);
}

#[tokio::test]
async fn a_schema_that_took_too_long_is_not_tried_again() {
    let validation = patient_but_thrifty();
    let tool = tool(&doubling(60, "anyOf", &json!(false)));
    let check = check(&tool, "{}");
    assert_eq!(validation.check(check.clone()).await, Verdict::Unchecked);
    assert_eq!(validation.check_now(&check), Some(Verdict::Unchecked));
}

#[tokio::test]
async fn a_plain_schema_with_a_costly_value_moves_to_a_thread() {
    let validation = patient();
    let branches: Vec<_> = (0..100).map(|n| json!({"minimum": 100 - n})).collect();
    let tool = tool(&json!({"items": {"anyOf": branches}}));
    let (small, large) = (check(&tool, "[1]"), check(&tool, &format!("[{}1]", "1,".repeat(8000))));
    assert_eq!(validation.check(small.clone()).await, Verdict::Fits);
    assert_eq!(validation.check_now(&small), Some(Verdict::Fits));
    assert_eq!(validation.check_now(&large), None);
    assert_eq!(validation.check_now(&small), None, "it stays there");
    assert_eq!(validation.check(large).await, Verdict::Fits);
}

#[tokio::test]
async fn patterns_of_everyday_compile() {
    for (pattern, fits, not) in [
        (r"^\d{4}-\d{2}-\d{2}$", "2026-09-05", "5.9."),
        (r"^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}$", "a@b", "a"),
        (r"^.{1,40}$", "x", ""),
        (
            r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
            "00000000-0000-0000-0000-000000000000",
            "0",
        ),
        (r"^\p{L}+$", "é", "1"),
    ] {
        let schema = json!({"items": {"pattern": pattern}});
        assert_eq!(verdict_of(&schema, &json!([fits]).to_string()).await, Verdict::Fits, "{pattern}");
        assert!(matches!(verdict_of(&schema, &json!([not]).to_string()).await, Verdict::Misfit(_)), "{pattern}");
    }
}
