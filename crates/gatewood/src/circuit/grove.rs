//! Groves: boosted sets of small trees whose root addresses carry integer votes.

#[cfg(doc)]
use super::ValueOutput;
use super::{MAX_ARITY, Output, Pattern, PatternLayer, Span, TruthTable};
use crate::{Error, Result};

/// The margins a tree of a grove votes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// One margin: the only one of a two-class grove, or that of one class.
    One(u32),
    /// All margins of a many-class grove, a vote for each at every root address.
    All,
}

/// A small tree whose root has votes in place of output bits.
///
/// The gates below the root are as in [`Tree`](super::Tree), but each level has an arity of its own. The root's
/// address picks the votes that are added to the margins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteTree {
    /// Arity of each level, the bottom first and the root last.
    arities: Vec<usize>,
    target: Target,
    /// The column each leaf reads.
    leaves: Vec<u32>,
    /// The tables of the gates below the root, level by level from the bottom; a level's tables have
    /// [`TruthTable::words_for`] its arity words each.
    tables: Vec<u64>,
    /// The votes at each root address: one for [`Target::One`], one a class for [`Target::All`], address by address.
    votes: Vec<i32>,
    /// Gates of each level, and the first word of their tables: what the arities say, kept so that deep trees are read fast.
    levels: Vec<(usize, usize)>,
}

impl VoteTree {
    /// The same tree with other votes.
    ///
    /// # Errors
    /// When there are not as many as the root has addresses.
    pub(crate) fn with_votes(&self, votes: Vec<i32>) -> Result<Self> {
        let (arities, leaves, tables) = (self.arities.clone(), self.leaves.clone(), self.tables.clone());
        Self::new(arities, self.target, leaves, tables, votes)
    }

    /// A tree from its parts.
    ///
    /// # Errors
    /// When the parts do not fit each other.
    pub fn new(
        arities: Vec<usize>,
        target: Target,
        leaves: Vec<u32>,
        tables: Vec<u64>,
        votes: Vec<i32>,
    ) -> Result<Self> {
        if arities.is_empty() || arities.iter().any(|arity| !(1..=MAX_ARITY).contains(arity)) {
            return Err(Error::data(format!("a vote tree's arities must be between 1 and {MAX_ARITY}")));
        }
        // Gates of each level, the root being one; then where the tables of each level begin, the bottom first.
        let mut levels = vec![(1usize, 0usize); arities.len()];
        for level in (0..arities.len() - 1).rev() {
            levels[level].0 = levels[level + 1].0.saturating_mul(arities[level + 1]);
        }
        let mut table_words = 0usize;
        for (level, (gates, first)) in levels.iter_mut().enumerate() {
            *first = table_words;
            if level + 1 < arities.len() {
                let words = gates.saturating_mul(TruthTable::words_for(arities[level]));
                table_words = table_words.saturating_add(words);
            }
        }
        if levels[0].0.checked_mul(arities[0]) != Some(leaves.len()) {
            return Err(Error::data(format!(
                "{} leaves do not fit a vote tree of arities {arities:?}",
                leaves.len()
            )));
        }
        if tables.len() != table_words {
            return Err(Error::data(format!("{} table words do not fit arities {arities:?}", tables.len())));
        }
        let addresses = 1usize << arities[arities.len() - 1];
        let fits = match target {
            Target::One(_) => votes.len() == addresses,
            Target::All => !votes.is_empty() && votes.len().is_multiple_of(addresses),
        };
        if !fits {
            return Err(Error::data(format!("{} votes do not fit {addresses} root addresses", votes.len())));
        }
        let tree = Self { arities, target, leaves, tables, votes, levels };
        for level in 1..tree.depth() {
            let arity = tree.arities[level - 1];
            for gate in 0..tree.level_gates(level) {
                if arity < 6 && tree.table_words(level, gate)[0] >> (1u32 << arity) != 0 {
                    return Err(Error::data("a truth table has bits past its last address"));
                }
            }
        }
        Ok(tree)
    }

    /// Arity of each level, the bottom first and the root last.
    pub fn arities(&self) -> &[usize] {
        &self.arities
    }

    /// Levels, the root included.
    pub fn depth(&self) -> usize {
        self.arities.len()
    }

    /// The margins this tree votes on.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The column each leaf reads.
    pub fn leaves(&self) -> &[u32] {
        &self.leaves
    }

    /// The words of all tables below the root, level by level from the bottom.
    pub fn tables(&self) -> &[u64] {
        &self.tables
    }

    /// The votes of all root addresses.
    pub fn votes(&self) -> &[i32] {
        &self.votes
    }

    /// Number of gates at a level, 1 being the bottom and `depth` the root.
    pub fn level_gates(&self, level: usize) -> usize {
        self.levels[level - 1].0
    }

    /// Number of gates, the root included.
    pub fn gates(&self) -> usize {
        self.levels.iter().map(|(gates, _)| gates).sum()
    }

    /// The words of the table of gate `index` of a level below the root, 1 being the bottom.
    pub fn table_words(&self, level: usize, index: usize) -> &[u64] {
        assert!(level < self.depth() && index < self.level_gates(level));
        let (first, words) = (self.levels[level - 1].1, TruthTable::words_for(self.arities[level - 1]));
        &self.tables[first + index * words..][..words]
    }

    /// The root address of one row, given as a function from column to bit.
    pub fn address(&self, bit: impl Fn(usize) -> bool) -> usize {
        let address = |bits: &[bool]| bits.iter().enumerate().fold(0, |a, (j, &b)| a | usize::from(b) << j);
        let mut values: Vec<bool> = self.leaves.iter().map(|&column| bit(column as usize)).collect();
        for level in 1..self.depth() {
            values = values
                .chunks(self.arities[level - 1])
                .enumerate()
                .map(|(gate, inputs)| {
                    let address = address(inputs);
                    self.table_words(level, gate)[address / 64] >> (address % 64) & 1 != 0
                })
                .collect();
        }
        address(&values)
    }

    /// The votes at a root address: one for [`Target::One`], one a class for [`Target::All`].
    pub fn votes_at(&self, address: usize) -> &[i32] {
        let width = self.votes.len() >> self.arities[self.depth() - 1];
        &self.votes[address * width..][..width]
    }
}

/// A boosted set of trees: the votes of all trees, added to the bias, are the margins.
///
/// A two-class grove has one margin and says class 1 when it is above zero, else class 0. A grove of more classes
/// has a margin per class and says the class of the largest, the first of equals. A grove of values has one margin, or one for
/// each quantile, and says what they stand for ([`ValueOutput`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Grove {
    inputs: usize,
    /// What trees read besides the inputs: the first is the column after the last input.
    spans: Vec<Span>,
    /// What trees read besides both: the first is the column after the last span.
    patterns: PatternLayer,
    output: Output,
    bias: Vec<i32>,
    /// Log-odds that one vote is worth; for values, what it was worth while learning.
    unit: f64,
    trees: Vec<VoteTree>,
}

impl Grove {
    /// A grove from its parts: `bias` has one entry a margin, `unit` is the log-odds that one vote is worth.
    ///
    /// # Errors
    /// When a tree reads a column past `inputs`, votes on a margin that does not exist, or the bias has the wrong length;
    /// when a margin could leave 32 bits, since the bias and the largest votes of all trees add up to more.
    pub fn new(
        inputs: usize,
        classes: usize,
        bias: Vec<i32>,
        unit: f64,
        trees: Vec<VoteTree>,
    ) -> Result<Self> {
        Self::with_spans(inputs, Vec::new(), classes, bias, unit, trees)
    }

    /// A grove whose trees read spans besides the inputs: the first span is the column after the last input.
    ///
    /// ```
    /// use gatewood::circuit::{Grove, Span, Target, VoteTree};
    /// // One tree, a root that votes on whether any of bits 0 to 2 is one.
    /// let tree = VoteTree::new(vec![1], Target::One(0), vec![3], vec![], vec![-1, 1])?;
    /// let grove = Grove::with_spans(3, vec![Span::any(vec![0, 1, 2])?], 2, vec![0], 0.1, vec![tree])?;
    /// assert_eq!(grove.margins_of(|column| column == 2), [1]);
    /// assert_eq!(grove.margins_of(|_| false), [-1]);
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Grove::new`], and when a span reads a column past `inputs`.
    pub fn with_spans(
        inputs: usize,
        spans: Vec<Span>,
        classes: usize,
        bias: Vec<i32>,
        unit: f64,
        trees: Vec<VoteTree>,
    ) -> Result<Self> {
        Self::with_features(inputs, spans, PatternLayer::default(), classes, bias, unit, trees)
    }

    /// A grove whose trees read spans and patterns besides the inputs: the columns of patterns come after the spans.
    ///
    /// # Errors
    /// As [`Grove::with_spans`], and when a pattern reads a column past `inputs`.
    pub fn with_features(
        inputs: usize,
        spans: Vec<Span>,
        patterns: PatternLayer,
        classes: usize,
        bias: Vec<i32>,
        unit: f64,
        trees: Vec<VoteTree>,
    ) -> Result<Self> {
        Self::with_output(inputs, (spans, patterns), Output::Classes(classes), bias, unit, trees)
    }

    /// A grove whose margins say classes or a value.
    ///
    /// ```
    /// use gatewood::circuit::{Grove, Output, PatternLayer, Target, ValueOutput, VoteTree};
    /// let tree = VoteTree::new(vec![1], Target::One(0), vec![0], vec![], vec![-1, 6])?;
    /// let output = Output::Value(ValueOutput::new(2.0, 0.25));
    /// let grove = Grove::with_output(1, (Vec::new(), PatternLayer::default()), output, vec![3], 0.01, vec![tree])?;
    /// assert_eq!(grove.value_of(grove.margins_of(|_| true)[0]), Some(4.25));
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Grove::with_spans`], and when offset and scale are not finite or the scale is not above zero.
    pub fn with_output(
        inputs: usize,
        (spans, patterns): (Vec<Span>, PatternLayer),
        output: Output,
        bias: Vec<i32>,
        unit: f64,
        trees: Vec<VoteTree>,
    ) -> Result<Self> {
        if let Some(column) = patterns.largest_input().filter(|&column| column as usize >= inputs) {
            return Err(Error::data(format!("a pattern reads column {column} of {inputs}")));
        }
        if let Some(column) = spans.iter().flat_map(Span::columns).find(|&&column| column as usize >= inputs)
        {
            return Err(Error::data(format!("a span reads column {column} of {inputs}")));
        }
        let columns = inputs + spans.len() + patterns.columns();
        match output {
            Output::Classes(0 | 1) => return Err(Error::data("a grove needs two classes or more")),
            Output::Classes(_) => {}
            Output::Value(output) => output.check()?,
        }
        let margins = output.margins();
        if bias.len() != margins {
            return Err(Error::data(format!("{} biases for {margins} margins", bias.len())));
        }
        if !(unit.is_finite() && unit > 0.0) {
            return Err(Error::data("the worth of a vote must be a positive number"));
        }
        for (index, tree) in trees.iter().enumerate() {
            if let Some(column) = tree.leaves().iter().find(|&&column| column as usize >= columns) {
                return Err(Error::data(format!("tree {index} reads column {column} of {columns}")));
            }
            let fits = match tree.target() {
                Target::One(margin) => (margin as usize) < margins,
                Target::All => tree.votes_at(0).len() == margins,
            };
            if !fits {
                return Err(Error::data(format!("tree {index} does not vote on these {margins} margins")));
            }
        }
        check_sums(&bias, &trees)?;
        Ok(Self { inputs, spans, patterns, output, bias, unit, trees })
    }

    /// Columns the grove may read.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// What trees read besides the inputs: the first is the column after the last input.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The span that is this column, if it is one.
    pub fn span(&self, column: u32) -> Option<&Span> {
        (column as usize).checked_sub(self.inputs).and_then(|span| self.spans.get(span))
    }

    /// What trees read besides the inputs and the spans: the first is the column after the last span.
    pub fn patterns(&self) -> &PatternLayer {
        &self.patterns
    }

    /// The pattern that is this column, if it is one, and how many of its shifts must match.
    pub fn pattern(&self, column: u32) -> Option<(&Pattern, u32)> {
        let column = (column as usize).checked_sub(self.inputs + self.spans.len())?;
        (column < self.patterns.columns()).then(|| self.patterns.column(column))
    }

    /// Columns that leaves may read: the inputs, then the spans, then the patterns.
    pub fn columns(&self) -> usize {
        self.inputs + self.spans.len() + self.patterns.columns()
    }

    /// The inputs that a column depends on, ascending: itself, or those of the span or the pattern that it is.
    pub fn inputs_of(&self, column: u32) -> Vec<u32> {
        match (self.span(column), self.pattern(column)) {
            (Some(span), _) => span.columns().to_vec(),
            (None, Some((pattern, _))) => self.patterns.inputs_of(pattern),
            (None, None) => vec![column],
        }
    }

    /// What the margins say.
    pub fn output(&self) -> Output {
        self.output
    }

    /// Number of classes; none where the grove says values.
    pub fn classes(&self) -> usize {
        match self.output {
            Output::Classes(classes) => classes,
            Output::Value(_) => 0,
        }
    }

    /// The value that a margin stands for, where the grove says values.
    pub fn value_of(&self, margin: i32) -> Option<f64> {
        match self.output {
            Output::Classes(_) => None,
            Output::Value(output) => Some(output.value(margin)),
        }
    }

    /// Number of margins: 1 for two classes or a value, else one a class or quantile.
    pub fn margins(&self) -> usize {
        self.bias.len()
    }

    /// What each margin starts from.
    pub fn bias(&self) -> &[i32] {
        &self.bias
    }

    /// The log-odds that one vote is worth.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The trees, in the order they were learned.
    pub fn trees(&self) -> &[VoteTree] {
        &self.trees
    }

    /// Number of gates: those of all trees, one for each span, and those of the patterns.
    pub fn gates(&self) -> usize {
        self.spans.len() + self.patterns.gates() + self.trees.iter().map(VoteTree::gates).sum::<usize>()
    }

    /// The margins of one row, given as a function from column to bit: the definition of what a grove computes.
    pub fn margins_of(&self, bit: impl Fn(usize) -> bool) -> Vec<i32> {
        let mut margins = self.bias.clone();
        let mut made: Vec<bool> = self.spans.iter().map(|span| span.holds(&bit)).collect();
        made.extend(self.patterns.holds(&bit));
        let bit =
            |column: usize| column.checked_sub(self.inputs).map_or_else(|| bit(column), |place| made[place]);
        for tree in &self.trees {
            let votes = tree.votes_at(tree.address(bit));
            match tree.target() {
                Target::One(margin) => margins[margin as usize] += votes[0],
                Target::All => margins.iter_mut().zip(votes).for_each(|(margin, vote)| *margin += vote),
            }
        }
        margins
    }

    /// The class that margins stand for.
    pub fn class_of(margins: &[i32]) -> usize {
        match margins {
            [margin] => usize::from(*margin > 0),
            _ => (1..margins.len())
                .fold(0, |best, class| if margins[class] > margins[best] { class } else { best }),
        }
    }
}

/// Checks that no row can take a margin out of 32 bits, in whatever order votes are added: running adds them in 32 bits,
/// circuits in as many as they need, and both must say the same.
fn check_sums(bias: &[i32], trees: &[VoteTree]) -> Result<()> {
    let mut most: Vec<u64> = bias.iter().map(|bias| u64::from(bias.unsigned_abs())).collect();
    let mut largest = vec![0u32; bias.len()];
    for tree in trees {
        match tree.target() {
            Target::One(margin) => {
                let vote = tree.votes().iter().map(|vote| vote.unsigned_abs()).max().unwrap_or(0);
                most[margin as usize] += u64::from(vote);
            }
            Target::All => {
                largest.fill(0);
                for votes in tree.votes().chunks_exact(bias.len()) {
                    largest
                        .iter_mut()
                        .zip(votes)
                        .for_each(|(most, vote)| *most = (*most).max(vote.unsigned_abs()));
                }
                most.iter_mut().zip(&largest).for_each(|(most, &vote)| *most += u64::from(vote));
            }
        }
    }
    match most.iter().position(|&most| most > i32::MAX as u64) {
        Some(margin) => Err(Error::data(format!(
            "margin {margin} could reach {}, which is over the limit of {}: its bias and votes are too large",
            most[margin],
            i32::MAX
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_that_could_leave_32_bits_are_refused() {
        let tree = |target, votes| VoteTree::new(vec![1], target, vec![0], vec![], votes).unwrap();
        let two = |bias, votes: &[[i32; 2]]| {
            let trees = votes.iter().map(|votes| tree(Target::One(0), votes.to_vec())).collect();
            Grove::new(1, 2, vec![bias], 0.1, trees)
        };
        assert!(two(i32::MAX, &[]).is_ok() && two(-i32::MAX, &[]).is_ok());
        assert!(two(0, &[[i32::MAX, 0]]).is_ok());
        assert!(two(i32::MAX - 10, &[[10, -3]]).is_ok());
        // The largest of a tree counts, whatever its sign: sums in any order must fit.
        for (bias, votes) in [
            (i32::MIN, &[][..]),
            (0, &[[i32::MIN, 0]][..]),
            (i32::MAX - 10, &[[11, 0]][..]),
            (i32::MAX - 10, &[[-11, 0]][..]),
            (1, &[[1 << 30, 0], [0, 1 << 30]][..]),
        ] {
            let error = two(bias, votes).unwrap_err();
            assert!(error.is_data() && error.to_string().contains("over the limit"), "{error}");
        }
        let all = |votes| Grove::new(1, 3, vec![0, 5, 0], 0.1, vec![tree(Target::All, votes)]);
        assert!(all(vec![0, i32::MAX - 5, 0, 0, 0, 0]).is_ok());
        assert!(all(vec![0, 0, 0, 0, i32::MAX - 4, 0]).unwrap_err().to_string().contains("margin 1"));
    }
}
