//! Any bytes as a model file, with a checksum that fits: no panic, and a model that loads can be saved again.
#![no_main]

use gatewood::model::Model;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut bytes = data.to_vec();
    let checksum = crc32fast::hash(&bytes).to_le_bytes();
    bytes.extend_from_slice(&checksum);
    if let Ok(model) = Model::from_bytes(&bytes) {
        assert_eq!(Model::from_bytes(&model.to_bytes()).expect("what was written is read"), model);
    }
});
