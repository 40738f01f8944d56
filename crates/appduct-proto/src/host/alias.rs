//! Aliases: short names for people, made from the device model, unique among live sessions.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sessions::SessionNo;
use crate::wire::MAX_ID_UNITS;

/// Room for `-` and any `u32`, so that an alias with its suffix stays within what apps accept in an ack.
const SUFFIX_CHARS: usize = 11;
const MAX_BASE_CHARS: usize = MAX_ID_UNITS - SUFFIX_CHARS;

/// The alias of a device of this model, if nobody else has it. ASCII.
pub(super) fn base(model: Option<&str>) -> String {
    let mut alias = String::new();
    for char in model.unwrap_or_default().to_lowercase().chars() {
        if char.is_ascii_lowercase() || char.is_ascii_digit() {
            alias.push(char);
        } else if !alias.is_empty() && !alias.ends_with('-') {
            alias.push('-');
        }
    }
    alias.truncate(MAX_BASE_CHARS);
    let alias = alias.trim_end_matches('-');
    if alias.is_empty() { "device".to_owned() } else { alias.to_owned() }
}

/// The aliases that live sessions have, and those that are kept for sessions to come.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    taken: BTreeMap<Arc<str>, SessionNo>,
    /// By base: the number below which every suffix is taken, where that is more than 1. It keeps the search for a free
    /// suffix short when thousands of devices are of one model.
    first_free: BTreeMap<String, u32>,
}

impl Aliases {
    pub(super) fn find(&self, alias: &str) -> Option<SessionNo> {
        self.taken.get(alias).copied()
    }

    /// Gives the session the first free alias: `x`, `x-2`, `x-3`.
    pub(super) fn take(&mut self, base: String, session: SessionNo) -> Arc<str> {
        let mut number = self.first_free.get(&base).copied().unwrap_or(1);
        let alias: Arc<str> = loop {
            let alias = numbered(&base, number);
            if !self.taken.contains_key(alias.as_str()) {
                break alias.into();
            }
            number += 1;
        };
        self.taken.insert(alias.clone(), session);
        self.first_free.insert(base, number + 1);
        alias
    }

    /// Gives the session the alias that it had; `false` if another has it.
    pub(super) fn restore(&mut self, alias: &Arc<str>, session: SessionNo) -> bool {
        if self.taken.contains_key(alias) {
            return false;
        }
        self.taken.insert(alias.clone(), session);
        true
    }

    pub(super) fn free(&mut self, alias: &str) {
        self.taken.remove(alias);
        self.first_free.remove(alias);
        let numbered = alias.rsplit_once('-').and_then(|(base, number)| Some((base, number.parse::<u32>().ok()?)));
        if let Some((base, number)) = numbered
            && let Some(first_free) = self.first_free.get_mut(base)
        {
            *first_free = number.clamp(1, *first_free);
        }
    }
}

fn numbered(base: &str, number: u32) -> String {
    if number == 1 { base.to_owned() } else { format!("{base}-{number}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_the_model_in_lower_case_with_single_dashes() {
        for (model, alias) in [
            (None, "device"),
            (Some(""), "device"),
            (Some("!!"), "device"),
            (Some("Pixel 8 Pro"), "pixel-8-pro"),
            (Some("iPhone_15,Pro Max"), "iphone-15-pro-max"),
            (Some("!!Galaxy S24!!"), "galaxy-s24"),
            (Some("Ünï Phone"), "n-phone"),
            (Some("\u{212A}9"), "k9"),
        ] {
            assert_eq!(base(model), alias, "{model:?}");
        }
    }

    #[test]
    fn a_long_alias_leaves_room_for_every_suffix() {
        let long = base(Some(&"x".repeat(256)));
        assert_eq!(numbered(&long, u32::MAX).len(), MAX_ID_UNITS);
        let dashed = base(Some(&format!("{} {}", "x".repeat(MAX_BASE_CHARS - 1), "y".repeat(100))));
        assert_eq!(dashed, "x".repeat(MAX_BASE_CHARS - 1));
    }

    #[test]
    fn the_first_free_suffix_is_taken() {
        let mut aliases = Aliases::default();
        let take = |aliases: &mut Aliases, base: &str| aliases.take(base.to_owned(), SessionNo(1)).to_string();
        assert_eq!(["x", "x", "x", "x"].map(|base| take(&mut aliases, base)), ["x", "x-2", "x-3", "x-4"]);
        aliases.free("x-3");
        assert_eq!(take(&mut aliases, "x"), "x-3");
        aliases.free("x");
        aliases.free("x-2");
        assert_eq!(["x", "x", "x"].map(|base| take(&mut aliases, base)), ["x", "x-2", "x-5"]);
    }

    #[test]
    fn a_model_whose_name_looks_numbered_shares_the_space() {
        let mut aliases = Aliases::default();
        let take = |aliases: &mut Aliases, base: &str| aliases.take(base.to_owned(), SessionNo(1)).to_string();
        assert_eq!(["x-2", "x", "x", "x-2"].map(|base| take(&mut aliases, base)), ["x-2", "x", "x-3", "x-2-2"]);
        aliases.free("x-2");
        assert_eq!(["x", "x-2"].map(|base| take(&mut aliases, base)), ["x-2", "x-2-3"]);
    }
}
