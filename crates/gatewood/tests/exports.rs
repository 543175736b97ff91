//! Models out and back: what a file says of itself, names that would do harm, and limits on proofs.

use std::process::Command;
use std::time::Duration;

use gatewood::circuit::{Equivalence, Grove, GroveOutputs, ProofLimits, Target, VoteTree};
use gatewood::encode::{Column, EncodeSettings, Encoder, Numbers, Table, Texts};
use gatewood::export::{
    CellFamily, CodeTestOptions, Format, Interface, ModelOptions, Options, VerifyOptions, exported_netlist,
    port_map, test_code, verify, write_model, write_model_test_bench,
};
use gatewood::model::{Circuit, Model, Provenance};

/// A model of ready bits: three classes, two trees.
fn model_of_bits() -> Model {
    let trees = vec![
        VoteTree::new(vec![2, 2], Target::All, vec![0, 1, 2, 3], vec![6, 9], (-6..6).collect()).unwrap(),
        VoteTree::new(vec![3], Target::One(2), vec![3, 2, 1], vec![], (0..8).map(|v| v * 3 - 9).collect())
            .unwrap(),
    ];
    let grove = Grove::new(4, 3, vec![0, -3, 2], 0.1, trees).unwrap();
    Model::new(Encoder::identity(4), Circuit::Grove(grove), ["a", "b", "c"].map(String::from).to_vec())
        .unwrap()
}

fn file(model: &Model, format: Format, options: &ModelOptions) -> Vec<u8> {
    let mut file = Vec::new();
    write_model(model, format, options, &mut file).unwrap();
    file
}

fn without_header(file: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(file.to_vec()).unwrap();
    text.lines()
        .filter(|line| !line.contains("Interface: "))
        .flat_map(|line| [line, "\n"])
        .collect::<String>()
        .into()
}

#[test]
fn files_say_what_they_are_and_are_proven_as_such() {
    // Bits are inputs with an encoder, too, so that both interfaces have as many ports.
    let model = model_of_bits();
    for format in [Format::Verilog, Format::Blif, Format::AigerAscii, Format::Aiger] {
        for encoder in [false, true] {
            for (one_hot, margins) in [(false, false), (true, false), (false, true), (true, true)] {
                let outputs = GroveOutputs { one_hot, margins };
                let options = ModelOptions { encoder, outputs, ..ModelOptions::default() };
                let file = file(&model, format, &options);
                let found = verify(&model, &file, format, &VerifyOptions::default()).unwrap();
                assert!(found.found.is_equal() && found.said_by_header, "{format} {options:?}");
                assert_eq!(
                    found.interface,
                    Interface { encoder, fraction: None, all_inputs: false, outputs, value: false }
                );
                if format == Format::Aiger {
                    continue;
                }
                let found =
                    verify(&model, &without_header(&file), format, &VerifyOptions::default()).unwrap();
                assert!(found.found.is_equal() && !found.said_by_header);
                assert_eq!(found.interface.outputs, outputs);
            }
        }
    }
}

#[test]
fn an_interface_that_only_fits_is_not_taken_for_the_right_one() {
    // A column of numbers that takes as many inputs as the encoder has bits: only one of both is the file's interface.
    let values: Vec<f64> = (0..400).map(|row| f64::from(row % 100)).collect();
    let mut settings = EncodeSettings::default();
    let table = Table::new(vec![("age".into(), Column::Number(Numbers::F64(values)))]).unwrap();
    let model = (2..60).find_map(|bins| {
        settings.max_bins = bins;
        let (encoder, _) = Encoder::fit(&table, &settings).unwrap();
        let bits = encoder.bits();
        let leaves: Vec<u32> = (0..bits as u32).collect();
        if !(2..=12).contains(&bits) {
            return None;
        }
        let votes = (0..1i32 << bits).map(|address| (address * 7) % 5 - 2).collect();
        let tree = VoteTree::new(vec![bits], Target::One(0), leaves, vec![], votes).unwrap();
        let grove = Grove::new(bits, 2, vec![0], 0.1, vec![tree]).unwrap();
        let model = Model::new(encoder, Circuit::Grove(grove), vec!["no".into(), "yes".into()]).unwrap();
        let options = ModelOptions { encoder: true, ..ModelOptions::default() };
        let inputs = gatewood::export::netlist_of(&model, &options).unwrap().inputs();
        (inputs == bits).then_some(model)
    });
    let model = model.expect("some number of bins has as many bits as the number has");
    for encoder in [false, true] {
        let options = ModelOptions { encoder, ..ModelOptions::default() };
        let file = file(&model, Format::Verilog, &options);
        for file in [without_header(&file), file] {
            let found = verify(&model, &file, Format::Verilog, &VerifyOptions::default()).unwrap();
            assert!(found.found.is_equal());
            assert_eq!(found.interface.encoder, encoder);
        }
    }
}

#[test]
fn only_bits_that_are_read_are_inputs() {
    // One gate reads bits 2 and 9 of twelve.
    let tree = gatewood::circuit::Tree::new(2, 1, 12, vec![9, 2], vec![0b0010]).unwrap();
    let classes = vec!["no".into(), "yes".into()];
    let model = Model::new(Encoder::identity(12), Circuit::Tree(tree), classes.clone()).unwrap();
    for (all_inputs, inputs, interface) in [(false, 2, "bits to class"), (true, 12, "all bits to class")] {
        let options = ModelOptions { all_inputs, ..ModelOptions::default() };
        assert_eq!(exported_netlist(&model, &options).unwrap().inputs(), inputs);
        for format in [Format::Verilog, Format::Blif, Format::AigerAscii] {
            let file = file(&model, format, &options);
            assert_eq!(gatewood::export::read(&file, format).unwrap().inputs(), inputs, "{format}");
            for file in [without_header(&file), file] {
                let found = verify(&model, &file, format, &VerifyOptions::default()).unwrap();
                assert!(found.found.is_equal());
                assert_eq!(found.interface.to_string(), interface);
            }
        }
        let map = port_map(&model, &options).unwrap();
        let map: serde_json::Value = serde_json::from_str(&map).unwrap();
        let bits: Vec<u64> =
            map["inputs"].as_array().unwrap().iter().map(|input| input["bit"].as_u64().unwrap()).collect();
        assert_eq!(bits, if all_inputs { (0..12).collect() } else { vec![2, 9] });
        let class = serde_json::json!([{
            "port": "class_index", "name": "class index", "lines": ["y[0]", "y[0]"], "width": 1, "signed": false
        }]);
        assert_eq!(map["outputs"], class);
        let read = if all_inputs { &map["inputs"][9] } else { &map["inputs"][1] };
        assert_eq!((&read["name"], &read["column"]), (&"bit_9".into(), &"bit_9".into()));
    }
    // A circuit that reads nothing keeps an input, since languages have no buses without lines.
    let constant = gatewood::circuit::Grove::new(12, 2, vec![1], 0.1, Vec::new()).unwrap();
    let model = Model::new(Encoder::identity(12), Circuit::Grove(constant), classes).unwrap();
    let file = file(&model, Format::Verilog, &ModelOptions::default());
    assert!(verify(&model, &file, Format::Verilog, &VerifyOptions::default()).unwrap().found.is_equal());
}

#[test]
fn files_that_differ_are_told_with_a_row() {
    let model = model_of_bits();
    let text = String::from_utf8(file(&model, Format::Verilog, &ModelOptions::default())).unwrap();
    let changed = text.replacen("assign y[0] = ", "assign y[0] = ~", 1);
    for changed in [changed.clone().into_bytes(), without_header(changed.as_bytes())] {
        let found = verify(&model, &changed, Format::Verilog, &VerifyOptions::default()).unwrap();
        let Equivalence::Differs { inputs, output: 0 } = &found.found else { panic!("{found:?}") };
        assert_eq!((inputs.len(), found.expected.len()), (4, found.outputs.len()));
    }
    let error = verify(
        &model,
        b"module m (input wire [0:0] x, output wire [0:0] y); assign y[0] = x[0]; endmodule",
        Format::Verilog,
        &VerifyOptions::default(),
    )
    .unwrap_err();
    assert!(error.to_string().contains("1 inputs and 1 outputs"), "{error}");
}

#[test]
fn a_proof_ends_when_its_time_is_over() {
    // No time at all: nothing but equal structure can be shown.
    let model = model_of_bits();
    let limits = ProofLimits { time: Some(Duration::ZERO), ..ProofLimits::default() };
    let options = VerifyOptions { limits, ..VerifyOptions::default() };
    let file = file(&model, Format::Aiger, &ModelOptions::default());
    let found = verify(&model, &file, Format::Aiger, &options).unwrap();
    assert!(matches!(found.found, Equivalence::Undecided | Equivalence::Equal), "{found:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.c");
    write_model(&model, Format::C, &ModelOptions::default(), &mut std::fs::File::create(&path).unwrap())
        .unwrap();
    let options = CodeTestOptions { time_limit: Some(Duration::ZERO), ..CodeTestOptions::default() };
    let error = test_code(&model, Format::C, &path, &options).unwrap_err();
    assert!(error.to_string().contains("time limit"), "{error}");
}

/// Names that would end a comment, start one, or make a tool do something.
const HOSTILE: [&str; 6] = [
    "zz\nsynopsys translate_off",
    "*/ #error \"out\" /*",
    "??/",
    "\u{202e}gnp.exe\\",
    "\u{1b}[31m\r-- pragma translate_off",
    "// synthesis translate_off \u{2028}\"'`",
];

/// A model whose classes, columns, categories and provenance all have such names.
fn hostile_model() -> Model {
    let rows = 240;
    let texts: Vec<Option<&str>> = (0..rows).map(|row| Some(HOSTILE[row % 6])).collect();
    let columns = HOSTILE.iter().enumerate().map(|(index, name)| {
        let numbers = (0..rows).map(|row| (row * (index + 3) % 17) as f64).collect();
        ((*name).to_owned(), Column::Number(Numbers::F64(numbers)))
    });
    let columns = columns.chain([("plain".to_owned(), Column::Text(Texts::from_rows(texts)))]).collect();
    let settings = EncodeSettings { max_bins: 2, ..EncodeSettings::default() };
    let (encoder, _) = Encoder::fit(&Table::new(columns).unwrap(), &settings).unwrap();
    let leaves: Vec<u32> = (0..encoder.bits() as u32).collect();
    let trees = leaves
        .chunks(3)
        .enumerate()
        .map(|(index, leaves)| {
            let votes = (0..1 << leaves.len()).map(|address| (address * 5 + index as i32) % 7 - 3).collect();
            VoteTree::new(vec![leaves.len()], Target::One(index as u32 % 6), leaves.to_vec(), vec![], votes)
                .unwrap()
        })
        .collect();
    let grove = Grove::new(encoder.bits(), 6, vec![0; 6], 0.1, trees).unwrap();
    Model::new(encoder, Circuit::Grove(grove), HOSTILE.map(String::from).to_vec()).unwrap().with_provenance(
        Provenance { program: HOSTILE[0].into(), data: HOSTILE[1].into(), rows: 1, ..Provenance::default() },
    )
}

#[test]
fn names_do_no_harm_in_any_format() {
    let model = hostile_model();
    let folder = tempfile::tempdir().unwrap();
    for format in Format::ALL {
        for encoder in [false, true] {
            let facts = HOSTILE.map(String::from).to_vec();
            let options = ModelOptions {
                encoder,
                file: Options { facts, ..Options::default() },
                ..ModelOptions::default()
            };
            let file = file(&model, format, &options);
            if format != Format::Aiger {
                let text = String::from_utf8(file.clone()).unwrap();
                if format != Format::Json {
                    let odd = text.chars().find(|&c| c != '\n' && !(' '..='~').contains(&c));
                    assert_eq!(odd, None, "{format}");
                }
                for word in ["synopsys", "synthesis", "pragma"] {
                    for line in text.lines().filter(|line| line.to_lowercase().contains(word)) {
                        let words = line.trim_start_matches([' ', '/', '-', '*', '#']);
                        assert!(!words.starts_with(word) || format == Format::Json, "{format}: {line}");
                    }
                }
            }
            if format.is_readable() {
                let found = verify(&model, &file, format, &VerifyOptions::default()).unwrap();
                assert!(found.found.is_equal(), "{format}");
            }
            if matches!(format, Format::C | Format::Rust) {
                let path = folder.path().join(format!("model.{}", format.extension()));
                std::fs::write(&path, &file).unwrap();
                let options = CodeTestOptions { rows: 512, ..CodeTestOptions::default() };
                let tested = test_code(&model, format, &path, &options).unwrap();
                assert_eq!(tested.difference, None, "{format}");
                assert_eq!(tested.raw_rows > 0, encoder);
            }
        }
    }
}

#[test]
fn exported_rust_has_nothing_that_clippy_minds() {
    let folder = tempfile::tempdir().unwrap();
    let found = Command::new("cargo").args(["clippy", "--version"]).output();
    if !found.is_ok_and(|found| found.status.success()) {
        eprintln!("NOT TESTED: clippy is not installed, so exported Rust was not checked by it");
        return;
    }
    std::fs::create_dir(folder.path().join("src")).unwrap();
    let manifest = "[package]\nname = \"exported\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    let mut library = String::from("//! Exported models.\n#![no_std]\n");
    for (name, model) in [("bits", model_of_bits()), ("raw", hostile_model()), ("dates", model_of_dates())] {
        let options = ModelOptions { encoder: name != "bits", ..ModelOptions::default() };
        std::fs::write(folder.path().join(format!("src/{name}.rs")), file(&model, Format::Rust, &options))
            .unwrap();
        library += &format!("pub mod {name};\n");
    }
    std::fs::write(folder.path().join("src/lib.rs"), library).unwrap();
    let output = Command::new("cargo")
        .args(["clippy", "--offline", "--quiet", "--", "-D", "warnings"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", folder.path().join("target"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A model that asks for parts of dates, and a tree.
fn model_of_dates() -> Model {
    let dates: Vec<f64> = (0..500).map(|row| f64::from(row) * 1_234_567.0).collect();
    let table = Table::new(vec![("when".into(), Column::Date(Numbers::F64(dates)))]).unwrap();
    let (encoder, _) = Encoder::fit(&table, &EncodeSettings::default()).unwrap();
    let leaves: Vec<u32> = (0..16).map(|leaf| leaf * (encoder.bits() as u32 - 1) / 15).collect();
    let tree = gatewood::circuit::Tree::new(
        4,
        2,
        encoder.bits(),
        leaves,
        vec![0x6996, 0x1234, 0xfe01, 0x8001, 0x7bde],
    );
    Model::new(encoder, Circuit::Tree(tree.unwrap()), vec!["no".into(), "yes".into()]).unwrap()
}

/// Runs Verilog files in Icarus Verilog; nothing where it is not installed.
fn simulated(files: &[(&str, &[u8])]) -> Option<String> {
    if Command::new("iverilog").arg("-V").output().is_err() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("iverilog");
    command.args(["-g2001", "-Wall", "-o", "simulation"]).current_dir(folder.path());
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
        command.arg(name);
    }
    let compiled = command.output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new("vvp").args(["-N", "simulation"]).current_dir(folder.path()).output().unwrap();
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn cells_of_every_family_do_what_the_model_does() {
    let model = hostile_model();
    for family in CellFamily::ALL {
        for pipeline in [0, 2] {
            let file_options = Options { cells: Some(family), pipeline, ..Options::default() };
            let options = ModelOptions { file: file_options, ..ModelOptions::default() };
            let verilog = file(&model, Format::Verilog, &options);
            let text = String::from_utf8(verilog.clone()).unwrap();
            let cell = match family {
                CellFamily::Ice40 => " SB_LUT4 #(.LUT_INIT(16'h",
                CellFamily::Ecp5 | CellFamily::Gowin => " LUT4 #(.INIT(16'h",
                _ => " LUT6 #(.INIT(64'h",
            };
            let table = text.split_once(cell).expect("a cell").1.split(')').next().unwrap();
            let found = verify(&model, &verilog, Format::Verilog, &VerifyOptions::default()).unwrap();
            assert!(found.found.is_equal(), "{family}");
            // A table that is the other way round is found, whatever the family.
            let invert = |digit: char| char::from_digit(15 - digit.to_digit(16).unwrap(), 16).unwrap();
            let changed = text.replacen(
                &format!("{cell}{table}"),
                &format!("{cell}{}", table.chars().map(invert).collect::<String>()),
                1,
            );
            let found =
                verify(&model, changed.as_bytes(), Format::Verilog, &VerifyOptions::default()).unwrap();
            assert!(matches!(found.found, Equivalence::Differs { .. }), "{family}");
            let inputs = found.inputs.len();
            let rows = gatewood::export::test_rows(64, inputs, 0).unwrap();
            let mut bench = Vec::new();
            write_model_test_bench(&model, Format::Verilog, &options, rows.view(), &mut bench).unwrap();
            match simulated(&[("model.v", &verilog), ("bench.v", &bench)]) {
                Some(said) => assert!(said.contains("PASSED: 64 rows"), "{family}: {said}"),
                None => eprintln!(
                    "NOT TESTED: iverilog is not installed, so cells of {family} were not simulated"
                ),
            }
        }
    }
}
