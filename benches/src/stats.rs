//! Durations, summed up.

use std::time::Duration;

use anyhow::Result;
use hdrhistogram::Histogram;

/// Durations of one kind, to three digits.
#[derive(Debug)]
pub(crate) struct Durations(Histogram<u64>);

impl Durations {
    pub(crate) fn new() -> Self {
        Self(Histogram::new(3).expect("three digits are between zero and five"))
    }

    pub(crate) fn add(&mut self, duration: Duration) -> Result<()> {
        Ok(self.0.record(u64::try_from(duration.as_nanos())?)?)
    }

    /// What `percent` of them are not above.
    pub(crate) fn percentile(&self, percent: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_percentile(percent))
    }

    pub(crate) fn median(&self) -> Duration {
        self.percentile(50.0)
    }
}

/// The one in the middle. Of an even number, the upper one.
pub(crate) fn median<T: Copy + PartialOrd>(values: &[T]) -> Option<T> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|left, right| left.partial_cmp(right).unwrap_or(std::cmp::Ordering::Equal));
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4, 1, 2, 3]), Some(3));
        assert_eq!(median::<u8>(&[]), None);
    }
}
