//! Apps and their daemon in any weather.

use appduct_proto::testing::Choices;
use appduct_proto::testing::storm::storm;

/// The first byte is a seed, the others are the weather.
pub fn target(data: &[u8]) {
    let mut choices = Choices::new(data);
    let seed = u64::from(choices.byte());
    storm(seed, &mut choices);
}
