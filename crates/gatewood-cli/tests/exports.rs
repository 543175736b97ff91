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
