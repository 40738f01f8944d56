//! The fuzzer's program for this target.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| appduct_fuzz::configs::target(data));
