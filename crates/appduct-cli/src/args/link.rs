//! `link`

use clap::Args;

const AFTER: &str = "\
The scheme is the first that is found: --scheme; $APPDUCT_SCHEME; \"scheme\" in .appduct/config.json here or in a directory \
above; \"scheme\" in the state directory's config.json; expo.scheme in ./app.json; the native project files in this directory.

The link is a secret until an app has claimed it: whoever opens it pairs an app with this machine.

--qr draws in the terminal's own colours where output is plain. On a terminal it is drawn black on white with a margin, so \
that a camera reads it on a dark background too.";

/// Makes a one-time deep link that pairs an app.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct LinkArgs {
    /// The app's link scheme, without "://"
    #[arg(long, value_name = "scheme")]
    pub(crate) scheme: Option<String>,

    /// How long the link may be claimed, in seconds [default: 300]
    #[arg(long, value_name = "seconds", action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub(crate) ttl: Vec<String>,

    /// Draw the link as a QR code too
    #[arg(long)]
    pub(crate) qr: bool,
}
