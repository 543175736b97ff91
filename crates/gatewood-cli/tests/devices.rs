//! Where rows are learned and predicted: devices are chosen by name.

use crate::command::{bad, good, json};

/// A device that is unavailable is told before rows are read.
#[test]
fn devices_are_chosen_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (code, message) = bad(folder, "train missing.csv --device gpu");
    assert!(code == 2 && message.contains("cpu, cuda, cuda:N and auto"), "{message}");
    let (code, message) = bad(folder, "train missing.csv --device cuda:999");
    assert!(code == 1 && message.contains("--device cpu"), "{message}");
    let (code, message) = bad(folder, "train mnist35 --model tree --depth 3 --device cuda:999");
    assert!(code == 1 && message.contains("--device cpu"), "{message}");
    let train = "train mnist35 --rounds 3 --seed 1";
    let errors = |text: &str| json(&good(folder, text))["train_error"].clone();
    assert_eq!(errors(&format!("{train} --device auto --json")), errors(&format!("{train} --json")));
    good(folder, &format!("{train} -o digits.gw"));
    let (code, message) = bad(folder, "predict digits.gw missing.csv --device gpu");
    assert!(code == 2 && message.contains("cpu, cuda, cuda:N and auto"), "{message}");
    let (code, message) = bad(folder, "predict digits.gw missing.csv --device cuda:999");
    assert!(code == 1 && message.contains("--device cpu"), "{message}");
    let said = |device: &str| good(folder, &format!("predict digits.gw mnist35 --proba --device {device}"));
    assert_eq!(said("auto"), said("cpu"));
}
