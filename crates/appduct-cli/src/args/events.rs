//! `events`, which is also the noun of `events ls`, `events tail` and `events since`
//!
//! The flags of all three are declared here, so that they may stand before the verb.

use appduct_rpc::methods::EventKind;
use clap::Args;
use clap::builder::PossibleValuesParser;

const USAGE: &str = "\
appduct events [OPTIONS] [selector]
       appduct events tail [OPTIONS] [selector]
       appduct events since [OPTIONS] [selector] <cursor>
       appduct events ls [OPTIONS] [selector]";

const EXAMPLES: &str = "\
appduct events                               everything that happens, until Ctrl-C
appduct events pixel-8 --name 'cart.*'       what one app posts under these names
appduct events --json --limit 1 --name paid  wait for one event and print it
appduct events --since 0                     the app events that the daemon still holds
appduct events ls                            the events that the app says it may post";

const AFTER: &str = "\
Without --kind, every kind of event is shown: what apps post (app_event), sessions, links, registries and calls. With --name, \
only app events are.

--since prints what is held and ends. Its last line is a cursor; passing that to the next --since leaves nothing out and \
repeats nothing. \"dropped\" counts the events in between that the daemon had to forget, \"remaining\" those that --limit left.

With --json, each event is one line.

The words ls, tail and since right after `events` are always the verbs; --session always names a session.";

/// Shows what happens: app events, sessions, links and calls.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, before_help = EXAMPLES, after_help = AFTER)]
pub(crate) struct EventsArgs {
    /// A session's alias or id; every session where it is left out
    #[arg(value_name = "selector", allow_negative_numbers = true)]
    pub(crate) words: Vec<String>,

    /// The session, by alias or id
    #[arg(long, value_name = "selector")]
    pub(crate) session: Option<String>,

    /// Only events whose whole name matches; * stands for any run of characters
    #[arg(long, value_name = "glob")]
    pub(crate) name: Option<String>,

    /// End after so many
    #[arg(long, value_name = "n", action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub(crate) limit: Vec<String>,

    /// Show larger payloads as a preview
    #[arg(long, value_name = "n", action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub(crate) payload_max_bytes: Vec<String>,

    /// Only these kinds; may be given more than once, or with commas
    #[arg(
        long,
        value_name = "kind",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(EventKind::ALL.iter().map(|kind| kind.as_str())),
        help_heading = "While it happens"
    )]
    pub(crate) kind: Vec<String>,

    /// Go on as things happen, which is what it does anyway
    #[arg(long, help_heading = "While it happens")]
    pub(crate) follow: bool,

    /// Print the app events after this cursor that are still held, and end; 0 is all of them
    #[arg(
        long,
        value_name = "cursor",
        action = clap::ArgAction::Append,
        allow_negative_numbers = true,
        help_heading = "Afterwards"
    )]
    pub(crate) since: Vec<String>,

    /// How many declared events to skip
    #[arg(
        long,
        value_name = "n",
        action = clap::ArgAction::Append,
        allow_negative_numbers = true,
        help_heading = "With `events ls`"
    )]
    pub(crate) offset: Vec<String>,
}
