//! Proving that two netlists compute the same.
//!
//! Both netlists become one and-inverter graph in which equal structure is shared. Simulation looks for a row that
//! shows a difference, and for inner nodes that look equal; these are proven equal from the inputs up, in small windows
//! by exhaustion and in larger ones by SAT, and then merged, so that little is left to prove at the outputs.

mod reach;
mod sweep;

use std::collections::HashMap;

use self::sweep::Sweep;
use super::aig::{Aig, Edge};
use super::{Deadline, Netlist, ProofLimits};
use crate::{Error, Result};

/// What [`prove_equal`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Equivalence {
    /// All outputs are equal for all rows: proven.
    Equal,
    /// An output differs for a row.
    Differs {
        /// The row: a bit for each input of the first netlist, in its order.
        inputs: Vec<bool>,
        /// The number of an output of the first netlist that differs.
        output: usize,
    },
    /// No row was found for which they differ, and the proof took more than it may.
    Undecided,
}

impl Equivalence {
    /// Whether the netlists were proven equal.
    pub fn is_equal(&self) -> bool {
        *self == Self::Equal
    }
}

/// Proves that two netlists compute the same, or finds a row for which they do not.
///
/// Inputs are matched by name when both netlists have the same names, else by position; so are outputs. The proof
/// takes any row as possible. What [`PROOF_CONFLICTS`](super::PROOF_CONFLICTS) do not decide stays undecided.
///
/// ```
/// use gatewood::circuit::{Equivalence, NetlistBuilder, prove_equal};
/// let gate = |table| {
///     let mut builder = NetlistBuilder::new(["a", "b"])?;
///     let output = builder.add(&[table], &[builder.input(0), builder.input(1)])?;
///     builder.output("y", output)?;
///     Ok::<_, gatewood::Error>(builder.finish())
/// };
/// assert_eq!(prove_equal(&gate(0b1000)?, &gate(0b1000)?)?, Equivalence::Equal);
/// let differs = prove_equal(&gate(0b1000)?, &gate(0b1010)?)?;
/// assert_eq!(differs, Equivalence::Differs { inputs: vec![true, false], output: 0 });
/// # Ok::<(), gatewood::Error>(())
/// ```
///
/// # Errors
/// When the netlists do not have as many inputs or outputs as each other.
pub fn prove_equal(first: &Netlist, second: &Netlist) -> Result<Equivalence> {
    prove(first, second, None, ProofLimits::default())
}

/// As [`prove_equal`], with other limits: on the conflicts that the SAT solver may meet for each output, and on the time. What
/// a limit of time leaves undecided depends on the machine.
///
/// # Errors
/// As [`prove_equal`].
pub fn prove_equal_within(
    first: &Netlist,
    second: &Netlist,
    limits: impl Into<ProofLimits>,
) -> Result<Equivalence> {
    prove(first, second, None, limits.into())
}

/// As [`prove_equal`], but only rows for which the single output of `allowed` is one count.
///
/// This is for rows that cannot occur, such as thermometer bits out of order. `allowed` reads the inputs of the first
/// netlist, by name or else by position.
///
/// # Errors
/// As [`prove_equal`], and when `allowed` does not have exactly one output.
pub fn prove_equal_where(first: &Netlist, second: &Netlist, allowed: &Netlist) -> Result<Equivalence> {
    if allowed.outputs() != 1 {
        return Err(Error::data(format!(
            "a netlist of allowed rows has one output, not {}",
            allowed.outputs()
        )));
    }
    prove(first, second, Some(allowed), ProofLimits::default())
}

fn prove(
    first: &Netlist,
    second: &Netlist,
    allowed: Option<&Netlist>,
    limits: ProofLimits,
) -> Result<Equivalence> {
    let deadline = Deadline::after(limits.time);
    let names =
        |netlist: &Netlist| netlist.output_list().iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let outputs = match_names("outputs", &names(first), &names(second))?;
    let mut aig = Aig::new(first.inputs());
    let inputs: Vec<Edge> = (0..first.inputs()).map(|input| aig.input(input)).collect();
    let add = |aig: &mut Aig, netlist: &Netlist| -> Result<Vec<Edge>> {
        let mut edges = vec![Edge::FALSE; inputs.len()];
        let order = match_names("inputs", first.input_names(), netlist.input_names())?;
        order.iter().enumerate().for_each(|(input, &place)| edges[place] = inputs[input]);
        let signals = aig.add_netlist(netlist, &edges);
        Ok(netlist.output_list().iter().map(|(_, signal)| signals[signal.index()]).collect())
    };
    let first_outputs = add(&mut aig, first)?;
    let boundary = aig.nodes();
    let second_outputs = add(&mut aig, second)?;
    let allowed = match allowed {
        Some(allowed) => add(&mut aig, allowed)?[0],
        None => Edge::TRUE,
    };
    let pairs: Vec<(Edge, Edge)> = first_outputs
        .iter()
        .zip(&outputs)
        .map(|(&ours, &place)| (aig.and(ours, allowed), aig.and(second_outputs[place], allowed)))
        .collect();
    Ok(Sweep::new(aig, boundary, pairs, deadline).run(limits.conflicts))
}

/// For each of the first names the place of its match among the second: by name if they are the same names, else by
/// position.
fn match_names(what: &str, first: &[String], second: &[String]) -> Result<Vec<usize>> {
    if first.len() != second.len() {
        return Err(Error::data(format!(
            "the netlists cannot be compared: one has {} {what}, the other {}",
            first.len(),
            second.len()
        )));
    }
    let places: HashMap<&str, usize> =
        second.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let by_name: Option<Vec<usize>> = first.iter().map(|name| places.get(name.as_str()).copied()).collect();
    Ok(by_name.unwrap_or_else(|| (0..first.len()).collect()))
}

#[cfg(test)]
mod tests;
