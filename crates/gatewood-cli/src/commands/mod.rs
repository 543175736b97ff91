//! The subcommands.

mod bench;
mod columns;
mod data;
mod encoding;
mod eval;
mod explain;
mod explore;
mod export;
mod inspect;
mod learn;
mod learner;
mod paper;
mod predict;
mod prove;
mod setup;
mod sources;
mod train;
mod values;
mod verify;

use crate::terminal::{Terminal, on_interrupt};
use anyhow::Result;
use clap::Subcommand;

/// What the user wants done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn a circuit from rows, and test it
    Train(Box<train::Args>),
    /// Learn a Boolean function from samples, as a small circuit
    Learn(learn::Args),
    /// Say the class of each row
    Predict(predict::Args),
    /// Compare a model's predictions with the labels of rows
    Eval(eval::Args),
    /// Show what a model is made of and what its bits mean
    Inspect(inspect::Args),
    /// Say why a row has its class, what would turn it, and what each column adds
    Explain(explain::Args),
    /// Write a model as a page to try out and look into with a browser: one HTML file that works offline
    Explore(explore::Args),
    /// Prove a property of a model for every row that can exist, or show a row for which it is false
    Prove(prove::Args),
    /// Write a model's circuit as Verilog, VHDL, BLIF, AIGER, C, Rust, DOT, SVG or JSON
    Export(export::Args),
    /// Prove that exported Verilog, BLIF or AIGER computes what the model computes, or test C and Rust
    Verify(verify::Args),
    /// Look at data sets, make them, fetch them
    #[command(subcommand)]
    Data(data::Command),
    /// Measure this machine: counting, learning, climbing and running, beside the popcount ceiling
    Bench(bench::Args),
    /// Run the tables of the paper again, ours beside the paper's
    Paper(paper::Args),
    /// Print the completions of a shell: gatewood completions bash > …/bash-completion/completions/gatewood
    Completions(setup::CompletionsArgs),
    /// Write the manual's pages into a folder
    Man(setup::ManArgs),
}

/// Runs a subcommand.
pub(crate) fn run(command: Command, terminal: &Terminal) -> Result<()> {
    on_interrupt();
    match command {
        Command::Train(args) => train::run(&args, terminal),
        Command::Learn(args) => learn::run(&args, terminal),
        Command::Predict(args) => predict::run(&args),
        Command::Eval(args) => eval::run(&args, terminal),
        Command::Inspect(args) => inspect::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Explore(args) => explore::run(&args, terminal),
        Command::Prove(args) => prove::run(&args),
        Command::Export(args) => export::run(&args, terminal),
        Command::Verify(args) => verify::run(&args),
        Command::Data(command) => data::run(&command, terminal),
        Command::Bench(args) => bench::run(&args),
        Command::Paper(args) => paper::run(&args, terminal),
        Command::Completions(args) => setup::completions(&args),
        Command::Man(args) => setup::man(&args),
    }
}
