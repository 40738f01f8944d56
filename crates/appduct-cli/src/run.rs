//! One run of the command: parse, settle, do, print, exit.

use std::ffi::OsString;
use std::io::{self, ErrorKind as IoErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::Instant;

use clap::FromArgMatches;
use clap::error::ErrorKind;
use jiff::Timestamp;

use crate::args::{self, Args, GlobalArgs, how_to_use, refusal};
use crate::commands::{self, Stage};
use crate::complete;
use crate::env::Env;
use crate::error::Failure;
use crate::render::{self, Meta, Progress};
use crate::report::{Item, Report, Step};
use crate::settings::{Output, ProgressMode, Settings, Terminals, Verb, command_words};

/// Runs the command line `argv`, the program's name first.
pub(crate) fn run(argv: &[OsString]) -> ExitCode {
    let started = Instant::now();
    let env = Env::read();
    if let Some(shell) = &env.complete {
        // A shell that asks wants no message.
        drop(write(&mut io::stdout().lock(), &complete::answer(shell, argv, &env)));
        return ExitCode::SUCCESS;
    }
    let argv = &args::without_help_word(argv);
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let terminals = Terminals {
        stdout: stdout.is_terminal(),
        stderr: stderr.is_terminal(),
        stdout_width: columns(&stdout),
        stderr_width: columns(&stderr),
    };
    let width = if terminals.stdout { env.columns.or(terminals.stdout_width) } else { None };
    let mut parser = args::command(width);
    let parsed = parser.try_get_matches_from_mut(argv).and_then(|matches| Args::from_arg_matches(&matches));
    let args = match parsed {
        Ok(args) => args,
        Err(error) => {
            let output = Output::resolve(&GlobalArgs::by_presence(argv), &env, terminals);
            if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
                return Console::new(output, String::new(), started).help(&error.render());
            }
            let refusal = refusal(&error, argv);
            return Console::new(output, refusal.command, started).fail(&refusal.failure);
        }
    };
    let (global, command) = args.into_parts();
    let output = Output::resolve(&global, &env, terminals);
    let Some(command) = command else {
        return Console::new(output, String::new(), started).help(&parser.render_help());
    };
    let mut console = Console::new(output, command_words(&command), started);
    match Settings::resolve(&global, command, &env, output, terminals) {
        Ok(settings) => console.command(&settings),
        Err(failure) => console.fail(&with_help(failure, &console.command)),
    }
}

/// A refused line says at least where its command is explained.
fn with_help(failure: Failure, command: &str) -> Failure {
    match failure.hint {
        Some(_) => failure,
        None => failure.with_hint(how_to_use(command)),
    }
}

/// How wide a terminal is; `None` for anything else.
fn columns(stream: &impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// The standard streams, and what a run prints on them.
struct Console {
    output: Output,
    command: String,
    started: Instant,
    progress: Progress,
    /// Whether stdout has its one document already.
    has_announced: bool,
}

impl Console {
    fn new(output: Output, command: String, started: Instant) -> Self {
        Self { output, command, started, progress: Progress::new(ProgressMode::None), has_announced: false }
    }

    fn help(&mut self, text: &clap::builder::StyledStr) -> ExitCode {
        let text = if self.output.color_stdout { text.ansi().to_string() } else { text.to_string() };
        match self.print(&text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => self.fail(&failure),
        }
    }

    fn command(&mut self, settings: &Settings) -> ExitCode {
        if let Verb::Call(call) = &settings.verb {
            self.progress = Progress::new(call.progress);
        }
        let outcome = commands::run(settings, self);
        self.progress.finish();
        let printed = outcome.and_then(|report| {
            // A program gets one document, and has it already.
            match report.filter(|_| !(self.output.json && self.has_announced)) {
                Some(report) => self.announce(&report),
                None => Ok(()),
            }
        });
        match printed {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => self.fail(&failure),
        }
    }

    /// Prints on stdout. What cannot be printed there is told on stderr.
    fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.has_announced = true;
        write(&mut io::stdout().lock(), text).map_err(|error| unprinted(&error))
    }

    fn fail(&self, failure: &Failure) -> ExitCode {
        let text = render::failure(failure, self.meta().as_ref(), self.output);
        if self.output.json && !self.has_announced {
            if let Err(error) = write(&mut io::stdout().lock(), &text) {
                let lost = render::failure(&unprinted(&error), self.meta().as_ref(), self.output);
                tell(&format!("{text}{lost}"));
            }
        } else {
            tell(&text);
        }
        ExitCode::from(failure.kind.exit_code())
    }

    fn meta(&self) -> Option<Meta> {
        self.output.verbose.then(|| Meta::new(&self.command, Timestamp::now(), self.started.elapsed()))
    }
}

impl Stage for Console {
    fn announce(&mut self, report: &Report) -> Result<(), Failure> {
        let text = render::success(report, self.meta().as_ref(), self.output);
        self.print(&text)
    }

    fn notice(&mut self, text: &str) {
        if !self.output.json {
            tell(&render::notice(text, self.output));
        }
    }

    fn progress(&mut self, step: &Step) {
        self.progress.show(step);
    }

    fn waiting(&mut self, text: &str) {
        if self.output.width_stderr.is_some() && !self.output.json {
            tell(&render::waiting(text, self.output));
        }
    }

    fn item(&mut self, item: &Item) -> Result<bool, Failure> {
        self.has_announced = true;
        let text = render::item(item, self.output);
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == IoErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(unprinted(&error)),
        }
    }
}

/// Writes what a reader may have stopped to read: that is the reader's business and no failure of the command.
fn write(stream: &mut impl Write, text: &str) -> io::Result<()> {
    match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
        Err(error) if error.kind() == IoErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes on stderr. Where that fails too, the exit status is all that is left to say it.
fn tell(text: &str) {
    drop(write(&mut io::stderr().lock(), text));
}

fn unprinted(error: &io::Error) -> Failure {
    Failure::internal(format!("The output cannot be written: {error}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(IoErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_a_reader_that_went_away_is_no_failure() {
        write(&mut Broken(IoErrorKind::BrokenPipe), "x").unwrap();
        let error = write(&mut Broken(IoErrorKind::StorageFull), "x").unwrap_err();
        assert_eq!(unprinted(&error).kind.exit_code(), 1);
    }
}
