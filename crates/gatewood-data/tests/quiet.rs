//! A panic inside the Parquet reader is an error to us, and nothing is printed of it.
#![cfg(feature = "parquet")]

use std::sync::atomic::{AtomicUsize, Ordering};

use gatewood_data::read::{Format, ReadOptions, read_rows_from};

static SEEN: AtomicUsize = AtomicUsize::new(0);

#[test]
fn a_caught_panic_is_not_seen() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        SEEN.fetch_add(1, Ordering::SeqCst);
        usual(panic);
    }));
    let options = ReadOptions { format: Some(Format::Parquet), ..ReadOptions::default() };
    let mut caught = 0;
    for name in ["snappy", "zstd", "gzip", "lz4"] {
        let path = format!("{}/tests/tables/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
        let good = std::fs::read(path).unwrap();
        for at in 0..good.len() {
            for bit in [1u8, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= bit;
                let Err(error) = read_rows_from(&mut &bad[..], "rows", &options) else { continue };
                caught += usize::from(error.to_string() == "the Parquet file is damaged");
            }
        }
    }
    assert!(caught > 0, "no damage made the reader panic: the test tests nothing");
    assert_eq!(SEEN.load(Ordering::SeqCst), 0);
    // Other panics are seen as ever.
    let _ = std::panic::catch_unwind(|| panic!("seen"));
    assert_eq!(SEEN.load(Ordering::SeqCst), 1);
}
