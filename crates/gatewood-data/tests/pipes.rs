//! A source is opened once: rows that come through a pipe are all there, packed or not.
#![cfg(unix)]

use std::io::Write;
use std::path::Path;

use gatewood_data::{DataSpec, Dataset, LoadOptions, load};

/// What comes of bytes that are written to a pipe of this name, a little at a time.
fn through_pipe(folder: &Path, name: &str, bytes: &[u8]) -> Dataset {
    let pipe = folder.join(name);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut end = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
            // The first bytes alone, as a slow program writes them.
            let (first, rest) = bytes.split_at(3);
            end.write_all(first).unwrap();
            end.flush().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
            // Nobody reads on when the reader gave up; the test fails there.
            let _ = end.write_all(rest);
        });
        let spec: DataSpec = pipe.to_str().unwrap().parse().unwrap();
        load(&spec, &LoadOptions::default()).unwrap()
    })
}

fn from_file(folder: &Path, name: &str, bytes: &[u8]) -> Dataset {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    load(&path.to_str().unwrap().parse().unwrap(), &LoadOptions::default()).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn all_rows_come_through_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = (0..60_000u32).map(|row| format!("{},{},{}\n", row % 97, row % 1013, row % 2));
    let csv = format!("a,b,label\n{}", rows.collect::<String>()).into_bytes();
    let mut pla = String::from(".i 3\n.o 1\n.type fr\n");
    (0..40_000).for_each(|row| pla += &format!("{:03b} {}\n", row % 8, u8::from(row % 8 > 3)));
    let mut cifar = Vec::new();
    (0..50u8).for_each(|row| {
        cifar.push(row % 10);
        cifar.extend((0..3072).map(|pixel| (pixel as u8).wrapping_mul(row)));
    });
    let svm: String = (0..20_000).map(|row| format!("{} 1:{} 2:{}\n", row % 2, row % 7, row % 11)).collect();
    let parquet =
        std::fs::read(format!("{}/tests/tables/snappy.parquet", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut cases = vec![
        ("rows.csv", csv, 60_000),
        ("rows.pla", pla.clone().into_bytes(), 40_000),
        ("rows.bin", cifar, 50),
        ("rows.libsvm", svm.into_bytes(), 20_000),
        ("no-ending", pla.into_bytes(), 40_000),
    ];
    if cfg!(feature = "parquet") {
        cases.push(("rows.parquet", parquet, 0));
    }
    for (name, bytes, rows) in cases {
        let expected = from_file(folder, &format!("file-{name}"), &bytes);
        assert!(rows == 0 || expected.train.rows() == rows, "{name}");
        let piped = through_pipe(folder, &format!("pipe-{name}"), &bytes);
        // Shown, since a gap is not equal to itself.
        assert!(format!("{:?}", piped.train) == format!("{:?}", expected.train), "{name}");
        let packed = through_pipe(folder, &format!("packed-{name}"), &gzip(&bytes));
        assert!(format!("{:?}", packed.train) == format!("{:?}", expected.train), "{name}, packed");
    }
}
