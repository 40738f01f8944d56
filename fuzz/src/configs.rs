//! `config.json`, which anybody with an editor may write.

use std::time::Duration;

use appduct_daemon::config::Config;
use appduct_rpc::StateDir;
use serde_json::Value;

use crate::json::plain;

/// Reads the bytes as a configuration.
pub fn target(data: &[u8]) {
    let state_dir = StateDir::new("/state");
    let document = data.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(data);
    let object = plain(document).filter(Value::is_object);
    let (config, unknown) = match Config::parse(&state_dir, data) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert_eq!(error.path, state_dir.config());
            let is_whole = error.key == "config.json";
            assert!(is_whole || error.message.starts_with(&format!("\"{}\" ", error.key)), "{error}");
            assert!(!is_whole || object.is_none(), "{error}");
            return;
        }
    };
    let bounds = config.bounds;
    let counts = [
        config.event_buffer,
        bounds.unclaimed_sockets,
        bounds.calls_per_session,
        bounds.tools,
        bounds.events,
        bounds.registry_bytes,
        bounds.event_buffer_bytes,
        bounds.pending_links,
        bounds.device_queue_bytes,
    ];
    assert!(counts.into_iter().all(|count| count > 0));
    let times = [config.grace, config.link_ttl, config.keepalive_interval, bounds.link_ttl];
    assert!(times.into_iter().all(|time| time >= Duration::from_secs(1)));
    assert!(config.link_ttl <= bounds.link_ttl);
    assert!(config.audit_retention_days > 0 && config.daemon_log_max_bytes > 0 && config.events_log_max_bytes > 0);
    assert!(!config.key_path.as_os_str().is_empty());
    // The plain reader refuses lone surrogates, which are taken here.
    let Some(Value::Object(object)) = object else { return };
    for key in unknown.iter().filter(|key| !key.starts_with("policy.") && !key.starts_with("bounds.")) {
        assert!(object.contains_key(key), "{key} is not in the document");
    }
    let port = object.get("wssPort").and_then(Value::as_f64).unwrap_or(8443.0);
    assert_eq!(f64::from(config.wss_port), port);
    let is_kept = object.get("persistSessions").and_then(Value::as_bool).unwrap_or(true);
    assert_eq!(config.persist_sessions, is_kept);
}
