//! Yosys and ABC read, compare and map the exported files.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::models::MODELS;
use super::tools::{Tools, capture, folder};
use crate::log::Log;
use crate::report::Outcome;

/// Reads Verilog, writes what it read as AIGER and mapped to LUT6 as BLIF, and prints the LUTs of `synth_xilinx`: of the
/// formulas, and of the file whose LUTs are cells, beside the number of these.
const SCRIPT: &str = r#"
import json, sys
from pyosys import libyosys as ys

def design(*passes):
    made = ys.Design()
    for text in passes:
        ys.run_pass(text, made)

def xilinx(name):
    design(f"read_verilog {name}.v", "synth_xilinx -top model -flatten -noiopad -noclkbuf",
           f"tee -q -o {name}_xilinx.json stat -json")
    with open(f"{name}_xilinx.json") as file:
        cells = json.load(file)["design"]["num_cells_by_type"]
    luts = sum(count for cell, count in cells.items() if cell.startswith("LUT") or cell == "INV")
    return luts, {cell: count for cell, count in cells.items() if not cell.startswith("LUT")}

name = sys.argv[1]
read = f"hierarchy -check -top model; proc; flatten; opt -full; techmap; opt; aigmap; opt_clean"
design(f"read_verilog {name}.v", read, f"write_aiger -symbols {name}_yosys.aig")
design(f"read_verilog {name}_cells.v; read_verilog -lib +/xilinx/cells_sim.v", "hierarchy -check -top model",
       "techmap -map +/xilinx/cells_sim.v", read, f"write_aiger -symbols {name}_cells_yosys.aig")
design(f"read_verilog {name}.v", "synth -top model -flatten -lut 6", f"write_blif {name}_lut6.blif")
luts, others = xilinx(name)
print("LUTS", luts, "OTHERS", json.dumps(others))
with open(f"{name}_cells.v") as file:
    print("CELLS", file.read().count(".INIT("), *xilinx(f"{name}_cells"))
"#;

/// Reading, equivalence and mapping of all models.
pub fn run(_: &Log) -> Result<Outcome> {
    let folder = folder()?;
    let tools = match Tools::get() {
        Ok(tools) => tools,
        Err(error) => return Ok(Outcome::not_run(format!("Yosys cannot be installed here: {error:#}"))),
    };
    let abc = tools.packages.join("pyosys").join("yosys-abc");
    let script = folder.join("synthesis.py");
    std::fs::write(&script, SCRIPT).context("the script cannot be written")?;
    let mut outcome = Outcome::default();
    for name in MODELS {
        let said = capture(Command::new(&tools.python).arg(&script).arg(name).current_dir(&folder))?;
        let luts = said.lines().find(|line| line.starts_with("LUTS")).context("Yosys counted no LUTs")?;
        outcome.figures.push(format!("{name}: synth_xilinx: {luts}"));
        outcome.passed += 1;
        let cells =
            said.lines().find_map(|line| line.strip_prefix("CELLS ")).context("no cells were counted")?;
        match cells.split(' ').collect::<Vec<_>>()[..] {
            [ours, theirs, "{}"] if ours == theirs => outcome.passed += 1,
            _ => outcome.failed.push(format!("{name}: our cells, and those of synth_xilinx: {cells}")),
        }
        // A grove's AIGER file adds up votes by full adders, its other files by counters. For the long sum of two classes that is
        // too unlike for ABC, which does not end in a minute; our own prover has done it.
        let (ours, blif) = (format!("{name}.aig"), format!("{name}.blif"));
        if name != "two" {
            compare(&abc, &folder, &ours, &blif, &mut outcome)?;
        }
        for other in ["_yosys.aig", "_cells_yosys.aig", "_lut6.blif"] {
            compare(&abc, &folder, &blif, &format!("{name}{other}"), &mut outcome)?;
        }
        outcome.figures.push(format!("{name}: ABC if -K 6: {}", map(&abc, &folder, &ours)?));
    }
    // A check that cannot fail checks nothing: the damaged file must be found out here too.
    let said = equivalence(&abc, &folder, "tree.aig", "tree_damaged.blif")?;
    match said.contains("NOT EQUIVALENT") {
        true => outcome.passed += 1,
        false => outcome.failed.push(format!("ABC finds no difference in tree_damaged.blif: {said}")),
    }
    Ok(outcome)
}

fn equivalence(abc: &Path, folder: &Path, ours: &str, other: &str) -> Result<String> {
    capture(Command::new(abc).args(["-c", &format!("cec -n {ours} {other}")]).current_dir(folder))
}

/// Compares two files; ABC ends well whatever it finds, so what it says counts.
fn compare(abc: &Path, folder: &Path, ours: &str, other: &str, outcome: &mut Outcome) -> Result<()> {
    let said = equivalence(abc, folder, ours, other)?;
    match said.contains("Networks are equivalent") {
        true => outcome.passed += 1,
        false => outcome.failed.push(format!("{ours} against {other}: {said}")),
    }
    Ok(())
}

/// The LUTs and levels that ABC's mapper needs.
fn map(abc: &Path, folder: &Path, ours: &str) -> Result<String> {
    let commands = format!("read {ours}; strash; if -K 6; print_stats");
    let said = capture(Command::new(abc).args(["-c", &commands]).current_dir(folder))?;
    let line = said.lines().find(|line| line.contains("nd =")).context("ABC printed no sizes")?;
    let after =
        |what: &str| line.split(what).nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or("?");
    Ok(format!("{} LUTs, {} levels", after("nd ="), after("lev =")))
}
