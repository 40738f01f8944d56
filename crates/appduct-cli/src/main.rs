//! `appduct`: the command line, the daemon and the demo app in one binary.
//!
//! [`args`] is what was typed, [`settings`] what it means, [`commands`] turn it into requests and a [`report`], [`render`]
//! turns that into text or JSON. [`run`] joins them.

mod app_id;
mod args;
mod commands;
mod complete;
mod delivery;
mod doctor;
mod env;
mod error;
mod init;
mod manual;
mod mcp;
mod playground;
mod render;
mod report;
mod run;
mod scheme;
mod settings;
mod suggest;

fn main() -> std::process::ExitCode {
    run::run(&std::env::args_os().collect::<Vec<_>>())
}
