//! `encode` of the library beside this, for cargo-fuzz.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    gatewood_fuzz::targets::encode(data);
});
