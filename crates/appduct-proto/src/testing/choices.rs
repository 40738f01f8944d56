//! Bytes as a row of choices, so that whoever makes bytes can drive a run.

/// Choices that bytes make. When the bytes are used up, every choice is the first one.
#[derive(Debug)]
pub struct Choices<'a> {
    rest: &'a [u8],
}

impl<'a> Choices<'a> {
    /// The choices that `bytes` make.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether the bytes are used up.
    #[must_use]
    pub fn are_over(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        first
    }

    /// A number below `end`, which is greater than zero. It takes as few bytes as can hold it, so that a change of one
    /// byte changes one choice.
    pub fn below(&mut self, end: u64) -> u64 {
        let mut number = u64::from(self.byte());
        let mut reach = 256;
        while reach < end {
            number = number << 8 | u64::from(self.byte());
            reach <<= 8;
        }
        number % end
    }

    /// A place in something that has `length` of them, at least one.
    pub fn place(&mut self, length: usize) -> usize {
        self.below(length.max(1) as u64) as usize
    }

    /// One of two.
    pub fn flag(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    /// One of several; `None` of none.
    pub fn pick<'b, T>(&mut self, among: &'b [T]) -> Option<&'b T> {
        among.get(self.place(among.len()))
    }

    /// The next bytes, `length` of them at most.
    pub fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        taken
    }
}
