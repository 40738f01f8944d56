//! Bytes into lines, and lines into messages.

use memchr::memchr;

use super::super::message::{self, Input, MAX_BYTES};

/// How much of the beginning and of the end of a longer line is kept: many clients write the id last.
const KEPT_BYTES: usize = 1024;

/// Bytes that become lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// Where the search for the end of the first line goes on.
    searched: usize,
    /// The beginning and the latest end of a line that is too long.
    too_long: Option<(Vec<u8>, Vec<u8>)>,
}

impl Lines {
    /// Adds bytes as they came.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next line that says something.
    pub(super) fn next_input(&mut self) -> Option<Input> {
        loop {
            let Some(end) = memchr(b'\n', &self.buffer[self.searched..]).map(|at| at + self.searched) else {
                self.searched = self.buffer.len();
                self.give_up_if_too_long();
                return None;
            };
            let rest = self.buffer.split_off(end + 1);
            let line = std::mem::replace(&mut self.buffer, rest);
            self.searched = 0;
            let line = line.trim_ascii();
            let input = match self.too_long.take() {
                Some((head, tail)) => Some(too_long(&head, &[&tail, line].concat())),
                None if line.len() > MAX_BYTES => Some(too_long(line, line)),
                None => input(line),
            };
            if input.is_some() {
                return input;
            }
        }
    }

    fn give_up_if_too_long(&mut self) {
        if self.buffer.len() <= MAX_BYTES && self.too_long.is_none() {
            return;
        }
        let (head, mut tail) = self.too_long.take().unwrap_or_else(|| (self.buffer[..KEPT_BYTES].to_vec(), Vec::new()));
        tail.append(&mut self.buffer);
        let tail = tail.split_off(tail.len().saturating_sub(KEPT_BYTES));
        self.too_long = Some((head, tail));
        self.searched = 0;
    }
}

fn input(line: &[u8]) -> Option<Input> {
    if line.is_empty() { None } else { message::input(&message::repaired(line)) }
}

fn too_long(head: &[u8], tail: &[u8]) -> Input {
    message::too_long(&head[..head.len().min(KEPT_BYTES)], &tail[tail.len().saturating_sub(KEPT_BYTES)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<Input> {
        let mut lines = Lines::default();
        lines.push(bytes);
        std::iter::from_fn(|| lines.next_input()).collect()
    }

    #[test]
    fn lines_that_say_nothing_are_dropped() {
        let text = "\n  \n{\"jsonrpc\":\"2.0\",\"method\":3}\n{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":1}\n";
        assert!(lines(text.as_bytes()).is_empty());
    }

    #[test]
    fn messages_come_whole_however_they_are_cut() {
        let text = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n";
        for size in 1..text.len() {
            let mut reader = Lines::default();
            let mut count = 0;
            for part in text.as_bytes().chunks(size) {
                reader.push(part);
                while let Some(input) = reader.next_input() {
                    assert!(matches!(input, Input::Message(_)));
                    count += 1;
                }
            }
            assert_eq!(count, 2, "{size}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_wherever_its_id_stands() {
        let filler = "x".repeat(MAX_BYTES);
        for line in [
            format!("{{\"id\":5,\"method\":\"tools/call\",\"params\":{{\"a\":\"{filler}\"}}}}\n"),
            format!("{{\"method\":\"tools/call\",\"params\":{{\"a\":\"{filler}\"}},\"id\":5}}\n"),
        ] {
            let mut reader = Lines::default();
            let mut inputs = Vec::new();
            for part in line.as_bytes().chunks(CHUNK) {
                reader.push(part);
                inputs.extend(std::iter::from_fn(|| reader.next_input()));
            }
            let [Input::Refused(reply)] = &inputs[..] else { panic!("{} inputs", inputs.len()) };
            assert!(reply.contains("\"id\":5") && reply.contains("-32600"), "{reply}");
        }
    }

    const CHUNK: usize = 64 * 1024;
}
