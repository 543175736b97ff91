//! Exclusive ors of columns and of products of few columns, solved as linear equations over two values.

use super::samples::Samples;
use super::sketch::Sketch;
use crate::Result;
use crate::circuit::{Netlist, Signal};

/// The most products that equations are made of.
const MOST_TERMS: usize = 4_000;

/// Rows that must be left to contradict a solution.
const SPARE_ROWS: usize = 64;

/// The exclusive or of products of at most so many columns that has the output for every row, if there is one and the rows
/// are enough to say so.
pub(super) fn polynomial(samples: &Samples, degree: usize) -> Result<Option<Netlist>> {
    let Some(terms) = terms(samples.columns(), degree, samples.rows().saturating_sub(SPARE_ROWS)) else {
        return Ok(None);
    };
    let Some(used) = solve(samples, &terms) else { return Ok(None) };
    let mut sketch = Sketch::new(samples.columns())?;
    let mut sum = Signal::ZERO;
    for term in used {
        let mut product = Signal::ONE;
        for &column in term {
            let input = sketch.input(column);
            product = sketch.and(product, input)?;
        }
        sum = sketch.xor(sum, product)?;
    }
    sketch.finish(sum).map(Some)
}

/// All products of at most so many columns, the empty one first; nothing where they are more than `most`.
fn terms(columns: usize, degree: usize, most: usize) -> Option<Vec<Vec<usize>>> {
    let most = most.min(MOST_TERMS);
    let mut terms: Vec<Vec<usize>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..degree {
        let to = terms.len();
        for place in from..to {
            let next = terms[place].last().map_or(0, |last| last + 1);
            if terms.len() + (columns - next.min(columns)) > most {
                return None;
            }
            for column in next..columns {
                let mut term = terms[place].clone();
                term.push(column);
                terms.push(term);
            }
        }
        from = to;
    }
    Some(terms)
}

/// The terms whose exclusive or is the output of every row.
fn solve<'t>(samples: &Samples, terms: &'t [Vec<usize>]) -> Option<Vec<&'t [usize]>> {
    let width = (terms.len() + 1).div_ceil(64);
    // One equation for each term that leads it; bit `terms.len()` is the output.
    let mut solved: Vec<Option<Vec<u64>>> = vec![None; terms.len()];
    let mut equation = vec![0u64; width];
    for row in 0..samples.rows() {
        let bit = |words: &[u64]| words[row / 64] >> (row % 64) & 1;
        equation.fill(0);
        let inputs: Vec<u64> = (0..samples.columns()).map(|column| bit(samples.column(column))).collect();
        for (place, term) in terms.iter().enumerate() {
            let value = term.iter().fold(1, |value, &column| value & inputs[column]);
            equation[place / 64] |= value << (place % 64);
        }
        equation[terms.len() / 64] ^= bit(&samples.label) << (terms.len() % 64);
        while let Some(lead) = lowest(&equation) {
            if lead == terms.len() {
                // Zero is not one: no exclusive or of these terms has the output.
                return None;
            }
            match &solved[lead] {
                Some(known) => equation.iter_mut().zip(known).for_each(|(a, b)| *a ^= b),
                None => {
                    solved[lead] = Some(equation.clone());
                    break;
                }
            }
        }
    }
    // From the last term back; those that no equation leads are left out.
    let mut used = vec![false; terms.len()];
    for lead in (0..terms.len()).rev() {
        if let Some(equation) = &solved[lead] {
            let bit = |place: usize| equation[place / 64] >> (place % 64) & 1 != 0;
            used[lead] = (lead + 1..terms.len())
                .filter(|&place| used[place])
                .fold(bit(terms.len()), |sum, place| sum ^ bit(place));
        }
    }
    Some(terms.iter().zip(used).filter(|(_, used)| *used).map(|(term, _)| term.as_slice()).collect())
}

fn lowest(words: &[u64]) -> Option<usize> {
    let word = words.iter().position(|&word| word != 0)?;
    Some(word * 64 + words[word].trailing_zeros() as usize)
}
