//! Every command line in the documents is one that the command takes.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// The pages, from the root of the project. The reference has its own test.
const PAGES: &[&str] = &[
    "README.md",
    "docs/agents.md",
    "docs/build-variants.md",
    "docs/config.md",
    "docs/environment.md",
    "docs/protocol.md",
    "docs/rpc.md",
    "docs/security.md",
    "docs/testing.md",
    "docs/tools.md",
    "docs/troubleshooting.md",
    "skills/appduct/SKILL.md",
];

#[test]
fn every_command_in_the_documents_is_understood() {
    let mut count = 0;
    for page in PAGES {
        for line in commands(&read(page)) {
            understood(page, &line);
            count += 1;
        }
    }
    assert!(count > 60, "only {count} commands were found");
}

#[test]
fn every_configuration_of_an_agent_starts_the_server() {
    let page = "docs/agents.md";
    let text = read(page);
    let mut servers = Vec::new();
    for block in blocks(&text) {
        match block.language {
            "json" => servers.extend(started(&serde_json::from_str(&block.text).unwrap())),
            "toml" => servers.extend(started(&toml::from_str(&block.text).unwrap())),
            _ => {}
        }
    }
    for words in &servers {
        assert_eq!(words[..2], ["appduct", "mcp"]);
        understood(page, words);
    }
    // Claude Code, Codex, Cursor, VS Code, Zed and opencode.
    assert_eq!(servers.len(), 6);
}

fn understood(page: &str, words: &[String]) {
    let line = words.iter().map(Into::into).collect::<Vec<_>>();
    let line = super::without_help_word(&line);
    let parsed = super::command(None).try_get_matches_from(line);
    if let Err(error) = parsed {
        let is_help = !error.use_stderr();
        assert!(is_help, "{page}: `{}`\n{error}", words.join(" "));
    }
}

fn read(page: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// What is fenced in a page.
struct Block<'a> {
    language: &'a str,
    text: String,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => open = Some(Block { language, text: String::new() }),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// The commands of a page: in blocks for a shell and in running text, but for those with a `<placeholder>`.
fn commands(page: &str) -> Vec<Vec<String>> {
    let blocks = blocks(page);
    let in_blocks = blocks.iter().filter(|block| block.language == "sh").flat_map(|block| block.text.lines());
    let mut is_fenced = false;
    let prose: String = page
        .lines()
        .filter(|line| {
            let is_fence = line.starts_with("```");
            is_fenced ^= is_fence;
            !is_fenced && !is_fence
        })
        .flat_map(|line| [line, "\n"])
        .collect();
    let in_prose = prose.split('`').skip(1).step_by(2);
    let lines = in_blocks.chain(in_prose).map(words);
    lines.filter_map(|words| ours(&words)).filter(|words| !words.iter().any(|word| word.contains(['<', '…']))).collect()
}

/// The part of a line that calls the command, which another program may be given to start.
fn ours(words: &[String]) -> Option<Vec<String>> {
    let start = words.iter().position(|word| word == "--").map_or(0, |at| at + 1);
    let ours = words.get(start..)?;
    (ours.first()? == "appduct" && ours.len() > 1).then(|| ours.to_vec())
}

/// The words of a line as a shell takes them, up to a comment or the next command.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (character, quote) {
            (_, Some(mark)) if character == mark => quote = None,
            ('\'' | '"', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (' ' | '\n', None) => words.extend(word.take()),
            ('#' | '|' | '&' | ';' | '>', None) if word.is_none() => break,
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// The commands that a configuration starts: a word and its arguments, or one list of both.
fn started(value: &Value) -> Vec<Vec<String>> {
    let texts = |list: &Value| {
        let list = list.as_array().into_iter().flatten();
        list.map(|word| word.as_str().expect("a word is text").to_owned()).collect::<Vec<_>>()
    };
    let Some(object) = value.as_object() else { return Vec::new() };
    match object.get("command") {
        Some(Value::String(command)) => vec![[vec![command.clone()], texts(&value["args"])].concat()],
        Some(list) => vec![texts(list)],
        None => object.values().flat_map(started).collect(),
    }
}

#[test]
fn a_line_is_split_as_a_shell_splits_it() {
    assert_eq!(
        words("appduct events --name 'order_*' --json  # all"),
        ["appduct", "events", "--name", "order_*", "--json"]
    );
    assert_eq!(words("appduct ls | head"), ["appduct", "ls"]);
    assert_eq!(ours(&words("claude mcp add appduct -- appduct mcp")).unwrap(), ["appduct", "mcp"]);
    assert_eq!(ours(&words("cargo xtask demo")), None);
}
