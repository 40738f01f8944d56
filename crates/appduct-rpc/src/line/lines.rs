//! Bytes into lines.

use bytes::{Bytes, BytesMut};

/// Takes bytes as a socket gives them and gives lines: no newline, no `\r` before it, no empty ones. Characters that a
/// read cut in two come out whole. The work is linear in the bytes, however small the reads.
#[derive(Debug)]
pub struct Lines {
    buffer: BytesMut,
    /// Bytes of `buffer` that are known to hold no newline.
    searched: usize,
    max_bytes: Option<usize>,
}

/// What the bytes give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line.
    Complete(Bytes),
    /// A whole line over the limit: answer that it is too long, then drop the connection.
    TooLong,
    /// More bytes than the limit without a newline: drop the connection.
    Endless,
}

impl Lines {
    /// Lines of at most `max_bytes`, `\r` and `\n` not counted.
    #[must_use]
    pub fn bounded(max_bytes: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, max_bytes: Some(max_bytes) }
    }

    /// Lines of any length.
    #[must_use]
    pub fn unbounded() -> Self {
        Self { buffer: BytesMut::new(), searched: 0, max_bytes: None }
    }

    /// Takes bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Where a reader may append bytes itself. It must not change those that are there.
    pub fn tail(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Whether bytes of an unfinished line are waiting.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The next line; `None` until more bytes come. After `TooLong` or `Endless` nothing more is to be expected.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            let Some(found) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
                self.searched = self.buffer.len();
                // A `\r` at the end is not counted: its `\n` may be still to come.
                let counted = self.searched - usize::from(self.buffer.last() == Some(&b'\r'));
                let endless = self.max_bytes.is_some_and(|max| counted > max);
                return endless.then_some(Line::Endless);
            };
            let end = self.searched + found;
            self.searched = 0;
            let mut line = self.buffer.split_to(end + 1);
            line.truncate(end);
            if line.last() == Some(&b'\r') {
                line.truncate(end - 1);
            }
            if self.max_bytes.is_some_and(|max| line.len() > max) {
                return Some(Line::TooLong);
            }
            if !line.is_empty() {
                return Some(Line::Complete(line.freeze()));
            }
        }
    }
}
