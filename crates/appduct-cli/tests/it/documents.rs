//! The pages for people say what the program does: their tables are those of the code, and their examples run.

use std::fs;
use std::path::{Path, PathBuf};

use appduct_proto::wire::{
    CloseReason, DEFAULT_TOOL_TIMEOUT_MS, MAX_DEVICE_UNITS, MAX_FRAME_BYTES, MAX_ID_UNITS, MAX_TEXT_UNITS,
    MAX_TOOL_TIMEOUT_MS, MIN_TOOL_TIMEOUT_MS,
};
use appduct_rpc::ErrorType;
use appduct_rpc::line::{MAX_BACKLOG_BYTES, MAX_LINE_BYTES};
use appduct_rpc::methods::EventKind;

use crate::transcripts::Loop;

/// The types of failures that only the command has.
const TYPES_OF_THE_COMMAND: &[&str] = &[
    "usage_error",
    "validation_error",
    "connection_error",
    "session_error",
    "assertion_error",
    "inspection_error",
    "internal_error",
];

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    fs::read_to_string(project().join(name)).unwrap()
}

/// The rows of every table under `heading`, as trimmed cells, without the two lines of its head.
fn table(page: &str, head: &str) -> Vec<Vec<String>> {
    let (_, rest) = page.split_once(head).unwrap_or_else(|| panic!("no table begins with {head:?}"));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rest.lines().skip(2).take_while(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn the_protocol_page_lists_every_close() {
    let rows = table(&page("docs/protocol.md"), "| Code | Reason | When |");
    let listed = rows.iter().map(|row| (row[0].clone(), row[1].trim_matches('`').to_owned())).collect::<Vec<_>>();
    let known = CloseReason::ALL.iter().map(|close| (close.code().to_string(), close.as_str().to_owned()));
    assert_eq!(listed, known.collect::<Vec<_>>());
}

#[test]
fn the_protocol_page_has_the_limits_of_the_wire() {
    let rows = table(&page("docs/protocol.md"), "| Limit | Value |");
    let values = rows.iter().map(|row| row[1].as_str()).collect::<Vec<_>>();
    let known = [
        format!("{MAX_FRAME_BYTES} bytes"),
        format!("{MAX_ID_UNITS} characters"),
        format!("{MAX_TEXT_UNITS} characters"),
        format!("{MAX_DEVICE_UNITS} characters"),
        format!("{DEFAULT_TOOL_TIMEOUT_MS} ms"),
        format!("{MIN_TOOL_TIMEOUT_MS} ms and {MAX_TOOL_TIMEOUT_MS} ms"),
    ];
    assert_eq!(values[..known.len()], known);
}

#[test]
fn the_page_of_the_control_socket_lists_every_error_with_its_exit_status() {
    let rows = table(&page("docs/rpc.md"), "| Type | Exit | Meaning |");
    let listed = rows.iter().map(|row| (row[0].clone(), row[1].clone())).collect::<Vec<_>>();
    let known = ErrorType::ALL.iter().map(|kind| {
        let name = kind.as_str();
        (format!("[`{name}`](troubleshooting.md#{name})"), kind.exit_code().to_string())
    });
    assert_eq!(listed, known.collect::<Vec<_>>());
}

#[test]
fn the_page_of_the_control_socket_lists_every_kind_of_event() {
    let rows = table(&page("docs/rpc.md"), "| Kind | `data` | When |");
    let listed = rows.iter().map(|row| row[0].trim_matches('`').to_owned()).collect::<Vec<_>>();
    assert_eq!(listed, EventKind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect::<Vec<_>>());
}

#[test]
fn the_page_of_the_control_socket_has_its_limits() {
    let page = page("docs/rpc.md");
    for limit in [MAX_LINE_BYTES, MAX_BACKLOG_BYTES] {
        assert!(page.contains(&format!(" {limit} bytes")), "{limit}");
    }
}

/// Every method has a name of its own in the sources of the control socket.
#[test]
fn the_page_of_the_control_socket_describes_every_method() {
    let page = page("docs/rpc.md");
    let folder = project().join("crates/appduct-rpc/src/methods");
    let mut methods = 0;
    for file in fs::read_dir(folder).unwrap() {
        let source = fs::read_to_string(file.unwrap().path()).unwrap();
        for name in source.lines().filter_map(|line| line.trim().strip_prefix("const NAME: &'static str = \"")) {
            let name = name.trim_end_matches("\";");
            let described = page.lines().any(|line| line.starts_with("### ") && line.contains(&format!("`{name}`")));
            assert!(described, "docs/rpc.md has no section for {name}");
            methods += 1;
        }
    }
    assert!(methods > 10, "the methods are elsewhere now");
}

#[test]
fn every_type_of_failure_has_a_section_on_what_to_do() {
    let page = page("docs/troubleshooting.md");
    let sections = page.lines().filter_map(|line| line.strip_prefix("### ")).filter(|title| !title.contains(' '));
    let known = ErrorType::ALL.iter().map(|kind| kind.as_str()).chain(TYPES_OF_THE_COMMAND.iter().copied());
    assert_eq!(sections.collect::<Vec<_>>(), known.collect::<Vec<_>>());
}

/// A command of a page and what it prints there.
struct Example {
    place: String,
    command: String,
    output: String,
}

/// The commands in the blocks marked `console` of all pages. A line `…` stands for any lines.
fn examples() -> Vec<Example> {
    let docs = fs::read_dir(project().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect::<Vec<_>>();
    pages.push(project().join("README.md"));
    pages.sort();

    let mut examples = Vec::new();
    for path in pages {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let mut inside = false;
        for (number, line) in text.lines().enumerate() {
            if line.starts_with("```") {
                inside = line == "```console";
            } else if inside && let Some(command) = line.strip_prefix("$ ") {
                let place = format!("{name}:{}", number + 1);
                examples.push(Example { place, command: command.to_owned(), output: String::new() });
            } else if inside {
                let example = examples.last_mut().unwrap_or_else(|| panic!("{name}: a block begins with no command"));
                example.output.push_str(line);
                example.output.push('\n');
            }
        }
    }
    examples
}

/// Whether `printed` is what the page shows, where a line `…` stands for any lines.
fn fits(shown: &str, printed: &str) -> bool {
    let mut rest = printed;
    for (index, piece) in shown.split("…\n").enumerate() {
        match rest.find(piece) {
            Some(0) => rest = &rest[piece.len()..],
            Some(at) if index > 0 => rest = &rest[at + piece.len()..],
            Some(_) | None => return false,
        }
    }
    rest.is_empty() || shown.ends_with("…\n")
}

#[test]
fn a_line_of_dots_stands_for_any_lines() {
    assert!(fits("a\nb\n", "a\nb\n"));
    assert!(fits("a\n…\nc\n", "a\nb\nb\nc\n"));
    assert!(fits("a\n…\n", "a\nb\n"));
    assert!(!fits("a\n", "a\nb\n"));
    assert!(!fits("b\n", "a\nb\n"));
    assert!(!fits("a\n…\nd\n", "a\nb\nc\n"));
}

#[test]
fn every_example_on_a_page_prints_what_the_page_shows() {
    let examples = examples();
    assert!(examples.len() > 3, "the pages have lost their examples");
    let demo = Loop::start();
    for Example { place, command, output } in examples {
        let words = command.strip_prefix("appduct ").unwrap_or_else(|| panic!("{place}: runs something else"));
        let words = words.split(' ').collect::<Vec<_>>();
        assert!(!command.contains(['\'', '"', '|', '>', '\\']), "{place}: needs a shell; write it without");
        let ran = demo.run(&words);
        let printed = [ran.stdout.as_str(), ran.stderr.as_str()].concat();
        assert!(
            fits(output.trim_end_matches('\n'), printed.trim_end_matches('\n')) || fits(&output, &printed),
            "{place}: {command} prints\n{printed}"
        );
    }
}
