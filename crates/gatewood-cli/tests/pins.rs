//! How well groves learn: exact errors and gates on fixed rows and seeds, so that any change of what is learned shows.
//!
//! A change that is meant to show changes these figures, and says so in the changelog.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

fn gatewood(folder: &Path, words: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gatewood"))
        .current_dir(folder)
        .env_remove("GATEWOOD_DATA")
        .env("XDG_CACHE_HOME", folder)
        .env("HOME", folder)
        .args(words.split_whitespace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Rows of ten classes: the digits of a seven-segment display, each segment seen three times through noise.
fn write_digits(path: &Path) {
    const SEGMENTS: [u8; 10] = [0x3f, 0x06, 0x5b, 0x4f, 0x66, 0x6d, 0x7d, 0x07, 0x7f, 0x6f];
    let mut text: String = (0..21).map(|column| format!("s{column},")).collect();
    text.push_str("label\n");
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..3000 {
        let digit = random(10) as usize;
        for column in 0..21 {
            let bit = SEGMENTS[digit] >> (column % 7) & 1 ^ u8::from(random(6) == 0);
            write!(text, "{bit},").unwrap();
        }
        writeln!(text, "d{digit}").unwrap();
    }
    std::fs::write(path, text).unwrap();
}

/// The words of the command; wrong rows in training and test, and gates.
const CASES: [(&str, [u64; 3]); 9] = [
    // The headline of README.md.
    ("train mnist35", [0, 34, 88239]),
    ("train mnist35 --patterns 0", [0, 86, 4916]),
    ("train mnist35 --patterns 0 --seed 5 --rounds 100", [0, 84, 2488]),
    ("train mnist35 --patterns 0 --rounds 40 --arity 6 --depth 1", [0, 111, 650]),
    ("train mnist35 --rounds 100 --max-gates 200", [9, 131, 198]),
    ("train convex-made:train=2000,test=5000", [0, 69, 341734]),
    ("train convex-made:train=2000,test=5000 --patterns 0", [2, 634, 7655]),
    ("train digits.csv DIGITS", [22, 281, 1500]),
    ("train digits.csv DIGITS --shared-trees --trees-per-round 2", [55, 287, 300]),
];

/// Settings of tables with nothing left to defaults that suit the data.
const DIGITS: &str = "--holdout 0.5 --rounds 30 --cv-folds 0 --arity 4 --depth 2 --climb 200 --learning-rate 0.2 \
                      --reg-lambda 0.5 --feature-reuse 0.5 --sampling-power 1 --honest-fraction 0 --candidates 1 \
                      --sample-rows 1536 --vote-bits 8 --seed 3";

#[test]
fn errors_and_gates_are_what_they_were() {
    let folder = tempfile::tempdir().unwrap();
    write_digits(&folder.path().join("digits.csv"));
    let found = CASES.map(|(words, _)| {
        let said = gatewood(folder.path(), &format!("{} --json", words.replace("DIGITS", DIGITS)));
        let value: serde_json::Value = serde_json::from_str(&said).unwrap();
        let wrong = |split: &str| {
            let rows = value[format!("{split}_rows")].as_f64().unwrap();
            (value[format!("{split}_error")].as_f64().unwrap() * rows).round() as u64
        };
        (words, [wrong("train"), wrong("test"), value["gates"].as_u64().unwrap()])
    });
    assert_eq!(found, CASES);
}

#[test]
fn the_readme_shows_what_the_first_command_prints() {
    let folder = tempfile::tempdir().unwrap();
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let said = gatewood(folder.path(), "train mnist35");
    // All but the times and the hint.
    let is_figure =
        |line: &&str| !(line.is_empty() || line.starts_with("learned in") || line.starts_with("next:"));
    for line in said.lines().filter(is_figure) {
        assert!(readme.contains(line), "README.md does not show this line: {line}");
    }
}
