//! Exported C and Rust, compiled and run.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::harness::{HARNESS_BLOCK, harness, raw_harness};
use super::raw_rows::raw_rows;
use super::*;
use crate::bits::BitMatrix;
use crate::circuit::testing::{generator, random_grove, random_netlist, random_tree};
use crate::circuit::{GroveOutputs, Target, Tree, VoteTree, column_names};
use crate::encode::{Column, EncodeSettings, FewValues, Numbers, PixelCode, Table, Test, Texts};
use crate::export::{Format, write, write_code, write_header};
use chacha20::rand_core::Rng;

/// Runs a command to its end.
fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles a harness around a source, strictly.
fn compile(folder: &Path, format: Format, source: &Path, harness: &str) -> PathBuf {
    let main = folder.join(format!("main_{}.{}", format, format.extension()));
    std::fs::write(&main, harness).unwrap();
    let program = folder.join(format!("run_{format}"));
    match format {
        Format::C => succeed(
            Command::new("cc")
                .args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o"])
                .args([&program, &main]),
        ),
        _ => {
            let library = folder.join("library.rs");
            let path = source.display();
            std::fs::write(&library, format!("#![no_std]\n#[path = \"{path}\"]\npub mod circuit;\n"))
                .unwrap();
            let rustc = || {
                let mut command = Command::new("rustc");
                command.args(["--edition=2021", "-Copt-level=0", "-Dwarnings"]).current_dir(folder);
                command
            };
            succeed(rustc().args(["--crate-type=lib", "--emit=metadata"]).arg(&library));
            succeed(rustc().arg("-o").args([&program, &main]));
        }
    }
    program
}

/// Sends rows of bits through a program; gives the words of each row.
fn answers(program: &Path, rows: &BitMatrix) -> Vec<u64> {
    assert!(rows.rows().is_multiple_of(HARNESS_BLOCK));
    let mut bytes = Vec::new();
    for row in 0..rows.rows() {
        for word in 0..rows.columns().div_ceil(64) {
            let columns = word * 64..(word * 64 + 64).min(rows.columns());
            let bits = columns.rev().fold(0u64, |bits, column| bits << 1 | u64::from(rows.get(row, column)));
            bytes.extend(bits.to_ne_bytes());
        }
    }
    sent(program, bytes)
}

/// Sends bytes through a program; gives the words that it writes.
fn sent(program: &Path, bytes: Vec<u8>) -> Vec<u64> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    output.stdout.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
}

fn random_rows(seed: u64, rows: usize, columns: usize) -> BitMatrix {
    let mut rng = generator(seed);
    let bits: Vec<bool> = (0..rows * columns).map(|_| rng.next_u32() & 1 != 0).collect();
    BitMatrix::from_bools(columns, &bits).unwrap()
}

fn check_netlist(netlist: &Netlist, format: Format) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(format!("model.{}", format.extension()));
    let mut options = Options::default();
    if format == Format::C {
        let mut header = std::fs::File::create(folder.path().join("model.h")).unwrap();
        write_header(netlist, &options, &mut header).unwrap();
        options.header_file = Some("model.h".into());
    }
    write(netlist, format, &options, &mut std::fs::File::create(&source).unwrap()).unwrap();
    let program =
        compile(folder.path(), format, &source, &harness(format, &options, &source, false).unwrap());
    let rows = random_rows(5, 512, netlist.inputs());
    let expected = netlist.evaluate(rows.view()).unwrap();
    let answers = answers(&program, &rows);
    assert_eq!(answers.len(), 3 * 512);
    for (row, words) in answers.chunks(3).enumerate() {
        let bits = (0..netlist.outputs()).fold(0, |bits, o| bits | u64::from(expected.get(row, o)) << o);
        assert_eq!(words, [bits; 3], "{format}, row {row}");
    }
}

fn check_grove(grove: &Grove, one_hot: bool, format: Format) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(format!("model.{}", format.extension()));
    let names = column_names(grove.inputs());
    let mut file = std::fs::File::create(&source).unwrap();
    let options = Options::default();
    let code = Code::of_grove(grove, &names, one_hot, &options).unwrap();
    write_code(&code, format, &options, &mut file).unwrap();
    let program = compile(folder.path(), format, &source, &harness(format, &options, &source, true).unwrap());
    let rows = random_rows(6, 512, grove.inputs());
    let answers = answers(&program, &rows);
    assert_eq!(answers.len(), (3 + grove.margins()) * 512);
    for (row, words) in answers.chunks(3 + grove.margins()).enumerate() {
        let margins = grove.margins_of(|column| rows.get(row, column));
        let class = Grove::class_of(&margins) as u64;
        let bits = u64::from((grove.classes() - 1).ilog2() + 1);
        let class = if one_hot { class | 1 << (bits + class) } else { class };
        assert_eq!(words[..3], [class; 3], "{format}, row {row}, {margins:?}");
        assert!(words[3..].iter().zip(&margins).all(|(&word, &margin)| word as i64 == i64::from(margin)));
    }
}

#[test]
fn c_and_rust_say_what_the_netlist_says() {
    let tree = Netlist::from_tree(&random_tree(1, 4, 4, 70), column_names(70)).unwrap();
    let wide = random_netlist(2, 9, 30, 9);
    let grove =
        Netlist::from_grove(&random_grove(3, 20, 5, 12, 30), column_names(20), GroveOutputs::default());
    for netlist in [tree, wide, grove.unwrap()] {
        check_netlist(&netlist, Format::C);
        check_netlist(&netlist, Format::Rust);
    }
}

#[test]
fn c_and_rust_say_what_the_grove_says() {
    let leaf = |arity: usize, target, votes| {
        let leaves = (0..arity as u32).collect();
        VoteTree::new(vec![arity], target, leaves, Vec::new(), votes).unwrap()
    };
    let wide: Vec<i32> = (0..256).map(|address: i32| address * address % 101 - 50).collect();
    let trees = vec![leaf(1, Target::One(0), vec![-7, 9]), leaf(8, Target::One(0), wide)];
    let odd = Grove::new(8, 2, vec![-3], 0.1, trees).unwrap();
    let empty = Grove::new(3, 3, vec![0, 2, -1], 1.0, Vec::new()).unwrap();
    let two = random_grove(11, 90, 2, 25, 120);
    let ten = random_grove(12, 40, 10, 30, 15);
    assert!([&two, &ten].iter().any(|grove| grove.spans().iter().any(|span| span.columns().len() > 2)));
    for grove in [odd, empty, two, ten] {
        for one_hot in [false, true] {
            check_grove(&grove, one_hot, Format::C);
            check_grove(&grove, one_hot, Format::Rust);
        }
    }
}

/// Code of a random tree with an encoder says of raw values what the tree says of the encoder's bits.
fn check_encoder(encoder: &Encoder, format: Format) {
    check_tree(encoder, &random_tree(9, 4, 3, encoder.bits()), format);
}

/// Checks that a tree says of raw values what it says of the encoder's bits.
fn check_tree(encoder: &Encoder, tree: &Tree, format: Format) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(format!("model.{}", format.extension()));
    let netlist = Netlist::from_tree(tree, column_names(encoder.bits())).unwrap();
    let options = Options::default();
    let code = Code::of_netlist(&netlist, &options).unwrap().with_encoder(encoder).unwrap();
    write_code(&code, format, &options, &mut std::fs::File::create(&source).unwrap()).unwrap();
    let main = raw_harness(format, &options, &source, encoder).unwrap();
    let program = compile(folder.path(), format, &source, &main);
    let rows = 20_000;
    let raw = raw_rows(encoder, rows, 3).unwrap();
    let bits = encoder.transform(&raw.table).unwrap();
    let answers = sent(&program, raw.bytes);
    assert_eq!(answers.len(), rows);
    for (row, &answer) in answers.iter().enumerate() {
        let expected = u64::from(tree.output(|column| bits.get(row, column)));
        let values: Vec<_> = (0..raw.table.columns()).map(|column| raw.table.value(row, column)).collect();
        assert_eq!(answer, expected, "{format}, row {row}: {values:?}");
    }
}

/// An encoder of a table with one column of each kind.
fn mixed_encoder() -> Encoder {
    let mut rng = generator(4);
    let mut draw = |below: u32| rng.next_u32() % below;
    let rows = 500;
    let gap = |draw: &mut dyn FnMut(u32) -> u32, value: f64| if draw(8) == 0 { f64::NAN } else { value };
    let numbers = |draw: &mut dyn FnMut(u32) -> u32, below: u32, unit: f64, from: f64| -> Numbers {
        let each = |_| {
            let value = f64::from(draw(below)) * unit + from;
            gap(draw, value)
        };
        Numbers::F64((0..rows).map(each).collect())
    };
    let texts = ["plain", "with \"quotes\" and \\", "Größe??/", "", "tab\t1"];
    let words: Vec<Option<&str>> = (0..rows).map(|_| texts.get(draw(6) as usize).copied()).collect();
    let table = Table::new(vec![
        ("number".into(), Column::Number(numbers(&mut draw, 1000, 0.1, -30.0))),
        ("few".into(), Column::Number(numbers(&mut draw, 3, 1.0, 0.0))),
        ("text".into(), Column::Text(Texts::from_rows(words))),
        ("date".into(), Column::Date(numbers(&mut draw, 1_000_000, 4321.5, -2e9))),
    ])
    .unwrap();
    let settings =
        EncodeSettings { few_values: FewValues::Values, categories: 2, ..EncodeSettings::default() };
    Encoder::fit(&table, &settings).unwrap().0
}

#[test]
fn c_and_rust_encode_raw_values_as_the_encoder_does() {
    let mixed = mixed_encoder();
    let kinds = |wanted: fn(&Test) -> bool| mixed.meanings().iter().any(|meaning| wanted(&meaning.test));
    assert!(kinds(|test| matches!(test, Test::DatePart(..))) && kinds(|test| matches!(test, Test::Is(_))));
    let bytes: Vec<u8> = (0..=255).flat_map(|byte: u8| [byte, byte.reverse_bits()]).collect();
    let pixels = Table::from_pixels(2, bytes).unwrap();
    // Without dates, numbers are taken as int32_t too.
    let no_dates: Vec<usize> = (0..mixed.bits())
        .filter(|&bit| mixed.inputs()[mixed.meanings()[bit].column as usize].name != "date")
        .collect();
    let mut encoders = vec![mixed.select(&no_dates).unwrap(), mixed, Encoder::identity(5)];
    for pixel_code in [PixelCode::Binary, PixelCode::Gray] {
        let settings = EncodeSettings { pixel_code, ..EncodeSettings::default() };
        encoders.push(Encoder::fit(&pixels, &settings).unwrap().0);
    }
    for encoder in encoders {
        check_encoder(&encoder, Format::C);
        check_encoder(&encoder, Format::Rust);
    }
}

#[test]
fn columns_that_nothing_asks_for_give_no_warnings() {
    let mixed = mixed_encoder();
    let missing = |test: &Test| matches!(test, Test::Missing);
    let text = |test: &Test| matches!(test, Test::Is(_) | Test::Other);
    let bits = |wanted: &dyn Fn(&Test) -> bool| -> Vec<u32> {
        let meanings = mixed.meanings().iter().enumerate();
        meanings.filter(|(_, meaning)| wanted(&meaning.test)).map(|(bit, _)| bit as u32).collect()
    };
    for leaves in [bits(&|test| !text(test) && !missing(test)), bits(&text)] {
        let tree = Tree::new(1, 1, mixed.bits(), vec![leaves[0]], vec![0b10]).unwrap();
        check_tree(&mixed, &tree, Format::C);
        check_tree(&mixed, &tree, Format::Rust);
    }
}

#[test]
fn words_are_refused() {
    let rows: Vec<String> = (0..300).map(|row| format!("buy {row} now, {}", row * 7 % 300)).collect();
    let texts = Texts::from_rows(rows.iter().map(|row| Some(row.as_str())));
    let table = Table::new(vec![("note".into(), Column::Text(texts))]).unwrap();
    let (encoder, _) = Encoder::fit(&table, &EncodeSettings::default()).unwrap();
    assert!(encoder.meanings().iter().all(|meaning| matches!(meaning.test, Test::Word(_))));
    let tree = random_tree(9, 2, 2, encoder.bits());
    let netlist = Netlist::from_tree(&tree, column_names(encoder.bits())).unwrap();
    let code = Code::of_netlist(&netlist, &Options::default()).unwrap();
    assert!(code.with_encoder(&encoder).is_err_and(|error| error.to_string().contains("\"note\"")));
}
