//! FairPlay: a binary from the App Store is encrypted, and no text in it can be found.

use std::io::{self, Read};

/// Load commands take a few kilobytes; what is longer is not looked at beyond this.
const HEAD_BYTES: usize = 1 << 20;
/// The most architectures that one file has. A Java class has the same first bytes, and more than this in place of the count.
const MAX_SLICES: u32 = 32;

const FAT: u32 = 0xCAFE_BABE;
const FAT_64: u32 = 0xCAFE_BABF;
const THIN: u32 = 0xFEED_FACE;
const THIN_64: u32 = 0xFEED_FACF;
const LC_ENCRYPTION_INFO: u32 = 0x21;
const LC_ENCRYPTION_INFO_64: u32 = 0x2C;

/// Reads a file through, and sees whether it is an encrypted Mach-O binary, or a universal one with such a slice.
pub(super) struct Watched<R> {
    stream: R,
    read_bytes: u64,
    file: Head,
    /// Where each slice of a universal binary begins; `None` until its table is read whole.
    slices: Option<Vec<Head>>,
}

/// The start of a binary.
#[derive(Default)]
struct Head {
    offset: u64,
    bytes: Vec<u8>,
}

impl<R: Read> Watched<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream, read_bytes: 0, file: Head::default(), slices: None }
    }

    /// Whether what was read is encrypted; complete at the end of the file.
    pub(super) fn is_encrypted(&self) -> bool {
        std::iter::once(&self.file)
            .chain(self.slices.iter().flatten())
            .any(|head| is_encrypted(&head.bytes) == Some(true))
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        let chunk = &buffer[..read];
        self.file.take(self.read_bytes, chunk);
        let heads = match &mut self.slices {
            Some(heads) => heads,
            none => match slices(&self.file.bytes) {
                Some(offsets) => {
                    // Slices follow the table, but may begin in what was read together with its end.
                    let known = &self.file.bytes[..self.file.bytes.len().saturating_sub(read)];
                    let head = |offset| {
                        let mut head = Head { offset, bytes: Vec::new() };
                        head.take(0, known);
                        head
                    };
                    none.insert(offsets.into_iter().map(head).collect())
                }
                None => {
                    self.read_bytes += read as u64;
                    return Ok(read);
                }
            },
        };
        for head in heads {
            head.take(self.read_bytes, chunk);
        }
        self.read_bytes += read as u64;
        Ok(read)
    }
}

impl Head {
    /// Takes what `chunk`, which begins at `at` in the file, has of it.
    fn take(&mut self, at: u64, chunk: &[u8]) {
        // What was taken can tell that more is wanted.
        loop {
            let next = self.offset + self.bytes.len() as u64;
            let skipped = next.checked_sub(at).and_then(|skipped| usize::try_from(skipped).ok());
            let new = skipped.and_then(|skipped| chunk.get(skipped..)).unwrap_or_default();
            let room = self.wanted().saturating_sub(self.bytes.len());
            if new.is_empty() || room == 0 {
                return;
            }
            self.bytes.extend(&new[..new.len().min(room)]);
        }
    }

    /// How much of the file says whether it is encrypted, as far as that is known.
    fn wanted(&self) -> usize {
        match header(&self.bytes) {
            Some((length, commands)) => length.saturating_add(commands).min(HEAD_BYTES),
            None if word(&self.bytes, 0).is_none() || is_universal(&self.bytes) => 8 + 32 * MAX_SLICES as usize,
            None => 32,
        }
    }
}

fn is_universal(bytes: &[u8]) -> bool {
    word(bytes, 0).map(u32::swap_bytes).is_some_and(|magic| magic == FAT || magic == FAT_64)
}

/// A little-endian word.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

/// The offsets of a universal binary's slices. None for another file; `None` until the table is there.
fn slices(bytes: &[u8]) -> Option<Vec<u64>> {
    let big = |at| word(bytes, at).map(u32::swap_bytes);
    let is_wide = match big(0)? {
        FAT => false,
        FAT_64 => true,
        _ => return Some(Vec::new()),
    };
    let count = big(4)?;
    if count > MAX_SLICES {
        return Some(Vec::new());
    }
    let offset = |index: u32| {
        let entry = 8 + index as usize * if is_wide { 32 } else { 20 };
        let first = u64::from(big(entry + 8)?);
        if is_wide { Some(first << 32 | u64::from(big(entry + 12)?)) } else { Some(first) }
    };
    (0..count).map(offset).collect()
}

/// The length of a thin binary's header, and that of its load commands.
fn header(bytes: &[u8]) -> Option<(usize, usize)> {
    let length = match word(bytes, 0)? {
        THIN => 28,
        THIN_64 => 32,
        _ => return None,
    };
    Some((length, word(bytes, 20)? as usize))
}

/// Whether a load command of a thin binary says that it is encrypted; `None` for another file.
fn is_encrypted(bytes: &[u8]) -> Option<bool> {
    let (mut at, _) = header(bytes)?;
    for _ in 0..word(bytes, 16)? {
        let (Some(command), Some(length)) = (word(bytes, at), word(bytes, at + 4)) else { break };
        if matches!(command, LC_ENCRYPTION_INFO | LC_ENCRYPTION_INFO_64)
            && word(bytes, at + 16).is_some_and(|id| id != 0)
        {
            return Some(true);
        }
        // Whatever claims to be shorter than a command is none.
        at = at.saturating_add((length as usize).max(8));
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A binary of one architecture.
    fn thin(is_wide: bool, crypt_id: u32) -> Vec<u8> {
        let (magic, command) = if is_wide { (THIN_64, LC_ENCRYPTION_INFO_64) } else { (THIN, LC_ENCRYPTION_INFO) };
        let other: Vec<u32> = [0x19, 4_000].into_iter().chain([0; 998]).collect();
        let encryption = [command, 24, 0x4000, 0x8000, crypt_id, 0];
        let mut words = vec![magic, 0, 0, 2, 2, 4_024, 0];
        words.extend(is_wide.then_some(0));
        words.extend(other.iter().chain(&encryption));
        words.into_iter().flat_map(u32::to_le_bytes).chain([7; 100]).collect()
    }

    /// A universal binary, whose slices lie `gap` bytes apart.
    fn fat(is_wide: bool, slices: &[Vec<u8>], gap: usize) -> Vec<u8> {
        let mut words = vec![if is_wide { FAT_64 } else { FAT }, slices.len() as u32];
        for index in 0..slices.len() as u32 {
            let offset = (index + 1) * gap as u32;
            words.extend(if is_wide { vec![1, 2, 0, offset, 0, 9, 12, 0] } else { vec![1, 2, offset, 9, 12] });
        }
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_be_bytes).collect();
        for (index, slice) in slices.iter().enumerate() {
            bytes.resize((index + 1) * gap, 0);
            bytes.extend(slice);
        }
        bytes
    }

    /// However the file is cut.
    fn check(bytes: &[u8], expected: bool) {
        for piece in [1, 3, 20, 100, 4096, 1 << 20] {
            let mut watched = Watched::new(bytes);
            let mut buffer = vec![0; piece];
            while watched.read(&mut buffer).unwrap() > 0 {}
            assert_eq!(watched.is_encrypted(), expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn a_binary_says_whether_it_is_encrypted() {
        for is_wide in [false, true] {
            check(&thin(is_wide, 0), false);
            check(&thin(is_wide, 1), true);
        }
    }

    #[test]
    fn every_slice_is_looked_at() {
        for is_wide in [false, true] {
            for gap in [1 << 13, 1 << 17] {
                check(&fat(is_wide, &[thin(true, 0), thin(false, 0)], gap), false);
                check(&fat(is_wide, &[thin(true, 0), thin(true, 1)], gap), true);
                check(&fat(is_wide, &[thin(false, 1), thin(true, 0)], gap), true);
            }
        }
    }

    #[test]
    fn whatever_else_a_file_is_it_is_not_encrypted() {
        check(b"", false);
        check(b"<plist/>", false);
        check(&[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52, 1, 2], false);
        for end in 0..100 {
            check(&thin(true, 0)[..end], false);
            check(&fat(false, &[thin(true, 0)], 64)[..end], false);
        }
        let endless: Vec<u8> =
            [THIN_64, 0, 0, 2, u32::MAX, u32::MAX, 0, 0, 1, 0].into_iter().flat_map(u32::to_le_bytes).collect();
        check(&endless, false);
    }
}
