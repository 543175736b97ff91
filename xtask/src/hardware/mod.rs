//! The checks of exported circuits: proofs, synthesis, simulation and compiled languages.
//!
//! Three models are learned and exported through the `gatewood` command: a tree, a two-class grove and a ten-class grove.

mod models;
mod simulation;
mod synthesis;
mod tools;

use crate::report::Step;

/// All checks of exported circuits, in order: later ones use the files of the first.
pub fn steps() -> Vec<Step> {
    vec![
        Step { name: "hardware: exports", run: models::export },
        Step { name: "hardware: proofs", run: models::verify },
        Step { name: "hardware: yosys", run: synthesis::run },
        Step { name: "hardware: verilator", run: simulation::verilator },
        Step { name: "hardware: ghdl", run: simulation::ghdl },
    ]
}
