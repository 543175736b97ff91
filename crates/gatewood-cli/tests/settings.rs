//! Every setting of the library is an option of `gatewood train`, and means the same.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use gatewood::encode::EncodeSettings;
use gatewood::learn::{GroveSettings, TreeSettings};
use gatewood::model::{Model, TrainSettings};
use serde_json::{Value, json};

/// Settings that the command spells otherwise, or leaves to the library.
const OTHERWISE: [(&str, &str); 3] = [
    // By name or balanced; the library works out the weights.
    ("class_weights", "--class-weight"),
    // What reproduces the paper's tables, which have a command of their own.
    ("judge", ""),
    // By lines and pixels.
    ("image", "--shape"),
];

/// The option of a setting; none where there is none.
fn option(name: &str) -> Option<String> {
    match OTHERWISE.iter().find(|(setting, _)| *setting == name) {
        Some((_, "")) => None,
        Some((_, option)) => Some((*option).to_owned()),
        None => Some(format!("--{}", name.replace('_', "-"))),
    }
}

fn names(settings: &impl serde::Serialize) -> Vec<String> {
    let written = serde_json::to_value(settings).unwrap();
    written.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn every_option_is_on_the_page_of_parameters() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/parameters.md");
    let page = std::fs::read_to_string(page).unwrap();
    let help = Command::new(env!("CARGO_BIN_EXE_gatewood")).args(["train", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    // Their lines begin with them; what they write is no setting.
    let words =
        help.lines().filter_map(|line| line.trim_start().strip_prefix("--")?.split([' ', '=']).next());
    for option in words.filter(|option| !["curve", "json"].contains(option)) {
        assert!(page.contains(&format!("`--{option}`")), "--{option} is not on the page of parameters");
    }
}

#[test]
fn every_setting_is_an_option() {
    let help = Command::new(env!("CARGO_BIN_EXE_gatewood")).args(["train", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let words: Vec<&str> = help.split(|letter: char| !letter.is_alphanumeric() && letter != '-').collect();
    let mut seen = 0;
    for name in names(&GroveSettings::default()).iter().chain(&names(&TreeSettings::default())) {
        let Some(option) = option(name) else { continue };
        assert!(words.contains(&option.as_str()), "{name} has no option {option}");
        seen += 1;
    }
    assert!(seen > 25, "only {seen} settings");
}

/// A value of each setting of a grove that is not the default.
fn of_groves() -> Vec<(&'static str, Value)> {
    vec![
        ("arity", json!(3)),
        ("root_arity", json!(5)),
        ("depth", json!(1)),
        ("climb", json!(50)),
        ("candidates", json!(4)),
        ("rounds", json!(2)),
        ("cv_folds", json!(3)),
        ("validation_fraction", json!(0.2)),
        ("trees_per_round", json!(2)),
        ("learning_rate", json!(0.3)),
        ("sample_rows", json!(100)),
        ("sampling_power", json!(1.5)),
        ("honest_fraction", json!(0.25)),
        ("feature_reuse", json!(0.5)),
        ("reg_lambda", json!(3.5)),
        ("vote_bits", json!(5)),
        ("refits", json!(1)),
        ("use_dont_cares", json!(true)),
        ("early_stopping_rounds", json!(2)),
        ("shared_trees", json!(true)),
        ("max_gates", json!(40)),
        ("time_limit", json!(0.5)),
        ("seed", json!(9)),
        ("spans", json!(3)),
        ("patterns", json!(5)),
        ("pattern", json!({"levels": 1})),
    ]
}

/// A value of each setting of a tree that is not the default.
fn of_trees() -> Vec<(&'static str, Value)> {
    vec![
        ("arity", json!(3)),
        ("depth", json!(2)),
        ("climb", json!(50)),
        ("height", json!(2)),
        ("criterion", json!("accuracy")),
        ("unseen", json!("zero")),
        ("seed", json!(9)),
    ]
}

/// A value of each setting of the encoder that is not the default.
fn of_encoders() -> Vec<(&'static str, Value)> {
    vec![
        ("max_bins", json!(5)),
        ("bit_budget", json!(100)),
        ("few_values", json!("values")),
        ("few_limit", json!(3)),
        ("categories", json!(2)),
        ("words", json!(7)),
        ("pixel_bits", json!(2)),
        ("pixel_code", json!("gray")),
        ("min_entropy", json!(0.1)),
        ("merge_equal", json!(false)),
        ("merge_within", json!(0.01)),
        ("compare", json!(2)),
        ("image", json!({"width": 4, "height": 3, "channels": 1})),
        ("drop", json!(["a0"])),
        ("keep", json!(["a1"])),
        ("categorical", json!(["a2"])),
        ("numeric", json!(["a3"])),
        ("text", json!(["a4"])),
        ("date", json!(["a5"])),
        ("decimal", json!("comma")),
        ("date_order", json!("month")),
        ("columns", json!({"a6": {"bits": 2}})),
    ]
}

/// Settings of images; those of encoders that name a column of a kind go with rows that have one.
const OF_IMAGES: [&str; 4] = ["spans", "patterns", "pattern", "image"];

/// Rows of twelve numbers each and a class; the sixth column is of dates, unless the rows are images.
fn write_rows(path: &Path, has_dates: bool) {
    let mut text: String = (0..12).map(|column| format!("a{column},")).collect();
    text += "kind\n";
    let mut state = 1u32;
    for _ in 0..160 {
        let mut sum = 0;
        for column in 0..12 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = state >> 24;
            sum += if column < 6 { number } else { 0 };
            match column {
                5 if has_dates => write!(text, "2020-01-{:02},", number % 28 + 1).unwrap(),
                _ => write!(text, "{number},").unwrap(),
            }
        }
        text += if sum > 700 { "large\n" } else { "small\n" };
    }
    std::fs::write(path, text).unwrap();
}

/// The value of an option.
fn written(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(|item| item.as_str().unwrap()).collect::<Vec<_>>().join(","),
        Value::Object(shape) if name == "image" => format!("{}x{}", shape["height"], shape["width"]),
        value => value.to_string(),
    }
}

#[test]
fn an_option_and_a_setting_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    write_rows(&folder.path().join("rows.csv"), true);
    write_rows(&folder.path().join("images.csv"), false);
    let learned = |kind: &str, name: &str, value: &Value, is_of_encoder: bool| {
        let option = match name {
            "columns" => "--column-settings".to_owned(),
            name => option(name).unwrap(),
        };
        let is_image = OF_IMAGES.contains(&name);
        let mut chosen = json!({"seed": 4, "encode": {}});
        let mut arguments = vec!["train", if is_image { "images.csv" } else { "rows.csv" }, "--model", kind];
        arguments.extend(["-o", "model.gw"]);
        if kind == "grove" && name != "rounds" {
            chosen["rounds"] = json!(3);
            arguments.extend(["--rounds", "3"]);
        }
        if name != "seed" {
            arguments.extend(["--seed", "4"]);
        }
        if is_image && name != "image" {
            chosen["encode"]["image"] = json!({"width": 4, "height": 3, "channels": 1});
            arguments.extend(["--shape", "3x4"]);
        }
        if name == "pattern" {
            chosen["patterns"] = json!(5);
            arguments.extend(["--patterns", "5"]);
        }
        if name == "height" {
            chosen["depth"] = json!(3);
            arguments.extend(["--depth", "3"]);
        }
        let part = if is_of_encoder { &mut chosen["encode"] } else { &mut chosen };
        part[name] = value.clone();
        let text = written(name, value);
        match value {
            Value::Bool(true) if ["shared_trees", "use_dont_cares"].contains(&name) => {
                arguments.push(&option)
            }
            _ => arguments.extend([option.as_str(), &text]),
        }
        let output = Command::new(env!("CARGO_BIN_EXE_gatewood"))
            .args(&arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let used = Model::load(folder.path().join("model.gw")).unwrap().settings().clone();
        let expected = TrainSettings::from_json(kind, &chosen.to_string()).unwrap();
        let found = used.train_settings().unwrap();
        assert_eq!(serde_json::to_value(&found).unwrap(), serde_json::to_value(&expected).unwrap(), "{name}");
        let default = TrainSettings::from_json(kind, "{}").unwrap();
        let value = |settings: &TrainSettings| {
            let written = serde_json::to_value(settings).unwrap();
            if is_of_encoder { written["encode"].get(name).cloned() } else { written.get(name).cloned() }
        };
        assert_ne!(value(&expected), value(&default), "{name} has its default");
        used
    };
    for (name, value) in of_groves() {
        let used = learned("grove", name, &value, false);
        assert!(!used.resolved().is_empty(), "{name}: nothing is resolved");
    }
    for (name, value) in of_trees() {
        learned("tree", name, &value, false);
    }
    for (name, value) in of_encoders() {
        learned("grove", name, &value, true);
    }
    // None is forgotten. Objectives are those of values, augmenting is for pixels, and both have tests of their own.
    let covered = |all: Vec<String>, cases: Vec<(&str, Value)>, besides: &[&str]| {
        for name in all {
            let is_there = cases.iter().any(|(case, _)| *case == name) || besides.contains(&name.as_str());
            assert!(is_there, "{name} is not tried");
        }
    };
    covered(names(&GroveSettings::default()), of_groves(), &["class_weights"]);
    covered(names(&TreeSettings::default()), of_trees(), &["judge"]);
    covered(names(&EncodeSettings::default()), of_encoders(), &[]);
    // What was used is shown, with nothing left open.
    let inspect = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_gatewood"))
            .args(["inspect", "model.gw"])
            .args(more)
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    learned("grove", "max_bins", &json!(5), true);
    let text = inspect(&[]);
    assert!(text.contains("rounds 3") && text.contains("max_bins 5"), "{text}");
    assert!(text.contains("learning_rate 0.") && text.contains("reg_lambda "), "{text}");
    let shown: Value = serde_json::from_str(&inspect(&["--json"])).unwrap();
    assert_eq!(shown["settings"]["resolved"]["rounds"], 3);
    assert!(shown["settings"]["resolved"]["learning_rate"].is_number(), "{shown}");
    assert_eq!(shown["settings"]["encode"]["max_bins"], 5);
}
