//! `init`: what it writes and says.

use std::fs;

use crate::run::Place;

#[test]
fn a_project_is_recorded_in_both_forms() {
    let place = Place::new();
    fs::write(place.work().join("app.json"), r#"{"expo":{"scheme":"expo"}}"#).unwrap();
    insta::assert_snapshot!("init_created", place.run(&["init"]));
    let config = place.work().join(".appduct/config.json");
    assert_eq!(fs::read_to_string(&config).unwrap(), "{\n  \"scheme\": \"expo\"\n}\n");
    let args = ["init", "--android-app-id", "com.example.app", "--ios-app-id", "com.example.App"];
    insta::assert_snapshot!("init_updated", place.run(&args));
    fs::write(place.work().join("app.json"), r#"{"expo":{"scheme":"other"}}"#).unwrap();
    insta::assert_snapshot!("init_unchanged", place.run(&["init"]));
    insta::assert_snapshot!("init_unchanged_json", place.run(&["init", "--json", "--pretty"]));
    insta::assert_snapshot!("init_refused", place.run(&["init", "--scheme", "third"]));
    assert!(!place.state_dir().exists());
}

#[test]
fn the_environment_and_directories_above_say_nothing() {
    let place = Place::new();
    fs::create_dir(place.root().join(".appduct")).unwrap();
    fs::write(place.root().join(".appduct/config.json"), r#"{"scheme":"above"}"#).unwrap();
    insta::assert_snapshot!("init_nowhere", place.run_with(&["init"], &[("APPDUCT_SCHEME", "env")]));
}

#[test]
fn what_is_recorded_is_what_a_link_uses() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--scheme", "demo://"]).code, Some(64));
    place.run(&["init", "--scheme", "demo"]).ok();
    let (code, _, message) = place.run(&["link", "--open", "android", "--json"]).failure();
    assert_eq!(code, 64);
    assert!(message.starts_with("No app id found."), "{message}");
    assert!(!place.state_dir().exists());
}
