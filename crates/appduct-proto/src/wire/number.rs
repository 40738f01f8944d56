//! Numbers that the wire carries for people: progress and app time.

use std::fmt;

use serde::{Serialize, Serializer};

/// A finite number that is written as JavaScript writes it where that matters: `3`, not `3.0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl Number {
    /// The number as an integer, where it is a whole one that a float holds exactly.
    fn whole(self) -> Option<i64> {
        /// Beyond it not every whole number has a float of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        (self.0.fract() == 0.0 && self.0.abs() <= EXACT).then_some(self.0 as i64)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole() {
            Some(whole) => fmt::Display::fmt(&whole, f),
            // `Debug` of a float is JSON: it has an exponent where the number is very large or small.
            None => fmt::Debug::fmt(&self.0, f),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.whole() {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_no_fraction() {
        for (number, text) in [(3.0, "3"), (-0.0, "0"), (0.33, "0.33"), (1_700_000_000_000.0, "1700000000000")] {
            assert_eq!(serde_json::to_string(&Number(number)).unwrap(), text);
            assert_eq!(Number(number).to_string(), text);
        }
    }
}
