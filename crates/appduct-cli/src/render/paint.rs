//! Colour: each colour is closed by its own end, so that it nests in whatever surrounds it.

/// Colours text, or does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(bool);

impl Paint {
    /// Colours where `on`.
    pub(super) fn new(on: bool) -> Self {
        Self(on)
    }

    /// Whether it colours.
    pub(super) fn is_on(self) -> bool {
        self.0
    }

    /// Titles of what went well.
    pub(super) fn green(self, text: &str) -> String {
        self.wrap("32", "39", text)
    }

    /// Group headings.
    pub(super) fn cyan(self, text: &str) -> String {
        self.wrap("36", "39", text)
    }

    /// Notes and warnings.
    pub(super) fn yellow(self, text: &str) -> String {
        self.wrap("33", "39", text)
    }

    /// The title of what went wrong.
    pub(super) fn red(self, text: &str) -> String {
        self.wrap("31", "39", text)
    }

    /// What is of no great weight.
    pub(super) fn dim(self, text: &str) -> String {
        self.wrap("2", "22", text)
    }

    fn wrap(self, open: &str, close: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{open}m{text}\u{1b}[{close}m") } else { text.to_owned() }
    }
}
