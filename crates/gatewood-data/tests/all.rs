//! The tests of the crate from outside, as one program: linking one takes as long as compiling many files.
//!
//! `quiet` counts the panics of its process, and is a program of its own.

mod any_bytes;
mod class_numbers;
mod damaged_tables;
mod flips;
mod malformed;
mod malformed_tables;
mod named_sets;
mod odd_csv;
mod pipes;
mod quality;
mod read_tables;
mod tables;

/// A file that is not named above would not be run.
#[test]
fn every_file_is_part_of_the_program() {
    let source = include_str!("all.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        let is_known = ["all", "quiet"].contains(&module) || source.contains(&format!("\nmod {module};\n"));
        assert!(is_known, "tests/{name} is not named in tests/all.rs");
    }
}
