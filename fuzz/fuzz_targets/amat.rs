//! Any text as an `.amat` file: no panic, and an image for each label.
#![no_main]

use gatewood_data::read::read_amat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(images) = read_amat(&mut &data[..]) {
        assert_eq!(images.bytes.len(), images.labels.len() * images.pixels);
    }
});
