//! Texts in a stream of bytes of any length.

use std::io::{self, ErrorKind, Read};

use memchr::memmem::Finder;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Looks for texts in one stream after the other, and remembers which it has seen.
pub(super) struct Scan {
    needles: Vec<Needle>,
    /// The longest needle but one byte: what of a chunk can be the start of a match in the next.
    overlap: usize,
    buffer: Vec<u8>,
}

struct Needle {
    finder: Finder<'static>,
    is_found: bool,
}

impl Scan {
    /// A search for these texts, none of them empty.
    pub(super) fn new<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let needle = |text: &[u8]| Needle { finder: Finder::new(text).into_owned(), is_found: false };
        let needles: Vec<_> = texts.into_iter().map(needle).collect();
        let longest = needles.iter().map(|needle| needle.finder.needle().len()).max().unwrap_or(1);
        Self { needles, overlap: longest - 1, buffer: vec![0; longest - 1 + CHUNK_BYTES] }
    }

    /// Searches a stream to its end. `on_bytes` is told how much each read gave, and may end it.
    pub(super) fn stream(
        &mut self,
        mut stream: impl Read,
        mut on_bytes: impl FnMut(u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut kept = 0;
        loop {
            let read = match stream.read(&mut self.buffer[kept..]) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            on_bytes(read as u64)?;
            let filled = kept + read;
            for needle in self.needles.iter_mut().filter(|needle| !needle.is_found) {
                needle.is_found = needle.finder.find(&self.buffer[..filled]).is_some();
            }
            kept = filled.min(self.overlap);
            self.buffer.copy_within(filled - kept..filled, 0);
        }
    }

    /// Which of the texts were seen, in the order in which they were given.
    pub(super) fn found(&self) -> impl Iterator<Item = bool> {
        self.needles.iter().map(|needle| needle.is_found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes in pieces of one size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let taken = self.0.len().min(self.1).min(buffer.len());
            buffer[..taken].copy_from_slice(&self.0[..taken]);
            self.0 = &self.0[taken..];
            Ok(taken)
        }
    }

    fn found(texts: &[&str], streams: &[&[u8]], piece: usize) -> Vec<bool> {
        let mut scan = Scan::new(texts.iter().map(|text| text.as_bytes()));
        for stream in streams {
            scan.stream(Pieces(stream, piece), |_| Ok(())).unwrap();
        }
        scan.found().collect()
    }

    #[test]
    fn a_text_is_found_however_the_stream_is_cut() {
        for piece in 1..20 {
            assert_eq!(found(&["needle", "need", "dle!", "x"], &[b"a needle!"], piece), [true, true, true, false]);
        }
    }

    #[test]
    fn a_text_is_found_across_the_buffers_edge() {
        for before in CHUNK_BYTES - 8..CHUNK_BYTES + 16 {
            let mut bytes = vec![b'.'; before];
            bytes.extend(b"needle");
            bytes.extend(vec![b'.'; 2 * CHUNK_BYTES]);
            assert_eq!(found(&["needle", "a much longer text"], &[&bytes], usize::MAX), [true, false], "{before}");
        }
    }

    #[test]
    fn streams_do_not_run_into_each_other() {
        assert_eq!(found(&["needle"], &[b"need", b"le"], 3), [false]);
        assert_eq!(found(&["needle"], &[b"needle", b"", b"other"], 3), [true]);
    }

    #[test]
    fn whoever_counts_may_end_it() {
        let mut scan = Scan::new([b"x".as_slice()]);
        let mut total = 0;
        let ended = scan.stream(Pieces(&[b'x'; 100], 10), |bytes| {
            total += bytes;
            if total > 30 { Err(io::Error::other("enough")) } else { Ok(()) }
        });
        assert_eq!((ended.unwrap_err().to_string(), total), ("enough".to_owned(), 40));
    }
}
