//! Operations at random, also where no fuzzer is at hand.

use proptest::prelude::*;

fn config() -> ProptestConfig {
    ProptestConfig { cases: 384, failure_persistence: None, ..ProptestConfig::default() }
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
