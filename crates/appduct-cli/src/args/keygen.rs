//! `keygen`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
appduct keygen                        where the daemon looks for it
appduct keygen --out key.pem --type rsa";

/// Makes a host key: what apps trust a daemon by.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct KeygenArgs {
    /// Where to write it [default: key.pem in the state directory]
    #[arg(long, value_name = "path")]
    pub(crate) out: Option<PathBuf>,

    /// Replace a key that is there; apps that trust it stop trusting this machine
    #[arg(long)]
    pub(crate) force: bool,

    /// What kind of key: ec is ECDSA P-256, rsa is RSA with 2048 bits [default: ec]
    #[arg(long = "type", value_name = "type")]
    pub(crate) key_type: Option<KeyType>,
}

/// What kind of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyType {
    Ec,
    Rsa,
}
