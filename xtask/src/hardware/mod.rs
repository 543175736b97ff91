//! The checks of exported circuits: proofs, synthesis, simulation and compiled languages.
//!
//! Three models are learned and exported through the `gatewood` command: a tree, a two-class grove and a ten-class grove.

mod arm;
mod models;
mod simulation;
mod synthesis;
mod tools;

use crate::report::{Outcome, Step};

/// All checks of exported circuits: most use the files of "exports".
pub fn steps() -> Vec<Step> {
    let exports = &["hardware: exports"];
    let both = &["hardware: exports", "hardware: tools"];
    vec![
        Step::new("hardware: tools", |_| {
            Ok(match tools::Tools::get() {
                Ok(_) => Outcome::passed(),
                Err(error) => Outcome::not_run(format!("Yosys and Verilator cannot be installed: {error:#}")),
            })
        }),
        Step::new("hardware: exports", models::export).after(&["build"]),
        Step::new("hardware: proofs", models::verify).after(exports),
        Step::new("hardware: arm", arm::run).after(exports),
        Step::new("hardware: icarus", simulation::icarus).after(exports),
        Step::new("hardware: ghdl", simulation::ghdl).after(exports),
        Step::new("hardware: verilator", simulation::verilator).after(both),
        // Reads a file that the proofs damage.
        Step::new("hardware: yosys", synthesis::run).after(&["hardware: proofs", "hardware: tools"]),
    ]
}
