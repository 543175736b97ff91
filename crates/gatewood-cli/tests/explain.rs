//! What the command tells about a model's reasons.

use serde_json::json;
use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gatewood"))
        .args(words)
        .current_dir(folder)
        .env_remove("GATEWOOD_DATA")
        .output()
        .unwrap()
}

fn good(folder: &Path, words: &[&str]) -> String {
    let output = run(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// People whose income follows their age and schooling, and a little their work.
fn write_people(path: &Path) {
    let mut text = String::from("age,school,work,income\n");
    for row in 0..600u32 {
        let (age, school) = (17 + row * 7 % 60, 1 + row * 11 % 16);
        let work = ["Private", "State", "Self", ""][(row * 13 % 4) as usize];
        let rich = age > 35 && (school > 9 || work == "Self");
        text.push_str(&format!("{age},{school},{work},{}\n", if rich { ">50K" } else { "<=50K" }));
    }
    std::fs::write(path, text).unwrap();
}

/// Learns a grove whose reasons and properties are decided in milliseconds.
fn train_small(folder: &Path) {
    let shape =
        ["--rounds", "60", "--depth", "1", "--arity", "3", "--trees-per-round", "1", "--max-bins", "16"];
    good(folder, &[&["train", "people.csv", "-o", "people.gw"], &shape[..]].concat());
}

#[test]
fn contributions_add_up_to_the_margin() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_people(&folder.join("people.csv"));
    good(folder, &["train", "people.csv", "-o", "people.gw"]);
    let words =
        ["predict", "people.gw", "people.csv", "--proba", "--contributions", "--background-rows", "20"];
    let text = good(folder, &words);
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), "row,class,p_<=50K,p_>50K,c_age,c_school,c_work,c_mean");
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |field: &str| field.parse::<f64>().unwrap();
        let probability = number(fields[3]);
        let margin: f64 = fields[4..].iter().map(|field| number(field)).sum();
        assert!((1.0 / (1.0 + (-margin).exp()) - probability).abs() < 1e-5, "{line}");
    }
    let refused = run(folder, &["predict", "people.gw", "people.csv", "--background", "people.csv"]);
    assert_eq!(refused.status.code(), Some(2), "a background is for contributions");
}

#[test]
fn a_row_is_explained_and_the_reasons_hold() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_people(&folder.join("people.csv"));
    train_small(folder);
    let text = good(folder, &["explain", "people.gw", "people.csv", "--row", "17"]);
    assert!(
        text.starts_with("row 17: ") && text.contains("proven sufficient") && text.contains("age"),
        "{text}"
    );
    assert!(text.contains("what each column adds"), "{text}");
    let read = |words: &[&str]| -> serde_json::Value { serde_json::from_str(&good(folder, words)).unwrap() };
    let found = read(&["explain", "people.gw", "people.csv", "--row", "17", "--fixed", "age,work", "--json"]);
    assert_eq!(found["row"], 17);
    let changes = found["counterfactual"]["changes"].as_array();
    assert!(
        changes.is_none_or(|changes| changes.iter().all(|change| change["column"] == "school")),
        "{found}"
    );
    let all =
        read(&["explain", "people.gw", "people.csv", "--sample", "20", "--completions", "500", "--json"]);
    assert_eq!(all["rows"], 20);
    assert_eq!(all["reasons"]["proven_minimal"], 20, "{all}");
    assert_eq!(all["reasons"]["completions_tested"], 10_000);
    let alone = read(&["explain", "people.gw", "people.csv", "--sample", "5", "--no-change", "--json"]);
    assert_eq!((&alone["counterfactuals"], &alone["reasons"]["proven_minimal"]), (&json!(null), &json!(5)));
    let alone = read(&["explain", "people.gw", "people.csv", "--no-change", "--json"]);
    assert!(alone["counterfactual"].is_null() && alone["reason"].is_object(), "{alone}");
    let certified = read(&["explain", "people.gw", "people.csv", "--robustness", "20", "--json"]);
    let of = |key: &str, radius: usize| certified[key][radius].as_f64().unwrap();
    assert!(of("certified_error_columns", 0) <= of("certified_error_columns", 2));
    assert!(certified["error"].as_f64().unwrap() <= of("certified_error_steps", 0));
    for words in [["--row", "0"], ["--row", "601"], ["--fixed", "wealth"]] {
        let refused = run(folder, &[&["explain", "people.gw", "people.csv"], &words[..]].concat());
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn properties_are_proven_or_shown_false() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_people(&folder.join("people.csv"));
    train_small(folder);
    good(folder, &["export", "people.gw", "--to", "verilog", "-o", "people.v"]);
    // Which of these hold depends on what was learned; what is shown false is shown by rows that predict confirms.
    let properties = [
        "monotone up in age",
        "independent of work",
        "never \">50K\" when age <= 20",
        "if age > 50 and school > 12 then class is \">50K\"",
        "never \">50K\" when school < 0 or age is missing",
    ];
    std::fs::write(folder.join("all.txt"), format!("# what should hold\n{}\n", properties.join("\n")))
        .unwrap();
    let output = run(folder, &["prove", "people.gw", "--file", "all.txt", "--on", "people.v", "--json"]);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = found["properties"].as_array().unwrap();
    assert_eq!(found.len(), properties.len());
    let is = |verdict: &str| found.iter().any(|one| one["verdict"] == verdict);
    assert!(!is("undecided"), "{found:?}");
    assert_eq!(output.status.code(), Some(i32::from(is("false"))));
    for one in found.iter().filter(|one| one["verdict"] == "false") {
        for row in one["rows"].as_array().unwrap() {
            let value = |name: &str| match &row["values"][name] {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            let line = format!("age,school,work\n{},{},{}\n", value("age"), value("school"), value("work"));
            std::fs::write(folder.join("row.csv"), line).unwrap();
            let said = good(folder, &["predict", "people.gw", "row.csv"]);
            assert_eq!(said.lines().nth(1).unwrap(), format!("1,{}", row["class"].as_str().unwrap()));
        }
    }
    // One that is false on purpose.
    let broken = run(folder, &["prove", "people.gw", "never \"<=50K\""]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&broken.stdout).contains("this row is <=50K"));
    // A column that was left out on purpose changes nothing.
    let shape = ["--rounds", "5", "--depth", "1", "--arity", "3", "--drop", "work"];
    good(folder, &[&["train", "people.csv", "-o", "fair.gw"], &shape[..]].concat());
    assert!(good(folder, &["prove", "fair.gw", "independent of work"]).starts_with("proven"));
    assert_eq!(run(folder, &["prove", "fair.gw", "monotone up in work"]).status.code(), Some(2));
    for wrong in ["sometimes", "independent of wealth"] {
        assert_eq!(run(folder, &["prove", "people.gw", wrong]).status.code(), Some(2), "{wrong}");
    }
}

/// A grove with patterns is explained and proven as others are; only contributions of its pixels are refused.
#[test]
fn images_with_patterns_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let shape = ["--patterns", "40", "--rounds", "5", "--augment", "none", "--trees-per-round", "1", "-q"];
    good(folder, &[&["train", "mnist35", "-o", "digits.gw"], &shape[..]].concat());
    let text =
        good(folder, &["explain", "digits.gw", "mnist35", "--row", "2", "--time-limit", "2", "--json"]);
    let said: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(said["reason"]["sufficient"], "proven");
    assert!(said["reason"]["columns"].as_array().unwrap().len() < 784, "{said}");
    assert!(said["contributions"].is_null() && said["counterfactual"]["possible"] == true, "{said}");
    let words = ["--sample", "2", "--completions", "500", "--time-limit", "1"];
    let tested = good(folder, &[&["explain", "digits.gw", "mnist35"], &words[..]].concat());
    assert!(
        tested.contains("1,000 random rows that meet a reason kept its class; every change turned it"),
        "{tested}"
    );
    let robust = ["explain", "digits.gw", "mnist35", "--robustness", "2", "--time-limit", "1", "--json"];
    let robust: serde_json::Value = serde_json::from_str(&good(folder, &robust)).unwrap();
    assert_eq!(robust["rows"], 2);
    let proven = run(folder, &["prove", "digits.gw", "independent of r14c14", "--time-limit", "2"]);
    assert!(matches!(proven.status.code(), Some(0 | 1 | 3)), "{}", String::from_utf8_lossy(&proven.stderr));
}
