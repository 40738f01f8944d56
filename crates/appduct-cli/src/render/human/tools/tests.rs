//! Listings word for word.

use appduct_proto::wire::RawJson;

use super::*;

fn tool(name: &str, group: Option<&str>, extra: &str) -> RawJson {
    let group = group.map_or("null".to_owned(), |group| format!("\"{group}\""));
    RawJson::parse(&format!(
        "{{\"name\":\"{name}\",\"description\":\"Does {name}.\"{extra},\"group\":{group},\"policy\":\"allow\"}}"
    ))
    .unwrap()
}

fn group(group: Option<&str>, total: u64) -> ToolGroup {
    ToolGroup { group: group.map(str::to_owned), total }
}

fn page(tools: Vec<RawJson>, total: u64, groups: Vec<ToolGroup>) -> Tools {
    Tools { tools, total, groups: Some(groups), group: None, filter: None, limit: None, offset: None, full: false }
}

fn plain() -> Style {
    Style::new(false, false)
}

fn check(report: &Tools, expected: &str) {
    let shown = if report.full { full_lines(report, plain()) } else { lines(report, plain()) };
    assert_eq!(super::super::joined(shown, None), expected);
}

const HINT: &str = "\nRun `appduct tools <name>` for a tool's full schema.\n";

#[test]
fn groups_become_headings_and_the_ungrouped_come_last() {
    let report = page(
        vec![
            tool("a", Some("b"), ""),
            tool("c", None, ""),
            tool("d", Some("a/sub"), ""),
            tool("e", Some("b/x"), ""),
            tool("f", Some("b"), ""),
        ],
        5,
        vec![group(Some("a"), 1), group(Some("a/sub"), 1), group(Some("b"), 3), group(Some("b/x"), 1), group(None, 1)],
    );
    let expected = "\
Tools
  a
    a/sub
      d()
        Does d.
  b
    a()
      Does a.
    f()
      Does f.
    b/x
      e()
        Does e.
  (ungrouped)
    c()
      Does c.
";
    check(&report, &format!("{expected}{HINT}"));
}

#[test]
fn a_listing_of_one_group_is_flat() {
    let mut report = page(
        vec![tool("a", Some("b"), ""), tool("e", Some("b/x"), "")],
        2,
        vec![group(Some("b"), 2), group(Some("b/x"), 1)],
    );
    report.group = Some("b".to_owned());
    check(&report, &format!("Tools in group b\n  a()\n    Does a.\n  e()\n    Does e.\n{HINT}"));
}

#[test]
fn a_policy_other_than_allow_is_tagged_and_a_missing_description_takes_no_line() {
    let raw = |text: &str| RawJson::parse(text).unwrap();
    let report = page(
        vec![
            raw(r#"{"name":"a","group":null,"policy":"prompt"}"#),
            raw(r#"{"name":"b","description":"x","group":null,"policy":"deny"}"#),
        ],
        2,
        vec![group(None, 2)],
    );
    check(&report, &format!("Tools\n  a()  [prompt]\n  b()  [deny]\n    x\n{HINT}"));
}

#[test]
fn a_page_says_how_to_see_the_rest() {
    let groups = vec![group(Some("counter"), 2), group(Some("diagnostics"), 2), group(Some("diagnostics/progress"), 1)];
    let mut report = page(vec![tool("a", Some("counter"), ""), tool("b", Some("counter"), "")], 5, groups);
    report.limit = Some(2);
    let heads = "Tools\n  counter\n    a()\n      Does a.\n    b()\n      Does b.\n";
    let footer = "\nShowing 2 of 5 tools (offset 0). Narrow with --group <name> (groups: counter 2, diagnostics 2) or --filter \
                  <text>, or page with --offset <n>.\n";
    check(&report, &format!("{heads}{footer}{HINT}"));

    report.group = Some("diagnostics".to_owned());
    report.offset = Some(1);
    report.tools.truncate(1);
    report.total = 2;
    check(
        &report,
        &format!(
            "Tools in group diagnostics\n  a()\n    Does a.\n\nShowing 1 of 2 tools (offset 1). Narrow with --filter <text> or \
             page with --offset <n>.\n{HINT}"
        ),
    );
}

#[test]
fn a_footer_names_ten_groups_at_most() {
    let groups: Vec<_> = (0..13).map(|n| group(Some(&format!("g{n:02}")), 1)).collect();
    let report = page(vec![tool("a", Some("g00"), "")], 13, groups);
    let shown = lines(&report, plain()).join("\n");
    assert!(shown.contains(
        "(groups: g00 1, g01 1, g02 1, g03 1, g04 1, g05 1, g06 1, g07 1, g08 1, g09 1, ... 3 more; see --groups) or"
    ));
}

#[test]
fn an_empty_listing_says_why() {
    let with = |total: u64, group: Option<&str>, filter: Option<&str>, offset: Option<u64>| Tools {
        group: group.map(str::to_owned),
        filter: filter.map(str::to_owned),
        offset,
        ..page(vec![], total, vec![])
    };
    check(&with(0, None, None, None), "Tools\n  No tools registered.\n");
    check(&with(0, None, Some("x\n"), None), "Tools\n  No tools match \"x\\n\".\n");
    check(
        &with(0, Some("Diagnostics"), None, None),
        "Tools in group Diagnostics\n  No tools in group \"Diagnostics\". Run `appduct tools --groups` to see the session's \
         groups.\n",
    );
    check(
        &with(0, Some("g"), Some("x"), None),
        "Tools in group g\n  No tools in group \"g\" match \"x\". Run `appduct tools --groups` to see the session's groups.\n",
    );
    check(&with(1, None, None, Some(9)), "Tools\n  No tools at offset 9; 1 matching tool in total.\n");
    check(
        &with(5, Some("g"), Some("x"), Some(9)),
        "Tools in group g\n  No tools at offset 9; 5 matching tools in total.\n",
    );
    let full = Tools { full: true, ..with(0, None, None, None) };
    check(&full, "Tools\n  No tools registered.\n");
}

#[test]
fn the_full_form_shows_each_tool_and_no_hint() {
    let extra =
        r#","input_schema":{ "type":"object","properties":{} },"annotations":{"readOnlyHint":true},"timeout_ms":5000"#;
    let mut report =
        page(vec![tool("a", Some("g/s"), extra), tool("b", None, "")], 3, vec![group(Some("g"), 1), group(None, 2)]);
    report.full = true;
    check(
        &report,
        "\
Tool: a
  Signature     a()
  Description   Does a.
  Input schema  {\"type\":\"object\",\"properties\":{}}
  Group         g/s
  Annotations   {\"readOnlyHint\":true}
  Timeout (ms)  5000

Tool: b
  Signature    b()
  Description  Does b.

Showing 2 of 3 tools (offset 0). Narrow with --group <name> (groups: g 1) or --filter <text>, or page with --offset <n>.
",
    );
}

#[test]
fn hostile_text_stays_on_its_line() {
    let raw = RawJson::parse(
        r#"{"name":"x\u001b[2J","description":"one\u001b[31m\u202e\nTools\n  forged()","group":"g\n","policy":"allow"}"#,
    )
    .unwrap();
    let report = page(vec![raw.clone()], 1, vec![group(Some("g\n"), 1)]);
    let listing = lines(&report, plain());
    assert_eq!(listing[1], "  g\\n");
    assert_eq!(listing[2], "    x\\u001b[2J()");
    assert_eq!(listing[3], "      one[31m\\u202e");
    let detail = tool::lines(&raw, plain());
    assert_eq!(detail[0], "Tool: x\\u001b[2J");
    assert_eq!(detail[2], "  Description  one\\u001b[31m\\u202e\\nTools\\n  forged()");
    for line in listing.iter().chain(&detail) {
        assert!(!line.contains(|character: char| character.is_control()), "{line:?}");
    }
}

#[test]
fn headings_and_titles_are_coloured_and_their_indentation_is_not() {
    let report = page(vec![tool("a", Some("g/s"), "")], 1, vec![group(Some("g"), 1), group(Some("g/s"), 1)]);
    let shown = lines(&report, Style::new(true, false));
    assert_eq!(shown[..3], ["\u{1b}[32mTools\u{1b}[39m", "  \u{1b}[36mg\u{1b}[39m", "    \u{1b}[36mg/s\u{1b}[39m"]);
}

#[test]
fn the_table_of_groups_lines_up() {
    let shown =
        |groups: Vec<ToolGroup>, total| super::super::joined(group_lines(&Groups { groups, total }, plain()), None);
    let groups = vec![
        group(Some("counter"), 2),
        group(Some("diagnostics"), 2),
        group(Some("diagnostics/progress"), 1),
        group(None, 1),
    ];
    assert_eq!(
        shown(groups, 5),
        "\
Groups
  counter                 2
  diagnostics             2
    diagnostics/progress  1
  (ungrouped)             1

5 tools in total. Run `appduct tools --group <name>` to list one group's tools.
"
    );
    assert_eq!(
        shown(vec![group(Some("a"), 100), group(None, 1)], 101),
        "Groups\n  a            100\n  (ungrouped)    1\n\n101 tools in total. Run `appduct tools --group <name>` to list one \
         group's tools.\n"
    );
    assert_eq!(
        shown(vec![group(None, 1)], 1),
        "Groups\n  (ungrouped)  1\n\n1 tool in total. No tool declares a group.\n"
    );
    assert_eq!(shown(vec![], 0), "Groups\n  No tools registered.\n");
}
