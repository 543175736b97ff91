//! Exported C and Rust, compiled and run.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::*;
use crate::bits::BitMatrix;
use crate::circuit::testing::{generator, random_grove, random_netlist, random_tree};
use crate::circuit::{Grove, GroveOutputs, Target, VoteTree, column_names};
use chacha20::rand_core::Rng;

/// Runs a command to its end.
fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles a harness around a source, strictly.
fn compile(folder: &Path, format: Format, source: &Path, margins: bool) -> PathBuf {
    let main = folder.join(format!("main_{}.{}", format, format.extension()));
    std::fs::write(&main, harness(format, &Options::default(), source, margins).unwrap()).unwrap();
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

/// Sends rows through a program; gives the words of each row.
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
    let program = compile(folder.path(), format, &source, false);
    let rows = random_rows(5, 512, netlist.inputs());
    let expected = netlist.evaluate(rows.view()).unwrap();
    let answers = answers(&program, &rows);
    assert_eq!(answers.len(), 3 * 512);
    for (row, words) in answers.chunks(3).enumerate() {
        let bits = (0..netlist.outputs()).fold(0, |bits, o| bits | u64::from(expected.get(row, o)) << o);
        assert_eq!(words, [bits; 3], "{format}, row {row}");
    }
}

fn check_grove(grove: &Grove, format: Format) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(format!("model.{}", format.extension()));
    let names = column_names(grove.inputs());
    let mut file = std::fs::File::create(&source).unwrap();
    write_grove(grove, &names, format, &Options::default(), &mut file).unwrap();
    let program = compile(folder.path(), format, &source, true);
    let rows = random_rows(6, 512, grove.inputs());
    let answers = answers(&program, &rows);
    assert_eq!(answers.len(), (3 + grove.margins()) * 512);
    for (row, words) in answers.chunks(3 + grove.margins()).enumerate() {
        let margins = grove.margins_of(|column| rows.get(row, column));
        let class = Grove::class_of(&margins) as u64;
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
    for grove in [odd, empty, two, ten] {
        check_grove(&grove, Format::C);
        check_grove(&grove, Format::Rust);
    }
}
