//! `gatewood explore`: what it writes, and what it refuses.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn gatewood(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gatewood")).args(words).current_dir(folder).output().unwrap()
}

fn trained() -> TempDir {
    let folder = TempDir::new().unwrap();
    let rows: String = (0..200)
        .map(|row| format!("{},{}\n", row % 50, if row % 50 > 20 { "big" } else { "small" }))
        .collect();
    std::fs::write(folder.path().join("rows.csv"), format!("width,size\n{rows}")).unwrap();
    let output = gatewood(folder.path(), &["train", "rows.csv", "--rounds", "5", "-o", "model.gw"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

/// The data of a page.
fn data(folder: &Path, page: &str) -> serde_json::Value {
    let page = std::fs::read_to_string(folder.join(page)).unwrap();
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_holds_the_model_and_rows() {
    let folder = trained();
    let output = gatewood(folder.path(), &["explore", "model.gw", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["page"], "model.html");
    let page = data(folder.path(), "model.html");
    assert_eq!(page["classes"], serde_json::json!(["big", "small"]));
    assert!(page["rows"].is_null() && page["name"] == "model.gw");

    let words =
        ["explore", "model.gw", "--data", "rows.csv", "--rows", "120", "--luts", "6", "-o", "page.html"];
    let output = gatewood(folder.path(), &words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = data(folder.path(), "page.html");
    let rows = page["rows"]["numbers"].as_array().unwrap().len();
    assert!((120..=220).contains(&rows) && page["rows"]["total"] == 200, "{rows} rows");
    assert_eq!(page["rows"]["labels"].as_array().unwrap().len(), rows);
    assert_eq!(page["rows"]["background"].as_array().unwrap().len(), 100);
    assert!(page["size"]["luts"]["count"].as_u64().unwrap() > 0);
}

#[test]
fn rows_without_a_label_are_shown_and_inputs_are_not_overwritten() {
    let folder = trained();
    std::fs::write(folder.path().join("bare.csv"), "width\n3\n40\n").unwrap();
    let output = gatewood(folder.path(), &["explore", "model.gw", "--data", "bare.csv", "-o", "bare.html"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(data(folder.path(), "bare.html")["rows"]["labels"].is_null());
    let output = gatewood(folder.path(), &["explore", "model.gw", "--data", "rows.csv", "-o", "rows.csv"]);
    assert_eq!(output.status.code(), Some(2));
    let output = gatewood(folder.path(), &["explore", "model.gw", "--shape", "28x28"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("784 columns"));
    assert!(!folder.path().join("model.html").exists());
}
