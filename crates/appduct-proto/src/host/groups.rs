//! How many tools each group of a registry has.

use std::collections::BTreeMap;

use crate::wire::Group;

/// How many tools a group has, those of its subgroups included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupTotal {
    /// `None` for the tools of no group.
    pub group: Option<Group>,
    /// At least 1.
    pub total: usize,
}

/// The tools by exactly the group that each names.
#[derive(Debug, Default)]
pub(super) struct GroupCounts {
    grouped: BTreeMap<Group, usize>,
    ungrouped: usize,
}

impl GroupCounts {
    pub(super) fn add(&mut self, group: Option<&Group>) {
        match group {
            None => self.ungrouped += 1,
            Some(group) => match self.grouped.get_mut(group) {
                Some(count) => *count += 1,
                None => {
                    self.grouped.insert(group.clone(), 1);
                }
            },
        }
    }

    pub(super) fn remove(&mut self, group: Option<&Group>) {
        let Some(group) = group else {
            self.ungrouped -= 1;
            return;
        };
        if let Some(count) = self.grouped.get_mut(group) {
            *count -= 1;
            if *count == 0 {
                self.grouped.remove(group);
            }
        }
    }

    /// Each group before its subgroups, the ungrouped last; a group is there even if only its subgroups have tools.
    pub(super) fn totals(&self) -> Vec<GroupTotal> {
        let mut rows: Vec<GroupTotal> = Vec::new();
        let mut top = None::<usize>;
        for (group, &count) in &self.grouped {
            // The order of groups puts all of one top-level group side by side.
            let same_top = |&row: &usize| rows[row].group.as_ref().is_some_and(|row| row.top() == group.top());
            let row = top.filter(same_top).unwrap_or_else(|| {
                rows.push(GroupTotal { group: group.top().parse().ok(), total: 0 });
                rows.len() - 1
            });
            rows[row].total += count;
            top = Some(row);
            if group.segments().1.is_some() {
                rows.push(GroupTotal { group: Some(group.clone()), total: count });
            }
        }
        if self.ungrouped > 0 {
            rows.push(GroupTotal { group: None, total: self.ungrouped });
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(groups: &[&str]) -> Vec<(String, usize)> {
        let mut counts = GroupCounts::default();
        for group in groups {
            counts.add(group.parse().ok().as_ref());
        }
        let name = |group: Option<Group>| group.map_or("-".to_owned(), |group| group.to_string());
        counts.totals().into_iter().map(|row| (name(row.group), row.total)).collect()
    }

    fn check(groups: &[&str], expected: &[(&str, usize)]) {
        let expected: Vec<_> = expected.iter().map(|&(group, total)| (group.to_owned(), total)).collect();
        assert_eq!(totals(groups), expected);
    }

    #[test]
    fn an_empty_registry_has_no_groups() {
        check(&[], &[]);
    }

    #[test]
    fn a_group_counts_its_subgroups_and_stands_before_them() {
        check(
            &["checkout-x", "checkout/payment", "checkout", "cart", "checkout/payment"],
            &[("cart", 1), ("checkout", 3), ("checkout/payment", 2), ("checkout-x", 1)],
        );
    }

    #[test]
    fn a_group_is_there_even_if_only_its_subgroups_have_tools() {
        check(&["a/x", "a/y"], &[("a", 2), ("a/x", 1), ("a/y", 1)]);
    }

    #[test]
    fn the_ungrouped_come_last() {
        check(&["", "z", ""], &[("z", 1), ("-", 2)]);
    }
}
