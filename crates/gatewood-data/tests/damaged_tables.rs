//! Whatever bytes come, they are read or refused: never a panic, never much memory. The fuzz targets start from these files.

use gatewood::encode::{EncodeSettings, Encoder};
use gatewood_data::read::{Format, ReadOptions, read_rows_from};

/// Reads bytes as a format, and encodes what comes out.
fn try_read(bytes: &[u8], format: Format) {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let Ok(rows) = read_rows_from(&mut &bytes[..], "rows", &options) else { return };
    if let Ok((encoder, _)) = Encoder::fit(&rows.table, &EncodeSettings::default()) {
        let bits = encoder.transform(&rows.table).expect("the rows it was fitted to");
        bits.view().validate().expect("whole bits");
    }
}

fn files(ending: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/tests/tables", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_str().is_some_and(|path| path.ends_with(ending)));
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Cuts a file everywhere, and changes it in many places.
fn damage(bytes: &[u8], format: Format) {
    for cut in 0..bytes.len() {
        try_read(&bytes[..cut], format);
    }
    let mut state = 1u64;
    for round in 0..2000 {
        let mut changed = bytes.to_vec();
        for _ in 0..=round % 3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % changed.len();
            changed[at] = match state >> 24 & 3 {
                0 => 0xff,
                1 => changed[at] ^ 1 << (state >> 20 & 7),
                _ => (state >> 8) as u8,
            };
        }
        try_read(&changed, format);
    }
}

#[test]
fn delimited_text() {
    files(".csv").iter().for_each(|bytes| damage(bytes, Format::Csv));
    damage(b"a,\"b\"\n1,\"x\"\"\n,y\"\n2,?\n2020-01-01T00:00,\"\"\n", Format::Csv);
}

#[test]
fn libsvm_text() {
    damage(b"1 1:0.5 3:2 # note\n\n-1 qid:4 2:1\n1 3:nan 7:1e400\n", Format::Libsvm);
}

#[test]
fn numpy_archives() {
    files(".npz").iter().for_each(|bytes| damage(bytes, Format::Npz));
}

#[test]
fn arrow_data() {
    files(".arrow").iter().for_each(|bytes| damage(bytes, Format::Arrow));
}

#[test]
fn every_file_as_every_format() {
    for bytes in files("") {
        for format in [Format::Csv, Format::Libsvm, Format::Npy, Format::Npz, Format::Arrow, Format::Parquet]
        {
            try_read(&bytes, format);
        }
    }
}
