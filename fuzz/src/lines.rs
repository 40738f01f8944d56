//! Bytes of the control socket, in pieces, into lines.

use appduct_rpc::line::{Line, Lines};

/// The longest line of the bounded reader.
const LIMIT: usize = 64;

/// The first byte says how large the pieces are; the rest comes in such pieces.
pub fn target(data: &[u8]) {
    let Some((&size, bytes)) = data.split_first() else { return };
    let size = usize::from(size).max(1);
    let (lines, rest) = read(Lines::unbounded(), bytes, size);
    let mut expected: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let unfinished = expected.pop().expect("a split has at least one part");
    let expected: Vec<_> = expected.into_iter().map(trimmed).filter(|line| !line.is_empty()).collect();
    let complete = |line: &Line| match line {
        Line::Complete(line) => line.to_vec(),
        Line::TooLong | Line::Endless => panic!("there is no limit"),
    };
    assert_eq!(lines.iter().map(complete).collect::<Vec<_>>(), expected);
    assert_eq!(rest, !unfinished.is_empty());
    check_bounded(bytes, size, &expected, unfinished);
}

/// What counts of a line: a carriage return at its end does not.
fn trimmed(line: &[u8]) -> Vec<u8> {
    line.strip_suffix(b"\r").unwrap_or(line).to_vec()
}

/// Up to the first line over the limit both readers give the same.
fn check_bounded(bytes: &[u8], size: usize, expected: &[Vec<u8>], unfinished: &[u8]) {
    let (lines, _) = read(Lines::bounded(LIMIT), bytes, size);
    let first_long = expected.iter().position(|line| line.len() > LIMIT);
    let fits = &expected[..first_long.unwrap_or(expected.len())];
    for (line, expected) in lines.iter().zip(fits) {
        assert_eq!(line, &Line::Complete(expected.clone().into()));
    }
    let end = lines.get(fits.len());
    match end {
        Some(Line::Complete(line)) => panic!("{} bytes are over the limit", line.len()),
        Some(Line::TooLong) => assert!(first_long.is_some()),
        Some(Line::Endless) => assert!(first_long.is_some() || trimmed(unfinished).len() > LIMIT),
        None => assert!(first_long.is_none() && trimmed(unfinished).len() <= LIMIT),
    }
    assert!(lines.len() <= fits.len() + 1);
}

/// The lines up to the first that ends the connection, and whether bytes wait.
fn read(mut lines: Lines, bytes: &[u8], size: usize) -> (Vec<Line>, bool) {
    let mut read = Vec::new();
    for piece in bytes.chunks(size) {
        lines.push(piece);
        while let Some(line) = lines.next_line() {
            let is_last = !matches!(line, Line::Complete(_));
            read.push(line);
            if is_last {
                return (read, !lines.is_empty());
            }
        }
    }
    (read, !lines.is_empty())
}
