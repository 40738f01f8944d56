//! Tool groups: `checkout`, or one level deeper `checkout/payment`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::tool::is_tool_name;

/// A group of tools: one or two segments, each with the shape of a tool name.
///
/// Ordered by segments, so a group stands right before its subgroups: `checkout`, `checkout/payment`, `checkout-x`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group(Box<str>);

/// The text is not a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupFault;

impl Group {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first segment.
    #[must_use]
    pub fn top(&self) -> &str {
        self.segments().0
    }

    /// The first segment, and the second if there is one.
    #[must_use]
    pub fn segments(&self) -> (&str, Option<&str>) {
        match self.0.split_once('/') {
            Some((top, sub)) => (top, Some(sub)),
            None => (&self.0, None),
        }
    }

    /// Whether this group holds `other`: it is the same, or `other` is a subgroup of it. Case counts.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self == other || (self.segments().1.is_none() && self.top() == other.top())
    }
}

impl FromStr for Group {
    type Err = GroupFault;

    fn from_str(text: &str) -> Result<Self, GroupFault> {
        let (top, sub) = match text.split_once('/') {
            Some((top, sub)) => (top, Some(sub)),
            None => (text, None),
        };
        if is_tool_name(top) && sub.is_none_or(is_tool_name) { Ok(Self(text.into())) } else { Err(GroupFault) }
    }
}

impl Ord for Group {
    fn cmp(&self, other: &Self) -> Ordering {
        self.segments().cmp(&other.segments())
    }
}

impl PartialOrd for Group {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Group {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(text: &str) -> Group {
        text.parse().unwrap()
    }

    #[test]
    fn a_parent_stands_right_before_its_subgroups() {
        let mut groups = ["checkout-x", "checkout/payment", "cart", "checkout"].map(group);
        groups.sort();
        assert_eq!(groups.map(|group| group.to_string()), ["cart", "checkout", "checkout/payment", "checkout-x"]);
    }

    #[test]
    fn a_group_covers_itself_and_its_subgroups() {
        for (outer, inner, covers) in [
            ("checkout", "checkout", true),
            ("checkout", "checkout/payment", true),
            ("checkout", "checkoutx", false),
            ("checkout", "Checkout", false),
            ("checkout/payment", "checkout/payment", true),
            ("checkout/payment", "checkout", false),
        ] {
            assert_eq!(group(outer).covers(&group(inner)), covers, "{outer} {inner}");
        }
    }
}
