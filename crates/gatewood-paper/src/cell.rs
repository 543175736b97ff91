//! A cell: settings, and the errors the paper prints for them.

use std::collections::BTreeMap;

use gatewood::learn::{Judge, TreeSettings, Unseen};
use gatewood::{Error, Result};

/// A figure as the paper prints it, in percent.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// Its digits.
    pub text: String,
    /// Its value.
    pub value: f64,
}

impl Printed {
    /// Reads a figure; `-` is an empty place.
    ///
    /// # Errors
    /// When the text is no percentage.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        if text == "-" {
            return Ok(None);
        }
        match text.parse() {
            Ok(value) if (0.0..=100.0).contains(&value) => Ok(Some(Self { text: text.into(), value })),
            _ => Err(Error::file(format!("\"{text}\" is not a percentage"))),
        }
    }
}

/// The settings that are the same in all of the paper: an address without rows says zero, and a trial is kept unless the
/// judge gets fewer rows right.
pub(crate) fn paper_settings() -> TreeSettings {
    TreeSettings { unseen: Unseen::Zero, judge: Judge::NotWorse, threads: 1, ..TreeSettings::default() }
}

/// Settings of a run and what the paper says of it.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The data set, in the words of the command line.
    pub data: String,
    /// The tree's settings, but for the seed.
    pub settings: TreeSettings,
    /// The paper's training and test error.
    pub printed: [Option<Printed>; 2],
}

impl Cell {
    /// A cell from its settings by name: `arity`, `depth`, `climb`, `height`, and `bits`, which goes into the data.
    ///
    /// # Errors
    /// When a name is not known, or the settings do not fit.
    pub fn new(data: &str, named: &BTreeMap<String, u64>, printed: [Option<Printed>; 2]) -> Result<Self> {
        let mut data = data.to_owned();
        let mut settings = paper_settings();
        for (name, &value) in named {
            match name.as_str() {
                "arity" => settings.arity = value as usize,
                "depth" => settings.depth = value as usize,
                "climb" => settings.climb = value,
                "height" => settings.height = value as usize,
                "bits" => data = data.replace("{bits}", &value.to_string()),
                _ => return Err(Error::file(format!("there is no setting \"{name}\""))),
            }
        }
        settings.check()?;
        Ok(Self { data, settings, printed })
    }

    /// What the cell's results are kept under. Cells of different tables with the same settings share them.
    pub fn key(&self) -> String {
        let TreeSettings { arity, depth, climb, height, .. } = self.settings;
        let climb = match climb {
            0 => String::new(),
            _ => format!(" climb={climb} height={height} judge=not-worse"),
        };
        format!("{} arity={arity} depth={depth}{climb}", self.data)
    }

    /// The data of a run. Sets that are made are made anew for every seed, as one draw of them is a matter of luck too.
    pub fn data_of(&self, seed: u64) -> String {
        match self.data.split_once(':') {
            Some(("cubes" | "gauss", _)) => format!("{},seed={seed}", self.data),
            _ => self.data.clone(),
        }
    }

    /// Roughly the seconds a run takes on one core.
    pub fn cost(&self) -> f64 {
        let TreeSettings { arity, depth, climb, height, .. } = self.settings;
        let gates = (0..depth).map(|level| (arity as f64).powi(level as i32)).sum::<f64>();
        let addresses = f64::from(1 << arity);
        // Counting takes a word operation for every subset of the inputs, or a few operations a row; fitting sorts.
        let count = (self.words() * addresses * 0.12).min(self.words() * 64.0 * (0.4 + 0.1 * arity as f64));
        let gate = 60.0 + count + addresses * 12.0;
        let trials = climb as f64 * height as f64 * (60.0 + count * 0.7 + addresses * 8.0);
        (gates * gate * 1.3 + trials) * 1e-9 + 0.01
    }

    /// Words of a column of the training rows.
    fn words(&self) -> f64 {
        match self.data.split(':').next() {
            Some("cubes") => 12_000.0 / 64.0,
            Some("mnist" | "mnist35") => 2_276.0 / 64.0,
            Some("convex") => 8_000.0 / 64.0,
            _ => 10_000.0 / 64.0,
        }
    }
}
