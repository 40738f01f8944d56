//! Name patterns of event queries.

use appduct_proto::host::Glob;

/// The longest pattern and name, so that the plain matcher, which is quadratic, stays quick.
const MAX_BYTES: usize = 2048;

/// Reads the bytes as a pattern and a name with a line break between them.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (pattern, name) = text.split_once('\n').unwrap_or((&text, ""));
    let glob = Glob::new(pattern);
    assert_eq!(glob.as_str(), pattern);
    if pattern.len().max(name.len()) <= MAX_BYTES {
        assert_eq!(glob.matches(name), plain(pattern.as_bytes(), name.as_bytes()));
    }
    assert!(glob.matches(pattern), "a star stands for a star, too");
    assert!(Glob::new("*").matches(name));
}

/// Which starts of the name the pattern so far matches, one character of the pattern after the other.
fn plain(pattern: &[u8], name: &[u8]) -> bool {
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for &byte in pattern {
        if byte == b'*' {
            let first = reached.iter().position(|&is| is).unwrap_or(reached.len());
            reached[first..].fill(true);
        } else {
            for end in (1..reached.len()).rev() {
                reached[end] = reached[end - 1] && name[end - 1] == byte;
            }
            reached[0] = false;
        }
    }
    reached[name.len()]
}
