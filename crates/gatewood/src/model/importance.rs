//! What each raw column is worth to a circuit.

use super::{Circuit, Model};
use crate::circuit::{Tree, VoteTree};

impl Model {
    /// What each column of the training table is worth; they add up to one, or are all zero where no leaf matters.
    ///
    /// A grove of a table knows it from its training: by how much the log loss of some training rows (of the validation
    /// rows, where there are any) rises when the column is shuffled among them, the file keeps that. Other circuits have
    /// [`Model::circuit_importance`].
    pub fn importance(&self) -> Vec<f64> {
        let all: f64 = self.importance.iter().sum();
        match self.importance.len() == self.encoder.width() && all > 0.0 {
            true => self.importance.iter().map(|worth| worth / all).collect(),
            false => self.circuit_importance(),
        }
    }

    /// What each column is worth as far as the circuit alone says; they add up to one, or are all zero.
    ///
    /// A leaf is worth what its bit changes on average when every address of the gates on its path is equally likely: the
    /// share of addresses at which its gate's output follows it, times that of each gate above, times the mean change of
    /// the votes at the root. The bits of a span or a pattern share what it is worth evenly.
    ///
    /// ```
    /// # use gatewood::bits::BitMatrix;
    /// # use gatewood::encode::Encoder;
    /// # use gatewood::circuit::Tree;
    /// # use gatewood::model::{Circuit, Model};
    /// // One gate that says what its second input says.
    /// let tree = Tree::new(2, 1, 2, vec![0, 1], vec![0b1100])?;
    /// let model = Model::new(Encoder::identity(2), Circuit::Tree(tree), vec!["no".into(), "yes".into()])?;
    /// assert_eq!(model.importance(), [0.0, 1.0]);
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    pub fn circuit_importance(&self) -> Vec<f64> {
        let mut of_bits = vec![0.0; self.encoder.bits()];
        match &self.circuit {
            Circuit::Tree(tree) => add_tree(tree, &mut of_bits),
            Circuit::Grove(grove) => {
                of_bits.resize(grove.columns(), 0.0);
                grove.trees().iter().for_each(|tree| add_votes(tree, &mut of_bits));
                // What a span or a pattern is worth is shared by the bits in it.
                let made = of_bits.split_off(grove.inputs());
                for (column, worth) in (grove.inputs() as u32..).zip(made).filter(|(_, worth)| *worth > 0.0) {
                    let bits = grove.inputs_of(column);
                    let share = worth / bits.len() as f64;
                    bits.iter().for_each(|&bit| of_bits[bit as usize] += share);
                }
            }
        }
        let all: f64 = of_bits.iter().sum();
        let mut of_columns = vec![0.0; self.encoder.width()];
        if all > 0.0 {
            for (worth, meaning) in of_bits.iter().zip(self.encoder.meanings()) {
                of_columns[self.encoder.inputs()[meaning.column as usize].position] += worth / all;
            }
        }
        of_columns
    }
}

/// Mean change of a function of `arity` bits when input `input` flips.
fn influence(arity: usize, input: usize, change: impl Fn(usize, usize) -> f64) -> f64 {
    let addresses = 0..1usize << arity;
    let without = addresses.filter(|address| address >> input & 1 == 0);
    without.map(|address| change(address, address | 1 << input)).sum::<f64>() / (1 << (arity - 1)) as f64
}

/// What the inputs of a level's gates are worth, given what the gates are.
fn below<'t>(arity: usize, gates: &[f64], table: impl Fn(usize) -> &'t [u64]) -> Vec<f64> {
    let inputs = gates.iter().enumerate().flat_map(|(gate, &worth)| {
        let table = table(gate);
        let bit = move |address: usize| table[address / 64] >> (address % 64) & 1;
        (0..arity).map(move |input| {
            worth * influence(arity, input, |off, on| if bit(off) == bit(on) { 0.0 } else { 1.0 })
        })
    });
    inputs.collect()
}

fn add_leaves(leaves: &[u32], worth: &[f64], of_bits: &mut [f64]) {
    leaves.iter().zip(worth).for_each(|(&column, worth)| of_bits[column as usize] += worth);
}

fn add_tree(tree: &Tree, of_bits: &mut [f64]) {
    let mut worth = vec![1.0];
    for level in (1..=tree.depth()).rev() {
        worth = below(tree.arity(), &worth, |gate| tree.table_words(level, gate));
    }
    add_leaves(tree.leaves(), &worth, of_bits);
}

fn add_votes(tree: &VoteTree, of_bits: &mut [f64]) {
    let (depth, arities) = (tree.depth(), tree.arities());
    let root = arities[depth - 1];
    let change = |off: usize, on: usize| {
        let votes = tree.votes_at(off).iter().zip(tree.votes_at(on));
        votes.map(|(&off, &on)| f64::from(off.abs_diff(on))).sum::<f64>()
    };
    let mut worth: Vec<f64> = (0..root).map(|input| influence(root, input, change)).collect();
    for level in (1..depth).rev() {
        worth = below(arities[level - 1], &worth, |gate| tree.table_words(level, gate));
    }
    add_leaves(tree.leaves(), &worth, of_bits);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::{Grove, Target};
    use crate::encode::Encoder;

    #[test]
    fn the_worth_of_leaves_follows_votes_and_tables() {
        // Gates: the first follows bit 0, the second is the exclusive or of bits 1 and 2. Votes: 3 for the first, 1 for
        // the second.
        let tree = VoteTree::new(
            vec![2, 2],
            Target::One(0),
            vec![0, 3, 1, 2],
            vec![0b1010, 0b0110],
            vec![-2, 1, -1, 2],
        )
        .unwrap();
        let grove = Grove::new(4, 2, vec![0], 0.1, vec![tree]).unwrap();
        let model =
            Model::new(Encoder::identity(4), Circuit::Grove(grove), vec!["a".into(), "b".into()]).unwrap();
        let worth = model.importance();
        assert_eq!(worth, [0.6, 0.2, 0.2, 0.0]);
    }

    #[test]
    fn a_constant_circuit_has_columns_of_no_worth() {
        let tree = Tree::new(2, 1, 2, vec![0, 1], vec![0]).unwrap();
        let model = Model::new(Encoder::identity(2), Circuit::Tree(tree), vec!["a".into(), "b".into()]);
        assert_eq!(model.unwrap().importance(), [0.0, 0.0]);
    }
}
