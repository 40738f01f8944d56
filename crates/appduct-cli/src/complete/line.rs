//! What a line that is being typed says so far.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgMatches, CommandFactory};

use crate::args::Args;

/// The verb of a line whose words the daemon knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// A session, a tool, or both; or one of the verbs of `tools`.
    Tools,
    /// A session, or one of the verbs of `events`.
    Events,
    /// A session.
    Session,
    /// A session and a tool.
    Tool,
    /// A session, a tool and its input.
    Call,
    /// Nothing that a daemon knows.
    Other,
}

/// The words before the one that is completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) verb: Verb,
    /// Those after the verb.
    pub(super) words: Vec<String>,
    /// `--session`
    pub(super) session: Option<String>,
    /// `--state-dir`
    pub(super) state_dir: Option<PathBuf>,
}

impl Line {
    /// Reads a line, the program's name first. What is wrong in it is passed over.
    pub(super) fn of(words: &[OsString]) -> Self {
        let nothing = Self { verb: Verb::Other, words: Vec::new(), session: None, state_dir: None };
        let Ok(matches) = Args::command().ignore_errors(true).try_get_matches_from(words) else { return nothing };
        let state_dir = one::<PathBuf>(&matches, "state_dir");
        let nothing = Self { state_dir, ..nothing };
        let Some((name, below)) = matches.subcommand() else { return nothing };
        match (name, below.subcommand()) {
            ("tools", _) => nothing.with(Verb::Tools, below).with_verb_of_tools(),
            ("invoke", _) => nothing.with(Verb::Call, below),
            ("events", _) => nothing.with(Verb::Events, below).with_verb_of_events(),
            ("revoke" | "wait", _) => nothing.with(Verb::Session, below),
            ("policy", Some(("explain", below))) => nothing.with(Verb::Tool, below),
            ("sessions", Some(("revoke", below))) => nothing.with(Verb::Session, below),
            ("mcp", _) => nothing.with(Verb::Other, below),
            _ => nothing,
        }
    }

    fn with(self, verb: Verb, matches: &ArgMatches) -> Self {
        let words = matches.try_get_many::<String>("words").ok().flatten().into_iter().flatten().cloned().collect();
        Self {
            verb,
            words,
            session: one(matches, "session"),
            state_dir: self.state_dir.or_else(|| one(matches, "state_dir")),
        }
    }

    fn with_verb_of_tools(mut self) -> Self {
        self.verb = match self.words.first().map(String::as_str) {
            Some("ls") => Verb::Session,
            Some("describe") => Verb::Tool,
            Some("call") => Verb::Call,
            Some(_) | None => return self,
        };
        self.words.remove(0);
        self
    }

    fn with_verb_of_events(mut self) -> Self {
        if let Some("ls" | "tail" | "since") = self.words.first().map(String::as_str) {
            self.verb = Verb::Session;
            self.words.remove(0);
        }
        self
    }
}

fn one<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, id: &str) -> Option<T> {
    matches.try_get_one::<T>(id).ok().flatten().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, verb: Verb, words: &[&str], session: Option<&str>) {
        let argv: Vec<_> = typed.split(' ').map(OsString::from).collect();
        let line = Line::of(&argv);
        let got: Vec<_> = line.words.iter().map(String::as_str).collect();
        assert_eq!((line.verb, got.as_slice(), line.session.as_deref()), (verb, words, session), "{typed}");
    }

    #[test]
    fn the_verb_and_its_words_are_found() {
        check("appduct", Verb::Other, &[], None);
        check("appduct ls", Verb::Other, &[], None);
        check("appduct --json tools", Verb::Tools, &[], None);
        check("appduct tools iphone", Verb::Tools, &["iphone"], None);
        check("appduct tools ls", Verb::Session, &[], None);
        check("appduct tools describe iphone", Verb::Tool, &["iphone"], None);
        check("appduct tools call sum a=1", Verb::Call, &["sum", "a=1"], None);
        check("appduct invoke --session x sum", Verb::Call, &["sum"], Some("x"));
        check("appduct events", Verb::Events, &[], None);
        check("appduct events tail", Verb::Session, &[], None);
        check("appduct events --name x since one", Verb::Session, &["one"], None);
        check("appduct wait --tool sum", Verb::Session, &[], None);
        check("appduct revoke", Verb::Session, &[], None);
        check("appduct sessions revoke x", Verb::Session, &["x"], None);
        check("appduct sessions link", Verb::Other, &[], None);
        check("appduct nope", Verb::Other, &[], None);
    }

    #[test]
    fn a_line_that_is_wrong_is_read_as_far_as_it_goes() {
        check("appduct invoke sum --nope x", Verb::Call, &["sum"], None);
        check("appduct tools --group", Verb::Tools, &[], None);
        check("appduct tools --limit x iphone", Verb::Tools, &["iphone"], None);
    }

    #[test]
    fn the_state_directory_may_stand_anywhere() {
        for typed in ["appduct --state-dir /s tools", "appduct tools --state-dir /s", "appduct tools --state-dir=/s x"]
        {
            let argv: Vec<_> = typed.split(' ').map(OsString::from).collect();
            assert_eq!(Line::of(&argv).state_dir, Some("/s".into()), "{typed}");
        }
    }
}
