//! `cargo xtask mcp-peers`: real clients of the Model Context Protocol against the real server, daemon and demo app.
//!
//! The clients and their checks are in `interop/mcp`, in the languages of the clients. This installs them, gives them a
//! daemon with an app in a state directory of its own, and counts what they find. What was started is ended by its handle.

pub(crate) mod install;
mod script;
mod stage;

use std::process::Command;

use anyhow::{Result, ensure};

use self::install::Installed;
use self::stage::Stage;
use crate::demo::interrupt::Interrupt;
use crate::workspace::Workspace;

/// A client, as one run of a script.
struct Peer {
    name: &'static str,
    about: &'static str,
    runtime: Runtime,
    script: &'static str,
    /// What the script wants to know besides the program, the state directory and what the app prints.
    mode: &'static str,
}

/// What runs a script.
#[derive(Clone, Copy)]
enum Runtime {
    Node,
    Mcp,
    Fastmcp,
}

const PEERS: &[Peer] = &[
    Peer { name: "ts-v1", about: "TypeScript SDK 1", runtime: Runtime::Node, script: "ts-v1.mjs", mode: "" },
    Peer {
        name: "ts-v2-legacy",
        about: "TypeScript client 2, initialize",
        runtime: Runtime::Node,
        script: "ts-v2.mjs",
        mode: "legacy",
    },
    Peer {
        name: "ts-v2-auto",
        about: "TypeScript client 2, which probes with a process of its own",
        runtime: Runtime::Node,
        script: "ts-v2.mjs",
        mode: "auto",
    },
    Peer {
        name: "ts-v2-modern",
        about: "TypeScript client 2, held to 2026-07-28",
        runtime: Runtime::Node,
        script: "ts-v2.mjs",
        mode: "modern",
    },
    Peer {
        name: "py-legacy",
        about: "Python SDK, initialize",
        runtime: Runtime::Mcp,
        script: "pypi_mcp.py",
        mode: "legacy",
    },
    Peer {
        name: "py-auto",
        about: "Python SDK, as it comes",
        runtime: Runtime::Mcp,
        script: "pypi_mcp.py",
        mode: "auto",
    },
    Peer {
        name: "py-modern",
        about: "Python SDK, held to 2026-07-28",
        runtime: Runtime::Mcp,
        script: "pypi_mcp.py",
        mode: "2026-07-28",
    },
    Peer {
        name: "fastmcp",
        about: "fastmcp, as it comes",
        runtime: Runtime::Fastmcp,
        script: "pypi_fastmcp.py",
        mode: "auto",
    },
    Peer {
        name: "fastmcp-old",
        about: "fastmcp, initialize",
        runtime: Runtime::Fastmcp,
        script: "pypi_fastmcp.py",
        mode: "legacy",
    },
    Peer {
        name: "inspector",
        about: "Inspector on the command line, initialize",
        runtime: Runtime::Node,
        script: "inspector.mjs",
        mode: "legacy",
    },
    Peer {
        name: "inspector-26",
        about: "Inspector on the command line, 2026-07-28",
        runtime: Runtime::Node,
        script: "inspector.mjs",
        mode: "modern",
    },
    Peer {
        name: "conformance",
        about: "the protocol's own suite, against the HTTP front",
        runtime: Runtime::Node,
        script: "conformance.mjs",
        mode: "",
    },
];

pub(crate) fn peer_names() -> Vec<&'static str> {
    PEERS.iter().map(|peer| peer.name).collect()
}

pub(crate) fn peers_help() -> String {
    let peers = PEERS.iter().map(|peer| format!("  {:<14}  {}\n", peer.name, peer.about)).collect::<String>();
    format!("Peers:\n{peers}")
}

/// Runs the checks of every client.
pub(crate) fn run_all(workspace: &Workspace) -> Result<()> {
    run(workspace, &[])
}

/// Runs the checks of the named clients, or of all. A client that fails does not keep the others from running.
pub(crate) fn run(workspace: &Workspace, names: &[String]) -> Result<()> {
    let interrupt = Interrupt::listen()?;
    let installed = Installed::prepare(workspace)?;
    let stage = Stage::set(workspace, &interrupt)?;
    let mut passed = 0;
    let mut failed = 0;
    for peer in PEERS.iter().filter(|peer| names.is_empty() || names.iter().any(|name| name == peer.name)) {
        println!("\n--> {}: {}", peer.name, peer.about);
        let tally = script::run(peer.command(workspace, &installed, &stage), peer.name, &interrupt)?;
        passed += tally.passed;
        failed += tally.failed;
    }
    drop(stage);
    println!("\n{passed} passed, {failed} failed");
    ensure!(failed == 0 && passed > 0, "a client did not get what it should");
    Ok(())
}

impl Peer {
    fn command(&self, workspace: &Workspace, installed: &Installed, stage: &Stage) -> Command {
        let program = match self.runtime {
            Runtime::Node => &installed.node,
            Runtime::Mcp => &installed.mcp,
            Runtime::Fastmcp => &installed.fastmcp,
        };
        let mut command = workspace.command(program);
        command
            .arg(workspace.root().join(install::FOLDER).join(self.script))
            .args([stage.program(), stage.state_dir(), stage.journal()])
            .arg(self.mode);
        // Bytecode of Python would lie in the checkout.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }
}
