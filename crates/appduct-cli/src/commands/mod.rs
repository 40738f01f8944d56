//! One file per verb: settings into a request, the reply into a report.

mod control;
mod daemon;
mod doctor;
mod events;
mod init;
mod interrupt;
mod invoke;
mod keygen;
mod link;
mod ls;
mod manual;
mod mcp;
mod playground;
mod policy;
mod revoke;
mod tools;
mod wait;
mod web;
mod words;

use crate::error::Failure;
use crate::report::{Item, Report, Step};
use crate::settings::{Settings, Verb};

/// This program's version, which is its daemon's too.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a command tells while it runs.
pub(crate) trait Stage {
    /// Prints a report now; the command runs on.
    fn announce(&mut self, report: &Report) -> Result<(), Failure>;
    /// Tells people something that is no failure.
    fn notice(&mut self, text: &str);
    /// Shows how far a call is.
    fn progress(&mut self, step: &Step);
    /// Tells somebody who watches that the command waits.
    fn waiting(&mut self, text: &str);
    /// Prints the next line of a stream. `false` where nobody reads any more.
    fn item(&mut self, item: &Item) -> Result<bool, Failure>;
}

/// Runs a command. `None` is a command that told everything while it ran.
pub(crate) fn run(settings: &Settings, stage: &mut dyn Stage) -> Result<Option<Report>, Failure> {
    match &settings.verb {
        Verb::Link(link) => link::run(settings, link, stage),
        Verb::Ls => ls::run(settings, stage).map(Some),
        Verb::Tools(tools) => tools::run(settings, tools, stage).map(Some),
        Verb::Call(call) => invoke::run(settings, call, stage).map(Some),
        Verb::Events(events) => events::run(settings, events, stage),
        Verb::Wait(wait) => wait::run(settings, wait, stage).map(Some),
        Verb::Revoke { selector } => revoke::run(settings, selector.as_deref(), stage).map(Some),
        Verb::Explain(asked) => policy::explain(settings, asked, stage).map(Some),
        Verb::Daemon(action) => daemon::run(settings, *action, stage),
        Verb::Playground { link, ping_every } => {
            playground::run(settings, link.as_deref(), *ping_every, stage).map(|()| None)
        }
        Verb::Mcp(mcp) => mcp::run(settings, mcp, stage).map(|()| None),
        Verb::Init(init) => init::run(settings, init).map(Some),
        Verb::Doctor(doctor) => doctor::run(doctor).map(Some),
        Verb::Keygen(keygen) => keygen::run(settings, keygen).map(Some),
        Verb::Completions(shell) => manual::completions(*shell).map(Some),
        Verb::Man(man) => manual::man(man).map(Some),
    }
}
