//! The flags of a tools listing

use clap::Args;

/// What to list, and how.
#[derive(Debug, Default, Args)]
pub(crate) struct ListingFlags {
    /// Only the tools of this group and its subgroups
    #[arg(long, value_name = "name")]
    pub(crate) group: Option<String>,

    /// List the groups with their sizes instead of tools
    #[arg(long)]
    pub(crate) groups: bool,

    /// Only tools whose name or description holds this text, whatever the case
    #[arg(long, value_name = "text")]
    pub(crate) filter: Option<String>,

    /// How many tools at most
    #[arg(long, value_name = "n", action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub(crate) limit: Vec<String>,

    /// How many matching tools to skip
    #[arg(long, value_name = "n", action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub(crate) offset: Vec<String>,

    /// Show each tool in full
    #[arg(long)]
    pub(crate) full: bool,
}
