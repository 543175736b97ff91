//! How fast a circuit is on a chip, estimated: a delay for each level of LUTs, and one for the registers at both ends.

use std::fmt;
use std::str::FromStr;

use super::cells::CellFamily;
use super::pipeline::Pipeline;
use crate::circuit::Netlist;
use crate::export::MAX_PIPELINE;
use crate::{Error, Result};

/// A frequency, such as that of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frequency {
    hertz: u64,
}

impl Frequency {
    /// A frequency in hertz.
    pub const fn from_hertz(hertz: u64) -> Self {
        Self { hertz }
    }

    /// In megahertz.
    pub fn megahertz(self) -> f64 {
        self.hertz as f64 / 1e6
    }

    /// The time of a clock, in picoseconds.
    fn period(self) -> f64 {
        1e12 / self.hertz.max(1) as f64
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}MHz", self.megahertz())
    }
}

impl FromStr for Frequency {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let lower = text.to_ascii_lowercase();
        let (number, factor) = [("ghz", 1e9), ("mhz", 1e6), ("khz", 1e3), ("hz", 1.0)]
            .into_iter()
            .find_map(|(unit, factor)| Some((lower.strip_suffix(unit)?.trim(), factor)))
            .ok_or_else(|| Error::setting(format!("{text:?} is no frequency; say it as in 250MHz")))?;
        match number.parse::<f64>().map(|number| number * factor) {
            Ok(hertz) if (1.0..=1e12).contains(&hertz) => Ok(Self::from_hertz(hertz.round() as u64)),
            _ => Err(Error::setting(format!("{text:?} is no frequency; say it as in 250MHz"))),
        }
    }
}

/// A kind of chip whose speed is estimated.
///
/// The figures are fitted to what nextpnr says of routed designs; `bench/hardware.md` has how far they are off. Those of
/// Xilinx's devices, which no free tool routes, are a guess from usual delays of a LUT and a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chip {
    /// Its name.
    pub name: &'static str,
    /// The family of its cells.
    pub family: CellFamily,
    /// Whether the figures were measured.
    pub is_measured: bool,
    /// Picoseconds from a register to the first LUT and from the last LUT into one.
    base: u32,
    /// Picoseconds through a LUT and the wire behind it.
    level: u32,
}

impl Chip {
    /// All chips; the first of a family stands for it.
    pub const ALL: [Self; 5] = [
        Self::new("xilinx-7", CellFamily::Xilinx, false, 900, 650),
        Self::new("ecp5", CellFamily::Ecp5, true, 2050, 950),
        Self::new("ice40-hx", CellFamily::Ice40, true, 2600, 950),
        Self::new("ice40-up", CellFamily::Ice40, true, 4500, 2980),
        Self::new("gowin", CellFamily::Gowin, true, 3300, 1190),
    ];

    const fn new(name: &'static str, family: CellFamily, is_measured: bool, base: u32, level: u32) -> Self {
        Self { name, family, is_measured, base, level }
    }

    /// The chip that stands for a family.
    pub fn of_family(family: CellFamily) -> Self {
        Self::ALL.into_iter().find(|chip| chip.family == family).unwrap_or(Self::ALL[0])
    }

    /// The clock that so many levels of LUTs between two registers allow.
    pub fn frequency(self, levels: usize) -> Frequency {
        let period = f64::from(self.base) + f64::from(self.level) * levels as f64;
        Frequency::from_hertz((1e12 / period).round() as u64)
    }

    /// The levels of LUTs that fit between two registers.
    ///
    /// # Errors
    /// When not even one does.
    pub fn levels(self, clock: Frequency) -> Result<usize> {
        let levels = (clock.period() - f64::from(self.base)) / f64::from(self.level);
        // What a whole number of levels allows is not to be missed by rounding.
        let levels = (levels + 1e-3).floor();
        if levels < 1.0 {
            return Err(Error::setting(format!(
                "{clock} is out of reach of {}: {:.0}MHz is, with one LUT between registers",
                self.name,
                self.frequency(1).megahertz()
            )));
        }
        Ok(levels as usize)
    }

    /// The least stages of a pipeline that keep up with a clock, one at least.
    ///
    /// # Errors
    /// When the clock is out of reach, or the stages are too many.
    pub fn stages(self, netlist: &Netlist, clock: Frequency) -> Result<usize> {
        let stages = netlist.depth().div_ceil(self.levels(clock)?).max(1);
        if stages > MAX_PIPELINE {
            return Err(Error::setting(format!(
                "{clock} takes {stages} stages, over the limit of {MAX_PIPELINE}"
            )));
        }
        Ok(stages)
    }
}

/// What a pipeline takes and gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipelineSize {
    /// Its stages: as many clocks later the outputs follow.
    pub stages: usize,
    /// The most levels of LUTs between two registers.
    pub levels: usize,
    /// Registers, a bit each.
    pub registers: usize,
}

impl PipelineSize {
    /// What so many stages of a netlist take; none is all combinational, as between registers outside.
    pub fn of(netlist: &Netlist, stages: usize) -> Self {
        let pipeline = Pipeline::new(netlist, stages);
        let registers = (1..=stages as u32).map(|stage| pipeline.kept(netlist, stage).count()).sum();
        Self { stages, levels: netlist.depth().div_ceil(stages.max(1)), registers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::testing::random_netlist;

    #[test]
    fn frequencies_are_read() {
        let hertz = |text: &str| text.parse::<Frequency>().map(|frequency| frequency.hertz).ok();
        assert_eq!(hertz("250MHz"), Some(250_000_000));
        assert_eq!(hertz("1.5 GHz"), Some(1_500_000_000));
        assert_eq!(hertz("12000khz"), Some(12_000_000));
        for bad in ["", "250", "MHz", "-3MHz", "nanHz", "infMHz", "0Hz", "9999GHz"] {
            assert_eq!(hertz(bad), None, "{bad}");
        }
        assert_eq!("33.3MHz".parse::<Frequency>().unwrap().to_string(), "33.3MHz");
    }

    #[test]
    fn stages_keep_up_with_their_clock() {
        let netlist = random_netlist(3, 8, 60, 4);
        assert!(netlist.depth() > 4);
        for chip in Chip::ALL {
            assert_eq!(chip.levels(chip.frequency(3)).unwrap(), 3, "{}", chip.name);
            for levels in 1..netlist.depth() {
                let stages = chip.stages(&netlist, chip.frequency(levels)).unwrap();
                assert!(PipelineSize::of(&netlist, stages).levels <= levels);
                assert!(stages == 1 || PipelineSize::of(&netlist, stages - 1).levels > levels);
            }
            let error = chip.levels("2GHz".parse().unwrap()).unwrap_err();
            assert!(error.is_setting() && error.to_string().contains(chip.name), "{error}");
        }
        assert_eq!(PipelineSize::of(&netlist, 0).registers, 0);
    }

    #[test]
    fn no_path_of_a_stage_is_longer_than_said() {
        for seed in 0..20 {
            let netlist = random_netlist(seed, 6, 40, 4);
            for stages in 1..6 {
                let pipeline = Pipeline::new(&netlist, stages);
                let most = PipelineSize::of(&netlist, stages).levels;
                // Levels of LUTs since the last register.
                let mut levels = vec![0; netlist.signals()];
                for (index, lut) in netlist.iter().enumerate() {
                    let signal = netlist.lut_signal(index);
                    let same =
                        |input: &&crate::circuit::Signal| pipeline.stage(**input) == pipeline.stage(signal);
                    let before = lut.inputs().iter().filter(same).map(|input| levels[input.index()]).max();
                    levels[signal.index()] = before.unwrap_or(0) + 1;
                }
                let shown = netlist.output_list().iter().map(|(_, signal)| levels[signal.index()]).max();
                assert!(shown.unwrap() <= most, "{stages} stages of {netlist:?}");
            }
        }
    }
}
