//! Programs named like the platforms' tools, which keep what they were called with and play an answer.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::run::{Place, Ran};

/// A directory to put on PATH, with some of the tools in it.
pub(crate) struct FakeTools {
    directory: PathBuf,
}

impl FakeTools {
    /// No tool at all.
    pub(crate) fn new(place: &Place) -> Self {
        let directory = place.root().join("bin");
        fs::create_dir(&directory).unwrap();
        Self { directory }
    }

    /// A tool that runs `body`, a part of a shell script. The arguments are `$@`, and all of them in one text `$*`.
    pub(crate) fn with(self, name: &str, body: &str) -> Self {
        let path = self.directory.join(name);
        let calls = self.calls_file();
        let script = format!(
            "#!/bin/sh\nprintf '%s\\036' {name} \"$@\" >> '{0}'\nprintf '\\035' >> '{0}'\n{body}\n",
            calls.display()
        );
        // Written by another process: while this one holds the file open, a process that another test starts would hold it
        // too, and the system refuses to run a file that somebody may still write.
        let mut writer = Command::new("/bin/sh")
            .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success());
        self
    }

    /// Runs the command with nothing but these tools on PATH.
    pub(crate) fn run(&self, place: &Place, args: &[&str]) -> Ran {
        self.run_with(place, args, &[])
    }

    pub(crate) fn run_with(&self, place: &Place, args: &[&str], env: &[(&str, &str)]) -> Ran {
        let path = self.directory.to_str().unwrap();
        place.run_with(args, &[&[("PATH", path), ("TMPDIR", place.root().to_str().unwrap())], env].concat())
    }

    /// Every call so far: the program's name and its arguments, each exactly as it came. The record is then empty.
    pub(crate) fn calls(&self) -> Vec<Vec<String>> {
        let record = fs::read_to_string(self.calls_file()).unwrap_or_default();
        fs::remove_file(self.calls_file()).ok();
        let words = |call: &str| call.split_terminator('\u{1e}').map(str::to_owned).collect();
        record.split_terminator('\u{1d}').map(words).collect()
    }

    fn calls_file(&self) -> PathBuf {
        self.directory.join("calls")
    }
}
