//! Signatures and summaries against the fixture, and against hostile schemas.

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Row {
    name: String,
    description: String,
    input_schema: Option<RawJson>,
    output_schema: Option<RawJson>,
    signature: String,
    summary: String,
}

fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

/// The signature of a tool `t` whose only parameter `a` has this schema.
fn with_parameter(schema: &str) -> String {
    signature("t", Some(&json(&format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#))), None)
}

#[test]
fn every_row_of_the_fixture_comes_out() {
    let rows: Vec<Row> =
        serde_json::from_str(include_str!("../../../../fixtures/signatures.json")).expect("the fixture has this form");
    for row in rows {
        assert_eq!(signature(&row.name, row.input_schema.as_ref(), row.output_schema.as_ref()), row.signature);
        assert_eq!(summary(&row.description), row.summary, "{:?}", row.description);
    }
}

#[test]
fn a_schema_that_is_not_an_object_has_no_form() {
    for text in ["null", "true", "[]", "1", "\"object\""] {
        assert_eq!(signature("t", Some(&json(text)), Some(&json(text))), "t(...) -> ...", "{text}");
    }
}

#[test]
fn the_last_of_duplicate_keys_counts_in_the_place_of_the_first() {
    let schema = json(
        r#"{"type":"array","type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"a":{"type":"number"}}}"#,
    );
    assert_eq!(signature("t", Some(&schema), None), "t(a?: number, b?: string)");
}

#[test]
fn numbers_out_of_range_are_null() {
    assert_eq!(with_parameter(r#"{"enum":[1e400,-1e400]}"#), "t(a?: null | null)");
}

#[test]
fn lone_surrogates_are_escapes() {
    assert_eq!(with_parameter(r#"{"const":"\ud800x\udc00"}"#), r#"t(a?: "\ud800x\udc00")"#);
    let keys = json(
        r#"{"type":"object","properties":{"\ud800":{"type":"string"},"\ud801":{"default":"\udfff"}},"required":["\ud800"]}"#,
    );
    assert_eq!(signature("t", Some(&keys), None), r#"t("\ud800": string, "\ud801"?: ... = "\udfff")"#);
}

#[test]
fn schemas_of_any_depth_have_a_signature() {
    let depth = 20_000;
    let arrays = format!("{}{}{}", r#"{"type":"array","items":"#.repeat(depth), "{}", "}".repeat(depth));
    assert_eq!(with_parameter(&arrays), "t(a?: ...[][][][][])");
    let objects = format!("{}{}{}", r#"{"type":"object","properties":{"a":"#.repeat(depth), "{}", "}}".repeat(depth));
    assert_eq!(signature("t", Some(&json(&objects)), Some(&json(&objects))), "t(a?: { a?: {...} }) -> { a?: {...} }");
    let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(with_parameter(&format!(r#"{{"const":{value}}}"#)), format!("t(a?: {}…)", "[".repeat(40)));
    assert_eq!(with_parameter(&format!(r#"{{"default":{value}}}"#)), "t(a?: ...)");
}

/// Each level names `array` and `object` a thousand times, so that written out the line would have 10^15 parts.
#[test]
fn a_line_longer_than_the_longest_frame_is_not_written() {
    let names = vec![r#""array","object""#; 1000].join(",");
    let mut schema = r#"{"type":"string"}"#.to_owned();
    for _ in 0..5 {
        schema = format!(r#"{{"type":[{names}],"items":{schema},"properties":{{"b":{schema}}}}}"#);
        if schema.len() > 200_000 {
            break;
        }
    }
    assert_eq!(with_parameter(&schema), "t(...)");
    assert_eq!(signature("t", None, Some(&json(&schema))), "t(...)");
}

fn schema_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "required",
        "enum",
        "const",
        "default",
        "anyOf",
        "a",
        "7",
        "é",
        r"\ud800",
    ]);
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "null",
            "true",
            "-0",
            "1e999",
            r#""object""#,
            r#""array""#,
            r#""string""#,
            r#""\udfff""#,
            "{}",
            "[]",
        ])
        .prop_map(str::to_owned),
        any::<f64>().prop_map(|number| if number.is_finite() { format!("{number:e}") } else { "0".to_owned() }),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::vec((word.clone(), inner), 0..6).prop_map(|entries| {
                let entries: Vec<_> = entries.iter().map(|(key, value)| format!("\"{key}\" : {value}")).collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn every_schema_has_a_signature_of_one_line(input in schema_text(), output in schema_text()) {
        let line = signature("tool", Some(&json(&input)), Some(&json(&output)));
        prop_assert!(line.starts_with("tool("), "{line}");
        prop_assert!(!line.chars().any(char::is_control), "{line:?}");
    }

    #[test]
    fn a_summary_is_short_and_has_no_control_characters(description in any::<String>()) {
        let summary = summary(&description);
        prop_assert!(summary.chars().count() <= MAX_SUMMARY_CHARS + 1);
        let breaks = ['\u{2028}', '\u{2029}'];
        prop_assert!(!summary.contains(|c: char| c.is_control() || breaks.contains(&c)));
    }
}
