//! Listings of tools and of groups.

use std::collections::BTreeMap;

use appduct_rpc::methods::ToolGroup;

use super::tool::{self, Entry};
use super::{Style, counted, escape};
use crate::report::{Groups, Tools};

/// The most groups that a footer names.
const FOOTER_GROUPS: usize = 10;

/// A page of tools, a line or two for each; under headings where the registry has groups and none was asked for.
pub(super) fn lines(report: &Tools, style: Style) -> Vec<String> {
    let title = match &report.group {
        Some(group) => format!("Tools in group {}", escape::line(group)),
        None => "Tools".to_owned(),
    };
    let mut lines = vec![style.paint.green(&title)];
    if report.tools.is_empty() {
        lines.extend(style.prose(nothing(report).trim_start(), 2, 2));
        return lines;
    }
    let entries: Vec<_> = report.tools.iter().map(Entry::read).collect();
    if report.group.is_none() && has_groups(report) {
        lines.extend(under_headings(&entries, style));
    } else {
        lines.extend(entries.iter().flat_map(|entry| entry_lines(entry, 2, style)));
    }
    lines.extend(footer(report, style));
    lines.push(String::new());
    lines.extend(style.prose("Run `appduct tools <name>` for a tool's full schema.", 0, 0));
    lines
}

/// A page of tools, each in full.
pub(super) fn full_lines(report: &Tools, style: Style) -> Vec<String> {
    if report.tools.is_empty() {
        return lines(report, style);
    }
    let mut lines: Vec<_> =
        report.tools.iter().flat_map(|raw| std::iter::once(String::new()).chain(tool::lines(raw, style))).collect();
    lines.extend(footer(report, style));
    lines
}

/// The groups of a registry and their sizes.
pub(super) fn group_lines(report: &Groups, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint.green("Groups")];
    if report.total == 0 {
        lines.push("  No tools registered.".to_owned());
        return lines;
    }
    let rows: Vec<_> = report.groups.iter().map(|group| (group_label(group), group.total.to_string())).collect();
    let label_width = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let count_width = rows.iter().map(|(_, count)| count.len()).max().unwrap_or(0);
    lines.extend(rows.iter().map(|(label, count)| format!("  {label:label_width$}  {count:>count_width$}")));
    let advice = if report.groups.iter().any(|group| group.group.is_some()) {
        "Run `appduct tools --group <name>` to list one group's tools."
    } else {
        "No tool declares a group."
    };
    lines.push(String::new());
    lines.extend(style.prose(&format!("{} in total. {advice}", counted(report.total, "tool")), 0, 0));
    lines
}

fn group_label(group: &ToolGroup) -> String {
    match group.group.as_deref() {
        Some(name) if name.contains('/') => format!("  {}", escape::line(name)),
        Some(name) => escape::line(name).into_owned(),
        None => "(ungrouped)".to_owned(),
    }
}

fn has_groups(report: &Tools) -> bool {
    report.groups.iter().flatten().any(|group| group.group.is_some())
}

/// The tools of the page under their groups, subgroups inside their parents, the ungrouped ones last.
fn under_headings(entries: &[Entry], style: Style) -> Vec<String> {
    #[derive(Default)]
    struct Top<'a> {
        direct: Vec<&'a Entry>,
        subgroups: BTreeMap<&'a str, Vec<&'a Entry>>,
    }
    let mut tops: BTreeMap<&str, Top<'_>> = BTreeMap::new();
    let mut ungrouped = Vec::new();
    for entry in entries {
        match entry.group.as_deref() {
            None => ungrouped.push(entry),
            Some(group) => match group.split_once('/') {
                None => tops.entry(group).or_default().direct.push(entry),
                Some((top, _)) => tops.entry(top).or_default().subgroups.entry(group).or_default().push(entry),
            },
        }
    }
    let mut lines = Vec::new();
    for (name, top) in &tops {
        lines.push(format!("  {}", style.paint.cyan(name)));
        lines.extend(top.direct.iter().flat_map(|entry| entry_lines(entry, 4, style)));
        for (name, entries) in &top.subgroups {
            lines.push(format!("    {}", style.paint.cyan(name)));
            lines.extend(entries.iter().flat_map(|entry| entry_lines(entry, 6, style)));
        }
    }
    if !ungrouped.is_empty() {
        lines.push(format!("  {}", style.paint.cyan("(ungrouped)")));
        lines.extend(ungrouped.iter().flat_map(|entry| entry_lines(entry, 4, style)));
    }
    lines
}

fn entry_lines(entry: &Entry, indent: usize, style: Style) -> impl Iterator<Item = String> {
    let head = style.prose(&format!("{}{}", entry.signature, entry.tag), indent, indent + 4);
    let below = (!entry.summary.is_empty()).then(|| style.prose(&entry.summary, indent + 2, indent + 2));
    head.into_iter().chain(below.into_iter().flatten())
}

/// What an empty page says.
fn nothing(report: &Tools) -> String {
    let offset = report.offset.unwrap_or(0);
    let filter = report.filter.as_deref().filter(|filter| !filter.is_empty()).map(escape::line);
    match (&report.group, filter) {
        _ if report.total > 0 => {
            format!("  No tools at offset {offset}; {} in total.", counted(report.total, "matching tool"))
        }
        (Some(group), filter) => {
            let group = escape::line(group);
            let matching = filter.map(|filter| format!(" match \"{filter}\"")).unwrap_or_default();
            format!(
                "  No tools in group \"{group}\"{matching}. Run `appduct tools --groups` to see the session's groups."
            )
        }
        (None, Some(filter)) => format!("  No tools match \"{filter}\"."),
        (None, None) => "  No tools registered.".to_owned(),
    }
}

/// Where a page does not show everything: how much it shows, and how to see the rest.
fn footer(report: &Tools, style: Style) -> Vec<String> {
    let shown = u64::try_from(report.tools.len()).unwrap_or(u64::MAX);
    if shown >= report.total {
        return Vec::new();
    }
    let narrow = if report.group.is_none() && has_groups(report) {
        format!("--group <name> (groups: {}) or --filter <text>, or page with --offset <n>.", top_groups(report))
    } else {
        "--filter <text> or page with --offset <n>.".to_owned()
    };
    let offset = report.offset.unwrap_or(0);
    let text = format!("Showing {shown} of {} tools (offset {offset}). Narrow with {narrow}", report.total);
    std::iter::once(String::new()).chain(style.prose(&text, 0, 0)).collect()
}

/// `cart 12, checkout 8`: the top-level groups of the whole registry.
fn top_groups(report: &Tools) -> String {
    let tops: Vec<_> = report
        .groups
        .iter()
        .flatten()
        .filter_map(|group| Some((group.group.as_deref()?, group.total)))
        .filter(|(name, _)| !name.contains('/'))
        .collect();
    let named: Vec<_> =
        tops.iter().take(FOOTER_GROUPS).map(|(name, total)| format!("{} {total}", escape::line(name))).collect();
    let more = match tops.len().saturating_sub(FOOTER_GROUPS) {
        0 => String::new(),
        more => format!(", ... {more} more; see --groups"),
    };
    named.join(", ") + &more
}

#[cfg(test)]
mod tests;
