//! A grove of one gate a tree as a network: gates that vote, and gates that they share.

use crate::Result;
use crate::circuit::{Grove, Target, VoteTree};

/// Most inputs of a gate: its table is one word.
pub(super) const MOST_INPUTS: usize = 6;

/// A gate of up to six inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gate {
    /// Columns of the rows; those after them are the shared gates.
    pub(super) inputs: Vec<u32>,
    /// Bit `i` is the output when input `j` equals bit `j` of `i`.
    pub(super) table: u64,
}

impl Gate {
    /// A gate that says what one of its inputs says.
    pub(super) fn repeating(inputs: Vec<u32>, input: usize) -> Self {
        let addresses = 0..1u64 << inputs.len();
        let table = addresses.fold(0, |table, address| table | (address >> input & 1) << address);
        Self { inputs, table }
    }

    /// The same gate where an input is always `value`.
    pub(super) fn with_fixed(&self, input: usize, value: bool) -> Self {
        let bit = 1u64 << input;
        let from = |address: u64| if value { address | bit } else { address & !bit };
        let addresses = 0..1u64 << self.inputs.len();
        let table = addresses.fold(0, |table, address| table | (self.table >> from(address) & 1) << address);
        Self { inputs: self.inputs.clone(), table }
    }
}

/// Gates that vote yes or no for a class, over columns and the gates that they share.
#[derive(Debug, Clone)]
pub(super) struct Network {
    /// Columns of the rows.
    pub(super) inputs: usize,
    /// The gates that others read: the first is the column after the last input. Some may have no reader.
    pub(super) shared: Vec<Gate>,
    /// The gates that vote, each with its margin.
    pub(super) votes: Vec<(Gate, usize)>,
}

impl Network {
    /// The trees of a grove: one gate of up to six inputs each, and votes of one bit. No gate reads the shared ones yet.
    pub(super) fn before_passes(grove: &Grove, shared: usize) -> Self {
        let gate = |tree: &VoteTree| {
            let votes = tree.votes().iter().enumerate();
            let table = votes.fold(0, |table, (address, &vote)| table | u64::from(vote > 0) << address);
            let Target::One(margin) = tree.target() else {
                unreachable!("trees of one bit vote on one margin")
            };
            (Gate { inputs: tree.leaves().to_vec(), table }, margin as usize)
        };
        let shared = vec![Gate { inputs: Vec::new(), table: 0 }; shared];
        Self { inputs: grove.inputs(), shared, votes: grove.trees().iter().map(gate).collect() }
    }

    /// The gates that vote and read a column, each with the place it reads it at.
    pub(super) fn readers(&self, column: u32) -> impl Iterator<Item = (usize, usize)> {
        let place = move |gate: &Gate| gate.inputs.iter().position(|&input| input == column);
        self.votes.iter().enumerate().filter_map(move |(vote, (gate, _))| Some((vote, place(gate)?)))
    }

    /// The trees: those that read shared gates have them as a level of their own.
    pub(super) fn trees(&self) -> Result<Vec<VoteTree>> {
        self.votes.iter().map(|(gate, margin)| self.tree(gate, *margin)).collect()
    }

    fn tree(&self, gate: &Gate, margin: usize) -> Result<VoteTree> {
        let votes = (0..1u64 << gate.inputs.len()).map(|address| 2 * (gate.table >> address & 1) as i32 - 1);
        let (target, votes) = (Target::One(margin as u32), votes.collect());
        let shared =
            |column: u32| (column as usize).checked_sub(self.inputs).map(|shared| &self.shared[shared]);
        let Some(arity) = gate.inputs.iter().find_map(|&input| shared(input)).map(|below| below.inputs.len())
        else {
            return VoteTree::new(vec![gate.inputs.len()], target, gate.inputs.clone(), Vec::new(), votes);
        };
        let below = gate.inputs.iter().map(|&input| match shared(input) {
            Some(below) => below.clone(),
            None => Gate::repeating(vec![input; arity], 0),
        });
        let (leaves, tables): (Vec<Vec<u32>>, Vec<u64>) = below.map(|gate| (gate.inputs, gate.table)).unzip();
        VoteTree::new(vec![arity, gate.inputs.len()], target, leaves.concat(), tables, votes)
    }
}
