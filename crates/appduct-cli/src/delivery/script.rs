//! Programs that a test plays.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;

use super::process::{Ended, Runner, Tool};

/// What a program did.
pub(super) enum Played {
    Says(&'static str),
    /// Succeeds, and says something on stderr.
    Warns(&'static str),
    Fails(&'static str),
    IsMissing,
    CannotStart,
}

/// Plays one answer after the other, and keeps what was asked for.
pub(super) struct Script {
    answers: RefCell<VecDeque<Played>>,
    calls: RefCell<Vec<Vec<String>>>,
}

impl Script {
    pub(super) fn new(answers: impl IntoIterator<Item = Played>) -> Self {
        Self { answers: RefCell::new(answers.into_iter().collect()), calls: RefCell::default() }
    }

    /// Every call, as words; all answers must have been asked for.
    pub(super) fn calls(self) -> Vec<Vec<String>> {
        assert_eq!(self.answers.into_inner().len(), 0, "answers are left");
        self.calls.into_inner()
    }
}

impl Runner for Script {
    fn run(&self, tool: Tool, args: &[&str]) -> io::Result<Ended> {
        let words =
            [format!("{tool:?}").to_ascii_lowercase()].into_iter().chain(args.iter().map(|&arg| arg.to_owned()));
        self.calls.borrow_mut().push(words.collect());
        let success = Ended { is_success: true, ..Ended::default() };
        match self.answers.borrow_mut().pop_front().expect("one answer for each call") {
            Played::Says(text) => Ok(Ended { stdout: text.to_owned(), ..success }),
            Played::Warns(text) => Ok(Ended { stderr: text.to_owned(), ..success }),
            Played::Fails(text) => Ok(Ended { stderr: text.to_owned(), ..Ended::default() }),
            Played::IsMissing => Err(io::ErrorKind::NotFound.into()),
            Played::CannotStart => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}
