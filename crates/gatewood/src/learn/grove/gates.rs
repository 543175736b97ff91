//! Counting gates, of which spans are shared.

use std::collections::HashMap;

use crate::circuit::VoteTree;

/// The gates of some trees: those of each, and each span that any of them reads.
#[derive(Debug, Clone)]
pub(super) struct Gates {
    /// Columns from here on are spans.
    inputs: usize,
    of_trees: usize,
    /// How many leaves read each span that any does.
    readers: HashMap<u32, u32>,
}

impl Gates {
    pub(super) fn of<'t>(inputs: usize, trees: impl IntoIterator<Item = &'t VoteTree>) -> Self {
        let mut gates = Self { inputs, of_trees: 0, readers: HashMap::new() };
        trees.into_iter().for_each(|tree| gates.add(tree));
        gates
    }

    pub(super) fn total(&self) -> usize {
        self.of_trees + self.readers.len()
    }

    fn spans<'t>(&self, tree: &'t VoteTree) -> impl Iterator<Item = u32> + use<'t> {
        let inputs = self.inputs;
        tree.leaves().iter().copied().filter(move |&leaf| leaf as usize >= inputs)
    }

    pub(super) fn add(&mut self, tree: &VoteTree) {
        self.of_trees += tree.gates();
        for span in self.spans(tree) {
            *self.readers.entry(span).or_default() += 1;
        }
    }

    /// Takes away one of the trees.
    pub(super) fn remove(&mut self, tree: &VoteTree) {
        self.of_trees -= tree.gates();
        for span in self.spans(tree) {
            if let Some(readers) = self.readers.get_mut(&span) {
                *readers -= 1;
                if *readers == 0 {
                    self.readers.remove(&span);
                }
            }
        }
    }

    /// What one of the trees takes up: its own gates, and of each span a share.
    pub(super) fn share(&self, tree: &VoteTree) -> f64 {
        tree.gates() as f64 + self.spans(tree).map(|span| 1.0 / f64::from(self.readers[&span])).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Target;

    #[test]
    fn a_span_is_counted_once() {
        let tree = |leaves: [u32; 4]| {
            VoteTree::new(vec![2, 2], Target::One(0), leaves.to_vec(), vec![6, 9], vec![0, 1, 2, 3]).unwrap()
        };
        let (first, second) = (tree([0, 10, 10, 11]), tree([11, 1, 2, 3]));
        let mut gates = Gates::of(10, [&first, &second]);
        assert_eq!(gates.total(), 3 + 3 + 2);
        assert_eq!((gates.share(&first), gates.share(&second)), (4.5, 3.5));
        gates.remove(&first);
        assert_eq!(gates.total(), 3 + 1);
        gates.add(&first);
        gates.remove(&second);
        assert_eq!(gates.total(), 3 + 2);
    }
}
