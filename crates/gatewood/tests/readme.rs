//! The example of README.md runs, and is the one below, word for word.

const README: &str = include_str!("../../../README.md");

fn example() -> gatewood::Result<()> {
    // From the README:
    use gatewood::Classifier;
    use gatewood::encode::{Column, Labels, Numbers, Table, Texts};

    let size = Numbers::F64((0..100).map(|row| f64::from(row % 40)).collect());
    let colour = Texts::from_rows((0..100).map(|row| Some(["red", "green", "blue"][row % 3])));
    let table =
        Table::new(vec![("size".into(), Column::Number(size)), ("colour".into(), Column::Text(colour))])?;
    let labels =
        Labels::new(vec!["small".into(), "large".into()], (0..100).map(|row| row % 40 / 20).collect())?;

    let classifier = Classifier::settings().rounds(50).fit(&table, &labels)?;
    println!("{} % wrong", classifier.evaluate(&table, &labels)?.error * 100.0);
    classifier.save("size.gw")?; // the same file that the command and Python read
    let one = Classifier::load("size.gw")?.predictor().predict_one(&[33.5, f64::NAN][..])?;
    println!("a size of 33.5 is {}", classifier.classes()[one as usize]);
    // End.
    assert_eq!(classifier.evaluate(&table, &labels)?.error, 0.0);
    assert_eq!(classifier.classes()[one as usize], "large");
    Ok(())
}

#[test]
fn the_example_runs() {
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    example().unwrap();
}

#[test]
fn the_example_is_that_of_the_readme() {
    let source = include_str!("readme.rs");
    let source =
        source.split("// From the README:\n").nth(1).and_then(|rest| rest.split("    // End.").next());
    let lines: Vec<&str> =
        source.unwrap().lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    let shown = README.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(shown.trim_end(), lines.join("\n").trim_end());
}
