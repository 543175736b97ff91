//! Any bytes as a CIFAR file: no panic, and an image for each label.
#![no_main]

use gatewood_data::read::{CIFAR_PIXELS, Cifar, read_cifar};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut images = Cifar::default();
    if read_cifar(&mut &data[..], &|label| label != 3, &mut images).is_ok() {
        assert_eq!(images.bytes.len(), images.labels.len() * CIFAR_PIXELS);
        assert!(!images.labels.contains(&3));
    }
});
