//! `last-ports.json`: where the last daemon listened.
//!
//! Apps come back to the port that their link names. So a port that the system chooses is asked for again by the next daemon;
//! if somebody else has it by then, another is chosen.

use std::path::Path;

use serde::Deserialize;

use super::durable;

/// The ports of a daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct LastPorts {
    /// Of the listener for native apps.
    #[serde(default)]
    pub wss: Option<u16>,
    /// Of the listener for web pages.
    #[serde(default)]
    pub web: Option<u16>,
}

impl LastPorts {
    /// What the last daemon has written; nothing where that cannot be read, for it is a wish and no more.
    pub(crate) fn read(path: &Path) -> Self {
        std::fs::read(path).map(|document| Self::parse(&document)).unwrap_or_default()
    }

    /// What a document says; nothing where it is none.
    #[must_use]
    pub fn parse(document: &[u8]) -> Self {
        serde_json::from_slice(document).unwrap_or_default()
    }

    /// The document that [`LastPorts::parse`] reads.
    #[must_use]
    pub fn encode(self) -> String {
        serde_json::json!({ "wss": self.wss, "web": self.web }).to_string()
    }

    /// Leaves the ports to the next daemon, unless `last` shows that they are there.
    pub(crate) fn write(self, path: &Path, last: Self) {
        if self == last {
            return;
        }
        if let Err(error) = durable::replace(path, self.encode().as_bytes()) {
            tracing::warn!("cannot write {}: {error}; the next daemon may listen on other ports", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_back_and_nonsense_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("last-ports.json");
        assert_eq!(LastPorts::read(&path), LastPorts::default());
        let ports = LastPorts { wss: Some(8443), web: Some(50_000) };
        ports.write(&path, LastPorts::default());
        assert_eq!(LastPorts::read(&path), ports);
        for nonsense in ["", "{", "[]", r#"{"wss":-1}"#, r#"{"wss":65536}"#] {
            std::fs::write(&path, nonsense).unwrap();
            assert_eq!(LastPorts::read(&path), LastPorts::default(), "{nonsense}");
        }
    }
}
