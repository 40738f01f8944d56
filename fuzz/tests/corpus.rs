//! Everything that was ever found goes through its target again.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use appduct_fuzz::TARGETS;
use serde_json::Value;

/// How large the whole corpus may be.
const MAX_CORPUS_BYTES: u64 = 1024 * 1024;

/// How long one input of a frame's size may take, in a build without optimisation on a machine that is busy. Work that grows
/// with the square of the size takes minutes.
const DEADLINE: Duration = Duration::from_secs(20);

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|fault| panic!("{}: {fault}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a folder can be read to its end").path()).collect();
    files.sort();
    files
}

fn stems(folder: &Path) -> Vec<String> {
    let stem = |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    files(folder).iter().filter_map(stem).collect()
}

/// Runs a target and names the input that it fails with.
fn run(target: &appduct_fuzz::Target, name: &str, data: &[u8]) {
    let done = std::panic::catch_unwind(|| (target.run)(data));
    assert!(done.is_ok(), "{} fails with {name}", target.name);
}

#[test]
fn the_corpus_holds() {
    let mut bytes = 0;
    for target in TARGETS {
        let inputs = files(&package().join("corpus").join(target.name));
        assert!(!inputs.is_empty(), "{} has no corpus", target.name);
        for path in inputs {
            let data = fs::read(&path).unwrap();
            bytes += data.len() as u64;
            run(target, &path.display().to_string(), &data);
        }
    }
    assert!(bytes <= MAX_CORPUS_BYTES, "{bytes} bytes: make the corpus smaller");
}

#[test]
fn every_target_has_its_corpus_and_its_program() {
    let mut names: Vec<_> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    names.sort();
    assert_eq!(stems(&package().join("corpus")), names);
    assert_eq!(stems(&package().join("cargo-fuzz/fuzz_targets")), names);
    let manifest = fs::read_to_string(package().join("cargo-fuzz/Cargo.toml")).unwrap();
    for name in names {
        assert!(manifest.contains(&format!("\nname = \"{name}\"\n")), "{name} is not built");
        let program = fs::read_to_string(package().join(format!("cargo-fuzz/fuzz_targets/{name}.rs"))).unwrap();
        assert!(program.contains(&format!("appduct_fuzz::{name}::target")), "{name} runs something else");
    }
}

#[test]
fn every_text_of_the_fixtures_holds() {
    let mut texts = Vec::new();
    for path in files(&package().join("../fixtures")) {
        if path.extension().is_some_and(|extension| extension == "json") {
            collect(&serde_json::from_slice(&fs::read(path).unwrap()).unwrap(), &mut texts);
        }
    }
    assert!(texts.len() > 1_000, "{} texts", texts.len());
    for target in TARGETS.iter().filter(|target| target.takes_text) {
        for text in &texts {
            run(target, text, text.as_bytes());
        }
    }
}

/// Every string and every object of a fixture, as a text.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|value| collect(value, texts)),
        Value::Object(all) => {
            texts.push(value.to_string());
            all.values().for_each(|value| collect(value, texts));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn no_input_of_a_frames_size_takes_long() {
    const SIZE: usize = 262_144;
    let repeated = |head: &str, part: &str, tail: &str| {
        let count = (SIZE - head.len() - tail.len()) / part.len();
        format!("{head}{}{tail}", part.repeat(count))
    };
    let numbered = |head: &str, part: fn(usize) -> String, tail: &str| {
        let mut text = head.to_owned();
        let mut number = 0;
        while text.len() < SIZE - 100 {
            text += &part(number);
            number += 1;
        }
        text.trim_end_matches(',').to_owned() + tail
    };
    let inputs = [
        repeated("", "{\"a\":", ""),
        format!("{}1{}", "{\"a\":".repeat(SIZE / 6), "}".repeat(SIZE / 6)),
        format!("{}{}", "[".repeat(SIZE / 2), "]".repeat(SIZE / 2)),
        repeated("{\"type\":\"", "\\ud800", "\"}"),
        repeated("{\"type\":\"event\",\"session_id\":\"s\",\"name\":\"n\",\"ts\":1,\"payload\":\"", "\\\"", "\"}"),
        repeated("{", "\"type\":\"event\",", "\"x\":1}"),
        numbered("{", |number| format!("\"k{number}\":{number},"), "}"),
        numbered(
            "{\"type\":\"tool_registry_snapshot\",\"session_id\":\"s\",\"tools\":[",
            |number| format!("{{\"name\":\"t{number}\",\"description\":\"d\"}},"),
            "]}",
        ),
        numbered(
            "{\"type\":\"object\",\"properties\":{",
            |number| format!("\"p{number}\":{{\"enum\":[1,2,3,4,5,6]}},"),
            "}}",
        ),
        repeated("{\"type\":[", "\"object\",", "\"array\"],\"properties\":{\"a\":{}}}"),
        repeated("", "{\"type\":\"array\",\"items\":", ""),
        repeated("a:///?", "appduct&", "appduct=x"),
        repeated("a:///?appduct=", "%41", ""),
        repeated("", "*a", ""),
        repeated("{\"method\":\"tools.call\",\"params\":{\"name\":\"n\",\"args\":{}},\"id\":\"", "\\n", "\"}"),
        repeated("\u{1}", "\r\n", ""),
        repeated("", "A", ""),
    ];
    for target in TARGETS {
        for input in &inputs {
            let start = Instant::now();
            run(target, &input[..input.floor_char_boundary(60)], input.as_bytes());
            let took = start.elapsed();
            assert!(took < DEADLINE, "{} takes {took:?} for {}", target.name, &input[..input.floor_char_boundary(60)]);
        }
    }
}
