//! Any text as a PLA file: no panic, no more rows than the limit, and a class for each row.
#![no_main]

use gatewood_data::read::{PLA_ROWS, read_pla};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(pla) = read_pla(&mut &data[..]) {
        assert_eq!((pla.bits.rows(), pla.bits.columns()), (pla.classes.len(), pla.inputs.len()));
        assert!(pla.classes.len() <= PLA_ROWS);
        pla.bits.view().validate().unwrap();
    }
});
