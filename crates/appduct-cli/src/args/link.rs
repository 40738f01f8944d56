//! `link`

use clap::{Args, ValueEnum};

use super::WaitFlags;

const AFTER: &str = "\
The scheme is the first that is found: --scheme; $APPDUCT_SCHEME; \"scheme\" in .appduct/config.json here or in a directory \
above; \"scheme\" in the state directory's config.json; expo.scheme in ./app.json; the native project files in this directory.

The link is a secret until an app has claimed it: whoever opens it pairs an app with this machine.

--qr draws in the terminal's own colours where output is plain. On a terminal it is drawn black on white with a margin, so \
that a camera reads it on a dark background too.

--open web takes the address of a page on this machine instead of a scheme. With --browser-url the daemon pairs the page in a \
browser that listens for the DevTools protocol, which works for pages whose own sockets may not leave them. Otherwise the \
link is the page's address, to be opened in any browser of this machine.";

const EXAMPLES: &str = "\
appduct link --scheme myshop          for the app that opens myshop://
appduct link --open android           on the only device that adb sees
appduct link --qr                     to scan with the phone's camera
appduct link --wait && appduct tools  print it, and go on when the app is connected
appduct link --open web http://localhost:3000 --browser-url http://127.0.0.1:9222";

/// Makes a one-time deep link that pairs an app.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, after_help = AFTER)]
pub(crate) struct LinkArgs {
    /// The page's http or https address, for web
    #[arg(value_name = "url")]
    pub(crate) url: Option<String>,

    /// The app's link scheme, without "://"
    #[arg(long, value_name = "scheme")]
    pub(crate) scheme: Option<String>,

    /// How long the link may be claimed, in seconds [default: 300]
    #[arg(long, value_name = "seconds", action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub(crate) ttl: Vec<String>,

    /// Draw the link as a QR code too
    #[arg(long)]
    pub(crate) qr: bool,

    /// Open the link on a device: an Android device or emulator, a booted iOS simulator, or an iOS device; or pair a web page
    #[arg(long, value_name = "target")]
    pub(crate) open: Option<Opener>,

    /// The device's serial or UDID; may be left out where one is there
    #[arg(long, value_name = "id")]
    pub(crate) device: Option<String>,

    /// The app's id, for android and ios-device [default: appId in .appduct/config.json]
    #[arg(long, value_name = "id")]
    pub(crate) app_id: Option<String>,

    /// End the app first if it runs, for ios-device
    #[arg(long)]
    pub(crate) relaunch: bool,

    /// Where a browser on this machine listens for the DevTools protocol, for web
    #[arg(long, value_name = "url")]
    pub(crate) browser_url: Option<String>,

    /// The browser's id of the tab [default: the only tab whose address starts with the page's]
    #[arg(long, value_name = "id")]
    pub(crate) target_id: Option<String>,

    #[command(flatten)]
    pub(crate) waiting: WaitFlags,
}

/// What `--open` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Opener {
    Android,
    IosSim,
    IosDevice,
    Web,
}

impl Opener {
    /// The kind of device, if it is one.
    pub(crate) fn device(self) -> Option<OpenTarget> {
        match self {
            Self::Android => Some(OpenTarget::Android),
            Self::IosSim => Some(OpenTarget::IosSim),
            Self::IosDevice => Some(OpenTarget::IosDevice),
            Self::Web => None,
        }
    }
}

/// The kind of device to open a link on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenTarget {
    Android,
    IosSim,
    IosDevice,
}

impl OpenTarget {
    /// The name that people and programs see.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Android => "android",
            Self::IosSim => "ios-sim",
            Self::IosDevice => "ios-device",
        }
    }
}
