//! `cargo xtask ci shells`: what the real shells offer for a line, with a daemon and an app that run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::{Demo, build};
use crate::demo::interrupt::Interrupt;
use crate::process;
use crate::workspace::Workspace;

/// A line that ends where the Tab key is pressed, and every word that is offered.
const LINES: &[(&str, &[&str])] = &[
    ("revoke ", &["playground"]),
    ("sessions revoke ", &["playground"]),
    ("wait pl", &["playground"]),
    ("wait --tool s", &["slow_task", "sum"]),
    ("invoke s", &["slow_task", "sum"]),
    ("invoke playground thr", &["throwing_tool"]),
    ("invoke sum ", &["a=", "b="]),
    ("tools describe call", &["call_count"]),
    ("tools --group ", &["counter", "diagnostics", "diagnostics/progress"]),
    ("events pl", &["playground"]),
    ("events tail pl", &["playground"]),
    ("events --name ", &["playground_ping"]),
    ("policy explain res", &["reset_counter"]),
    ("mcp --session ", &["playground"]),
    ("mcp --group count", &["counter"]),
];

/// The function that the shell calls when Tab is pressed, called as it does it.
const BASH: &str = r#"
source <(appduct completions bash)
COMP_WORDS=($1); [[ $1 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )) COMP_TYPE=9
_clap_complete_appduct appduct "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

const FISH: &str = "appduct completions fish | source; complete -C $argv[1] | string split -f1 \\t; true";

/// A shell on a terminal, in which the line is typed. What is offered reaches the shell's own completion system, which is
/// told to print it.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -U compinit; compinit -D -u; source <(appduct completions zsh)'
zpty -w shell '_describe() { local list=${argv[-1]}; print -l ${${(P)list}%%:*} > $OFFERED.part; mv $OFFERED.part $OFFERED; print OFF""ERED }'
zpty -w shell 'print LOA""DED'
zpty -r shell output '*LOADED*'
zpty -n -w shell "$1"$'\t'
zpty -r shell output '*OFFERED*'
zpty -d shell
cat $OFFERED
"#;

/// Asks every shell what it offers.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    install(workspace)?;
    let interrupt = Interrupt::listen()?;
    let program = build(workspace)?;
    let state_dir =
        tempfile::Builder::new().prefix("appduct-").tempdir().context("could not make a state directory")?;
    fs::write(state_dir.path().join("config.json"), "{\"wssPort\":0}\n")?;
    let demo = Demo { workspace, program, state_dir: state_dir.path(), interrupt };
    let _daemon = demo.daemon()?;
    let _playground = demo.playground()?;
    for (shell, options, script) in
        [("bash", &["--norc", "--noprofile"][..], BASH), ("fish", &["--no-config"], FISH), ("zsh", &["-f"], ZSH)]
    {
        for (line, expected) in LINES {
            let offered = demo.offered(shell, options, script, &format!("appduct {line}"))?;
            let mut offered: Vec<_> = offered.lines().filter(|word| !word.is_empty()).collect();
            offered.sort_unstable();
            ensure!(offered == *expected, "{shell} offers {offered:?} for \"appduct {line}\", and not {expected:?}");
        }
        println!("{shell} completes {} lines", LINES.len());
    }
    Ok(())
}

/// Installs the shells that are missing, where that can be done.
fn install(workspace: &Workspace) -> Result<()> {
    let missing: Vec<_> = ["bash", "fish", "zsh"].into_iter().filter(|shell| !is_there(shell)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(" and "));
    let apt = |words: &[&str]| {
        let mut apt = workspace.command("apt-get");
        apt.arg("--quiet=2").args(words).env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    // A new machine knows no package before it has asked.
    process::run(&mut apt(&["update"]))?;
    process::run(apt(&["install", "--yes", "--no-install-recommends"]).args(missing))
}

fn is_there(shell: &str) -> bool {
    let version = Command::new(shell).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

impl Demo<'_> {
    /// What `shell` offers for a line.
    fn offered(&self, shell: &str, options: &[&str], script: &str, line: &str) -> Result<String> {
        let programs = self.program.parent().context("the program is in no folder")?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([programs.to_owned()].into_iter().chain(std::env::split_paths(&path)))?;
        let mut command = super::command(self.workspace, Path::new(shell), self.state_dir);
        command.args(options).args(["-c", script]);
        if shell != "fish" {
            // The name of the script.
            command.arg(shell);
        }
        command.arg(line).env("PATH", path).env("HOME", self.state_dir).env("OFFERED", self.state_dir.join("offered"));
        process::output(&mut command)
    }
}
