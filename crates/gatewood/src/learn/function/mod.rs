//! Functions from samples: rows of input bits and output bits to a small circuit that says the outputs of other rows too.
//!
//! - [`FunctionTask`], [`FunctionSettings`], [`learn_function`]: samples in, a [`FunctionFit`] out.
//!
//! Each output is learned by itself. Shapes with a name come first, since a circuit of the right shape is right for every
//! row: exclusive ors, functions of counts, decision lists (comparators, carries), arithmetic of two words, weighted sums,
//! decision trees (multiplexers). What none of them explains is left to trees over gates that earlier trees asked for (control
//! logic), and to groves. Rows that nothing was learned from choose.

mod affine;
mod fringe;
mod groves;
mod lists;
mod portfolio;
mod samples;
mod screen;
mod sketch;
mod splits;
mod symmetric;
#[cfg(test)]
mod tests;
mod threshold;
mod words;

use serde::Serialize;

use self::portfolio::{Candidate, Task, best_circuit};
use self::samples::{Samples, split};
use super::Observer;
use crate::bits::BitView;
use crate::circuit::{Netlist, NetlistBuilder, Signal, SimplifySettings};
use crate::{Error, Result};

/// Samples of a function: the inputs and the outputs of each row.
#[derive(Debug, Clone, Copy)]
pub struct FunctionTask<'a> {
    /// The input bits of each row.
    pub inputs: BitView<'a>,
    /// The output bits of each row, a column for each output.
    pub outputs: BitView<'a>,
    /// The names of the inputs.
    pub input_names: &'a [String],
    /// The names of the outputs.
    pub output_names: &'a [String],
    /// Inputs and outputs of other rows, which choose among circuits; a fifth of the rows where there are none.
    pub validation: Option<(BitView<'a>, BitView<'a>)>,
}

/// How a function is learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionSettings {
    /// ANDs of two inputs that the whole circuit may have, inverters not counted.
    pub max_ands: usize,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Threads to use, 0 for one a core; the circuit does not depend on it.
    pub threads: usize,
}

impl Default for FunctionSettings {
    fn default() -> Self {
        Self { max_ands: 5_000, seed: 0, threads: 0 }
    }
}

/// What was found for one output.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutputFit {
    /// The name of the output.
    pub name: String,
    /// What kind of circuit it is.
    pub shape: String,
    /// ANDs of its circuit alone.
    pub ands: usize,
    /// The share of the rows that it was learned from for which it is wrong.
    pub train_error: f64,
    /// The same of the rows that chose among circuits.
    pub held_out_error: f64,
}

/// A circuit for all outputs, and what it is made of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FunctionFit {
    /// The circuit: its inputs and outputs are those of the samples, in their order.
    pub netlist: Netlist,
    /// ANDs of the circuit.
    pub ands: usize,
    /// One for each output.
    pub outputs: Vec<OutputFit>,
}

impl FunctionFit {
    /// The share of rows for which each output is wrong.
    ///
    /// # Errors
    /// When the rows have not as many inputs and outputs as the circuit.
    pub fn errors(&self, inputs: BitView<'_>, outputs: BitView<'_>) -> Result<Vec<f64>> {
        check(inputs, outputs, self.netlist.inputs(), self.netlist.outputs(), "test")?;
        let said = self.netlist.evaluate(inputs)?;
        let wrong = |output: usize| {
            let pairs = said.view().column(output).iter().zip(outputs.column(output));
            pairs.map(|(said, is)| (said ^ is).count_ones() as usize).sum::<usize>()
        };
        Ok((0..outputs.columns()).map(|output| wrong(output) as f64 / inputs.rows().max(1) as f64).collect())
    }
}

/// Rows that samples must have: fewer say nothing of a function.
const FEWEST_ROWS: usize = 20;

/// Learns a circuit from samples of a function.
///
/// ```
/// use gatewood::bits::BitMatrix;
/// use gatewood::learn::{FunctionSettings, FunctionTask, Silent, learn_function};
/// // The parity of six bits, of which some rows are known.
/// let rows: Vec<usize> = (0..48).map(|row| row * 37 % 64).collect();
/// let bits: Vec<bool> = rows.iter().flat_map(|row| (0..6).map(move |bit| row >> bit & 1 != 0)).collect();
/// let inputs = BitMatrix::from_bools(6, &bits)?;
/// let outputs = BitMatrix::from_bools(1, &rows.iter().map(|row| row.count_ones() % 2 == 1).collect::<Vec<_>>())?;
/// let names: Vec<String> = (0..6).map(|bit| format!("x{bit}")).collect();
/// let task = FunctionTask {
///     inputs: inputs.view(),
///     outputs: outputs.view(),
///     input_names: &names,
///     output_names: &["odd".into()],
///     validation: None,
/// };
/// let fit = learn_function(&task, &FunctionSettings::default(), &Silent)?;
/// assert_eq!(fit.outputs[0].shape, "symmetric function"); // of the number of ones alone
/// assert_eq!(fit.netlist.evaluate_row(&[true, true, true, false, false, false]), [true]);
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When the rows are too few or do not fit each other, two names are equal, memory runs out, or the observer stops the work.
pub fn learn_function(
    task: &FunctionTask<'_>,
    settings: &FunctionSettings,
    observer: &dyn Observer,
) -> Result<FunctionFit> {
    let (inputs, outputs) = (task.input_names.len(), task.output_names.len());
    check(task.inputs, task.outputs, inputs, outputs, "training")?;
    if let Some((held_inputs, held_outputs)) = task.validation {
        check(held_inputs, held_outputs, inputs, outputs, "validation")?;
    }
    if task.inputs.rows() < FEWEST_ROWS {
        return Err(Error::data(format!(
            "{} rows are too few to learn a function from: {FEWEST_ROWS} or more are wanted",
            task.inputs.rows()
        )));
    }
    // Names are checked before anything is learned.
    NetlistBuilder::new(task.input_names.iter().cloned())?;
    let mut found: Vec<Candidate> = Vec::with_capacity(outputs);
    let mut left = settings.max_ands;
    for output in 0..outputs {
        // What the outputs before this one did not take is shared by those that are left.
        let max_ands = left / (outputs - output);
        let task = task_of(task, output, max_ands, settings, observer)?;
        let best = best_circuit(&task)?;
        left -= best.ands.min(left);
        found.push(best);
    }
    let netlist = joined(task, &found)?;
    let (fit_rows, held_rows) = rows_of(task, settings);
    let share = |wrong: usize, rows: usize| wrong as f64 / rows.max(1) as f64;
    let outputs = found.into_iter().zip(task.output_names);
    let outputs = outputs
        .map(|(found, name)| OutputFit {
            name: name.clone(),
            shape: found.shape,
            ands: found.ands,
            train_error: share(found.wrong[0], fit_rows),
            held_out_error: share(found.wrong[1], held_rows),
        })
        .collect();
    Ok(FunctionFit { ands: netlist.ands(), netlist, outputs })
}

fn check(inputs: BitView<'_>, outputs: BitView<'_>, columns: usize, names: usize, what: &str) -> Result<()> {
    if inputs.rows() != outputs.rows() {
        return Err(Error::data(format!(
            "{} inputs and {} outputs of {what} rows",
            inputs.rows(),
            outputs.rows()
        )));
    }
    if (inputs.columns(), outputs.columns()) != (columns, names) {
        return Err(Error::data(format!(
            "{what} rows of {} inputs and {} outputs, where {columns} and {names} are wanted",
            inputs.columns(),
            outputs.columns()
        )));
    }
    if inputs.columns() == 0 || outputs.columns() == 0 {
        return Err(Error::data("a function has an input and an output or more"));
    }
    inputs.validate()?;
    outputs.validate()
}

/// How many rows are learned from, and how many judge.
fn rows_of(task: &FunctionTask<'_>, settings: &FunctionSettings) -> (usize, usize) {
    match task.validation {
        Some((held, _)) => (task.inputs.rows(), held.rows()),
        None => {
            let (fit, held) = split(task.inputs.rows(), settings.seed);
            (fit.len(), held.len())
        }
    }
}

/// The rows of one output.
fn task_of<'a>(
    task: &FunctionTask<'_>,
    output: usize,
    max_ands: usize,
    settings: &FunctionSettings,
    observer: &'a dyn Observer,
) -> Result<Task<'a>> {
    let rows = task.inputs.rows();
    let label = task.outputs.column(output);
    let whole = Samples::new(task.inputs, label, &(0..rows).collect::<Vec<_>>())?;
    let (fit, held, all) = match task.validation {
        Some((inputs, outputs)) => {
            let others: Vec<usize> = (0..inputs.rows()).collect();
            (whole, Samples::new(inputs, outputs.column(output), &others)?, None)
        }
        None => {
            let (fit, held) = split(rows, settings.seed);
            let samples = |rows: &[usize]| Samples::new(task.inputs, label, rows);
            (samples(&fit)?, samples(&held)?, Some(whole))
        }
    };
    Ok(Task { fit, held, all, max_ands, seed: settings.seed, threads: settings.threads, observer })
}

/// One circuit with all outputs, made smaller where that saves ANDs.
fn joined(task: &FunctionTask<'_>, found: &[Candidate]) -> Result<Netlist> {
    let mut builder = NetlistBuilder::new(task.input_names.iter().cloned())?;
    for (candidate, name) in found.iter().zip(task.output_names) {
        let netlist = &candidate.netlist;
        let mut signals = vec![Signal::ZERO, Signal::ONE];
        signals.extend((0..netlist.inputs()).map(|input| builder.input(input)));
        for lut in netlist.iter() {
            let read: Vec<Signal> = lut.inputs().iter().map(|input| signals[input.index()]).collect();
            signals.push(builder.add(lut.words(), &read)?);
        }
        builder.output(name.clone(), signals[netlist.output_list()[0].1.index()])?;
    }
    let netlist = builder.finish();
    let smaller = netlist.simplify(&SimplifySettings { proofs: true, merge: 0 })?.netlist;
    Ok(if smaller.ands() < netlist.ands() { smaller } else { netlist })
}
