//! Arithmetic of words: sums, differences, products, quotients, remainders and square roots, of which the output is a bit.
//!
//! Where the words lie among the columns is not known: all usual orders are tried, and every bit of every result is compared
//! with the output.

use super::samples::Samples;
use super::sketch::Sketch;
use crate::Result;
use crate::circuit::{Netlist, Signal};

/// Columns up to which a word is tried: results must fit 128 bits.
const MOST_COLUMNS: usize = 120;

/// Rows that are looked at first; a result that is wrong for one of them is none.
const FIRST_ROWS: usize = 64;

/// What is computed of two words, or of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Sum,
    Difference,
    Product,
    Quotient,
    Remainder,
    Root,
    Square,
}

impl Operation {
    const ALL: [Self; 7] = [
        Self::Sum,
        Self::Difference,
        Self::Product,
        Self::Quotient,
        Self::Remainder,
        Self::Root,
        Self::Square,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Sum => "bit of a sum",
            Self::Difference => "bit of a difference",
            Self::Product => "bit of a product",
            Self::Quotient => "bit of a quotient",
            Self::Remainder => "bit of a remainder",
            Self::Root => "bit of a square root",
            Self::Square => "bit of a square",
        }
    }

    /// Whether it reads one word of all columns.
    fn is_of_one(self) -> bool {
        matches!(self, Self::Root | Self::Square)
    }

    /// The result for two numbers of so many bits. What is divided by zero is all ones, and it remains as it was.
    fn of(self, a: u128, b: u128, bits: usize) -> u128 {
        match self {
            Self::Sum => a + b,
            Self::Difference => a.wrapping_sub(b),
            Self::Product => a * b,
            Self::Quotient => a.checked_div(b).unwrap_or((1 << bits) - 1),
            Self::Remainder => a.checked_rem(b).unwrap_or(a),
            Self::Root => a.isqrt(),
            Self::Square => a * a,
        }
    }

    /// Bits of the result, for words of so many.
    fn width(self, bits: usize) -> usize {
        match self {
            Self::Sum | Self::Difference => bits + 1,
            Self::Product | Self::Square => 2 * bits,
            Self::Quotient | Self::Remainder => bits,
            Self::Root => bits.div_ceil(2),
        }
    }
}

/// The columns of one or two words, the lowest bit first.
type Words = [Vec<usize>; 2];

/// The orders in which words may lie among the columns.
fn layouts(columns: usize, of_one: bool) -> Vec<Words> {
    let all: Vec<usize> = (0..columns).collect();
    let back: Vec<usize> = all.iter().rev().copied().collect();
    if of_one {
        return vec![[all, Vec::new()], [back, Vec::new()]];
    }
    if !columns.is_multiple_of(2) {
        return Vec::new();
    }
    let mut layouts = Vec::new();
    for order in [&all, &back] {
        let halves = [order[..columns / 2].to_vec(), order[columns / 2..].to_vec()];
        let turns = [0, 1].map(|from| order.iter().skip(from).step_by(2).copied().collect());
        for [a, b] in [halves, turns] {
            layouts.push([b.clone(), a.clone()]);
            layouts.push([a, b]);
        }
    }
    layouts
}

/// Circuits of arithmetic that have the output for every row, with what each computes.
pub(super) fn arithmetic(samples: &Samples, max_ands: usize) -> Result<Vec<(&'static str, Netlist)>> {
    let columns = samples.columns();
    let mut found = Vec::new();
    if columns > MOST_COLUMNS {
        return Ok(found);
    }
    for operation in Operation::ALL {
        for words in layouts(columns, operation.is_of_one()) {
            let bits = words[0].len();
            if operation.width(bits) > 120 || bits * bits > 4 * max_ands {
                continue;
            }
            if let Some(bit) = matching_bit(samples, operation, &words) {
                let mut sketch = Sketch::new(columns)?;
                let output = draw(&mut sketch, operation, &words, bit)?;
                found.push((operation.name(), sketch.finish(output)?));
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// The bit of a result that is the output of every row.
fn matching_bit(samples: &Samples, operation: Operation, words: &Words) -> Option<usize> {
    let width = operation.width(words[0].len());
    let mut open: u128 = u128::MAX >> (128 - width);
    let bit = |words: &[u64], row: usize| u128::from(words[row / 64] >> (row % 64) & 1);
    for row in 0..samples.rows() {
        let number = |columns: &[usize]| {
            columns
                .iter()
                .enumerate()
                .fold(0u128, |number, (place, &column)| number | bit(samples.column(column), row) << place)
        };
        let result = operation.of(number(&words[0]), number(&words[1]), words[0].len());
        open &= if bit(&samples.label, row) == 1 { result } else { !result };
        if open == 0 {
            return None;
        }
    }
    (samples.rows() >= FIRST_ROWS).then_some(open.trailing_zeros() as usize)
}

fn draw(sketch: &mut Sketch, operation: Operation, words: &Words, bit: usize) -> Result<Signal> {
    let [a, b] = words
        .each_ref()
        .map(|columns| columns.iter().map(|&column| sketch.input(column)).collect::<Vec<_>>());
    let result = match operation {
        Operation::Sum => add(sketch, &a, &b, Signal::ZERO)?,
        Operation::Difference => {
            let (difference, borrow) = subtract(sketch, &a, &b)?;
            difference.into_iter().chain([borrow]).collect()
        }
        Operation::Product => multiply(sketch, &a, &b, bit)?,
        Operation::Square => multiply(sketch, &a, &a.clone(), bit)?,
        Operation::Quotient => divide(sketch, &a, &b)?.0,
        Operation::Remainder => divide(sketch, &a, &b)?.1,
        Operation::Root => root(sketch, &a)?,
    };
    Ok(result.get(bit).copied().unwrap_or(Signal::ZERO))
}

/// The sum of two words and a carry, its own carry being the highest bit.
fn add(sketch: &mut Sketch, a: &[Signal], b: &[Signal], carry: Signal) -> Result<Vec<Signal>> {
    let mut carry = carry;
    let mut sum = Vec::with_capacity(a.len() + 1);
    for place in 0..a.len().max(b.len()) {
        let at = |word: &[Signal]| word.get(place).copied().unwrap_or(Signal::ZERO);
        let (bit, next) = sketch.full_add(at(a), at(b), carry)?;
        sum.push(bit);
        carry = next;
    }
    sum.push(carry);
    Ok(sum)
}

/// The difference of two words, and whether it is below zero.
fn subtract(sketch: &mut Sketch, a: &[Signal], b: &[Signal]) -> Result<(Vec<Signal>, Signal)> {
    let width = a.len().max(b.len());
    let mut inverted = Vec::with_capacity(width);
    for place in 0..width {
        inverted.push(sketch.not(b.get(place).copied().unwrap_or(Signal::ZERO))?);
    }
    let mut difference = add(sketch, a, &inverted, Signal::ONE)?;
    let enough = difference.pop().unwrap_or(Signal::ZERO);
    Ok((difference, sketch.not(enough)?))
}

/// Takes `b` from `a` where that is not below zero, and says whether it is not. The bits that change are found once: choosing between
/// `a` and the difference would take an exclusive or and a choice for each of them.
fn take_if_enough(sketch: &mut Sketch, a: &mut [Signal], b: &[Signal]) -> Result<Signal> {
    let mut borrow = Signal::ZERO;
    let mut changes = Vec::with_capacity(a.len());
    for place in 0..a.len().max(b.len()) {
        let at = |word: &[Signal]| word.get(place).copied().unwrap_or(Signal::ZERO);
        let (bit, taken) = (at(a), at(b));
        let change = sketch.xor(taken, borrow)?;
        let twice = sketch.and(taken, borrow)?;
        let lacking = sketch.not(bit)?;
        let lacking = sketch.and(lacking, change)?;
        borrow = sketch.or(twice, lacking)?;
        changes.push(change);
    }
    let enough = sketch.not(borrow)?;
    for (bit, change) in a.iter_mut().zip(changes) {
        let change = sketch.and(change, enough)?;
        *bit = sketch.xor(*bit, change)?;
    }
    Ok(enough)
}

/// The product of two words up to a bit, by columns of full adders.
fn multiply(sketch: &mut Sketch, a: &[Signal], b: &[Signal], last: usize) -> Result<Vec<Signal>> {
    let mut columns: Vec<Vec<Signal>> = vec![Vec::new(); last + 2];
    for (i, &a) in a.iter().enumerate() {
        for (j, &b) in b.iter().enumerate().filter(|(j, _)| i + j <= last) {
            let product = if a == b { a } else { sketch.and(a, b)? };
            columns[i + j].push(product);
        }
    }
    let mut bits = Vec::with_capacity(last + 1);
    for place in 0..=last {
        let mut waiting: std::collections::VecDeque<Signal> = std::mem::take(&mut columns[place]).into();
        while waiting.len() > 1 {
            let mut next = || waiting.pop_front().unwrap_or(Signal::ZERO);
            let (sum, carry) = sketch.full_add(next(), next(), next())?;
            waiting.push_back(sum);
            columns[place + 1].push(carry);
        }
        bits.push(waiting.pop_front().unwrap_or(Signal::ZERO));
    }
    Ok(bits)
}

/// The quotient and the remainder of two words of as many bits.
fn divide(sketch: &mut Sketch, a: &[Signal], b: &[Signal]) -> Result<(Vec<Signal>, Vec<Signal>)> {
    let mut quotient = vec![Signal::ZERO; a.len()];
    let mut rest: Vec<Signal> = Vec::new();
    for place in (0..a.len()).rev() {
        rest.insert(0, a[place]);
        quotient[place] = take_if_enough(sketch, &mut rest, b)?;
        rest.truncate(b.len());
    }
    Ok((quotient, rest))
}

/// The square root of a word, rounded down: bits from the highest on, each kept if its square still fits.
fn root(sketch: &mut Sketch, a: &[Signal]) -> Result<Vec<Signal>> {
    let mut found: Vec<Signal> = Vec::new();
    let mut rest: Vec<Signal> = Vec::new();
    for pair in (0..a.len().div_ceil(2)).rev() {
        let bit = |place: usize| a.get(place).copied().unwrap_or(Signal::ZERO);
        rest.splice(0..0, [bit(2 * pair), bit(2 * pair + 1)]);
        // Four times the root so far, and one.
        let mut next = vec![Signal::ONE, Signal::ZERO];
        next.extend_from_slice(&found);
        let enough = take_if_enough(sketch, &mut rest, &next)?;
        found.insert(0, enough);
        rest.truncate(found.len() + 2);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bit of every operation, for all numbers of five bits and four.
    #[test]
    fn circuits_compute_what_numbers_do() {
        for operation in Operation::ALL {
            let columns = if operation.is_of_one() { 9 } else { 10 };
            for words in layouts(columns, operation.is_of_one()) {
                let bits = words[0].len();
                for bit in 0..operation.width(bits) {
                    let mut sketch = Sketch::new(columns).unwrap();
                    let output = draw(&mut sketch, operation, &words, bit).unwrap();
                    let netlist = sketch.finish(output).unwrap();
                    for row in 0..1usize << columns {
                        let inputs: Vec<bool> = (0..columns).map(|column| row >> column & 1 != 0).collect();
                        let number = |columns: &[usize]| {
                            columns.iter().enumerate().fold(0, |n, (at, &c)| n | u128::from(inputs[c]) << at)
                        };
                        let result = operation.of(number(&words[0]), number(&words[1]), bits) >> bit & 1;
                        assert_eq!(netlist.evaluate_row(&inputs), [result == 1], "{operation:?} {bit} {row}");
                    }
                }
            }
        }
    }
}
