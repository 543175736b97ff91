//! The full tree of gates, as in the paper.

use super::{Grove, MAX_ARITY, Target, TruthTable, VoteTree};
use crate::{Error, Result};

/// A full tree: every gate has `arity` inputs, and every path from a leaf to the root passes `depth` gates.
///
/// Level 1 holds the bottom gates and level `depth` the root. Gate `g` of level 1 reads the leaves
/// `g * arity ..`, gate `g` of a higher level the gates `g * arity ..` of the level below. Gates are numbered level by
/// level from the bottom, the root last. Each leaf names the input column it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    arity: usize,
    depth: usize,
    inputs: usize,
    leaves: Vec<u32>,
    /// `table_words` words a gate, in the order of the gates.
    tables: Vec<u64>,
}

impl Tree {
    /// A tree from its parts: one input column a leaf, [`TruthTable::words_for`] words a gate in the order of the gates.
    ///
    /// # Errors
    /// When the parts do not make a tree of that shape, or a leaf names a column past `inputs`.
    pub fn new(
        arity: usize,
        depth: usize,
        inputs: usize,
        leaves: Vec<u32>,
        tables: Vec<u64>,
    ) -> Result<Self> {
        let shape = Shape::new(arity, depth)?;
        if leaves.len() != shape.leaves {
            return Err(Error::data(format!(
                "the tree has {} leaves instead of {}",
                leaves.len(),
                shape.leaves
            )));
        }
        if let Some(leaf) = leaves.iter().position(|&column| column as usize >= inputs) {
            return Err(Error::data(format!("leaf {leaf} reads column {} of {inputs}", leaves[leaf])));
        }
        let words = TruthTable::words_for(arity);
        if Some(tables.len()) != shape.gates.checked_mul(words) {
            return Err(Error::data(format!(
                "{} words are not the tables of {} gates",
                tables.len(),
                shape.gates
            )));
        }
        if arity < 6 && tables.iter().any(|table| table >> (1u32 << arity) != 0) {
            return Err(Error::data("a truth table has bits past its last address"));
        }
        Ok(Self { arity, depth, inputs, leaves, tables })
    }

    /// Inputs of every gate.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// Gates on the path from a leaf to the output.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Columns the tree may read.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The column each leaf reads.
    pub fn leaves(&self) -> &[u32] {
        &self.leaves
    }

    /// Number of gates.
    pub fn gates(&self) -> usize {
        self.tables.len() / TruthTable::words_for(self.arity)
    }

    /// Number of gates at a level, 1 being the bottom.
    pub fn level_gates(&self, level: usize) -> usize {
        assert!((1..=self.depth).contains(&level));
        self.arity.pow((self.depth - level) as u32)
    }

    /// The words of the tables of all gates, level by level from the bottom.
    pub fn tables(&self) -> &[u64] {
        &self.tables
    }

    /// The number of the first gate of a level.
    pub fn level_start(&self, level: usize) -> usize {
        (1..level).map(|below| self.level_gates(below)).sum()
    }

    /// The words of the table of gate `index` of a level.
    pub fn table_words(&self, level: usize, index: usize) -> &[u64] {
        assert!(index < self.level_gates(level));
        let words = TruthTable::words_for(self.arity);
        &self.tables[(self.level_start(level) + index) * words..][..words]
    }

    /// The table of gate `index` of a level.
    pub fn table(&self, level: usize, index: usize) -> TruthTable {
        TruthTable::new(self.arity, self.table_words(level, index).to_vec())
            .expect("checked when the tree was made")
    }

    /// The output for one row, given as a function from column to bit: the definition of what a tree computes.
    pub fn output(&self, bit: impl Fn(usize) -> bool) -> bool {
        let mut values: Vec<bool> = self.leaves.iter().map(|&column| bit(column as usize)).collect();
        for level in 1..=self.depth {
            values = values
                .chunks(self.arity)
                .enumerate()
                .map(|(gate, inputs)| {
                    let address = inputs.iter().enumerate().fold(0, |a, (j, &b)| a | usize::from(b) << j);
                    self.table_words(level, gate)[address / 64] >> (address % 64) & 1 != 0
                })
                .collect();
        }
        values[0]
    }

    /// The same as a grove of one tree, which votes for class 1 where this says one and against it where not.
    ///
    /// ```
    /// use gatewood::circuit::Tree;
    /// // One gate, the AND of columns 0 and 2.
    /// let tree = Tree::new(2, 1, 3, vec![0, 2], vec![0b1000])?;
    /// assert_eq!(tree.to_grove()?.margins_of(|_| true), [1]);
    /// assert_eq!(tree.to_grove()?.margins_of(|column| column == 0), [-1]);
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    ///
    /// # Errors
    /// When memory runs out.
    pub fn to_grove(&self) -> Result<Grove> {
        let (below, root) = self.tables.split_at(self.tables.len() - TruthTable::words_for(self.arity));
        let vote = |address: usize| if root[address / 64] >> (address % 64) & 1 != 0 { 1 } else { -1 };
        let votes = (0..1usize << self.arity).map(vote).collect();
        let arities = vec![self.arity; self.depth];
        let voting = VoteTree::new(arities, Target::One(0), self.leaves.clone(), below.to_vec(), votes)?;
        Grove::new(self.inputs, 2, vec![0], 1.0, vec![voting])
    }
}

/// How many gates and leaves a full tree has; made only when they can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) gates: usize,
    pub(crate) leaves: usize,
}

impl Shape {
    /// # Errors
    /// When arity or depth is out of range, or the tree has more leaves than a `u32` can number.
    pub(crate) fn new(arity: usize, depth: usize) -> Result<Self> {
        if !(1..=MAX_ARITY).contains(&arity) {
            return Err(Error::setting(format!("arity {arity} is not between 1 and {MAX_ARITY}")));
        }
        if depth == 0 {
            return Err(Error::setting("depth must be at least 1"));
        }
        let too_large = || {
            Error::too_large(format!(
                "a tree of arity {arity} and depth {depth} has more leaves than can be numbered"
            ))
        };
        let leaves =
            u32::try_from(depth).ok().and_then(|depth| arity.checked_pow(depth)).ok_or_else(too_large)?;
        if leaves > u32::MAX as usize || depth > 10_000 {
            return Err(too_large());
        }
        let gates = if arity == 1 { depth } else { (leaves - 1) / (arity - 1) };
        Ok(Self { gates, leaves })
    }
}
