//! Trees and groves as netlists.

mod adder;
mod grove;
mod logic;
mod parts;
mod patterns;

pub use adder::SumsOf;
pub use grove::GroveOutputs;

use super::{Netlist, NetlistBuilder, Signal, Tree};
use crate::{Error, Result};

/// The name of a two-class circuit's output.
pub const CLASS_OUTPUT: &str = "class";

/// The names that inputs get when a model has none: `x0`, `x1`, …
pub fn column_names(columns: usize) -> Vec<String> {
    (0..columns).map(|column| format!("x{column}")).collect()
}

impl Netlist {
    /// A tree as a netlist: one LUT a gate, in the order of the gates, and the output [`CLASS_OUTPUT`].
    ///
    /// # Errors
    /// When there is not one name a column, or two names are equal.
    pub fn from_tree<N: Into<String>>(tree: &Tree, names: impl IntoIterator<Item = N>) -> Result<Self> {
        let mut builder = NetlistBuilder::new(names)?;
        check_names(&builder, tree.inputs())?;
        let mut below: Vec<Signal> =
            tree.leaves().iter().map(|&column| builder.input(column as usize)).collect();
        for level in 1..=tree.depth() {
            below = below
                .chunks(tree.arity())
                .enumerate()
                .map(|(gate, inputs)| builder.add(tree.table_words(level, gate), inputs))
                .collect::<Result<_>>()?;
        }
        builder.output(CLASS_OUTPUT, below[0])?;
        Ok(builder.finish())
    }
}

fn check_names(builder: &NetlistBuilder, columns: usize) -> Result<()> {
    if builder.inputs() != columns {
        return Err(Error::data(format!("{} names were given for {columns} columns", builder.inputs())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::random_tree;
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_lowered_tree_says_what_the_tree_says(seed in 0u64..1 << 32, arity in 1usize..=4, depth in 1usize..=3) {
            let tree = random_tree(seed, arity, depth, 7);
            let netlist = Netlist::from_tree(&tree, column_names(7)).unwrap();
            prop_assert_eq!((netlist.luts(), netlist.depth()), (tree.gates(), tree.depth()));
            for row in 0..1usize << 7 {
                let bits: Vec<bool> = (0..7).map(|column| row >> column & 1 != 0).collect();
                prop_assert_eq!(netlist.evaluate_row(&bits), [tree.output(|column| bits[column])]);
            }
        }
    }

    #[test]
    fn names_must_fit_the_columns() {
        let tree = random_tree(1, 2, 2, 7);
        assert!(Netlist::from_tree(&tree, column_names(6)).is_err());
    }
}
