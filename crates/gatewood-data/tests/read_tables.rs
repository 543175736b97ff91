//! The same rows in every format, and the ways CSV is written.

use gatewood::encode::{Kind, Table, Value};
use gatewood_data::read::{Format, ReadOptions, read_rows, read_rows_from, read_table};

fn file(name: &str) -> String {
    format!("{}/tests/tables/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn csv(text: &str) -> Table {
    csv_with(text, &ReadOptions::default())
}

fn csv_with(text: &str, options: &ReadOptions) -> Table {
    let options = ReadOptions { format: Some(Format::Csv), ..options.clone() };
    read_rows_from(&mut text.as_bytes(), "a.csv", &options).unwrap().table
}

fn assert_same(table: &Table, expected: &Table, name: &str) {
    assert_eq!((table.rows(), table.columns()), (expected.rows(), expected.columns()), "{name}");
    for column in 0..table.columns() {
        assert_eq!(table.name(column), expected.name(column), "{name}");
        assert_eq!(table.kind(column), expected.kind(column), "{name}, {}", table.name(column));
        for row in 0..table.rows() {
            assert_eq!(
                table.value(row, column),
                expected.value(row, column),
                "{name}, row {row}, {}",
                table.name(column)
            );
        }
    }
}

#[test]
fn the_same_rows_in_every_format() {
    let expected = read_table(&file("rows.csv"), &ReadOptions::default()).unwrap();
    let kinds: Vec<Kind> = (0..expected.columns()).map(|column| expected.kind(column)).collect();
    assert_eq!(
        kinds,
        [Kind::Number, Kind::Number, Kind::Text, Kind::Text, Kind::Date, Kind::Date, Kind::Number]
    );
    let mut names = vec!["lz4.arrow", "dictionary.arrow", "stream.arrow", "view.arrow"];
    if cfg!(feature = "parquet") {
        names.extend(["snappy.parquet", "zstd.parquet", "gzip.parquet", "lz4.parquet"]);
    }
    for name in names {
        let table = read_table(&file(name), &ReadOptions::default()).unwrap();
        assert_same(&table, &expected, name);
    }
}

#[test]
fn numpy_archives_bring_their_label() {
    for name in ["plain.npz", "packed.npz", "streamed.npz"] {
        let rows = read_rows(&file(name), &ReadOptions::default()).unwrap();
        let (label, column) = rows.label.expect("a label");
        assert_eq!(
            (label.as_str(), column.get(0), column.get(1)),
            ("y", Value::Text("no"), Value::Text("yes"))
        );
        assert_eq!((rows.table.rows(), rows.table.columns()), (2, 3));
        assert_eq!(rows.table.value(0, 1), Value::Number(-1.0));
        assert_eq!(rows.table.value(1, 1), Value::Missing);
        let table = read_table(&file(name), &ReadOptions::default()).unwrap();
        assert_eq!((table.columns(), table.name(0).as_ref(), table.name(1).as_ref()), (4, "y", "column_1"));
    }
    let train = ReadOptions { array: Some("x_train".into()), ..ReadOptions::default() };
    let rows = read_rows(&file("several.npz"), &train).unwrap();
    assert_eq!((rows.table.rows(), rows.label.unwrap().0.as_str()), (2, "y_train"));
}

/// A numpy array with this header and these bytes.
fn npy(descr: &str, fortran: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

#[test]
fn numpy_arrays_of_every_type() {
    let read =
        |bytes: Vec<u8>| read_rows_from(&mut &bytes[..], "a.npy", &ReadOptions::default()).unwrap().table;
    let numbers = |table: &Table| {
        let cells = (0..table.rows()).flat_map(|row| (0..table.columns()).map(move |column| (row, column)));
        cells
            .map(|(row, column)| match table.value(row, column) {
                Value::Number(number) => number,
                Value::Pixel(byte) => byte.into(),
                Value::Bit(bit) => u8::from(bit).into(),
                _ => f64::NAN,
            })
            .collect::<Vec<f64>>()
    };
    let f4: Vec<u8> =
        [1.5f32, -2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(numbers(&read(npy("<f4", false, "(2, 3)", &f4))), [1.5, -2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(numbers(&read(npy("<f4", true, "(2, 3)", &f4))), [1.5, 3.0, 5.0, -2.0, 4.0, 6.0]);
    assert_eq!(numbers(&read(npy(">i2", false, "(2,)", &[0, 1, 0xff, 0xff]))), [1.0, -1.0]);
    assert_eq!(numbers(&read(npy("|i1", false, "(3,)", &[0, 127, 0x80]))), [0.0, 127.0, -128.0]);
    let pixels = read(npy("|u1", false, "(2, 2, 2)", &[1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!((pixels.kind(0), pixels.columns()), (Kind::Pixel, 4));
    assert_eq!(numbers(&pixels), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(numbers(&read(npy("|u1", true, "(2, 2)", &[1, 2, 3, 4]))), [1.0, 3.0, 2.0, 4.0]);
    let bits = read(npy("|b1", false, "(2, 2)", &[1, 0, 0, 1]));
    assert_eq!((bits.kind(0), numbers(&bits)), (Kind::Bit, vec![1.0, 0.0, 0.0, 1.0]));
    let dates =
        read(npy("<M8[D]", false, "(2,)", &[&1i64.to_le_bytes()[..], &i64::MIN.to_le_bytes()].concat()));
    assert_eq!(
        (dates.kind(0), dates.value(0, 0), dates.value(1, 0)),
        (Kind::Date, Value::Number(86_400.0), Value::Missing)
    );
    assert_eq!(read(npy("|S3", false, "(2,)", b"ab\0abc")).value(0, 0), Value::Text("ab"));
}

#[test]
fn csv_in_many_ways() {
    let same = [
        "a,b\n1,x\n2,y\n",
        "\u{feff}a,b\n1,x\n2,y",
        "a,b\r\n1,x\r\n2,y\r\n",
        "\n\na;b\n\n1;x\n2;y\n\n",
        "a\tb\n1\tx\n2\ty\n",
        "\"a\",\"b\"\n\"1\",\"x\"\n 2 , \"y\" \n",
        "a|b\n1|x\n2|y\n",
        "a  b\n1   x \n2 y\n",
    ];
    for text in same {
        let table = csv(text);
        assert_same(&table, &csv(same[0]), text);
        assert_eq!((table.rows(), table.kind(0), table.kind(1)), (2, Kind::Number, Kind::Text), "{text:?}");
    }
    let table = csv("a,b,a,,a_2\n1,2,3,4,5\n");
    let names: Vec<_> = (0..5).map(|column| table.name(column)).collect();
    assert_eq!(names, ["a", "b", "a_3", "column_4", "a_2"]);
    let table = csv("text,n\n\"two\nlines, \"\"quoted\"\"\",1\nx,2\n");
    assert_eq!(table.value(0, 0), Value::Text("two\nlines, \"quoted\""));
    assert_eq!(csv("5\" pipe,1\n6\" pipe,2\n").value(1, 0), Value::Text("6\" pipe"));
    let skip = ReadOptions { skip_lines: 1, ..ReadOptions::default() };
    assert_eq!(csv_with("|note, with, commas\n1,2\n", &skip).columns(), 2);
}

#[test]
fn csv_errors_far_into_a_text() {
    let error = |text: Vec<u8>| {
        let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
        read_rows_from(&mut &text[..], "a.csv", &options).unwrap_err().to_string()
    };
    // Many pieces of text, which are taken apart while the columns take those before.
    let start = || "a,b\n".bytes().chain(b"1,word\n".repeat(100_000)).collect::<Vec<u8>>();
    assert_eq!(error([start(), b"1,2,3\n".to_vec()].concat()), "line 100002: 3 fields, where line 1 has 2");
    // The first of two errors is told, be it by row or by column.
    let text = [start(), b"1,\xff\n".to_vec(), b"2,\"open\n".to_vec()].concat();
    assert_eq!(error(text), "line 100002, column \"b\": \"\\xff\" is not UTF-8 text");
    let text = [start(), b"1,\xfe\n".to_vec(), b"\xff,word\n".to_vec(), start()].concat();
    assert_eq!(error(text), "line 100002, column \"b\": \"\\xfe\" is not UTF-8 text");
    // A million columns and no more.
    let wide = "1,".repeat(1 << 20) + "1\n";
    assert_eq!(error(wide.into_bytes()), "line 1: more than 1048576 columns, which is the limit");
}

#[test]
fn csv_numbers_and_gaps() {
    let table = csv("n\n1e400\n-inf\nNA\n?\n\"\"\n1e-400\n+.5\nNaN\n5.\n");
    let values: Vec<Value<'_>> = (0..table.rows()).map(|row| table.value(row, 0)).collect();
    use Value::{Missing, Number};
    let infinity = f64::INFINITY;
    assert_eq!(
        values,
        [
            Number(infinity),
            Number(-infinity),
            Missing,
            Missing,
            Number(0.0),
            Number(0.5),
            Missing,
            Number(5.0)
        ]
    );
    let gaps = csv("a,b\nNA,1\n,2\nx,3\n");
    assert_eq!((gaps.value(0, 0), gaps.value(1, 0), gaps.value(2, 0)), (Missing, Missing, Value::Text("x")));
    let as_text = ReadOptions { kinds: [("a".to_owned(), Kind::Text)].into(), ..ReadOptions::default() };
    assert_eq!(csv_with("a,b\n01,1\n2,2\n", &as_text).value(0, 0), Value::Text("01"));
}

#[test]
fn csv_of_any_size() {
    // More distinct numbers than are kept as codes; pieces of a file; a wide file; a huge field.
    let mut text = String::from("n,m\n");
    for row in 0..70_000 {
        text.push_str(&format!("{},{}\n", f64::from(row) / 3.0, row % 5));
    }
    let table = csv(&text);
    assert_eq!(table.rows(), 70_000);
    for row in (0..70_000).step_by(997) {
        assert_eq!(table.value(row, 0), Value::Number(row as f64 / 3.0));
        assert_eq!(table.value(row, 1), Value::Number((row % 5) as f64));
    }
    let wide = vec!["7"; 100_000].join(",");
    assert_eq!(csv(&format!("{wide}\n{wide}\n")).columns(), 100_000);
    let huge = "x".repeat(3 << 20);
    assert!(csv(&format!("a,b\n{huge},1\ny,2\n")).value(0, 0) == Value::Text(&huge));
}

#[test]
fn libsvm_text() {
    let text = "1 1:0.5 3:2 # note\n\n-1 qid:4 2:1\n1 3:nan\n";
    let rows = read_rows_from(&mut text.as_bytes(), "a.txt", &ReadOptions::default()).unwrap();
    assert_eq!(rows.label.as_ref().unwrap().1.get(1), Value::Number(-1.0));
    let table = rows.table;
    assert_eq!((table.rows(), table.columns(), table.name(0).as_ref()), (3, 3, "feature_1"));
    assert_eq!(table.value(0, 0), Value::Number(0.5));
    assert_eq!(table.value(1, 2), Value::Number(0.0));
    assert_eq!(table.value(2, 2), Value::Missing);
    let asked =
        ReadOptions { kinds: [("feature_5".to_owned(), Kind::Number)].into(), ..ReadOptions::default() };
    let rows = read_rows_from(&mut "0 0:1 1:1\n".as_bytes(), "a.svm", &asked).unwrap();
    assert_eq!((rows.table.columns(), rows.table.name(0).as_ref()), (6, "feature_0"));
}
