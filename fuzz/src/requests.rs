//! Lines that clients send, as the daemon reads them.

use appduct_proto::wire::RawJson;
use appduct_rpc::RpcError;
use appduct_rpc::line::{self, Incoming, Request, decode_incoming, decode_request};
use appduct_rpc::methods::{
    DaemonShutdown, DaemonStatus, EventsList, EventsSince, EventsSubscribe, LinkCreate, Method, SessionsDescribe,
    SessionsList, SessionsRevoke, ToolsCall, ToolsCancel, ToolsList, WebAttach,
};
use serde_json::Value;

use crate::json::{assert_part, is_object, plain};

/// Reads the bytes as a request, for every method there is, and answers it.
pub fn target(data: &[u8]) {
    let decoded = decode_request(data);
    let id = match &decoded {
        Ok(request) => &request.id,
        Err(refused) => &refused.id,
    };
    if let Some(value) = plain(data) {
        let method = value["method"].as_str().filter(|method| !method.is_empty());
        assert_eq!(decoded.as_ref().ok().map(|request| request.method.as_str()), method);
        assert_eq!(plain(id.as_str().as_bytes()), Some(value.get("id").cloned().unwrap_or(Value::Null)));
    }
    let refusal = match &decoded {
        Ok(request) => {
            check(data, request);
            RpcError::method_not_found(&request.method)
        }
        Err(refused) => {
            let is_json = RawJson::parse(&String::from_utf8_lossy(data)).is_ok() && std::str::from_utf8(data).is_ok();
            assert_eq!(refused.error.code, if is_json { -32_600 } else { -32_700 });
            refused.error.clone()
        }
    };
    check_replies(id, &refusal);
}

fn check(data: &[u8], request: &Request) {
    assert!(is_object(data));
    if request.params != RawJson::empty_object() {
        assert_part(data, &request.params);
    }
    assert!(request.id == RawJson::null() || String::from_utf8_lossy(data).contains(request.id.as_str()));
    parse::<DaemonShutdown>(request);
    parse::<DaemonStatus>(request);
    parse::<EventsList>(request);
    parse::<EventsSince>(request);
    parse::<EventsSubscribe>(request);
    parse::<LinkCreate>(request);
    parse::<SessionsDescribe>(request);
    parse::<SessionsList>(request);
    parse::<SessionsRevoke>(request);
    parse::<ToolsCancel>(request);
    parse::<ToolsList>(request);
    parse::<WebAttach>(request);
    if let Some(call) = parse::<ToolsCall>(request) {
        assert_part(data, &call.args);
        assert!(call.args.is_object() && call.reply_timeout().as_secs() <= 605);
    }
}

/// What is taken can be sent again and is the same then.
fn parse<M: Method + PartialEq + std::fmt::Debug>(request: &Request) -> Option<M> {
    let parsed = match request.parse::<M>() {
        Ok(parsed) => parsed,
        Err(refusal) => {
            assert!(refusal.code == RpcError::APPLICATION && refusal.message.contains(M::NAME), "{refusal:?}");
            assert!(!refusal.message.contains(char::is_control), "{refusal:?}");
            return None;
        }
    };
    let sent = line::request(7, M::NAME, &parsed.params());
    let received = decode_request(one_line(&sent)).expect("our own requests can be read");
    assert_eq!((received.id.as_str(), received.method.as_str()), ("7", M::NAME));
    let again = received.parse::<M>().expect("our own parameters are taken");
    assert_eq!(again.params(), received.params);
    if !parsed.params().as_str().contains(['\n', '\r']) {
        assert_eq!(again, parsed);
    }
    Some(parsed)
}

/// Whatever the id is, replies with it are one line each and can be read.
fn check_replies(id: &RawJson, refusal: &RpcError) {
    let reply = line::reply(id, id);
    let Ok(Incoming::Reply { id: echoed, result: Ok(result) }) = decode_incoming(one_line(&reply)) else {
        panic!("{reply}")
    };
    assert_eq!(echoed, result);
    assert_eq!(echoed.as_str(), id.as_str().replace(['\n', '\r'], " "));
    let error = line::error(id, refusal);
    let Ok(Incoming::Reply { result: Err(read), .. }) = decode_incoming(one_line(&error)) else { panic!("{error}") };
    assert_eq!(read, *refusal);
}

/// The line without the line break that ends it, which must be its only one.
pub(crate) fn one_line(line: &str) -> &[u8] {
    let line = line.strip_suffix('\n').expect("a line ends with a line break");
    assert!(!line.contains(['\n', '\r']), "{line:?}");
    line.as_bytes()
}
