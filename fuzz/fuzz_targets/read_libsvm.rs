//! Any bytes read as libsvm are read or refused.
#![no_main]

use gatewood_data::read::{Format, ReadOptions, read_rows_from};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { format: Some(Format::Libsvm), ..ReadOptions::default() };
    drop(read_rows_from(&mut &bytes[..], "rows", &options));
});
