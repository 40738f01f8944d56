//! The manual: one page for each command, from the same definitions as the help.

use std::path::Path;

use clap::Command;
use clap_mangen::Man;

use crate::args;
use crate::error::Failure;
use crate::report::Page;

/// The page of the command that these words name; the overview without a word.
pub(crate) fn page(words: &[String]) -> Result<Page, Failure> {
    let mut command = built();
    for word in words {
        let Some(next) = command.find_subcommand(word) else {
            return Err(Failure::usage(format!("There is no command \"{}\".", words.join(" "))));
        };
        command = next.clone();
    }
    rendered(command)
}

/// Writes every page into a directory, and returns their paths.
pub(crate) fn write(directory: &Path) -> Result<Vec<String>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::internal(format!("The manual cannot be written into {}: {error}.", directory.display()))
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    let mut files = Vec::new();
    for command in all(built()) {
        let page = rendered(command)?;
        let path = directory.join(&page.name);
        std::fs::write(&path, page.page).map_err(failed)?;
        files.push(path.display().to_string());
    }
    Ok(files)
}

fn built() -> Command {
    let mut command = with_examples(args::command(None));
    command.build();
    command
}

/// A manual has no place before what a command is, so the examples stand before the notes.
fn with_examples(command: Command) -> Command {
    let parts = [command.get_before_help(), command.get_after_help()];
    let parts: Vec<_> = parts.into_iter().flatten().map(ToString::to_string).collect();
    command.after_help(parts.join("\n\n")).mut_subcommands(with_examples)
}

/// A command and everything below it, each before what is below.
fn all(command: Command) -> Vec<Command> {
    let below: Vec<_> = command.get_subcommands().cloned().collect();
    std::iter::once(command).chain(below.into_iter().flat_map(all)).collect()
}

fn rendered(command: Command) -> Result<Page, Failure> {
    let man = Man::new(command).manual("Appduct Manual").source(concat!("appduct ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page).map_err(|error| Failure::internal(format!("The page cannot be written: {error}.")))?;
    Ok(Page { name: man.get_filename(), page: String::from_utf8_lossy(&page).into_owned() })
}
