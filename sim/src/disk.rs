//! The daemon's disk: slow, full, and without what was not synced.

use appduct_proto::host::Records;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::random::Random;

/// How bad it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    /// How long a write takes in milliseconds, from and up to.
    pub(crate) takes: (u64, u64),
    /// How often a write fails, in percent.
    pub(crate) fails: u64,
}

impl Condition {
    pub(crate) const GOOD: Self = Self { takes: (0, 15), fails: 0 };

    pub(crate) fn bad(random: &mut Random) -> Self {
        let takes = match random.below(5) {
            0 | 1 => (0, 15),
            2 => (5, 200),
            3 => (500, 2_900),
            _ => (100, 9_000),
        };
        Self { takes, fails: if random.percent(25) { 20 + random.below(80) } else { 0 } }
    }
}

#[derive(Debug)]
struct Document {
    text: String,
    taken: Taken,
}

/// The circumstances under which a document was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// How far the wall clock was set.
    pub(crate) set_by_ms: i64,
    /// Which run of the machine it was.
    pub(crate) boot: u64,
    /// Whether the daemon was being stopped.
    pub(crate) is_last: bool,
}

#[derive(Debug)]
struct Write {
    document: Document,
    started: u64,
    fails: bool,
}

#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) condition: Condition,
    /// What a daemon that starts would read.
    document: Option<Document>,
    in_flight: Option<Write>,
    /// The last write failed, and its outcome is being told.
    has_failed: bool,
}

impl Disk {
    pub(crate) fn new() -> Self {
        Self { condition: Condition::GOOD, document: None, in_flight: None, has_failed: false }
    }

    /// A write begins. Returns when it ends.
    pub(crate) fn begin(&mut self, now: u64, taken: Taken, records: &Records, random: &mut Random) -> u64 {
        let fails = random.percent(self.condition.fails);
        self.has_failed = false;
        let document = Document { text: records.encode(), taken };
        self.in_flight = Some(Write { document, started: now, fails });
        now + random.within(self.condition.takes)
    }

    /// The write ends. Returns whether it is on disk for certain.
    pub(crate) fn end(&mut self, random: &mut Random) -> bool {
        let Some(write) = self.in_flight.take() else { return false };
        self.has_failed = write.fails;
        if !write.fails || random.percent(30) {
            self.document = Some(write.document);
        }
        !write.fails
    }

    /// What the last write came to has been told.
    pub(crate) fn forget_failure(&mut self) {
        self.has_failed = false;
    }

    /// The process is gone: the write in flight came through, or it did not.
    pub(crate) fn crash(&mut self, random: &mut Random) {
        self.has_failed = false;
        if let Some(write) = self.in_flight.take()
            && random.percent(50)
        {
            self.document = Some(write.document);
        }
    }

    pub(crate) fn document(&self) -> Option<&str> {
        self.document.as_ref().map(|document| document.text.as_str())
    }

    /// When the document was taken.
    pub(crate) fn taken(&self) -> Option<Taken> {
        self.document.as_ref().map(|document| document.taken)
    }

    /// Whether this session or link is on disk, whatever opens it.
    pub(crate) fn holds(&self, session: &str) -> bool {
        self.document().is_some_and(|document| document.contains(session))
    }

    /// Whether it is on disk as a link that nobody has claimed.
    pub(crate) fn holds_link(&self, session: &str) -> bool {
        let links = self.document().and_then(|document| document.rsplit_once("\"links\":["));
        links.is_some_and(|(_, links)| links.contains(session))
    }

    /// Whether the digest of this token is on disk.
    pub(crate) fn knows(&self, token: &str) -> bool {
        self.document().is_some_and(|document| document.contains(&digest(token)))
    }

    /// Whether the disk is reason enough for an ack that does not wait: a write failed just now, or takes this long.
    pub(crate) fn is_a_reason(&self, now: u64, patience_ms: u64) -> bool {
        self.has_failed || self.in_flight.as_ref().is_some_and(|write| now >= write.started + patience_ms)
    }
}

/// As the records hold it.
fn digest(token: &str) -> String {
    let bytes = URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
    URL_SAFE_NO_PAD.encode(Sha256::digest(bytes))
}
