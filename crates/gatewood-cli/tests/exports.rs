//! Exports from the command line: readers that stop early, limits of time, and what help says is proven.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn gatewood(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatewood"));
    command.current_dir(folder).args(words.split_whitespace()).stdin(Stdio::null());
    command
}

fn run(folder: &Path, words: &str) -> Output {
    gatewood(folder, words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    assert!(run(folder.path(), "train mnist35 --patterns 0 --rounds 60 -o digits.gw -q").status.success());
    for format in ["verilog", "blif", "c", "json"] {
        let mut child = gatewood(folder.path(), &format!("export digits.gw --to {format}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Far more is written than a pipe holds.
        let mut first = [0; 100];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "{format}");
    }
}

#[test]
fn a_proof_has_a_limit_of_time_and_says_what_it_proved() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(run(folder, "train mnist35 --patterns 0 --rounds 40 -o digits.gw -q").status.success());
    assert!(run(folder, "export digits.gw -o digits.v --one-hot").status.success());
    assert!(
        run(folder, "export digits.gw -o other.v --no-simplify --with-encoder --fraction-bits 1")
            .status
            .success()
    );
    let output = run(folder, "verify digits.gw digits.v");
    assert_eq!(text(&output.stdout), "equal: proven for all rows (bits to class and one-hot)\n");
    let output = run(folder, "verify digits.gw other.v --json");
    assert!(text(&output.stdout).contains("\"interface\":\"raw columns with 1 fraction bits to class\""));
    let output = run(folder, "verify digits.gw digits.v --time-limit 0");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("--time-limit"), "{}", text(&output.stderr));
    let output = run(folder, "verify digits.gw digits.v --time-limit -1");
    assert_eq!(output.status.code(), Some(2));
    let help = text(&run(folder, "verify --help").stdout);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("BLIF, AIGER and Verilog are proven") && help.contains("[default: 600]"), "{help}");
}

#[test]
fn a_project_is_a_folder_that_simulates() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..300)
        .map(|row| {
            format!("{},{}.{},{}\n", row % 61, row % 40, row % 10, i32::from(row % 61 > 25 && row % 40 > 11))
        })
        .collect();
    std::fs::write(folder.join("people.csv"), format!("age,pay,label\n{rows}")).unwrap();
    assert!(run(folder, "train people.csv --rounds 4 -o people.gw -q").status.success());
    let words =
        "export people.gw --to verilog --project design --cells=ice40 --with-encoder --data people.csv";
    let output = run(folder, words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let circuit = std::fs::read_to_string(folder.join("design/model.v")).unwrap();
    assert!(
        circuit.contains("] age,") && circuit.contains("] pay,") && circuit.contains(" SB_LUT4 #("),
        "{circuit}"
    );
    for file in [
        "model_stream.v",
        "model_stream_test.v",
        "model_ports.h",
        "model_ports.json",
        "Makefile",
        "README.md",
    ] {
        assert!(folder.join("design").join(file).is_file(), "{file}");
    }
    let output = run(folder, "verify people.gw design/model.v");
    assert_eq!(text(&output.stdout), "equal: proven for all rows (raw columns to class)\n");
    assert!(run(folder, "export people.gw -o people.v --port-map people.h").status.success());
    assert!(std::fs::read_to_string(folder.join("people.h")).unwrap().contains("model_row_t"));
    for bad in [
        "--to blif --project other",
        "--to verilog --project other --word-bits 12",
        "--to verilog --project other --rows 0",
        "--to verilog --project other --clock 9GHz",
        "--to verilog --clock 100MHz",
        "--to verilog --clock 100",
        "--to verilog --handshake",
    ] {
        let output = run(folder, &format!("export people.gw {bad}"));
        assert!(!output.status.success() && !text(&output.stderr).contains("panicked"), "{bad}");
        assert!(!folder.join("other").exists(), "{bad}");
    }
    if Command::new("iverilog").arg("-V").output().is_ok() {
        let files = ["design/model.v", "design/model_stream.v", "design/model_stream_test.v"];
        let mut compile = Command::new("iverilog");
        let compiled =
            compile.args(["-g2005", "-o", "test.vvp"]).args(files).current_dir(folder).output().unwrap();
        assert!(compiled.status.success(), "{}", text(&compiled.stderr));
        let ran = Command::new("vvp").arg("test.vvp").current_dir(folder).output().unwrap();
        assert!(text(&ran.stdout).contains("PASSED: 256 rows"), "{}", text(&ran.stdout));
    }
}

#[test]
fn timing_is_estimated_for_chips() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(run(folder, "train mnist35 --patterns 0 --rounds 2 -o digits.gw -q").status.success());
    let output = run(folder, "inspect digits.gw --timing --pipeline 3 --json");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let chips = found["timing"].as_array().unwrap();
    assert_eq!(chips.len(), 5);
    for chip in chips {
        assert!(chip["stages"] == 3 && chip["registers"].as_u64().unwrap() > 3, "{chip}");
        assert!(chip["mhz"].as_f64().unwrap() > 20.0, "{chip}");
    }
    let table = text(&run(folder, "inspect digits.gw --luts 4 --timing --clock 400MHz").stdout);
    assert!(table.contains("out of reach") && !table.contains("xilinx"), "{table}");
    assert_eq!(run(folder, "inspect digits.gw --luts 5 --timing").status.code(), Some(2));
}
