//! What is refused before any daemon is asked.

use crate::run::Place;

#[track_caller]
fn refused(args: &[&str], message: &str) {
    let place = Place::new();
    for line in [[&["--json"], args].concat(), [args, &["--json"]].concat()] {
        let (code, kind, got) = place.run(&line).failure();
        assert_eq!((code, kind.as_str(), got.as_str()), (64, "usage_error", message), "{line:?}");
    }
    assert!(!place.state_dir().exists(), "{args:?} started a daemon");
}

#[test]
fn unknown_words_and_options_are_refused() {
    refused(&["x"], "Unknown command \"x\".");
    refused(&["constructor"], "Unknown command \"constructor\".");
    refused(&["toolz"], "Unknown command \"toolz\".");
    refused(&["ls", "--nope"], "Unknown option \"--nope\".");
    refused(&["ls", "-x"], "Unknown option \"-x\".");
    refused(&["ls", "extra"], "Unexpected argument \"extra\".");
    refused(&["tools", "--grup", "x"], "Unknown option \"--grup\".");
    refused(&["ls", "--json=yes"], "\"--json\" takes no value.");
    refused(&["ls", "--color", "pink"], "\"--color\" must be auto, always, or never; got \"pink\".");
}

#[test]
fn actions_and_verbs_are_required() {
    refused(&["daemon"], "The daemon command requires an action: run, start, stop, or status (got none).");
    refused(&["daemon", "x"], "The daemon command requires an action: run, start, stop, or status (got \"x\").");
    refused(&["sessions"], "The sessions command requires a verb: ls, revoke, or link (got none).");
    refused(&["sessions", "x"], "The sessions command requires a verb: ls, revoke, or link (got \"x\").");
}

#[test]
fn whole_numbers_are_checked() {
    for option in ["--limit", "--ttl", "--timeout"] {
        let command = match option {
            "--limit" => "tools",
            "--ttl" => "link",
            _ => "invoke",
        };
        let message = format!("\"{option}\" must be a positive integer.");
        for rest in [&["-1"][..], &["0"], &["1.5"], &["abc"], &["1", option, "2"], &[]] {
            refused(
                &[&[command, "x", option][..usize::from(command == "invoke") + 1], &[option], rest].concat(),
                &message,
            );
        }
    }
    for rest in [&["-1"][..], &["1.5"], &[]] {
        refused(&[&["tools", "--offset"], rest].concat(), "\"--offset\" must be a non-negative integer.");
    }
}

#[test]
fn options_with_text_need_a_value() {
    refused(&["tools", "--filter"], "\"--filter\" requires a value.");
    refused(&["tools", "--group"], "\"--group\" requires a value.");
    refused(&["tools", "--filter", "--full"], "\"--filter\" requires a value.");
    refused(&["tools", "--filter", "-x"], "\"--filter\" requires a value.");
    refused(&["tools", "--session"], "\"--session\" requires a value.");
    refused(&["link", "--scheme"], "\"--scheme\" requires a value.");
    refused(&["playground", "--link"], "\"--link\" requires a value.");
    refused(&["invoke", "x", "--input"], "\"--input\" requires a value.");
}

#[test]
fn a_group_has_a_shape() {
    for value in ["diagnostics/progress/x", "", "checkout/", "/payment", "a//b", "a b", "a\n", "ü"] {
        let quoted = serde_json::to_string(value).unwrap();
        refused(
            &["tools", "--group", value],
            &format!(
                "\"--group\" must be a group name like \"checkout\" or \"checkout/payment\" (one or two segments of 1 to 64 \
                 letters, digits, \"_\" or \"-\"); got {quoted}."
            ),
        );
    }
}

#[test]
fn flags_that_exclude_each_other_are_refused() {
    refused(&["tools", "--groups", "--full"], "\"--groups\" cannot be combined with \"--full\".");
    for narrow in [&["--group", "a"][..], &["--filter", "a"], &["--limit", "1"], &["--offset", "0"]] {
        refused(
            &[&["tools", "--groups"], narrow].concat(),
            "\"--groups\" cannot be combined with \"--group\", \"--filter\", \"--limit\", or \"--offset\".",
        );
    }
    let listing =
        [&["--group", "diagnostics"][..], &["--groups"], &["--filter", "a"], &["--limit", "1"], &["--offset", "0"]];
    for flags in listing {
        for words in [&["tools", "iphone", "slow_task"][..], &["tools", "describe", "slow_task"]] {
            refused(
                &[words, flags].concat(),
                "\"--group\", \"--groups\", \"--filter\", \"--limit\", and \"--offset\" only apply to a tools listing, not a \
                 single tool lookup.",
            );
        }
    }
    refused(&["tools", "--input", "{}"], "\"--input\" only applies to a call.");
    refused(&["tools", "ls", "--progress", "never"], "\"--progress\" only applies to a call.");
    refused(
        &["tools", "call", "sum", "--full"],
        "\"--group\", \"--groups\", \"--filter\", \"--limit\", \"--offset\", and \"--full\" only apply to a tools listing, not \
         a call.",
    );
}

#[test]
fn too_many_or_too_few_words_are_refused() {
    refused(&["revoke", "a", "b"], "Usage: revoke [selector] (too many arguments).");
    refused(&["sessions", "revoke", "a", "--session", "b"], "Usage: sessions revoke [selector] (too many arguments).");
    refused(&["tools", "a", "b", "c"], "Usage: tools [selector] [name] (too many arguments).");
    refused(&["tools", "--session", "a", "b", "c"], "Usage: tools [selector] [name] (too many arguments).");
    refused(&["tools", "ls", "a", "b"], "Usage: tools ls [selector] (too many arguments).");
    refused(&["tools", "describe"], "Usage: tools describe [selector] <name> (a tool name is required).");
    refused(&["tools", "describe", "a", "b", "c"], "Usage: tools describe [selector] <name> (too many arguments).");
    for (args, command, fault) in [
        (&["invoke"][..], "invoke", "a tool is required"),
        (&["invoke", "a", "b", "c"], "invoke", "too many arguments"),
        (&["tools", "call", "a=1"], "tools call", "a tool is required"),
    ] {
        refused(
            args,
            &format!(
                "Usage: {command} [selector] <tool> --input '<json>' (or key=value words, or nothing for {{}}; {fault})."
            ),
        );
    }
}

#[test]
fn an_input_is_checked_before_a_daemon_is_asked() {
    for (input, words) in [("nope", "valid JSON"), ("[1]", "JSON object"), ("null", "JSON object"), ("", "valid JSON")]
    {
        let place = Place::new();
        let (code, kind, message) = place.run(&["--json", "invoke", "sum", "--input", input]).failure();
        assert_eq!((code, kind.as_str()), (65, "validation_error"));
        assert!(message.contains(words), "{message}");
        assert!(!place.state_dir().exists());
    }
    refused(&["invoke", "sum", "a=1", "--input", "{}"], "\"--input\" cannot be combined with key=value words.");
    refused(&["invoke", "sum", "a=1", "b"], "\"b\" is not key=value or key:=<json>.");
}

#[test]
fn refusals_look_like_this_to_people() {
    let place = Place::new();
    for (name, args) in [
        ("unknown_command", &["toolz"][..]),
        ("unknown_option", &["tools", "--ful"]),
        ("missing_action", &["daemon", "--verbose"]),
        ("group", &["tools", "--group", "diagnostics/progress/x"]),
        ("limit", &["tools", "--limit", "-1"]),
        ("no_tool", &["invoke"]),
        ("hostile", &["tools", "--group", "\u{1b}[2J\u{202e}"]),
    ] {
        insta::with_settings!({ filters => vec![
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "[TIME]"),
            (r"\b\d+ ms", "[N] ms"),
        ]}, {
            insta::assert_snapshot!(format!("refusal_{name}"), place.run(args));
        });
    }
}

#[test]
fn the_meta_block_names_the_command() {
    let place = Place::new();
    for (args, command) in [
        (&["x"][..], "cli"),
        (&["daemon"], "daemon"),
        (&["--state-dir", "ls", "tools", "--nope"], "tools"),
        (&["sessions", "revoke", "a", "b"], "sessions revoke"),
        (&["tools", "describe"], "tools describe"),
        (&["tools", "a", "b", "c"], "tools"),
    ] {
        let document = place.run(&[args, &["--json", "--verbose"]].concat()).json();
        assert_eq!(document["meta"]["command"], *command, "{args:?}");
        assert!(document["meta"]["timestamp"].as_str().unwrap().ends_with('Z'));
        assert!(document["meta"]["duration_ms"].is_u64());
    }
    let document = place.run(&["x", "--json"]).json();
    assert!(document.get("meta").is_none());
}

#[test]
fn pretty_json_is_indented() {
    let ran = Place::new().run(&["--pretty", "--json", "x"]);
    assert_eq!(
        ran.stdout,
        "{\n  \"ok\": false,\n  \"error\": {\n    \"type\": \"usage_error\",\n    \"message\": \"Unknown command \\\"x\\\".\",\n    \
         \"hint\": \"Run `appduct --help` to see how it is used.\"\n  }\n}\n"
    );
}
