//! No row of a table without its proof: what the tests here expect is compared with what there is.

use std::fs;
use std::path::Path;

use appduct_proto::wire::CloseReason;
use appduct_rpc::ErrorType;

/// Closes that a daemon never sends, and one that it cannot be made to: it lets nobody in before it is up.
const NOT_OURS: &[CloseReason] = &[
    CloseReason::ClientClose,
    CloseReason::AppBackgrounded,
    CloseReason::BinaryNotSupported,
    CloseReason::InvalidAck,
    CloseReason::DaemonStartupFailed,
];

/// Everything that the tests of this folder say.
fn sources() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let others = files.filter(|path| path.is_file() && !path.ends_with("completeness.rs"));
    others.map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_close_of_the_daemon_is_provoked_over_a_socket() {
    let sources = sources();
    for close in CloseReason::ALL.iter().filter(|close| !NOT_OURS.contains(close)) {
        let (code, reason) = (close.code(), close.as_str());
        let way = if reason.is_empty() { format!("({code}, \"\")") } else { format!("\"{reason}\"") };
        assert!(sources.contains(&way), "no test expects {code} {reason:?}");
    }
}

#[test]
fn every_type_of_error_is_provoked_over_a_socket() {
    let sources = sources();
    // A host that looks at the session and sends in one step never finds it gone in between: this one is for other daemons.
    for kind in ErrorType::ALL.iter().filter(|kind| **kind != ErrorType::SessionNotActive) {
        let name = kind.as_str();
        assert!(sources.contains(&format!("\"{name}\"")), "no test expects {name}");
    }
}
