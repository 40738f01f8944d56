//! Tokens: who may show which, and where none may be seen.

use super::{Oracle, Promise};

/// The length of every token's text, and of nothing else that is shown but digests.
const TOKEN_LENGTH: usize = 43;

impl Oracle {
    /// A token exists from here on.
    pub(crate) fn token_made(&mut self, token: &str) {
        let is_new = self.tokens.insert(token.to_owned());
        self.require(is_new, Promise::NobodyElse, || "a token is made twice".to_owned());
    }

    /// `text` is not a claim, a resume, an ack or a link, so no token may be in it.
    pub(crate) fn shows(&mut self, what: &str, text: &str) {
        let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let mut start = 0;
        let bytes = text.as_bytes();
        for at in 0..=bytes.len() {
            if at < bytes.len() && is_of_token(bytes[at]) {
                continue;
            }
            if at - start >= TOKEN_LENGTH {
                let run = &text[start..at];
                let found = (0..=run.len() - TOKEN_LENGTH).any(|from| {
                    run.get(from..from + TOKEN_LENGTH).is_some_and(|candidate| self.tokens.contains(candidate))
                });
                self.require(!found, Promise::NobodyElse, || format!("a token shows in {what}"));
            }
            start = at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_wherever_it_stands_and_other_texts_are_not_taken_for_one() {
        let token = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ";
        let shows = |text: &str| {
            let mut oracle = Oracle::new(0, 0, false);
            oracle.token_made(token);
            oracle.shows("a text", text);
            oracle.verdict.is_some()
        };
        assert!(shows(token));
        assert!(shows(&format!("x {token}")));
        assert!(shows(&format!("\"xx{token}y\", z")));
        assert!(!shows(&token[1..]));
        assert!(!shows(&format!("é {} {}", &token[..20], &token[20..])));
        assert!(!shows(&"a".repeat(200)));
    }
}
