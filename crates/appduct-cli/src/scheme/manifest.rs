//! `android:scheme` of the Android manifest.

use std::path::Path;

use roxmltree::{Document, Node};

use super::probes::{self, Probed};

const ANDROID: &str = "http://schemas.android.com/apk/res/android";
const VIEW: &str = "android.intent.action.VIEW";

/// The first scheme of an intent filter that opens links.
pub(super) fn probe(cwd: &Path) -> Option<Probed> {
    let path = cwd.join("app/src/main/AndroidManifest.xml");
    let scheme = scheme(&probes::read(&path)?)?;
    Some(Probed { scheme, source: "android-manifest", path, key: "android:scheme" })
}

fn scheme(text: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let is = |node: &Node<'_, '_>, tag: &str| node.is_element() && node.tag_name().name().eq_ignore_ascii_case(tag);
    document
        .descendants()
        .filter(|node| is(node, "intent-filter"))
        .filter(|filter| {
            filter.descendants().any(|node| is(&node, "action") && node.attribute((ANDROID, "name")) == Some(VIEW))
        })
        .flat_map(|filter| filter.descendants())
        .filter(|node| is(node, "data"))
        .find_map(|node| node.attribute((ANDROID, "scheme")).filter(|scheme| !scheme.is_empty()))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_filter_that_opens_links_counts() {
        let manifest = |inner: &str| {
            format!(
                "<manifest xmlns:android=\"{ANDROID}\"><application><activity>{inner}</activity></application></manifest>"
            )
        };
        let view = "<action android:name=\"android.intent.action.VIEW\"/>";
        let main = "<action android:name=\"android.intent.action.MAIN\"/>";
        let data = "<data android:scheme=\"demo\"/>";
        let check = |inner: String, expected: Option<&str>| assert_eq!(scheme(&manifest(&inner)).as_deref(), expected);
        check(format!("<intent-filter>{view}{data}</intent-filter>"), Some("demo"));
        check(format!("<Intent-Filter>{data}{view}</Intent-Filter>"), Some("demo"));
        check(format!("<intent-filter>{main}{data}</intent-filter>"), None);
        check(format!("<!-- <intent-filter>{view}{data}</intent-filter> -->"), None);
        check(format!("<intent-filter>{view}</intent-filter>{data}"), None);
        assert_eq!(scheme("not xml"), None);
    }
}
