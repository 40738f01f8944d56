//! Pages of tools.

use super::*;

fn shop(world: &mut World) -> App {
    world.app(&[
        with(tool("zoom"), "group", "view"),
        with(tool("pay"), "group", "checkout/payment"),
        with(tool("refund"), "group", "checkout/payment"),
        with(tool("total"), "group", "checkout"),
        with(tool("ship"), "group", "checkout-x"),
        with(tool("Ping"), "description", "Answers PONG é"),
    ])
}

fn list(world: &World, query: ToolQuery) -> (Vec<String>, usize) {
    let page = world.host.list_tools(None, &query).unwrap();
    (page.tools.iter().map(|tool| tool.descriptor.name.to_string()).collect(), page.total)
}

#[track_caller]
fn check(query: ToolQuery, names: &[&str], total: usize) {
    let mut world = World::new();
    shop(&mut world);
    assert_eq!(list(&world, query), (names.iter().map(|&name| name.to_owned()).collect(), total));
}

fn group(text: &str) -> Option<crate::wire::Group> {
    Some(text.parse().unwrap())
}

fn filter(text: &str) -> ToolQuery {
    ToolQuery { filter: Some(text.to_owned()), ..ToolQuery::default() }
}

#[test]
fn tools_come_by_name_whatever_the_locale() {
    check(ToolQuery::default(), &["Ping", "pay", "refund", "ship", "total", "zoom"], 6);
}

#[test]
fn a_group_holds_its_subgroups_and_nothing_that_only_starts_alike() {
    let of = |text| ToolQuery { group: group(text), ..ToolQuery::default() };
    check(of("checkout"), &["pay", "refund", "total"], 3);
    check(of("checkout/payment"), &["pay", "refund"], 2);
    check(of("Checkout"), &[], 0);
    check(of("nothing"), &[], 0);
}

#[test]
fn a_filter_looks_into_names_and_descriptions_whatever_the_case() {
    check(filter("PING"), &["Ping"], 1);
    check(filter("pong É"), &["Ping"], 1);
    check(filter("does re"), &["refund"], 1);
    check(filter(""), &["Ping", "pay", "refund", "ship", "total", "zoom"], 6);
    check(filter("nothing"), &[], 0);
}

#[test]
fn the_total_counts_matches_before_paging() {
    let page = |offset, limit| ToolQuery { offset, limit: Some(limit), ..ToolQuery::default() };
    check(page(0, 2), &["Ping", "pay"], 6);
    check(page(4, 5), &["total", "zoom"], 6);
    check(page(9, 1), &[], 6);
    check(page(usize::MAX, usize::MAX), &[], 6);
    check(ToolQuery { group: group("checkout"), offset: 1, limit: Some(1), ..filter("a") }, &["total"], 2);
}

#[test]
fn groups_are_those_of_the_whole_registry_whatever_the_query() {
    let mut world = World::new();
    shop(&mut world);
    for query in [ToolQuery::default(), filter("nothing"), ToolQuery { group: group("view"), ..filter("") }] {
        let page = world.host.list_tools(None, &query).unwrap();
        let rows: Vec<_> =
            page.groups.iter().map(|row| (row.group.as_ref().map_or("-", |group| group.as_str()), row.total)).collect();
        let expected = [("checkout", 3), ("checkout/payment", 2), ("checkout-x", 1), ("view", 1), ("-", 1)];
        assert_eq!(rows, expected);
    }
}

#[test]
fn a_descriptor_is_listed_as_it_came() {
    let mut world = World::new();
    let app = world.claimed();
    let text = r#"{"timeoutMs" : 1.0,"name":"a","description":"\ud800","input_schema":{"b":1 ,"a":2}}"#;
    let frame = format!(r#"{{"type":"tool_registry_snapshot","session_id":"{}","tools":[{text}]}}"#, app.session);
    world.text(app.socket, &frame);
    let page = world.host.list_tools(None, &ToolQuery::default()).unwrap();
    assert_eq!(page.tools[0].descriptor.raw().as_str(), text);
}

#[test]
fn each_entry_says_what_the_policy_makes_of_it() {
    let policy = Policy {
        destructive: Decision::Prompt,
        tools: [("pixel-8/b".to_owned(), Decision::Deny)].into(),
        ..Policy::default()
    };
    let mut world = World::with(Settings { policy, ..Settings::default() });
    let destructive = json!({ "destructiveHint": true });
    world.app(&[tool("a"), tool("b"), with(tool("c"), "annotations", destructive)]);
    let policies = |world: &World| {
        let page = world.host.list_tools(None, &ToolQuery::default()).unwrap();
        page.tools.iter().map(|tool| tool.policy).collect::<Vec<_>>()
    };
    assert_eq!(policies(&world), [Decision::Allow, Decision::Deny, Decision::Prompt]);
    world.host.set_policy(Policy { default: Decision::Deny, ..Policy::default() });
    assert_eq!(policies(&world), [Decision::Deny, Decision::Deny, Decision::Allow]);
}

#[test]
fn a_page_shares_descriptors_with_the_registry() {
    let mut world = World::new();
    shop(&mut world);
    let page = || world.host.list_tools(None, &ToolQuery::default()).unwrap();
    assert!(std::sync::Arc::ptr_eq(&page().tools[0].descriptor, &page().tools[0].descriptor));
}
