//! Every setting of the library is an option of `gatewood train`.

use std::process::Command;

use gatewood::learn::{GroveSettings, TreeSettings};

/// Settings that the command spells otherwise, or leaves to the library.
const OTHERWISE: [(&str, &str); 2] = [
    // By name or balanced; the library works out the weights.
    ("class_weights", "--class-weight"),
    // What reproduces the paper's tables, which have a command of their own.
    ("judge", ""),
];

#[test]
fn every_setting_is_an_option() {
    let help = Command::new(env!("CARGO_BIN_EXE_gatewood")).args(["train", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let words: Vec<&str> = help.split(|letter: char| !letter.is_alphanumeric() && letter != '-').collect();
    let groves = serde_json::to_value(GroveSettings::default()).unwrap();
    let trees = serde_json::to_value(TreeSettings::default()).unwrap();
    let mut seen = 0;
    for name in [groves, trees].iter().flat_map(|settings| settings.as_object().unwrap().keys()) {
        let option = match OTHERWISE.iter().find(|(setting, _)| setting == name) {
            Some((_, "")) => continue,
            Some((_, option)) => (*option).to_owned(),
            None => format!("--{}", name.replace('_', "-")),
        };
        assert!(words.contains(&option.as_str()), "{name} has no option {option}");
        seen += 1;
    }
    assert!(seen > 25, "only {seen} settings");
}
