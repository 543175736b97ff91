//! `gatewood paper` as a user runs it.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn gatewood(folder: &Path, words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gatewood"))
        .args(words.split_whitespace())
        .current_dir(folder)
        .env_remove("GATEWOOD_DATA")
        .env("XDG_CACHE_HOME", folder)
        .env("HOME", folder)
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn committed_results_are_one_object() {
    let folder = tempfile::tempdir().unwrap();
    let summary = json(&gatewood(folder.path(), "paper --committed --json"));
    let (cells, agree) = (summary["cells"].as_u64().unwrap(), summary["agree"].as_u64().unwrap());
    assert_eq!(cells, 339);
    assert!(agree * 10 >= cells * 9 && agree <= cells);
    assert!(summary["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
    let shown = gatewood(folder.path(), "paper gauss --committed");
    assert!(String::from_utf8(shown.stdout).unwrap().contains("of 21 cells agree with the paper"));
    assert_eq!(gatewood(folder.path(), "paper no-such-table").status.code(), Some(2));
}

#[test]
fn a_table_without_its_data_is_told_and_the_report_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let output = gatewood(folder.path(), "paper cifar-climb-6 --quick --seeds 1 --out results");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("were not made") && text.contains("0 of 0 cells"), "{text}");
    let page = std::fs::read_to_string(folder.path().join("results/report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("Not run."));
    assert!(folder.path().join("results/report.md").exists());
}
