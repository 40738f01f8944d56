//! On a terminal: what fits is fitted, what is to be copied stays whole.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::fake_daemon::{FakeDaemon, error, plain_status, result};

const SESSIONS: &str = r#"[
    {"sessionId":"s1","alias":"pixel-8","state":"active","device":{"manufacturer":"Google","model":"Pixel 8 Pro with a long name","os":"Android 14"},"createdAt":"2020-01-01T00:00:00.000Z","toolCount":12},
    {"sessionId":"s2","alias":"iphone","state":"suspended","device":{"manufacturer":"Apple","model":"iPhone 17 Pro","os":"iOS 26.4"},"createdAt":"2020-01-01T00:00:00.000Z","toolCount":3}
]"#;

const TOOLS: &str = r#"{"tools":[
    {"name":"seed_cart","description":"Fills the cart with as many sample items as are wanted, and clears it before that where it is told to.","input_schema":{"type":"object","properties":{"items":{"type":"integer"},"sku":{"type":"string"},"clear":{"type":"boolean","default":true}},"required":["items"]},"output_schema":{"type":"object","properties":{"added":{"type":"integer"},"cartId":{"type":"string"}},"required":["added","cartId"]},"group":"cart","policy":"prompt"},
    {"name":"sum","description":"Adds two numbers.","group":null,"policy":"allow"}
],"total":9,"groups":[{"group":"cart","total":8},{"group":null,"total":1}]}"#;

fn daemon() -> FakeDaemon {
    FakeDaemon::new(|method, _| match method {
        "daemon.status" => plain_status(),
        "sessions.list" => result(SESSIONS.replace('\n', "")),
        "tools.list" => result(TOOLS.replace('\n', "")),
        _ => error(
            "session_suspended",
            "session \"pixel-8\" is suspended because its app is in the background: bring the app to the foreground on the \
             device and try again",
        ),
    })
}

/// A terminal of so many columns, and the end that a program gets.
pub(crate) fn terminal(columns: u16) -> (OwnedFd, OwnedFd) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    tcsetwinsize(&terminal, Winsize { ws_col: columns, ws_row: 24, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let path = ptsname(&terminal, Vec::new()).unwrap();
    let end = rustix::fs::open(path.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    (terminal, end)
}

/// What a command shows on a terminal of so many columns, which is its stdout and stderr.
fn shown(daemon: &FakeDaemon, columns: u16, args: &[&str], env: &[(&str, &str)]) -> String {
    let (terminal, end) = terminal(columns);
    let mut command = daemon.place.command(args);
    command.env("NO_COLOR", "1").envs(env.iter().copied());
    command.stdout(Stdio::from(end.try_clone().unwrap())).stderr(Stdio::from(end));
    let mut child = command.spawn().unwrap();
    // The terminal ends when nobody holds its other end.
    drop(command);
    let bytes = everything(terminal);
    child.wait().unwrap();
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
}

/// Linux ends a terminal with an error, others with nothing.
fn everything(terminal: OwnedFd) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut terminal = File::from(terminal);
    drop(terminal.read_to_end(&mut bytes));
    bytes
}

#[test]
fn every_width_looks_right() {
    let daemon = daemon();
    for columns in [60, 80, 200] {
        let mut page = String::new();
        for args in
            [&["ls"][..], &["tools"], &["tools", "--groups"], &["daemon", "status"], &["invoke", "x"], &["wait", "-h"]]
        {
            let text = shown(&daemon, columns, args, &[]);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= usize::from(columns), "{args:?} takes {widest} of {columns} columns:\n{text}");
            page += &format!("$ appduct {}\n{text}\n", args.join(" "));
        }
        let page: Vec<_> = page.lines().map(str::trim_end).collect();
        insta::with_settings!({ filters => vec![(r"\b\d+d\b", "[AGE]")] }, {
            insta::assert_snapshot!(format!("terminal_{columns}"), page.join("\n"));
        });
    }
}

#[test]
fn a_terminal_can_be_said_to_be_wider_than_it_is() {
    let daemon = daemon();
    let wide = shown(&daemon, 60, &["tools"], &[("COLUMNS", "200")]);
    assert_eq!(wide, shown(&daemon, 200, &["tools"], &[]));
    assert_ne!(wide, shown(&daemon, 60, &["tools"], &[]));
}

#[test]
fn a_pipe_is_never_fitted() {
    let daemon = daemon();
    let ran = daemon.place.run_with(&["ls"], &[("COLUMNS", "40")]);
    assert!(ran.ok().contains("Google Pixel 8 Pro with a long name (Android 14)"), "{ran}");
    let ran = daemon.place.run_with(&["tools"], &[("COLUMNS", "40")]);
    assert!(ran.ok().contains("as many sample items as are wanted, and clears it"), "{ran}");
}
