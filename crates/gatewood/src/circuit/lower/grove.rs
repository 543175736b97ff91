//! Groves as netlists: the trees' gates, the votes' bits, sums of them, and the choice of the class.

use std::collections::HashMap;

use super::super::{Grove, Netlist, NetlistBuilder, Output, Signal, Target, VoteTree};
use super::adder::{Sum, SumsOf};
use super::logic::{LUT_INPUTS, Logic};
use super::{CLASS_OUTPUT, check_names};
use crate::Result;

/// What the netlist of a grove shows besides the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroveOutputs {
    /// One output a class, `is_0`, `is_1`, …, of which exactly one is one.
    pub one_hot: bool,
    /// The margins, `margin_M_B` being bit `B` of margin `M` in two's complement, the lowest bit first.
    pub margins: bool,
}

impl Netlist {
    /// A grove as a netlist.
    ///
    /// A grove that says values has its margin as outputs, `margin_0_B` being bit `B` in two's complement, and no class. With
    /// several quantiles it has their margins, all of one width and in order, `margin_0` being the lowest.
    /// A two-class grove has the output [`CLASS_OUTPUT`]. A grove of more classes has the class as a binary number,
    /// `class_0` being its lowest bit.
    ///
    /// Votes are lifted to start from zero, so that they are bits without sign; what they were lifted by goes into the
    /// constant that the sums start from or are compared with.
    ///
    /// # Errors
    /// When there is not one name a column, or two names are equal.
    pub fn from_grove<N: Into<String>>(
        grove: &Grove,
        names: impl IntoIterator<Item = N>,
        outputs: GroveOutputs,
    ) -> Result<Self> {
        Self::from_grove_with(grove, names, outputs, SumsOf::default())
    }

    /// As [`Netlist::from_grove`], with sums made for the target: counters for LUTs of six inputs, full adders for ANDs and
    /// for LUTs of four.
    ///
    /// # Errors
    /// As [`Netlist::from_grove`].
    pub fn from_grove_with<N: Into<String>>(
        grove: &Grove,
        names: impl IntoIterator<Item = N>,
        outputs: GroveOutputs,
        sums: SumsOf,
    ) -> Result<Self> {
        let builder = NetlistBuilder::new(names)?;
        check_names(&builder, grove.inputs())?;
        let mut logic = Logic::new(builder, sums);
        let mut margins: Vec<Margin> =
            grove.bias().iter().map(|&bias| Margin { lowest: bias.into(), ..Margin::default() }).collect();
        add_votes(&mut logic, grove, &mut margins)?;
        let is_value = matches!(grove.output(), Output::Value(_));
        if is_value && margins.len() > 1 {
            for (index, margin) in in_order(&mut logic, &margins)?.into_iter().enumerate() {
                for (place, bit) in margin.into_iter().enumerate() {
                    logic.builder.output(format!("margin_{index}_{place}"), bit)?;
                }
            }
            return Ok(logic.builder.finish());
        }
        if outputs.margins || is_value {
            for (index, margin) in margins.iter().enumerate() {
                for (place, bit) in margin.signed(&mut logic)?.into_iter().enumerate() {
                    logic.builder.output(format!("margin_{index}_{place}"), bit)?;
                }
            }
        }
        if is_value {
            return Ok(logic.builder.finish());
        }
        if let [margin] = &margins[..] {
            let class = margin.above_zero(&mut logic)?;
            if outputs.one_hot {
                let other = logic.function(&[class], |address| address == 0)?;
                logic.builder.output("is_0", other)?;
                logic.builder.output("is_1", class)?;
            }
            logic.builder.output(CLASS_OUTPUT, class)?;
        } else {
            let class = largest(&mut logic, &margins)?;
            if outputs.one_hot {
                for index in 0..grove.classes() {
                    let is = equals(&mut logic, &class, index)?;
                    logic.builder.output(format!("is_{index}"), is)?;
                }
            }
            for (place, bit) in class.into_iter().enumerate() {
                logic.builder.output(format!("{CLASS_OUTPUT}_{place}"), bit)?;
            }
        }
        Ok(logic.builder.finish())
    }
}

/// A margin being summed: between `lowest` and `lowest + range`, and `sum` above `lowest`.
#[derive(Debug, Clone, Default)]
struct Margin {
    sum: Sum,
    lowest: i64,
    range: u64,
}

impl Margin {
    /// Adds votes given by address: their distance from the lowest, bit by bit.
    fn add(&mut self, logic: &mut Logic, inputs: &[Signal], votes: &[i64]) -> Result<()> {
        let lowest = *votes.iter().min().expect("a root has an address");
        let range = votes.iter().max().map_or(0, |highest| highest.abs_diff(lowest));
        for place in 0..bits_for(range) {
            let bit = logic.function(inputs, |address| votes[address].abs_diff(lowest) >> place & 1 != 0)?;
            if bit != Signal::ZERO {
                self.sum.add_bit(place, bit);
            }
        }
        self.lowest += lowest;
        self.range += range;
        Ok(())
    }

    /// Whether the margin is above zero: the carry out of the sum and what it lacks to the power of two.
    fn above_zero(&self, logic: &mut Logic) -> Result<Signal> {
        if self.lowest > 0 {
            return Ok(Signal::ONE);
        }
        let threshold = self.lowest.unsigned_abs();
        if self.range <= threshold {
            return Ok(Signal::ZERO);
        }
        let width = bits_for(self.range);
        let mut sum = self.sum.clone();
        sum.add_constant((1i64 << width) - 1 - threshold as i64);
        Ok(*sum.finish(logic, width + 1)?.last().expect("one bit at least"))
    }

    /// The margin in two's complement.
    fn signed(&self, logic: &mut Logic) -> Result<Vec<Signal>> {
        let highest = self.lowest + self.range as i64;
        let magnitude = |value: i64| bits_for((if value < 0 { !value } else { value }) as u64);
        let width = magnitude(self.lowest).max(magnitude(highest)) + 1;
        let mut sum = self.sum.clone();
        sum.add_constant(self.lowest);
        sum.finish(logic, width)
    }
}

fn bits_for(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}

/// Adds the spans, the gates of all trees, and their votes to the margins.
fn add_votes(logic: &mut Logic, grove: &Grove, margins: &mut [Margin]) -> Result<()> {
    let mut columns: Vec<Signal> = (0..grove.inputs()).map(|column| logic.builder.input(column)).collect();
    for span in grove.spans() {
        let inputs: Vec<Signal> = span.columns().iter().map(|&column| columns[column as usize]).collect();
        columns.push(logic.lut(span.table().words(), &inputs)?);
    }
    super::patterns::add(logic, grove.patterns(), &mut columns)?;
    // Narrow roots wait here, a group for each margin, until another one fits into the same LUTs.
    let mut waiting: Vec<Vec<Group>> = vec![Vec::new(); margins.len()];
    let join = match logic.sums {
        SumsOf::Counters => Group::join,
        SumsOf::FullAdders => Group::join_alike,
    };
    let mut known = Known::new();
    for tree in grove.trees() {
        let inputs = add_gates(logic, tree, &columns, &mut known)?;
        let votes = |index: usize| -> Vec<i64> {
            (0..1usize << inputs.len()).map(|address| tree.votes_at(address)[index].into()).collect()
        };
        match tree.target() {
            Target::One(margin) => {
                let group = Group { inputs: inputs.clone(), votes: votes(0) };
                join(&mut waiting[margin as usize], group);
            }
            Target::All => {
                for (index, waiting) in waiting.iter_mut().enumerate() {
                    join(waiting, Group { inputs: inputs.clone(), votes: votes(index) });
                }
            }
        }
    }
    for (margin, groups) in margins.iter_mut().zip(waiting) {
        for group in groups {
            margin.add(logic, &group.inputs, &group.votes)?;
        }
    }
    Ok(())
}

/// The gates of trees so far, by table and inputs: a gate that trees share is there once.
type Known = HashMap<(Vec<u64>, Vec<Signal>), Signal>;

/// The root inputs of a tree over these columns, its gates below the root added.
fn add_gates(
    logic: &mut Logic,
    tree: &VoteTree,
    columns: &[Signal],
    known: &mut Known,
) -> Result<Vec<Signal>> {
    let mut below: Vec<Signal> = tree.leaves().iter().map(|&column| columns[column as usize]).collect();
    for level in 1..tree.depth() {
        below = below
            .chunks(tree.arities()[level - 1])
            .enumerate()
            .map(|(gate, inputs)| add_gate(logic, tree.table_words(level, gate), inputs, known))
            .collect::<Result<_>>()?;
    }
    Ok(below)
}

/// A gate, if it is not there yet.
fn add_gate(logic: &mut Logic, words: &[u64], inputs: &[Signal], known: &mut Known) -> Result<Signal> {
    let last = (1usize << inputs.len()) - 1;
    let [first, last] = [0, last].map(|address| words[address / 64] >> (address % 64) & 1 != 0);
    if inputs.iter().all(|&input| input == inputs[0]) && (first, last) == (false, true) {
        return Ok(inputs[0]);
    }
    let key = (words.to_vec(), inputs.to_vec());
    if let Some(&signal) = known.get(&key) {
        return Ok(signal);
    }
    let signal = logic.lut(words, inputs)?;
    known.insert(key, signal);
    Ok(signal)
}

/// Roots whose votes are read from the same LUTs, and the sum of their votes at each joint address.
#[derive(Debug, Clone)]
struct Group {
    inputs: Vec<Signal>,
    votes: Vec<i64>,
}

impl Group {
    /// How many groups are tried for a place.
    const TRIED: usize = 256;

    /// Puts a root into the group it shares the most inputs with, if all inputs fit a LUT, or starts a new group.
    fn join(groups: &mut Vec<Self>, new: Self) {
        Self::join_where(groups, new, |inputs, _| inputs <= LUT_INPUTS);
    }

    /// Puts a root into a group only where the wider of them has the inputs of both: wider tables take more ANDs than adders.
    fn join_alike(groups: &mut Vec<Self>, new: Self) {
        Self::join_where(groups, new, |inputs, widest| inputs <= widest);
    }

    /// [`Group::join`] where so many inputs may be in a group, given those of the wider one.
    fn join_where(groups: &mut Vec<Self>, new: Self, fits: fn(usize, usize) -> bool) {
        let from = groups.len().saturating_sub(Self::TRIED);
        let shared = |group: &Self| new.inputs.iter().filter(|input| group.inputs.contains(input)).count();
        let best = groups[from..]
            .iter_mut()
            .filter(|group| {
                let inputs = group.inputs.len() + new.inputs.len() - shared(group);
                fits(inputs, group.inputs.len().max(new.inputs.len()))
            })
            .max_by_key(|group| shared(group));
        let Some(group) = best else {
            groups.push(new);
            return;
        };
        let mut inputs = group.inputs.clone();
        inputs.extend(new.inputs.iter().filter(|input| !group.inputs.contains(input)));
        let address_of = |reads: &[Signal], address: usize| {
            reads.iter().enumerate().fold(0, |narrow, (j, read)| {
                let place = inputs.iter().position(|input| input == read).expect("the inputs are the union");
                narrow | (address >> place & 1) << j
            })
        };
        let votes = (0..1usize << inputs.len())
            .map(|address| {
                group.votes[address_of(&group.inputs, address)] + new.votes[address_of(&new.inputs, address)]
            })
            .collect();
        *group = Self { inputs, votes };
    }
}

/// The number of the largest margin, the first of equals, as bits: a tournament of neighbours.
fn largest(logic: &mut Logic, margins: &[Margin]) -> Result<Vec<Signal>> {
    let lowest = margins.iter().map(|margin| margin.lowest).min().expect("a grove has margins");
    let mut players = Vec::with_capacity(margins.len());
    for (index, margin) in margins.iter().enumerate() {
        let lift = margin.lowest - lowest;
        let mut sum = margin.sum.clone();
        sum.add_constant(lift);
        let value = sum.finish(logic, bits_for(margin.range + lift as u64))?;
        let number = (0..bits_for(margins.len() as u64 - 1))
            .map(|place| Signal::constant(index >> place & 1 != 0))
            .collect::<Vec<_>>();
        players.push((value, number));
    }
    while players.len() > 1 {
        let last = players.len() == 2;
        players = players
            .chunks(2)
            .map(|pair| match pair {
                [(first, first_number), (second, second_number)] => {
                    let wins = logic.above(second, first)?;
                    let value = if last { Vec::new() } else { logic.choose(wins, first, second)? };
                    Ok((value, logic.choose(wins, first_number, second_number)?))
                }
                _ => Ok(pair[0].clone()),
            })
            .collect::<Result<_>>()?;
    }
    Ok(players.swap_remove(0).1)
}

/// Margins in two's complement, all of one width, the lowest first: a network that swaps neighbours.
fn in_order(logic: &mut Logic, margins: &[Margin]) -> Result<Vec<Vec<Signal>>> {
    let lowest = margins.iter().map(|margin| margin.lowest).min().expect("a grove has margins");
    let highest = margins.iter().map(|margin| margin.lowest + margin.range as i64).max();
    let highest = highest.expect("a grove has margins");
    let magnitude = |value: i64| bits_for((if value < 0 { !value } else { value }) as u64);
    let width = magnitude(lowest).max(magnitude(highest)) + 1;
    // Lifted by half of what the width can hold, margins order as numbers without a sign.
    let mut sums = Vec::with_capacity(margins.len());
    for margin in margins {
        let mut sum = margin.sum.clone();
        sum.add_constant(margin.lowest + (1i64 << (width - 1)));
        sums.push(sum.finish(logic, width)?);
    }
    for pass in 0..sums.len() {
        for first in (pass % 2..sums.len() - 1).step_by(2) {
            let swap = logic.above(&sums[first], &sums[first + 1])?;
            let low = logic.choose(swap, &sums[first], &sums[first + 1])?;
            let high = logic.choose(swap, &sums[first + 1], &sums[first])?;
            (sums[first], sums[first + 1]) = (low, high);
        }
    }
    // The lift taken back: the highest bit is the other one.
    for sum in &mut sums {
        let sign = sum.last_mut().expect("one bit at least");
        *sign = logic.function(&[*sign], |address| address == 0)?;
    }
    Ok(sums)
}

/// Whether a number given as bits is `value`.
fn equals(logic: &mut Logic, number: &[Signal], value: usize) -> Result<Signal> {
    let mut equal = Signal::ONE;
    for (part, bits) in number.chunks(LUT_INPUTS - 1).enumerate() {
        let wanted = value >> (part * (LUT_INPUTS - 1)) & ((1 << bits.len()) - 1);
        let mut inputs = bits.to_vec();
        inputs.push(equal);
        equal = logic.function(&inputs, |address| address == wanted | 1 << bits.len())?;
    }
    Ok(equal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::column_names;
    use super::super::super::testing::random_grove;
    use super::*;

    const ALL: GroveOutputs = GroveOutputs { one_hot: true, margins: true };

    /// Checks every row of a grove against its netlist.
    fn check(grove: &Grove) {
        [SumsOf::Counters, SumsOf::FullAdders].into_iter().for_each(|sums| check_with(grove, sums));
    }

    fn check_with(grove: &Grove, sums: SumsOf) {
        let names = column_names(grove.inputs());
        let netlist = Netlist::from_grove_with(grove, names.clone(), ALL, sums).unwrap();
        let plain = Netlist::from_grove_with(grove, names, GroveOutputs::default(), sums).unwrap();
        for row in 0..1usize << grove.inputs() {
            let bits: Vec<bool> = (0..grove.inputs()).map(|column| row >> column & 1 != 0).collect();
            let margins = grove.margins_of(|column| bits[column]);
            let class = Grove::class_of(&margins);
            let values = netlist.evaluate_row(&bits);
            let value = |name: &str| {
                netlist.output_list().iter().position(|(output, _)| output == name).map(|at| values[at])
            };
            for (index, &margin) in margins.iter().enumerate() {
                let bits: Vec<bool> =
                    (0..).map_while(|place| value(&format!("margin_{index}_{place}"))).collect();
                let unsigned =
                    bits.iter().enumerate().fold(0, |sum, (place, &bit)| sum | i64::from(bit) << place);
                let sign = i64::from(*bits.last().unwrap()) << bits.len();
                assert_eq!(unsigned - sign, i64::from(margin));
            }
            for index in 0..grove.classes() {
                assert_eq!(value(&format!("is_{index}")), Some(index == class));
            }
            let number =
                plain.evaluate_row(&bits).iter().enumerate().fold(0, |n, (i, &b)| n | usize::from(b) << i);
            assert_eq!(number, class);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn a_lowered_grove_says_what_the_grove_says(
            seed in 0u64..1 << 32, classes in 2usize..=11, trees in 0usize..12, votes in 0i32..40,
        ) {
            check(&random_grove(seed, 6, classes, trees, votes));
        }
    }

    #[test]
    fn margins_that_never_change_sign_are_constants() {
        for bias in [-1000, 1000] {
            let tree = random_grove(3, 6, 2, 1, 5).trees()[0].clone();
            let grove = Grove::new(6, 2, vec![bias], 1.0, vec![tree]).unwrap();
            check(&grove);
        }
    }

    #[test]
    fn gates_that_trees_share_are_there_once() {
        // Each tree reads the same gate of two inputs, and an input through a gate that repeats it.
        let trees = (0..2).map(|tree| {
            let leaves = vec![0, 1, 2 + tree, 2 + tree];
            let votes = vec![-1, 1, 1, -1];
            VoteTree::new(vec![2, 2], Target::One(tree), leaves, vec![0b0110, 0b1010], votes).unwrap()
        });
        let grove = Grove::new(4, 3, vec![0; 3], 1.0, trees.collect()).unwrap();
        let outputs = GroveOutputs { one_hot: false, margins: false };
        let netlist = Netlist::from_grove(&grove, column_names(4), outputs).unwrap();
        assert!(netlist.luts() <= 3 + 6, "{}", netlist.luts());
        check(&grove);
    }

    #[test]
    fn narrow_roots_share_their_luts() {
        // Two roots of three inputs each: their joint vote needs as many LUTs as its bits, and no adder.
        let trees = (0..2)
            .map(|tree| {
                let votes = (0..8).collect();
                let leaves = (0..3).map(|leaf| leaf + 3 * tree).collect();
                VoteTree::new(vec![3], Target::One(0), leaves, vec![], votes).unwrap()
            })
            .collect();
        let grove = Grove::new(6, 2, vec![-7], 1.0, trees).unwrap();
        let netlist =
            Netlist::from_grove(&grove, column_names(6), GroveOutputs { one_hot: false, margins: true })
                .unwrap();
        assert!(netlist.luts() <= 11, "{}", netlist.luts());
        check(&grove);
    }
}
