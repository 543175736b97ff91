//! The tests of the crate from outside, as one program: linking one takes as long as compiling many files.
//!
//! `readme` changes the folder of its process, and is a program of its own.

mod calibration;
mod classifier;
mod encode;
mod exports;
mod grove;
mod importance;
mod kernels;
mod labels;
mod learning;
mod model_file;
mod objective;
mod parts;
mod pattern_values;
mod patterns;
mod predictor;
mod projects;
mod regression;
mod verilog;

/// A file that is not named above would not be run.
#[test]
fn every_file_is_part_of_the_program() {
    let source = include_str!("all.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        let is_known = ["all", "readme"].contains(&module) || source.contains(&format!("\nmod {module};\n"));
        assert!(is_known, "tests/{name} is not named in tests/all.rs");
    }
}
