//! `gatewood learn`, limits of LUTs and ANDs, and PLA files in the other commands.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a command prints, if it succeeds; else what it says to that.
fn run(folder: &Path, words: &str) -> Result<String, (i32, String)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatewood"));
    let output =
        command.current_dir(folder).args(words.split_whitespace()).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if output.status.success() {
        Ok(text(output.stdout))
    } else {
        Err((output.status.code().unwrap(), text(output.stderr)))
    }
}

fn object(folder: &Path, words: &str) -> Value {
    serde_json::from_str(&run(folder, words).unwrap()).unwrap()
}

/// Random rows of a function of 16 inputs.
fn write_samples(folder: &Path, name: &str, seed: u64, rows: usize, outputs: &dyn Fn(u64) -> String) {
    let mut text = format!(".i 16\n.o {}\n.type fr\n", outputs(0).len());
    let mut state = seed;
    for _ in 0..rows {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let row = state >> 40 & 0xffff;
        let bits: String = (0..16).map(|bit| if row >> bit & 1 == 1 { '1' } else { '0' }).collect();
        writeln!(text, "{bits} {}", outputs(row)).unwrap();
    }
    std::fs::write(folder.join(name), text + ".e\n").unwrap();
}

fn digit(bit: bool) -> &'static str {
    if bit { "1" } else { "0" }
}

/// The carry of two bytes, and whether the first is the larger.
fn two_outputs(row: u64) -> String {
    let (a, b) = (row & 0xff, row >> 8);
    format!("{}{}", digit(a + b > 0xff), digit(a > b))
}

#[test]
fn functions_become_circuits_that_are_proven() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_samples(folder, "some.pla", 1, 1500, &two_outputs);
    write_samples(folder, "others.pla", 2, 1500, &two_outputs);
    let words = "learn some.pla --test others.pla --max-ands 400 --threads 1 -o f.aig --json";
    let found = object(folder, words);
    assert_eq!(found["test_errors"], serde_json::json!([0.0, 0.0]), "{found}");
    assert!(found["ands"].as_u64().unwrap() <= 400 && found["proven"] == true, "{found}");
    let file = std::fs::read(folder.join("f.aig")).unwrap();
    assert!(file.starts_with(format!("aig {} 16 0 2", 16 + found["ands"].as_u64().unwrap()).as_bytes()));
    // The same samples, the same bytes; a file of its own may choose instead.
    run(folder, "learn some.pla --max-ands 400 --threads 2 -o again.aig -q").unwrap();
    assert_eq!(std::fs::read(folder.join("again.aig")).unwrap(), file);
    let said = run(folder, "learn some.pla --validation others.pla -o f.v").unwrap();
    assert!(said.contains("decision list") && said.contains("y1"), "{said}");
}

#[test]
fn bad_samples_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cases = [
        (".i 2\n.o 2\n.type fr\n11 1-\n", "line 4: output 2 is not known"),
        (".i 2\n.o 2\n.ob one\n.type fr\n11 10\n", ".ob names 1 outputs, but .o says 2"),
        (".i 2\n.o 2\n.type fr\n111 10\n", "line 4: 5 digits instead of 2 inputs and 2 outputs"),
        (".i 2\n.o 1\n.type fr\n11 1\n00 0\n", "2 rows are too few"),
        ("a,b\n1,2\n", "line 1"),
    ];
    for (text, complaint) in cases {
        std::fs::write(folder.join("bad.pla"), text).unwrap();
        let (code, error) = run(folder, "learn bad.pla").unwrap_err();
        assert!(code == 1 && error.contains(complaint), "{text:?}: {error}");
    }
    std::fs::write(folder.join("bad.pla"), ".i 2\n.o 1\n11 1\n00 0\n").unwrap();
    assert_eq!(run(folder, "learn bad.pla -o f.xyz").unwrap_err().0, 2);
    assert_eq!(run(folder, "learn bad.pla --to blif").unwrap_err().0, 2);
    let (code, error) = run(folder, "learn bad.pla -o bad.pla --to blif").unwrap_err();
    assert!(code != 0, "{error}");
    assert!(run(folder, "learn nowhere.pla").unwrap_err().1.contains("nowhere.pla"));
}

#[test]
fn pla_files_train_and_test_models() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // An exclusive or of two columns, which a climb finds by luck alone.
    let xor = |row: u64| digit(row >> 3 & 1 != row >> 12 & 1).to_owned();
    write_samples(folder, "a.pla", 1, 2500, &xor);
    write_samples(folder, "b.pla", 2, 500, &xor);
    let found = object(folder, "train a.pla --test b.pla -o xor.gw --threads 1 --json");
    assert_eq!(found["test_error"], 0.0, "{found}");
    assert_eq!(object(folder, "eval xor.gw b.pla --json")["error"], 0.0);
    assert_eq!(run(folder, "predict xor.gw b.pla").unwrap().lines().count(), 501);
}

#[test]
fn models_stay_within_their_luts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let many = |row: u64| digit((row & 0xfff).count_ones() > 6).to_owned();
    write_samples(folder, "a.pla", 1, 1500, &many);
    write_samples(folder, "b.pla", 2, 1500, &many);
    let found = object(folder, "train a.pla --test b.pla --max-luts 30 --threads 1 -o small.gw --json");
    let luts = object(folder, "inspect small.gw --luts 6 --json")["luts"].clone();
    assert!(luts["luts_with_encoder"].as_u64().unwrap() <= 30, "{luts}");
    assert!(found["test_error"].as_f64().unwrap() < 0.2, "{found}");
    // All rows may take more LUTs than the part of them that chose the rounds.
    for most in [100, 300] {
        run(folder, &format!("train mnist35 --max-luts {most} -o small.gw")).unwrap();
        let luts = object(folder, "inspect small.gw --luts 6 --json")["luts"]["luts"].as_u64().unwrap();
        assert!((most / 2..=most).contains(&luts), "{luts} of {most}");
    }
    assert_eq!(run(folder, "train a.pla --max-luts 30 --max-ands 30").unwrap_err().0, 2);
    assert_eq!(run(folder, "train a.pla --max-luts 0").unwrap_err().0, 2);
}

#[test]
fn gates_that_are_fitted_anew_take_fewer_errors_and_stay_a_proven_circuit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let train = "train mnist35 --rounds 12 --trees-per-round 1 --arity 6 --depth 1 --vote-bits 1 --learning-rate 0.2 --climb 50 \
                 --patterns 0 --spans 0 --threads 1 --json -o";
    let before = object(folder, &format!("{train} before.gw"));
    let after = object(folder, &format!("{train} after.gw --refits 6 --shared-gates 8"));
    let error = |found: &Value, name: &str| found[name].as_f64().unwrap();
    assert!(error(&after, "train_error") < 0.2 * error(&before, "train_error"), "{before} {after}");
    assert!(error(&after, "test_error") < 0.7 * error(&before, "test_error"), "{before} {after}");
    // A gate that trees share is there once.
    let luts = object(folder, "inspect after.gw --luts 6 --json")["luts"]["luts"].as_u64().unwrap();
    assert!(luts <= 30, "{luts}");
    run(folder, "export after.gw --to aiger -o after.aig").unwrap();
    assert!(run(folder, "verify after.gw after.aig").unwrap().contains("equal"));
    assert_eq!(run(folder, "train mnist35 --shared-gates 8").unwrap_err().0, 2);
    assert_eq!(run(folder, "train mnist35 --refits 2 --vote-bits 3").unwrap_err().0, 2);
    assert_eq!(run(folder, "train mnist35 --refit-rows 100").unwrap_err().0, 2);
    // Passes that are asked for are kept where a budget chooses the rest.
    let sized = object(folder, "train mnist35 --max-luts 60 --refits 2 --threads 1 --json -o sized.gw");
    assert_eq!(sized["settings"]["refits"], 2, "{sized}");
}

#[test]
fn addresses_that_no_row_has_make_a_circuit_smaller() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let train = "train mnist35 --rounds 30 --refits 6 --shared-gates 36 --learning-rate 0.2 --seed 1 --threads 1 --json -o";
    let before = object(folder, &format!("{train} before.gw"));
    let after = object(folder, &format!("{train} after.gw --use-dont-cares"));
    assert_eq!(after["settings"]["use_dont_cares"], true);
    assert_eq!(before["train_error"], after["train_error"]);
    let luts = |file: &str| {
        object(folder, &format!("inspect {file} --luts 6 --json"))["luts"]["luts"].as_u64().unwrap()
    };
    assert!(luts("after.gw") < luts("before.gw"), "{} {}", luts("after.gw"), luts("before.gw"));
    run(folder, "export after.gw --to aiger -o after.aig").unwrap();
    assert!(run(folder, "verify after.gw after.aig").unwrap().contains("equal"));
}
