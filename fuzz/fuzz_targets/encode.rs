//! Any delimited text that is a table can be encoded, and the encoder survives being saved.
#![no_main]

use gatewood::encode::{EncodeSettings, Encoder};
use gatewood_data::read::{Format, ReadOptions, read_rows_from};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let Ok(rows) = read_rows_from(&mut &bytes[..], "rows", &options) else { return };
    let Ok((encoder, _)) = Encoder::fit(&rows.table, &EncodeSettings::default()) else { return };
    let bits = encoder.transform(&rows.table).expect("the rows it was fitted to");
    bits.view().validate().expect("whole bits");
    let saved = serde_json::to_string(&encoder).expect("plain data");
    let loaded: Encoder = serde_json::from_str(&saved).expect("what was saved");
    loaded.validate().expect("a good encoder");
    assert_eq!(loaded, encoder);
});
