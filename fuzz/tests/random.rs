//! Operations at random, also where no fuzzer is at hand.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same operations in every run, so that a failure speaks of the change; the fuzzer is there to discover.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 384, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_order_of_operations_keeps_the_promises_of_the_host(bytes in prop::collection::vec(any::<u8>(), 0..900)) {
        appduct_fuzz::host_operations::target(&bytes);
    }

    #[test]
    fn any_order_of_inputs_keeps_the_promises_of_the_core(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        appduct_fuzz::core_operations::target(&bytes);
    }
}
