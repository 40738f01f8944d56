//! Lines that the daemon sends, as clients read them.

use appduct_proto::wire::RawJson;
use appduct_rpc::line::{self, Incoming, MalformedLine, decode_incoming};
use appduct_rpc::methods::{
    Attached, CallResult, Cancelled, DeclaredEvents, Done, EventNotification, EventPage, Link, Session, Status, Tools,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json::{assert_part, is_object, plain};
use crate::requests::one_line;

/// Reads the bytes as a reply or notification, and its result as the reply of every method.
pub fn target(data: &[u8]) {
    let decoded = decode_incoming(data);
    let is_unreadable = matches!(decoded, Err(MalformedLine::NotUtf8 | MalformedLine::NotAnObject));
    assert_eq!(is_unreadable, !is_object(data));
    if let (Some(value), false) = (plain(data), is_unreadable) {
        let is_reply = matches!(decoded, Ok(Incoming::Reply { .. }));
        assert!(!is_reply || value.get("method").is_none());
        assert_eq!(
            matches!(decoded, Ok(Incoming::Event(_))),
            value["method"] == "event" && value.get("params").is_some()
        );
    }
    match decoded {
        Ok(Incoming::Reply { id, result: Ok(result) }) => {
            assert_part(data, &result);
            let sent = line::reply(&id, &result);
            let Ok(Incoming::Reply { result: Ok(again), .. }) = decode_incoming(one_line(&sent)) else {
                panic!("{sent}")
            };
            assert_eq!(again.as_str(), result.as_str().replace(['\n', '\r'], " "));
            check(&result);
        }
        Ok(Incoming::Reply { id, result: Err(error) }) => {
            let sent = line::error(&id, &error);
            let Ok(Incoming::Reply { result: Err(again), .. }) = decode_incoming(one_line(&sent)) else {
                panic!("{sent}")
            };
            assert_eq!((again.code, &again.kind, &again.message), (error.code, &error.kind, &error.message));
            assert_eq!(again.exit_code(), error.exit_code());
        }
        Ok(Incoming::Event(params)) => {
            let sent = line::event(&params);
            let Ok(Incoming::Event(again)) = decode_incoming(one_line(&sent)) else { panic!("{sent}") };
            assert_eq!(again.as_str(), params.as_str().replace(['\n', '\r'], " "));
            same_again::<EventNotification>(&params);
        }
        Ok(Incoming::Unknown) | Err(_) => {}
    }
}

fn check(result: &RawJson) {
    same_again::<Attached>(result);
    same_again::<CallResult>(result);
    same_again::<Cancelled>(result);
    same_again::<DeclaredEvents>(result);
    same_again::<Done>(result);
    same_again::<EventPage>(result);
    same_again::<Link>(result);
    same_again::<Session>(result);
    same_again::<Vec<Session>>(result);
    same_again::<Status>(result);
    same_again::<Tools>(result);
}

/// What can be read as this reply is the same after it was written and read once more.
fn same_again<T: Serialize + DeserializeOwned + PartialEq>(text: &RawJson) {
    let Ok(reply) = serde_json::from_str::<T>(text.as_str()) else { return };
    let sent = serde_json::to_string(&reply).expect("what was read can be written");
    let again = serde_json::from_str::<T>(&sent).expect("what was written can be read");
    assert!(again == reply, "{sent}");
}
