//! Files that number their classes, for models whose classes have names; and the other way round.

use std::path::Path;

use gatewood::encode::Labels;
use gatewood_data::{DataSpec, Folders, LoadOptions, load_labelled};

fn idx(dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 8, dimensions.len() as u8];
    dimensions.iter().for_each(|size| file.extend(size.to_be_bytes()));
    file.extend(bytes);
    file
}

/// The labels of a file or a set for a model of these classes that was learned from something.
fn labels(folder: &Path, data: &str, classes: &[&str], learned_from: &str) -> Result<Labels, String> {
    let path = folder.join(data);
    let words = if path.exists() { path.display().to_string() } else { data.to_owned() };
    let spec: DataSpec = words.parse().unwrap();
    let options = LoadOptions {
        folders: Folders::new(vec![folder.into()]),
        learned_from: Some(learned_from.to_owned()),
        ..LoadOptions::default()
    };
    let classes: Vec<String> = classes.iter().map(|&class| class.to_owned()).collect();
    let split = load_labelled(&spec, &options, &classes).map_err(|error| error.to_string())?;
    assert_eq!(split.labels.classes(), classes);
    Ok(split.labels)
}

#[test]
fn photographs_have_the_classes_of_their_format() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let records: Vec<u8> =
        [1u8, 2, 1].iter().flat_map(|&label| [[label].to_vec(), vec![9; 3072]].concat()).collect();
    std::fs::write(folder.join("two.bin"), records).unwrap();
    let of = |classes: &[&str], from: &str| labels(folder, "two.bin", classes, from);
    for from in ["cifar10:classes=1-2", "photographs"] {
        assert_eq!(of(&["automobile", "bird"], from).unwrap().codes(), [0, 1, 0]);
        assert_eq!(of(&["bird", "cat", "automobile"], from).unwrap().codes(), [2, 0, 2]);
    }
    // Names that are numbers are what they are.
    assert_eq!(of(&["1", "2"], "two.bin").unwrap().codes(), [0, 1, 0]);
    let error = of(&["bird", "cat"], "cifar10:classes=2-3").unwrap_err();
    assert!(
        error.ends_with(
            "two.bin: row 1 has the label 1, \"automobile\", which is not one of the classes: bird, cat"
        ),
        "{error}"
    );
    let error = of(&["sedan", "robin"], "cars").unwrap_err();
    assert!(
        error.contains("row 1 has the label \"1\"") && error.contains("nothing says which class"),
        "{error}"
    );
}

#[test]
fn images_have_the_classes_of_the_set_that_was_learned_from() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("fashion-mnist")).unwrap();
    for part in ["train", "t10k"] {
        let path = |kind: &str| folder.join(format!("fashion-mnist/{part}-{kind}-ubyte"));
        std::fs::write(path("images-idx3"), idx(&[3, 28, 28], &[7; 3 * 784])).unwrap();
        std::fs::write(path("labels-idx1"), idx(&[3], &[1, 0, 1])).unwrap();
    }
    let file = "fashion-mnist/t10k-images-idx3-ubyte";
    let of = |data: &str, classes: &[&str], from: &str| labels(folder, data, classes, from);
    assert_eq!(of(file, &["T-shirt", "trouser"], "fashion-mnist:classes=0-1").unwrap().codes(), [1, 0, 1]);
    for from in ["shirts.csv", "cifar10", "adult"] {
        let error = of(file, &["T-shirt", "trouser"], from).unwrap_err();
        assert!(error.contains("nothing says which class"), "{error}");
    }
    let error = of(file, &["3", "5"], "mnist:classes=3-5").unwrap_err();
    assert!(error.ends_with("row 1 has the label 1, which is not one of the classes: 3, 5"), "{error}");
    // A model of a file has numbers, and the set has names.
    let named = "fashion-mnist:classes=0-1";
    assert_eq!(of(named, &["0", "1"], file).unwrap().codes(), [1, 0, 1]);
    assert_eq!(of(named, &["1", "0"], file).unwrap().codes(), [0, 1, 0]);
    let error = of(named, &["0", "other"], file).unwrap_err();
    assert!(error.contains("class \"trouser\" is not one of the model's: 0, other"), "{error}");
    let error = of(named, &["1", "7"], file).unwrap_err();
    assert!(error.contains("is not one of the model's: 1, 7"), "{error}");
}

#[test]
fn outputs_are_the_classes_of_a_set_that_can_be_written_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("rows.pla"), ".i 2\n.o 1\n.type fr\n01 1\n10 0\n11 1\n.e\n").unwrap();
    let of = |classes: &[&str], from: &str| labels(folder, "rows.pla", classes, from);
    assert_eq!(of(&["one", "two"], "cubes:noise=0.1").unwrap().codes(), [1, 0, 1]);
    assert_eq!(of(&["0", "1"], "rows.pla").unwrap().codes(), [1, 0, 1]);
    assert_eq!(of(&["1", "0"], "rows.pla").unwrap().codes(), [0, 1, 0]);
    for (classes, from) in [(&["ham", "spam"][..], "mail.csv"), (&["a", "b", "c"], "cubes")] {
        let error = of(classes, from).unwrap_err();
        assert!(error.contains("nothing says which class"), "{error}");
    }
}
