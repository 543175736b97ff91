//! Register stages, balanced over the levels of a netlist.

use crate::circuit::{Netlist, Signal, SignalKind};

/// Which stage each LUT stands in, and how long each signal is kept in registers.
///
/// Stage 0 is the inputs; of `stages` stages each ends in registers. A reader in stage `t` reads a LUT of its own
/// stage directly, and anything older as it was after the registers of stage `t - 1`. Without stages all is one
/// stage without registers.
pub(super) struct Pipeline {
    stages: usize,
    /// The stage of every signal.
    stage: Vec<u32>,
    /// The last stage whose registers keep a signal; less than its stage when none does.
    last: Vec<u32>,
}

impl Pipeline {
    pub(super) fn new(netlist: &Netlist, stages: usize) -> Self {
        let levels = netlist.levels();
        let depth = netlist.depth().max(1);
        let stage = |level: u32| {
            // LUTs that no output needs may lie deeper than the outputs.
            if stages == 0 {
                level.min(1)
            } else {
                (level as usize * stages).div_ceil(depth).min(stages) as u32
            }
        };
        let stage: Vec<u32> = levels.into_iter().map(stage).collect();
        let mut last = vec![0; netlist.signals()];
        let mut keep = |signal: Signal, reader: u32| {
            let own = stage[signal.index()];
            if own < reader && signal.as_constant().is_none() {
                let last: &mut u32 = &mut last[signal.index()];
                *last = (*last).max(reader - 1);
            }
        };
        if stages > 0 {
            for (index, lut) in netlist.iter().enumerate() {
                let reader = stage[netlist.lut_signal(index).index()];
                lut.inputs().iter().for_each(|&input| keep(input, reader));
            }
            netlist.output_list().iter().for_each(|&(_, signal)| keep(signal, stages as u32 + 1));
        }
        Self { stages, stage, last }
    }

    /// Number of stages; none when combinational.
    pub(super) fn stages(&self) -> usize {
        self.stages
    }

    /// The stage that reads the outputs.
    pub(super) fn after(&self) -> u32 {
        self.stages as u32 + 1
    }

    /// The stage of a signal.
    pub(super) fn stage(&self, signal: Signal) -> u32 {
        self.stage[signal.index()]
    }

    /// The registers whose value a reader in a stage sees: the stage they end, or nothing when it reads directly.
    pub(super) fn registers(&self, signal: Signal, reader: u32) -> Option<u32> {
        let direct = self.stages == 0 || signal.as_constant().is_some() || self.stage(signal) == reader;
        (!direct && reader > 1).then_some(reader - 1)
    }

    /// The signals that the registers at the end of a stage keep.
    pub(super) fn kept<'a>(&'a self, netlist: &'a Netlist, stage: u32) -> impl Iterator<Item = Signal> + 'a {
        (Signal::CONSTANTS..netlist.signals())
            .map(Signal::from_index)
            .filter(move |&signal| self.stage(signal) <= stage && stage <= self.last[signal.index()])
    }

    /// The LUTs of a stage.
    pub(super) fn luts<'a>(&'a self, netlist: &'a Netlist, stage: u32) -> impl Iterator<Item = usize> + 'a {
        (0..netlist.luts()).filter(move |&lut| self.stage(netlist.lut_signal(lut)) == stage)
    }

    /// The name of a signal as a reader in a stage sees it; `select` writes one line of a bus.
    pub(super) fn name(
        &self,
        netlist: &Netlist,
        signal: Signal,
        reader: u32,
        constants: [&str; 2],
        select: impl Fn(usize) -> String,
    ) -> String {
        match (netlist.kind(signal), self.registers(signal, reader)) {
            (SignalKind::Constant(value), _) => constants[usize::from(value)].to_string(),
            (SignalKind::Input(input), None) => select(input),
            (SignalKind::Lut(lut), None) => format!("n{lut}"),
            (SignalKind::Input(input), Some(stage)) => format!("x{input}_{stage}"),
            (SignalKind::Lut(lut), Some(stage)) => format!("n{lut}_{stage}"),
        }
    }
}
