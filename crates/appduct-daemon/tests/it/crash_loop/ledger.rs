//! What was asked, run, answered and written down.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use appduct_proto::wire::RawJson;
use appduct_rpc::StateDir;
use serde_json::Value;

/// Every call has a number of its own, which is its argument.
#[derive(Default)]
pub(super) struct Ledger {
    next: AtomicU64,
    /// How often an app ran a call, by number and, where the app hears it, by id.
    runs: Mutex<(BTreeMap<u64, u32>, BTreeMap<String, u32>)>,
    /// The calls that had a result, in the order in which each connection heard of them.
    answers: Mutex<Vec<Vec<u64>>>,
    /// Links that a daemon took with it before it had saved them.
    pub(super) lost_links: AtomicU64,
}

impl Ledger {
    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn ran(&self, number: u64, id: Option<&str>) {
        let (by_number, by_id) = &mut *self.runs.lock().unwrap();
        *by_number.entry(number).or_default() += 1;
        if let Some(id) = id {
            *by_id.entry(id.to_owned()).or_default() += 1;
        }
    }

    /// A connection has ended; these calls had results on it.
    pub(super) fn heard(&self, numbers: Vec<u64>) {
        self.answers.lock().unwrap().push(numbers);
    }

    pub(super) fn no_call_ran_twice(&self) {
        let (by_number, by_id) = &*self.runs.lock().unwrap();
        let twice: Vec<_> = by_number.iter().filter(|(_, runs)| **runs > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        let twice: Vec<_> = by_id.iter().filter(|(_, runs)| **runs > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        let answers = self.answers.lock().unwrap();
        for number in answers.iter().flatten() {
            assert!(by_number.contains_key(number), "call {number} has a result and no app ran it");
        }
    }

    pub(super) fn answered(&self) -> u64 {
        self.answers.lock().unwrap().iter().map(|numbers| numbers.len() as u64).sum()
    }

    pub(super) fn summary(&self) -> String {
        let (by_number, _) = &*self.runs.lock().unwrap();
        let asked = self.next.load(Ordering::Relaxed);
        let lost = self.lost_links.load(Ordering::Relaxed);
        format!("{asked} calls asked, {} run, {} answered, {lost} unsaved links", by_number.len(), self.answered())
    }
}

/// The audit log as it was last seen.
#[derive(Default)]
pub(super) struct AuditFile {
    /// Day files with their whole lines.
    seen: BTreeMap<String, Vec<u8>>,
    lines: usize,
    unwritten: usize,
}

impl AuditFile {
    /// To be called while no daemon runs. What was written once is there as it was; every line can be read, but for the end
    /// of one that a death cut off; no call has two lines; and of the calls that one connection heard of, only the last ones,
    /// which were still to be written, can be missing.
    pub(super) fn check(&mut self, paths: &StateDir, ledger: &Ledger) {
        let mut hashes = BTreeMap::<String, usize>::new();
        self.lines = 0;
        for day in std::fs::read_dir(paths.audit()).unwrap() {
            let day = day.unwrap();
            let mut text = std::fs::read(day.path()).unwrap();
            text.truncate(text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
            let seen = self.seen.entry(day.file_name().into_string().unwrap()).or_default();
            assert!(text.starts_with(seen), "what was written has changed");
            for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                let value: Value = serde_json::from_slice(line)
                    .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(line)));
                *hashes.entry(value["argsSha256"].as_str().unwrap().to_owned()).or_default() += 1;
                self.lines += 1;
            }
            *seen = text;
        }
        let twice: BTreeSet<_> = hashes.iter().filter(|(_, lines)| **lines > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        self.unwritten = 0;
        for numbers in ledger.answers.lock().unwrap().iter() {
            let written = |number: &u64| hashes.contains_key(&args(*number).canonical_sha256());
            let first_missing = numbers.iter().position(|number| !written(number)).unwrap_or(numbers.len());
            self.unwritten += numbers.len() - first_missing;
            let after: Vec<_> = numbers[first_missing..].iter().filter(|number| written(number)).collect();
            assert!(after.is_empty(), "call {} has no line, but later ones have: {after:?}", numbers[first_missing]);
        }
    }

    pub(super) fn summary(&self) -> String {
        format!("{} audit lines, {} calls died with theirs unwritten", self.lines, self.unwritten)
    }
}

/// The arguments of a call.
pub(super) fn args(number: u64) -> RawJson {
    RawJson::parse(&format!("{{\"n\":{number}}}")).unwrap()
}
