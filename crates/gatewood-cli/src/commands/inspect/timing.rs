//! How fast a circuit is on families of chips, by an estimate.

use std::collections::{BTreeMap, BTreeSet};

use crate::terminal::{Grid, Usage, count};
use anyhow::{Result, bail};
use gatewood::circuit::{Netlist, SumsOf};
use gatewood::export::{Chip, Frequency, MAX_PIPELINE, ModelOptions, PipelineSize, netlist_of};
use gatewood::model::Model;
use serde_json::{Value, json};

/// What is estimated of a chip.
pub(super) struct Estimate {
    chip: Chip,
    luts: usize,
    levels: usize,
    /// The pipeline and its clock; nothing where the clock that was asked for is out of reach.
    pipeline: Option<(PipelineSize, Frequency)>,
}

/// Estimates for all chips, or for those of LUTs of so many inputs; for a clock or a number of stages.
pub(super) fn estimates(
    model: &Model,
    luts: Option<usize>,
    clock: Option<Frequency>,
    stages: Option<usize>,
) -> Result<Vec<Estimate>> {
    if let Some(stages) = stages.filter(|&stages| stages > MAX_PIPELINE) {
        bail!(Usage(format!("{stages} pipeline stages are over the limit of {MAX_PIPELINE}")));
    }
    let mut chips = Chip::ALL.to_vec();
    chips.retain(|chip| luts.is_none_or(|luts| luts == chip.family.inputs()));
    if chips.is_empty() {
        bail!(Usage("no chip that is known has such LUTs: they have 4 or 6 inputs".into()));
    }
    let mut mapped: BTreeMap<usize, Netlist> = BTreeMap::new();
    let sizes: BTreeSet<usize> = chips.iter().map(|chip| chip.family.inputs()).collect();
    for inputs in sizes {
        // As exported: counters of six inputs do not fit LUTs of fewer.
        let sums = (inputs < 6).then_some(SumsOf::FullAdders);
        let netlist = netlist_of(model, &ModelOptions { sums, ..ModelOptions::default() })?;
        mapped.insert(inputs, netlist.map_to_luts(inputs)?);
    }
    let estimate = |chip: Chip| {
        let netlist = &mapped[&chip.family.inputs()];
        let stages = match clock {
            Some(clock) => chip.stages(netlist, clock).ok(),
            None => Some(stages.unwrap_or(0)),
        };
        let pipeline = stages.map(|stages| {
            let size = PipelineSize::of(netlist, stages);
            (size, chip.frequency(size.levels))
        });
        Estimate { chip, luts: netlist.luts(), levels: netlist.depth(), pipeline }
    };
    Ok(chips.into_iter().map(estimate).collect())
}

/// The estimates as a table.
pub(super) fn table(estimates: &[Estimate]) -> String {
    let mut grid = Grid::new(&["  chip", ">LUTs", ">levels", ">stages", ">registers", ">MHz, estimated"]);
    for estimate in estimates {
        let name = match estimate.chip.is_measured {
            true => format!("  {}", estimate.chip.name),
            false => format!("  {} (not measured)", estimate.chip.name),
        };
        let (stages, registers, clock) = match &estimate.pipeline {
            Some((size, clock)) => {
                (count(size.stages), count(size.registers), format!("{:.0}", clock.megahertz()))
            }
            None => ("".into(), "".into(), "out of reach".into()),
        };
        grid.row(vec![name, count(estimate.luts), count(estimate.levels), stages, registers, clock]);
    }
    format!("{}\n", grid.show(""))
}

/// The estimates as JSON.
pub(super) fn json(estimates: &[Estimate]) -> Value {
    let one = |estimate: &Estimate| {
        json!({
            "chip": estimate.chip.name,
            "measured": estimate.chip.is_measured,
            "luts": estimate.luts,
            "levels": estimate.levels,
            "stages": estimate.pipeline.map(|(size, _)| size.stages),
            "levels_a_stage": estimate.pipeline.map(|(size, _)| size.levels),
            "registers": estimate.pipeline.map(|(size, _)| size.registers),
            "mhz": estimate.pipeline.map(|(_, clock)| clock.megahertz()),
        })
    };
    estimates.iter().map(one).collect()
}
