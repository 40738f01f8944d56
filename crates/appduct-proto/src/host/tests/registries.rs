//! What apps register.

use super::*;

fn names(world: &World) -> Vec<String> {
    let page = world.host.list_tools(None, &ToolQuery::default()).unwrap();
    page.tools.iter().map(|tool| tool.descriptor.name.to_string()).collect()
}

fn event(name: &str) -> Value {
    json!({ "name": name, "description": format!("When {name}") })
}

#[test]
fn a_snapshot_replaces_everything_and_always_tells() {
    let mut world = World::new();
    let app = world.app(&[tool("a"), tool("b")]);
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [tool("c")] }));
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [tool("c")] }));
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [] }));
    world.expect(&["event pixel-8 tools_changed 1", "event pixel-8 tools_changed 1", "event pixel-8 tools_changed 0"]);
    assert!(names(&world).is_empty());
}

#[test]
fn the_last_of_duplicates_in_a_snapshot_wins() {
    let mut world = World::new();
    world.app(&[with(tool("a"), "description", "first"), tool("b"), with(tool("a"), "description", "last")]);
    let page = world.host.list_tools(None, &ToolQuery::default()).unwrap();
    assert_eq!(page.tools.len(), 2);
    assert_eq!(page.tools[0].descriptor.description, "last");
}

#[test]
fn an_upsert_always_tells_and_a_removal_only_of_what_was_there() {
    let mut world = World::new();
    let app = world.app(&[tool("a")]);
    let delta = |operation: &str| json!({ "operation": operation, "tool": tool("b"), "name": "b" });
    for operation in ["upsert", "upsert", "remove", "remove"] {
        world.frame(&app, "tool_registry_delta", delta(operation));
    }
    world.expect(&["event pixel-8 tools_changed 2", "event pixel-8 tools_changed 2", "event pixel-8 tools_changed 1"]);
    assert_eq!(names(&world), ["a"]);
}

#[test]
fn one_bad_descriptor_leaves_the_registry_as_it_was() {
    let mut world = World::new();
    let app = world.app(&[tool("a")]);
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [tool("b"), null] }));
    assert_eq!(names(&world), ["a"]);
}

#[test]
fn registries_survive_suspension_and_resume() {
    let mut world = World::new();
    let mut app = world.app(&[tool("a")]);
    world.frame(&app, "event_registry_snapshot", json!({ "events": [event("e")] }));
    world.drop_socket(app.socket);
    assert_eq!(names(&world), ["a"]);
    assert_eq!(world.host.list_events(None, &DeclaredEventQuery::default()).unwrap().total, 1);
    world.reconnect(&mut app);
    assert_eq!(names(&world), ["a"]);
    world.frame(&app, "tool_registry_snapshot", json!({ "tools": [tool("z")] }));
    assert_eq!(names(&world), ["z"]);
}

#[test]
fn event_registries_follow_the_same_rules() {
    let mut world = World::new();
    let app = world.claimed();
    world.frame(&app, "event_registry_snapshot", json!({ "events": [event("b"), event("a b.c"), event("b")] }));
    world.frame(&app, "event_registry_delta", json!({ "operation": "upsert", "event": event("c") }));
    world.frame(&app, "event_registry_delta", json!({ "operation": "remove", "name": "b" }));
    world.frame(&app, "event_registry_delta", json!({ "operation": "remove", "name": "b" }));
    world.expect(&[
        "event pixel-8 events_changed 2",
        "event pixel-8 events_changed 3",
        "event pixel-8 events_changed 2",
    ]);
}

#[test]
fn declared_events_are_listed_by_name_in_utf16_order() {
    let mut world = World::new();
    let app = world.claimed();
    let names = ["cart.add", "\u{FFFD}", "😀", "cart", "cart.remove"];
    let events: Vec<_> = names.into_iter().map(event).collect();
    world.frame(&app, "event_registry_snapshot", json!({ "events": events }));
    let list = |query: &DeclaredEventQuery| {
        let page = world.host.list_events(None, query).unwrap();
        let names: Vec<_> = page.events.iter().map(|event| event.name.clone()).collect();
        (names, page.total)
    };
    let all = list(&DeclaredEventQuery::default());
    assert_eq!(all.0, ["cart", "cart.add", "cart.remove", "😀", "\u{FFFD}"]);
    let page = list(&DeclaredEventQuery { limit: Some(2), offset: 1, ..Default::default() });
    assert_eq!((page.0.as_slice(), page.1), (["cart.add".to_owned(), "cart.remove".to_owned()].as_slice(), 5));
    let named = list(&DeclaredEventQuery { name: Some(Glob::new("cart.*")), limit: Some(1), offset: 1 });
    assert_eq!((named.0.as_slice(), named.1), (["cart.remove".to_owned()].as_slice(), 2));
}

#[test]
fn an_app_that_declares_nothing_lists_nothing() {
    let mut world = World::new();
    world.claimed();
    let page = world.host.list_events(None, &DeclaredEventQuery::default()).unwrap();
    assert_eq!(page, DeclaredEventPage { events: Vec::new(), total: 0 });
}
