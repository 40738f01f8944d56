//! What tells a build with Appduct from one without.

use std::borrow::Cow;

use super::scan::Scan;
use crate::report::Platform;

/// One sign, and whether it proves that Appduct is in.
struct Signal {
    name: &'static str,
    /// Any one of these texts.
    texts: &'static [Text],
    is_proof: bool,
}

/// A text, and how it may be written.
enum Text {
    Bytes(&'static str),
    /// As bytes or as UTF-16, as the binary manifest of Android has it.
    Wide(&'static str),
}

use Text::{Bytes, Wide};

/// The class that the Swift core has in builds that contain it.
const IOS: &[Signal] = &[
    Signal { name: "ios-core-marker-symbol", texts: &[Bytes("AppductCoreMarker")], is_proof: true },
    Signal { name: "ios-objc-class-symbol", texts: &[Bytes("RCTNativeAppduct")], is_proof: true },
    Signal {
        name: "ios-info-plist-keys",
        texts: &[Bytes("AppductCliPins"), Bytes("AppductTrust"), Bytes("AppductAllowPrivateLanOnly")],
        is_proof: false,
    },
];

/// Each in both spellings of the package: apps of both are in use.
const ANDROID: &[Signal] = &[
    Signal {
        name: "android-keep-rule-marker",
        texts: &[
            Bytes("Lcom/callstack/appduct/AppductNativeMarker;"),
            Bytes("Lcom/callstackincubator/appduct/AppductNativeMarker;"),
        ],
        is_proof: true,
    },
    Signal {
        name: "android-dex-package-symbol",
        texts: &[
            Bytes("com/callstack/appduct"),
            Bytes("com.callstack.appduct"),
            Bytes("com/callstackincubator/appduct"),
            Bytes("com.callstackincubator.appduct"),
        ],
        is_proof: false,
    },
    Signal {
        name: "android-manifest-meta-data-keys",
        texts: &[Wide("com.callstack.appduct."), Wide("com.callstackincubator.appduct.")],
        is_proof: false,
    },
];

const EVERYWHERE: &[Signal] = &[
    Signal { name: "flutter-dart-core-marker", texts: &[Bytes("appduct-dart-core/")], is_proof: true },
    Signal { name: "rust-core-marker", texts: &[Bytes(appduct::marker::PREFIX)], is_proof: true },
];

/// What an artifact was found to hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The names of the signs that were seen, in the order in which they are reported.
    pub(crate) signals: Vec<&'static str>,
    /// Whether one of them is proof.
    pub(crate) is_present: bool,
}

/// A search for the signs of one platform.
pub(super) struct Signs {
    signals: Vec<&'static Signal>,
    scan: Scan,
}

impl Signs {
    pub(super) fn of(platform: Platform) -> Self {
        let own = match platform {
            Platform::Ios => IOS,
            Platform::Android => ANDROID,
        };
        let signals: Vec<_> = own.iter().chain(EVERYWHERE).collect();
        let spellings: Vec<_> = signals.iter().flat_map(|signal| spellings(signal)).collect();
        let scan = Scan::new(spellings.iter().map(AsRef::as_ref));
        Self { signals, scan }
    }

    pub(super) fn scan(&mut self) -> &mut Scan {
        &mut self.scan
    }

    pub(super) fn findings(&self) -> Findings {
        let mut found = self.scan.found();
        let mut is_seen = |signal: &Signal| {
            let count = spellings(signal).count();
            found.by_ref().take(count).filter(|found| *found).count() > 0
        };
        let seen: Vec<_> = self.signals.iter().filter(|signal| is_seen(signal)).collect();
        Findings {
            signals: seen.iter().map(|signal| signal.name).collect(),
            is_present: seen.iter().any(|signal| signal.is_proof),
        }
    }
}

fn spellings(signal: &Signal) -> impl Iterator<Item = Cow<'static, [u8]>> {
    signal.texts.iter().flat_map(|text| {
        let (text, is_wide) = match *text {
            Bytes(text) => (text, false),
            Wide(text) => (text, true),
        };
        let wide = is_wide.then(|| Cow::Owned(text.encode_utf16().flat_map(u16::to_le_bytes).collect()));
        std::iter::once(Cow::Borrowed(text.as_bytes())).chain(wide)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(platform: Platform, bytes: &[u8], signals: &[&'static str], is_present: bool) {
        let mut signs = Signs::of(platform);
        signs.scan().stream(bytes, |_| Ok(())).unwrap();
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(signs.findings(), Findings { signals: signals.to_vec(), is_present }, "{shown}");
    }

    #[test]
    fn each_sign_of_ios_is_seen() {
        let check = |text: &str, signals: &[&'static str], is_present| {
            check(Platform::Ios, text.as_bytes(), signals, is_present)
        };
        check("", &[], false);
        check("\0_OBJC_CLASS_$_AppductCoreMarker\0", &["ios-core-marker-symbol"], true);
        check("RCTNativeAppduct", &["ios-objc-class-symbol"], true);
        for key in ["AppductCliPins", "AppductTrust", "AppductAllowPrivateLanOnly"] {
            check(key, &["ios-info-plist-keys"], false);
        }
        check("appduct-dart-core/0.12.0", &["flutter-dart-core-marker"], true);
        check("appduct-rust-core/1.0.0", &["rust-core-marker"], true);
        check("Lcom/callstack/appduct/AppductNativeMarker;", &[], false);
        check(
            "AppductTrust RCTNativeAppduct AppductCoreMarker",
            &["ios-core-marker-symbol", "ios-objc-class-symbol", "ios-info-plist-keys"],
            true,
        );
    }

    #[test]
    fn each_sign_of_android_is_seen() {
        let check =
            |bytes: &[u8], signals: &[&'static str], is_present| check(Platform::Android, bytes, signals, is_present);
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        for package in ["callstack", "callstackincubator"] {
            let bytes = |text: &str| text.replace("PACKAGE", package).into_bytes();
            check(
                &bytes("Lcom/PACKAGE/appduct/AppductNativeMarker;"),
                &["android-keep-rule-marker", "android-dex-package-symbol"],
                true,
            );
            check(&bytes("com/PACKAGE/appduct"), &["android-dex-package-symbol"], false);
            check(&bytes("com.PACKAGE.appduct"), &["android-dex-package-symbol"], false);
            check(
                &bytes("com.PACKAGE.appduct.trust"),
                &["android-dex-package-symbol", "android-manifest-meta-data-keys"],
                false,
            );
            check(&wide(&format!("com.{package}.appduct.pins")), &["android-manifest-meta-data-keys"], false);
        }
        check(b"appduct-dart-core/", &["flutter-dart-core-marker"], true);
        check(b"appduct-rust-core/", &["rust-core-marker"], true);
        check(b"AppductCoreMarker", &[], false);
    }
}
