//! The daemon's state.

use std::collections::BTreeMap;

use super::{Style, block, counted, escape};
use crate::report::{DaemonRunning, DaemonStarted, DaemonStatus, DaemonStopped};

/// A daemon in this process.
pub(super) fn running_lines(report: &DaemonRunning, style: Style) -> Vec<String> {
    let daemon = &report.daemon;
    let mut lines = vec![style.paint.green("Daemon Running")];
    lines.extend(block(
        "Daemon",
        [
            ("PID", Some(daemon.pid.to_string())),
            ("State dir", Some(escape::line(&daemon.state_dir).into_owned())),
            ("Socket", Some(escape::line(&daemon.socket_path).into_owned())),
        ],
    ));
    lines
}

/// A daemon that is up.
pub(super) fn started_lines(report: &DaemonStarted, style: Style) -> Vec<String> {
    let daemon = &report.daemon;
    let mut lines = vec![style.paint.green("Daemon Started")];
    lines.extend(block(
        "Daemon",
        [
            ("PID", Some(daemon.pid.to_string())),
            ("WSS port", Some(daemon.wss_port.to_string())),
            ("Started at", Some(escape::line(&daemon.started_at).into_owned())),
        ],
    ));
    lines
}

/// A daemon that was told to go.
pub(super) fn stopped_lines(report: DaemonStopped, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint.green("Daemon Stopped")];
    lines.extend(block("Daemon", [("Method", Some(report.daemon.method.to_owned()))]));
    lines
}

/// Everything that a daemon says of itself. What an older daemon does not report is left out.
pub(super) fn status_lines(report: &DaemonStatus, style: Style) -> Vec<String> {
    let DaemonStatus { warning, daemon, policy, audit } = report;
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let text = |value: &str| Some(escape::line(value).into_owned());
    let mut lines = vec![style.paint.green("Daemon Status")];
    lines.extend(block(
        "Daemon",
        [
            ("Version", text(&daemon.version)),
            ("PID", Some(daemon.pid.to_string())),
            ("Started at", text(&daemon.started_at)),
            ("WSS port", Some(daemon.wss_port.to_string())),
            ("Web port", daemon.web_port.map(|port| port.to_string())),
            ("Pinned keys", Some(daemon.pinned_keys.len().to_string())),
            ("Sessions", Some(daemon.session_count.to_string())),
            ("Persistence", daemon.persist_sessions.map(persistence)),
            ("Failed saves", number(daemon.failed_saves)),
            ("Uptime", daemon.uptime_seconds.map(uptime)),
            ("Calls served", number(daemon.calls_served)),
            ("Memory", daemon.resident_bytes.map(size)),
            ("Open sockets", number(daemon.open_sockets)),
        ],
    ));
    lines.push(String::new());
    lines.extend(block(
        "Policy",
        [
            ("Default", text(&policy.default)),
            ("Destructive", text(&policy.destructive)),
            ("Overrides", Some(policy.tools.as_ref().map_or(0, BTreeMap::len).to_string())),
            ("Group rules", policy.groups.as_ref().map(|groups| groups.len().to_string())),
            ("Config fault", daemon.config_fault.as_deref().and_then(text)),
        ],
    ));
    lines.push(String::new());
    lines.extend(block(
        "Audit",
        [
            ("Path", text(&audit.path)),
            ("Retention", audit.retention_days.map(|days| counted(days, "day"))),
            ("Files", number(audit.files)),
            ("Size", audit.bytes.map(size)),
            ("Failed writes", Some(audit.failed_writes.to_string())),
            ("Failed prunes", number(audit.failed_prunes)),
        ],
    ));
    if let Some(warning) = warning {
        lines.extend([String::new(), style.paint.yellow(&format!("Warning: {}", escape::line(warning)))]);
    }
    lines
}

fn persistence(is_on: bool) -> String {
    if is_on { "sessions outlive the daemon" } else { "off" }.to_owned()
}

/// `2d 3h 4m 5s`, from the largest unit that is there.
fn uptime(seconds: u64) -> String {
    let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let first = parts.iter().position(|(count, _)| *count > 0).unwrap_or(parts.len() - 1);
    parts[first..].iter().map(|(count, unit)| format!("{count}{unit}")).collect::<Vec<_>>().join(" ")
}

/// Bytes in the largest binary unit that fits once, with one decimal; plain bytes below that.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use appduct_rpc::methods::Policy;

    use super::*;
    use crate::report::{StatusAudit, StatusDaemon};

    fn status() -> DaemonStatus {
        DaemonStatus {
            warning: None,
            daemon: StatusDaemon {
                version: "0.7.0".to_owned(),
                pid: 4242,
                started_at: "2026-03-17T10:00:00.000Z".to_owned(),
                wss_port: 8443,
                pinned_keys: vec!["sha256/AAAA=".to_owned()],
                session_count: 1,
                uptime_seconds: None,
                calls_served: None,
                resident_bytes: None,
                open_sockets: None,
                web_port: None,
                persist_sessions: None,
                failed_saves: None,
                config_fault: None,
            },
            policy: Policy { default: "allow".to_owned(), destructive: "deny".to_owned(), tools: None, groups: None },
            audit: StatusAudit {
                path: "/s/audit".to_owned(),
                failed_writes: 0,
                failed_prunes: Some(2),
                retention_days: Some(30),
                files: Some(12),
                bytes: Some(1_572_864),
            },
        }
    }

    #[test]
    fn a_status_shows_what_was_reported() {
        let lines = status_lines(&status(), Style::new(false, false));
        let expected = "\
Daemon Status
Daemon
  Version      0.7.0
  PID          4242
  Started at   2026-03-17T10:00:00.000Z
  WSS port     8443
  Pinned keys  1
  Sessions     1

Policy
  Default      allow
  Destructive  deny
  Overrides    0

Audit
  Path           /s/audit
  Retention      30 days
  Files          12
  Size           1.5 MiB
  Failed writes  0
  Failed prunes  2";
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn our_own_figures_and_a_warning_follow() {
        let mut report = status();
        report.warning = Some("old".to_owned());
        report.daemon.uptime_seconds = Some(93_784);
        report.daemon.calls_served = Some(7);
        report.daemon.resident_bytes = Some(9_437_184);
        report.daemon.open_sockets = Some(2);
        report.audit.retention_days = Some(1);
        let lines = status_lines(&report, Style::new(true, false));
        assert_eq!(
            lines[8..12],
            ["  Uptime        1d 2h 3m 4s", "  Calls served  7", "  Memory        9.0 MiB", "  Open sockets  2"]
        );
        assert!(lines.contains(&"  Retention      1 day".to_owned()));
        assert_eq!(lines.last().unwrap(), "\u{1b}[33mWarning: old\u{1b}[39m");
    }

    #[test]
    fn what_is_wrong_with_a_daemon_is_shown() {
        let mut report = status();
        report.daemon.web_port = Some(8444);
        report.daemon.persist_sessions = Some(false);
        report.daemon.failed_saves = Some(3);
        report.daemon.config_fault = Some("not JSON\u{1b}".to_owned());
        let lines = status_lines(&report, Style::new(false, false));
        for line in
            ["  Web port      8444", "  Persistence   off", "  Failed saves  3", "  Config fault  not JSON\\u001b"]
        {
            assert!(lines.contains(&line.to_owned()), "{lines:?}");
        }
        report.daemon.persist_sessions = Some(true);
        let lines = status_lines(&report, Style::new(false, false));
        assert!(lines.contains(&"  Persistence   sessions outlive the daemon".to_owned()), "{lines:?}");
    }

    #[test]
    fn sizes_saturate_at_the_largest_unit() {
        for (bytes, shown) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.0 KiB"),
            (1_572_864, "1.5 MiB"),
            (1 << 30, "1.0 GiB"),
            (5_120 << 40, "5120.0 TiB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }

    #[test]
    fn an_uptime_starts_at_its_largest_unit() {
        for (seconds, shown) in [(0, "0s"), (61, "1m 1s"), (3_600, "1h 0m 0s"), (172_800, "2d 0h 0m 0s")] {
            assert_eq!(uptime(seconds), shown);
        }
    }
}
