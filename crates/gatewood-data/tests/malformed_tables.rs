//! Tables that do not fit, and what is said of each.

use std::io::Write;

use gatewood::encode::Kind;
use gatewood_data::read::{Format, ReadOptions, read_rows_from, read_table};

fn error(format: Format, bytes: &[u8], options: &ReadOptions) -> String {
    let options = ReadOptions { format: Some(format), ..options.clone() };
    read_rows_from(&mut &bytes[..], "rows", &options).expect_err("malformed").to_string()
}

#[test]
fn csv_files() {
    let numbers: String = (0..200).map(|row| format!("{row}\n")).collect();
    let odd = format!("n\n{numbers}old\n");
    let many: String = (0..70_000).map(|row| format!("{}\n", f64::from(row) / 7.0)).collect();
    let late = format!("n\n{many}old\n");
    let gapped = format!("n,m\n\n\"1\n\",2\n{}old,3\n", numbers.replace('\n', ",5\n"));
    let cases: [(&[u8], &str); 17] = [
        (b"", "there is nothing in it"),
        (b"\n\n\n", "there is nothing in it"),
        (b"\xef\xbb\xbf", "there is nothing in it"),
        (b"\xff\xfea\0", "the text is UTF-16: save it as UTF-8"),
        (b"a,b\n1,2\n3\n", "line 3: 1 field, where line 1 has 2"),
        (b"a,b\n1,2\n\n3,4,5\n", "line 4: 3 fields, where line 1 has 2"),
        (b"a,b\n1,\"2\n3,4\n", "line 2: the quote before \"2\" is never closed"),
        (b"a,b\n1,\"2\"x\n3,4\n", "line 2: \"x\" follows a closing quote"),
        (b"a,b\n1,\"2\n\"x\n3,4\n", "line 3: \"x\" follows a closing quote"),
        (b"a,b\n1,x\xffy\n", "line 2, column \"b\": \"x\\xffy\" is not UTF-8 text"),
        (b"a,b\n1,x\0y\n", "line 2, column \"b\": \"x\\x00y\" holds a zero byte, which text has not"),
        (b"7,x\n3,\xff\n", "line 2, column \"column_2\": \"\\xff\" is not UTF-8 text"),
        (b"a,b\xff\n1,2\n", "line 1: \"b\\xff\" is not UTF-8 text"),
        (
            odd.as_bytes(),
            "line 202, column \"n\": \"old\" is not a number, as nearly all others are; if it is text, say --categorical or --text",
        ),
        (
            late.as_bytes(),
            "line 70002, column \"n\": \"old\" is not a number, as all values above it are; if it is text, say --categorical or --text",
        ),
        (
            gapped.as_bytes(),
            "line 205, column \"n\": \"old\" is not a number, as nearly all others are; if it is text, say --categorical or --text",
        ),
        (b"a,b\n1\n", "line 2: 1 field, where line 1 has 2"),
    ];
    for (bytes, message) in cases {
        assert_eq!(error(Format::Csv, bytes, &ReadOptions::default()), message);
    }
    let with = |change: &dyn Fn(&mut ReadOptions), text: &str| {
        let mut options = ReadOptions::default();
        change(&mut options);
        error(Format::Csv, text.as_bytes(), &options)
    };
    assert_eq!(with(&|o| o.header = Some(true), "a,b\n"), "there are no rows after the header on line 1");
    assert_eq!(with(&|o| o.delimiter = Some(b'"'), "a,b\n"), "a line end or a quote cannot be the delimiter");
    assert_eq!(
        with(&|o| o.delimiter = Some(b'\n'), "a,b\n"),
        "a line end or a quote cannot be the delimiter"
    );
    let kinds = |kind: Kind| move |options: &mut ReadOptions| options.kinds = [("a".into(), kind)].into();
    assert_eq!(with(&kinds(Kind::Number), "a,b\n1,2\nx,3\n"), "line 3, column \"a\": \"x\" is not a number");
    assert_eq!(
        with(&kinds(Kind::Date), "a,b\n2020-01-01,2\n2020-01-32,3\n"),
        "line 3, column \"a\": \"2020-01-32\" is not a date"
    );
    let long = format!("a,b\n1,2\n{},3\n", "x".repeat(50));
    assert_eq!(
        with(&kinds(Kind::Number), &long),
        format!("line 3, column \"a\": \"{}…\" is not a number", "x".repeat(40))
    );
}

#[test]
fn libsvm_files() {
    let cases: [(&[u8], &str); 10] = [
        (b"", "there is nothing in it"),
        (b"# only a note\n", "there is nothing in it"),
        (b"1\n0\n", "no row has a feature"),
        (b"1 1:2\n1:2 2:3\n", "line 2: \"1:2\" stands where the label should be"),
        (b"1 1:2\n0 x\n", "line 2: \"x\" is not a position, a colon and a value"),
        (b"1 x:2\n", "line 1: \"x:2\" does not start with a position"),
        (b"1 -1:2\n", "line 1: \"-1:2\" does not start with a position"),
        (b"1 1:x\n", "line 1: \"1:x\" does not end with a number"),
        (b"1 1:2 1:3\n", "line 1: \"1:3\" gives a position a second time"),
        (b"1 9999999999:1\n", "line 1: \"9999999999:1\" is past the last position there can be, 1048576"),
    ];
    for (bytes, message) in cases {
        assert_eq!(error(Format::Libsvm, bytes, &ReadOptions::default()), message);
    }
    assert_eq!(
        error(Format::Libsvm, b"1 1:2\n\xff 1:2\n", &ReadOptions::default()),
        "line 2: is not UTF-8 text"
    );
}

/// A numpy array with this header and these bytes.
fn npy(header: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

#[test]
fn numpy_files() {
    let array = |descr: &str, shape: &str, bytes: &[u8]| {
        npy(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"), bytes)
    };
    let cases: [(Vec<u8>, &str); 17] = [
        (b"".to_vec(), "the file ends after 0 of the 8 bytes of the start of a numpy array"),
        (b"1,2,3\n4,5,6\n".to_vec(), "not a numpy array: it does not start with \\x93NUMPY"),
        (b"\x93NUMPY\x09\0\0\0".to_vec(), "version 9 of the numpy format is not known"),
        (b"\x93NUMPY\x01\0\x10\0{".to_vec(), "the file ends after 1 of the header of a numpy array"),
        (
            b"\x93NUMPY\x02\0\xff\xff\xff\xff".to_vec(),
            "a header of 4294967295 bytes is too long for a numpy array",
        ),
        (npy("{}", b""), "the header of the array cannot be read: {}"),
        (
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (x,), }", b""),
            "the header of the array cannot be read: {'descr': '<f8', 'fortran_order': False, 'shape': (x,), }",
        ),
        (
            npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", b""),
            "the array has named fields: save one array per column instead",
        ),
        (
            array("|O", "(2,)", b""),
            "the array holds Python objects: turn it into numbers or texts before saving, such as with astype",
        ),
        (array("<c16", "(2,)", b""), "an array of type \"<c16\" cannot be read"),
        (array("<f8", "()", b"12345678"), "the array is a single value, but rows are wanted"),
        (array("<f8", "(0, 3)", b""), "the array of 0 x 3 values is empty"),
        (array("<f4", "(2, 3)", &[0; 20]), "the file ends after 5 of the 2 x 3 values of the array"),
        (array("<f4", "(2,)", &[0; 9]), "the file goes on after the 2 values of the array"),
        (
            array("<f8", "(4000000000, 16000000)", &[0; 20]),
            "the file ends after 2 of the 4000000000 x 16000000 values of the array",
        ),
        (
            array("<f8", "(9000000000, 9000000000)", b""),
            "an array of 9000000000 x 9000000000 values does not fit in memory",
        ),
        (array("<U1", "(2,)", &[97, 0, 0, 0, 0, 0, 0xff, 0xff]), "row 2, column 1: the text is not valid"),
    ];
    for (bytes, message) in cases {
        assert_eq!(error(Format::Npy, &bytes, &ReadOptions::default()), message);
    }
}

fn file(name: &str) -> String {
    format!("{}/tests/tables/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn numpy_archives() {
    let good = std::fs::read(file("plain.npz")).unwrap();
    let several = std::fs::read(file("several.npz")).unwrap();
    let changed = |at: usize, to: u8| {
        let mut bytes = good.clone();
        bytes[at] = to;
        bytes
    };
    let value = good.windows(8).position(|bytes| bytes == 0.5f64.to_le_bytes()).unwrap();
    let cases: [(Vec<u8>, &str); 7] = [
        (good[..2].to_vec(), "the file ends after 2 of the 4 bytes of an entry of the archive"),
        (b"PK\x09\x09".to_vec(), "the archive is damaged: no entry where there should be one"),
        (changed(6, 1), "\"X.npy\" in the archive is encrypted"),
        (changed(8, 12), "\"X.npy\" in the archive is packed by method 12, which is not known"),
        (good[..value + 4].to_vec(), "array \"X\": the file ends after 0 of the 2 x 3 values of the array"),
        (changed(value, 1), "array \"X\": its checksum is "),
        (several, "say which array of the archive holds the rows: x_train, y_train, x_test, y_test"),
    ];
    for (bytes, message) in cases {
        let error = error(Format::Npz, &bytes, &ReadOptions::default());
        assert!(error == message || (message.ends_with(' ') && error.starts_with(message)), "{error}");
    }
    let wanted = ReadOptions { array: Some("z".into()), ..ReadOptions::default() };
    assert_eq!(error(Format::Npz, &good, &wanted), "there is no array \"z\" in the archive, but: X, y");
}

#[test]
fn arrow_files() {
    let nested = std::fs::read(file("nested.arrow")).unwrap();
    let cases: [(Vec<u8>, &str); 4] = [
        (b"".to_vec(), "there is nothing in it"),
        (b"ARROW1".to_vec(), "the file ends after 6 of the 8 bytes of the start of Arrow data"),
        (b"\xff\xff\xff\xff\x10\0\0\0ab".to_vec(), "the file ends after 2 of 16 bytes of a message"),
        (nested, "column \"a\" holds nested values, which cannot be encoded"),
    ];
    for (bytes, message) in cases {
        assert_eq!(error(Format::Arrow, &bytes, &ReadOptions::default()), message);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files() {
    let nested = std::fs::read(file("nested.parquet")).unwrap();
    let good = std::fs::read(file("snappy.parquet")).unwrap();
    assert_eq!(
        error(Format::Parquet, &nested, &ReadOptions::default()),
        "column \"a.list.element\" holds lists, which cannot be encoded"
    );
    for length in [0, 4, 11, good.len() / 2, good.len() - 1] {
        let error = error(Format::Parquet, &good[..length], &ReadOptions::default());
        assert!(error.starts_with("the Parquet file "), "{error}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_files() {
    assert_eq!(
        error(Format::Parquet, b"PAR1", &ReadOptions::default()),
        "this is a Parquet file, and Parquet was left out when this program was built"
    );
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::File::create(&path).unwrap().write_all(b"a,b\n1,2\n3\n").unwrap();
    let name = path.to_str().unwrap();
    let error = |source: &str| read_table(source, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(error(name), format!("{name}: line 3: 1 field, where line 1 has 2"));
    assert_eq!(error("/nowhere/rows.csv"), "/nowhere/rows.csv: there is no such file");
    let folder_name = folder.path().to_str().unwrap();
    assert_eq!(error(folder_name), format!("{folder_name}: this is a folder, but a file is wanted"));
}
