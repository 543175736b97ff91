//! Any bytes as an IDX file: no panic, no memory beyond what the file has, and a whole number of rows.
#![no_main]

use gatewood_data::read::read_idx;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(idx) = read_idx(&mut &data[..]) {
        assert_eq!(idx.bytes.len(), idx.rows() * idx.row_bytes());
    }
});
