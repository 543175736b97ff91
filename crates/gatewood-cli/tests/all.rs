//! The tests of the crate from outside, as one program: linking one takes as long as compiling many files.

mod command;
mod devices;
mod doubts;
mod explain;
mod explore;
mod exports;
mod learn;
mod paper;
mod pins;
mod readme;
mod safety;
mod settings;
mod tables;
mod values;

/// A file that is not named above would not be run.
#[test]
fn every_file_is_part_of_the_program() {
    let source = include_str!("all.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        let is_known = ["all"].contains(&module) || source.contains(&format!("\nmod {module};\n"));
        assert!(is_known, "tests/{name} is not named in tests/all.rs");
    }
}
