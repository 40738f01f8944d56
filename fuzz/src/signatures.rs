//! Signatures and summaries of tools with any schema and any description.

use appduct_proto::signature::{signature, summary};
use appduct_proto::wire::{MAX_FRAME_BYTES, RawJson};

use crate::json::packed;

/// A list of types in a list of types multiplies what it holds; more than this no signature has.
const MAX_SIGNATURE_BYTES: usize = 2 * MAX_FRAME_BYTES + 1024;

/// Reads the bytes as a schema and as a description.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let short = summary(&text);
    assert!(short.chars().count() <= 121, "{short}");
    assert!(!short.contains(|c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}'), "{short:?}");
    if let Ok(schema) = RawJson::parse(&text) {
        check(&schema);
    }
    // The same as the schema of one property, where it opens.
    if let Ok(schema) = RawJson::parse(&format!(r#"{{"type":"object","properties":{{"a":{text}}}}}"#)) {
        check(&schema);
    }
}

fn check(schema: &RawJson) {
    let line = signature("t", Some(schema), Some(schema));
    assert!(line.starts_with("t("), "{line}");
    assert!(line.len() <= MAX_SIGNATURE_BYTES, "{} bytes from {}", line.len(), schema.len_bytes());
    // JSON escapes no others in a name, and neither does a signature: what shows it on a terminal does.
    assert!(!line.contains(|c: char| c < ' '), "{line:?}");
    let packed = RawJson::parse(&packed(schema.as_str())).expect("JSON without spaces is JSON");
    assert_eq!(signature("t", Some(&packed), Some(&packed)), line, "spaces say something");
    assert!(signature("t", Some(schema), None).len() <= line.len());
}
