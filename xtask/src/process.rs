//! Running other programs.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use shared_child::SharedChild;
use shared_child::unix::SharedChildExt as _;
use signal_hook::consts::SIGTERM;

/// How long a program may take to leave after it was asked to.
const LEAVE: Duration = Duration::from_secs(10);

/// Runs `command` to its end, its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start {}", words(command)))?;
    ensure!(status.success(), "{} ended with {status}", words(command));
    Ok(())
}

/// Runs `command` to its end and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    String::from_utf8(bytes(command)?).with_context(|| format!("{} printed no UTF-8", words(command)))
}

/// Runs `command` to its end and returns what it printed, whatever that is.
pub(crate) fn bytes(command: &mut Command) -> Result<Vec<u8>> {
    command.stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("could not start {}", words(command)))?;
    ensure!(output.status.success(), "{} ended with {}", words(command), output.status);
    Ok(output.stdout)
}

/// Asks a program to end, and ends it if it does not.
pub(crate) fn end(child: &SharedChild) -> Result<()> {
    child.send_signal(SIGTERM)?;
    if child.wait_timeout(LEAVE)?.is_none() {
        child.kill()?;
        child.wait()?;
        bail!("it did not leave when asked to, and was killed");
    }
    Ok(())
}

/// The command as a person would type it.
pub(crate) fn words(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let args = command.get_args().map(|word| word.to_string_lossy());
    std::iter::once(program.to_string_lossy()).chain(args).collect::<Vec<_>>().join(" ")
}
