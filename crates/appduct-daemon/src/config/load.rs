//! Reads `config.json`, and checks what it says.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use appduct_proto::wire::{FieldFault, Fields, IntegerFrom, Length};
use appduct_rpc::StateDir;

use super::{Bounds, Config, policy};

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct ConfigError {
    /// The file.
    pub path: PathBuf,
    /// The key that breaks its rule, or `config.json` for the file as a whole.
    pub key: String,
    /// What is wrong with it.
    pub message: String,
}

/// One key that breaks its rule.
#[derive(Debug)]
pub(super) struct KeyFault {
    pub(super) key: String,
    pub(super) rule: String,
}

impl From<FieldFault> for KeyFault {
    fn from(fault: FieldFault) -> Self {
        Self { rule: fault.rule.to_string(), key: fault.field }
    }
}

const KEYS: &[&str] = &[
    "wssPort",
    "keyPath",
    "graceSeconds",
    "linkTtlSeconds",
    "keepaliveIntervalSeconds",
    "eventBufferSize",
    "auditRetentionDays",
    "daemonLogMaxBytes",
    "eventsLogMaxBytes",
    "policy",
    "advertisedIp",
    "scheme",
    "webOrigins",
    "restartDaemonOnVersionMismatch",
    "persistSessions",
    "validateArgs",
    "validateResults",
    "bounds",
];

const BOUND_KEYS: &[&str] = &[
    "unclaimedSockets",
    "callsPerSession",
    "tools",
    "events",
    "registryBytes",
    "eventBufferBytes",
    "linkTtlSeconds",
    "pendingLinks",
    "deviceQueueBytes",
];

/// No configuration is that long; a longer file is something else.
const MAX_BYTES: u64 = 1024 * 1024;

/// What the file holds; `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    let whole = |message| ConfigError::whole(path, message);
    let unreadable = |error| whole(format!("the file cannot be read: {error}"));
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !metadata.is_file() {
        return Err(whole("this is no file".to_owned()));
    }
    if metadata.len() > MAX_BYTES {
        return Err(whole(format!("the file is longer than {MAX_BYTES} bytes")));
    }
    std::fs::read(path).map(Some).map_err(unreadable)
}

impl ConfigError {
    fn whole(path: &Path, message: String) -> Self {
        Self { path: path.to_owned(), key: "config.json".to_owned(), message }
    }
}

impl Config {
    /// Reads the configuration of `state_dir`; a missing file is every default. Unknown keys are logged as warnings.
    pub fn load(state_dir: &StateDir) -> Result<Self, ConfigError> {
        Self::of_document(state_dir, read(&state_dir.config())?.as_deref())
    }

    /// The configuration that the content of the file makes; what is unknown in it is logged.
    pub(super) fn of_document(state_dir: &StateDir, document: Option<&[u8]>) -> Result<Self, ConfigError> {
        let Some(document) = document else { return Ok(Self::with_key(state_dir.key())) };
        let (config, unknown) = Self::parse(state_dir, document)?;
        for key in unknown {
            tracing::warn!("{}: \"{key}\" is not a known key and is ignored", state_dir.config().display());
        }
        Ok(config)
    }

    /// The configuration that a document makes, and the keys in it that are not known. Nothing is read: `state_dir` names
    /// the file in errors, and is where the host key lies unless the document says otherwise.
    pub fn parse(state_dir: &StateDir, document: &[u8]) -> Result<(Self, Vec<String>), ConfigError> {
        let path = state_dir.config();
        let whole = |message| ConfigError::whole(&path, message);
        let text = std::str::from_utf8(document).map_err(|_| whole("the file is not UTF-8".to_owned()))?;
        // Some editors write a byte order mark.
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
            return Err(whole(format!("the file is not JSON: {error}")));
        }
        let fields = Fields::parse(text).ok_or_else(|| whole("the file must hold a JSON object".to_owned()))?;
        let config = Self::with_key(state_dir.key()).overlaid(&fields).map_err(|KeyFault { key, rule }| {
            let message = format!("\"{key}\" {rule}");
            ConfigError { path: path.clone(), key, message }
        })?;
        Ok((config, unknown_keys(&fields)))
    }

    fn overlaid(mut self, fields: &Fields<'_>) -> Result<Self, KeyFault> {
        let positive = |key| fields.optional_integer(key, IntegerFrom::One);
        let seconds = |key| Ok::<_, FieldFault>(positive(key)?.map(Duration::from_secs));
        let boolean = |key| fields.optional_boolean(key);
        set(&mut self.wss_port, port(fields)?);
        set(&mut self.key_path, fields.optional_text("keyPath", Length::NON_EMPTY)?.map(|path| PathBuf::from(&*path)));
        set(&mut self.grace, seconds("graceSeconds")?);
        let link_ttl = seconds("linkTtlSeconds")?;
        set(&mut self.keepalive_interval, seconds("keepaliveIntervalSeconds")?);
        set(&mut self.event_buffer, positive("eventBufferSize")?.map(count));
        set(&mut self.audit_retention_days, positive("auditRetentionDays")?);
        set(&mut self.daemon_log_max_bytes, positive("daemonLogMaxBytes")?);
        set(&mut self.events_log_max_bytes, positive("eventsLogMaxBytes")?);
        set(&mut self.policy, policy::parse(fields)?);
        self.advertised_ip = nullable_text(fields, "advertisedIp")?;
        self.scheme = nullable_text(fields, "scheme")?;
        set(&mut self.web_origins, origins(fields)?);
        set(&mut self.restart_daemon_on_version_mismatch, boolean("restartDaemonOnVersionMismatch")?);
        set(&mut self.persist_sessions, boolean("persistSessions")?);
        set(&mut self.validate_args, boolean("validateArgs")?);
        set(&mut self.validate_results, boolean("validateResults")?);
        self.bounds = bounds(fields, self.bounds)?;
        let max = self.bounds.link_ttl;
        if link_ttl.is_some_and(|ttl| ttl > max) {
            let rule = format!("must be at most \"bounds.linkTtlSeconds\", which is {}", max.as_secs());
            return Err(KeyFault { key: "linkTtlSeconds".to_owned(), rule });
        }
        self.link_ttl = link_ttl.unwrap_or(self.link_ttl).min(max);
        Ok(self)
    }
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

/// A count beyond what the machine can count is as good as endless.
fn count(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn port(fields: &Fields<'_>) -> Result<Option<u16>, KeyFault> {
    let fault = || KeyFault { key: "wssPort".to_owned(), rule: "must be an integer from 0 to 65535".to_owned() };
    let port = fields.optional_integer("wssPort", IntegerFrom::Zero).map_err(|_| fault())?;
    port.map(|port| u16::try_from(port).map_err(|_| fault())).transpose()
}

/// Samples in the wild write `null` for these two, so it means unset.
fn nullable_text(fields: &Fields<'_>, key: &str) -> Result<Option<String>, FieldFault> {
    if fields.get(key).is_some_and(|raw| raw.get() == "null") {
        return Ok(None);
    }
    Ok(fields.optional_text(key, Length::NON_EMPTY)?.map(Into::into))
}

fn origins(fields: &Fields<'_>) -> Result<Option<Vec<String>>, KeyFault> {
    let Some(raw) = fields.get("webOrigins") else { return Ok(None) };
    serde_json::from_str(raw.get())
        .map(Some)
        .map_err(|_| KeyFault { key: "webOrigins".to_owned(), rule: "must be a list of strings".to_owned() })
}

fn bounds(fields: &Fields<'_>, defaults: Bounds) -> Result<Bounds, FieldFault> {
    let Some(raw) = fields.optional_object("bounds")? else { return Ok(defaults) };
    let Some(fields) = Fields::parse(raw.get()) else { return Ok(defaults) };
    let positive = |key| fields.optional_integer(key, IntegerFrom::One).map_err(|fault| fault.inside("bounds"));
    let mut bounds = defaults;
    set(&mut bounds.unclaimed_sockets, positive("unclaimedSockets")?.map(count));
    set(&mut bounds.calls_per_session, positive("callsPerSession")?.map(count));
    set(&mut bounds.tools, positive("tools")?.map(count));
    set(&mut bounds.events, positive("events")?.map(count));
    set(&mut bounds.registry_bytes, positive("registryBytes")?.map(count));
    set(&mut bounds.event_buffer_bytes, positive("eventBufferBytes")?.map(count));
    set(&mut bounds.link_ttl, positive("linkTtlSeconds")?.map(Duration::from_secs));
    set(&mut bounds.pending_links, positive("pendingLinks")?.map(count));
    set(&mut bounds.device_queue_bytes, positive("deviceQueueBytes")?.map(count));
    Ok(bounds)
}

fn unknown_keys(fields: &Fields<'_>) -> Vec<String> {
    let mut unknown = unknown_of(fields, KEYS, "");
    for (outer, known) in [("policy", policy::KEYS), ("bounds", BOUND_KEYS)] {
        if let Some(inner) = fields.get(outer).and_then(|raw| Fields::parse(raw.get())) {
            unknown.extend(unknown_of(&inner, known, &format!("{outer}.")));
        }
    }
    unknown
}

fn unknown_of(fields: &Fields<'_>, known: &[&str], prefix: &str) -> Vec<String> {
    fields.iter().filter(|(key, _)| !known.contains(key)).map(|(key, _)| format!("{prefix}{key}")).collect()
}

#[cfg(test)]
mod tests {
    use appduct_proto::host::Decision;

    use super::*;

    fn load(text: &str) -> Result<Config, ConfigError> {
        Config::load(&StateDir::new(written(text).path()))
    }

    fn written(text: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("config.json"), text).unwrap();
        directory
    }

    fn refused(text: &str) -> (String, String) {
        let error = load(text).unwrap_err();
        (error.key, error.message)
    }

    #[test]
    fn a_missing_file_is_every_default() {
        let directory = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(directory.path());
        let config = Config::load(&state_dir).unwrap();
        assert_eq!(
            (config.wss_port, config.grace, config.link_ttl),
            (8443, Duration::from_secs(600), Duration::from_secs(300))
        );
        assert_eq!(config.key_path, state_dir.key());
        assert!(config.persist_sessions && config.validate_args && !config.validate_results);
    }

    #[test]
    fn every_key_is_taken() {
        let config = load(
            r#"{"wssPort":0,"keyPath":"k.pem","graceSeconds":2.0,"linkTtlSeconds":3,"keepaliveIntervalSeconds":4,
                "eventBufferSize":5,"auditRetentionDays":6e15,"daemonLogMaxBytes":7,"eventsLogMaxBytes":8,
                "policy":{"default":"deny","destructive":"prompt","tools":{"a/b":"allow"},"groups":{"checkout":"deny"}},
                "advertisedIp":"10.0.0.1","scheme":"demo","webOrigins":["https://a.example"],
                "restartDaemonOnVersionMismatch":true,"persistSessions":false,"validateArgs":false,"validateResults":true,
                "bounds":{"unclaimedSockets":1,"callsPerSession":2,"tools":3,"events":4,"linkTtlSeconds":5,
                "deviceQueueBytes":6,"registryBytes":7,"eventBufferBytes":8}}"#,
        )
        .unwrap();
        assert_eq!((config.wss_port, config.key_path.to_str()), (0, Some("k.pem")));
        assert_eq!((config.grace, config.event_buffer), (Duration::from_secs(2), 5));
        assert_eq!((config.audit_retention_days, config.daemon_log_max_bytes), (6_000_000_000_000_000, 7));
        assert_eq!((config.policy.default, config.policy.destructive), (Decision::Deny, Decision::Prompt));
        assert_eq!(config.policy.tools["a/b"], Decision::Allow);
        assert_eq!(config.policy.groups[&"checkout".parse().unwrap()], Decision::Deny);
        assert_eq!(config.advertised_ip.as_deref(), Some("10.0.0.1"));
        assert_eq!(config.web_origins, ["https://a.example"]);
        assert!(config.restart_daemon_on_version_mismatch && !config.persist_sessions && config.validate_results);
        assert_eq!((config.bounds.tools, config.bounds.device_queue_bytes), (3, 6));
        assert_eq!((config.bounds.registry_bytes, config.bounds.event_buffer_bytes), (7, 8));
    }

    #[test]
    fn a_link_lives_no_longer_than_the_bound() {
        let (key, message) = refused(r#"{"linkTtlSeconds":61,"bounds":{"linkTtlSeconds":60}}"#);
        assert_eq!(key, "linkTtlSeconds");
        assert!(
            message.contains("\"linkTtlSeconds\"") && message.contains("\"bounds.linkTtlSeconds\", which is 60"),
            "{message}"
        );
        let config = load(r#"{"bounds":{"linkTtlSeconds":60}}"#).unwrap();
        assert_eq!(config.link_ttl, Duration::from_secs(60), "the default gives way");
    }

    #[test]
    fn every_key_is_in_the_docs() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.md");
        let docs = std::fs::read_to_string(docs).unwrap();
        let inner = |outer: &str, keys: &[&str]| keys.iter().map(|key| format!("{outer}.{key}")).collect::<Vec<_>>();
        let nested = [inner("bounds", BOUND_KEYS), inner("policy", policy::KEYS)].concat();
        let plain = KEYS.iter().filter(|key| !["bounds", "policy"].contains(key)).map(ToString::to_string);
        for key in plain.chain(nested) {
            assert!(docs.contains(&format!("\n| `{key}` |")), "{key} has no line in docs/config.md");
        }
    }

    #[test]
    fn null_is_unset_for_two_keys_only() {
        let config = load(r#"{"advertisedIp":null,"scheme":null}"#).unwrap();
        assert_eq!((config.advertised_ip, config.scheme), (None, None));
        for key in KEYS.iter().filter(|key| !["advertisedIp", "scheme"].contains(key)) {
            assert_eq!(refused(&format!(r#"{{"{key}":null}}"#)).0, *key);
        }
    }

    #[test]
    fn a_port_is_0_to_65535() {
        for value in ["-1", "1.5", "65536", "\"8443\"", "null", "true"] {
            let (key, message) = refused(&format!(r#"{{"wssPort":{value}}}"#));
            assert_eq!(key, "wssPort");
            assert!(message.contains("\"wssPort\" must be an integer from 0 to 65535"), "{message}");
        }
    }

    #[test]
    fn counts_are_positive_integers() {
        let keys = [
            "graceSeconds",
            "linkTtlSeconds",
            "keepaliveIntervalSeconds",
            "eventBufferSize",
            "auditRetentionDays",
            "daemonLogMaxBytes",
            "eventsLogMaxBytes",
        ];
        for key in keys {
            for value in ["0", "-1", "1.5", "\"1\"", "null", "[]"] {
                let (named, message) = refused(&format!(r#"{{"{key}":{value}}}"#));
                assert_eq!(named, key);
                assert!(message.contains(key) && message.contains("positive integer"), "{message}");
            }
        }
        for key in BOUND_KEYS {
            let (named, message) = refused(&format!(r#"{{"bounds":{{"{key}":0}}}}"#));
            assert_eq!(named, format!("bounds.{key}"));
            assert!(message.contains("positive integer"), "{message}");
        }
    }

    #[test]
    fn other_values_of_another_type_name_their_key() {
        for (text, key, rule) in [
            (r#"{"keyPath":""}"#, "keyPath", "non-empty string"),
            (r#"{"advertisedIp":""}"#, "advertisedIp", "non-empty string"),
            (r#"{"scheme":7}"#, "scheme", "non-empty string"),
            (r#"{"webOrigins":"x"}"#, "webOrigins", "list of strings"),
            (r#"{"webOrigins":[1]}"#, "webOrigins", "list of strings"),
            (r#"{"restartDaemonOnVersionMismatch":"true"}"#, "restartDaemonOnVersionMismatch", "true or false"),
            (r#"{"persistSessions":1}"#, "persistSessions", "true or false"),
            (r#"{"bounds":[]}"#, "bounds", "JSON object"),
        ] {
            let (named, message) = refused(text);
            assert_eq!(named, key);
            assert!(message.contains(rule), "{message}");
        }
    }

    #[test]
    fn a_file_that_is_no_object_is_refused_as_a_whole() {
        for text in ["", "{", "[]", "null", "{'a':1}", "\u{0}"] {
            let (key, message) = refused(text);
            assert_eq!(key, "config.json", "{message}");
        }
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("config.json")).unwrap();
        assert_eq!(Config::load(&StateDir::new(directory.path())).unwrap_err().key, "config.json");
    }

    #[test]
    fn unknown_keys_are_found_and_do_no_harm() {
        let text = r#"{"iosBundleId":"x","policy":{"tool":{}},"bounds":{"tool":1}}"#;
        assert!(load(text).is_ok());
        assert_eq!(unknown_keys(&Fields::parse(text).unwrap()), ["iosBundleId", "policy.tool", "bounds.tool"]);
    }
}
