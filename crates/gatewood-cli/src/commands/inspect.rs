//! `gatewood inspect`: what a model is made of, and what its bits mean.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::terminal::{Grid, count, print};
use anyhow::Result;
use gatewood::model::{Circuit, Model};
use serde_json::json;

/// Which model, and how much of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A model file
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// List all bits that are read, not only those read most
    #[arg(long)]
    all: bool,

    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// Bits shown unless all are wanted.
const SHOWN: usize = 20;

/// Runs `gatewood inspect`.
pub(crate) fn run(args: &Args) -> Result<()> {
    let model = Model::load(&args.model)?;
    let circuit = model.circuit();
    let (kind, leaves): (_, Vec<u32>) = match circuit {
        Circuit::Tree(tree) => ("tree", tree.leaves().to_vec()),
        Circuit::Grove(grove) => {
            ("grove", grove.trees().iter().flat_map(|tree| tree.leaves()).copied().collect())
        }
    };
    let mut reads: BTreeMap<u32, usize> = BTreeMap::new();
    leaves.iter().for_each(|&bit| *reads.entry(bit).or_default() += 1);
    let mut by_use: Vec<(u32, usize)> = reads.into_iter().collect();
    by_use.sort_by_key(|&(bit, times)| (std::cmp::Reverse(times), bit));
    if args.json {
        let bits: Vec<_> = by_use
            .iter()
            .map(|&(bit, times)| json!({"bit": bit, "meaning": model.encoder().describe(bit as usize), "leaves": times}))
            .collect();
        let mut value = json!({
            "model": kind,
            "classes": model.classes(),
            "label": model.label(),
            "inputs": circuit.inputs(),
            "columns": model.encoder().width(),
            "gates": circuit.gates(),
            "depth": circuit.depth(),
            "leaves": leaves.len(),
            "settings": model.settings(),
            "provenance": model.provenance(),
            "bits": bits,
        });
        if let Circuit::Grove(grove) = circuit {
            value["trees"] = json!(grove.trees().len());
        }
        return print(&format!("{value}\n"));
    }
    let provenance = model.provenance();
    let mut grid = Grid::new(&["", ""]);
    let mut put = |name: &str, value: String| grid.row(vec![name.into(), value]);
    match circuit {
        Circuit::Tree(tree) => {
            put("model", format!("tree of arity {}, depth {}", tree.arity(), tree.depth()))
        }
        Circuit::Grove(grove) => put("model", format!("grove of {} trees", count(grove.trees().len()))),
    }
    put("classes", model.classes().join(", "));
    if let Some(label) = model.label() {
        put("label", label.into());
    }
    put("gates", count(circuit.gates()));
    put("leaves", count(leaves.len()));
    put("bits", format!("reads {} of {}", count(by_use.len()), count(circuit.inputs())));
    put("columns", count(model.encoder().width()));
    if !provenance.data.is_empty() {
        put("trained on", format!("{}, {} rows", provenance.data, count(provenance.rows)));
        put("by", provenance.program.clone());
    }
    if let Some(settings) = model.settings().as_object() {
        let settings: Vec<String> = settings
            .iter()
            .map(|(name, value)| format!("{name} {}", value.to_string().trim_matches('"')))
            .collect();
        put("settings", settings.join(", "));
    }
    let mut text = grid.show("");
    let shown = if args.all { by_use.len() } else { SHOWN.min(by_use.len()) };
    text += "\n";
    let mut grid = Grid::new(&["  bit", ">leaves", "is one where"]);
    for &(bit, times) in &by_use[..shown] {
        grid.row(vec![format!("  {bit}"), count(times), model.encoder().describe(bit as usize)]);
    }
    text += &grid.show("");
    if shown < by_use.len() {
        text += &format!("  … and {} more: --all lists them\n", count(by_use.len() - shown));
    }
    print(&text)
}
