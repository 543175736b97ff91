//! Where patterns match, and how often.

use super::levels;
use super::vector::Vector;
use crate::bits::BLOCK_WORDS;

/// A block of rows: a word for every 64 of them.
pub(crate) type Line = [u64; BLOCK_WORDS];

/// Bits of the largest count of shifts.
const COUNT_BITS: usize = 32;

/// A pattern to look for in planes: the places of its literals that must be one, and zero, before it is moved.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stencil {
    pub(crate) ones: Vec<u32>,
    pub(crate) zeros: Vec<u32>,
    /// Shifts across and down.
    pub(crate) shifts: (usize, usize),
    /// How many shifts must match: a line is written for each.
    pub(crate) thresholds: Vec<u32>,
}

levels! {
    /// Writes for each threshold which rows have as many matches. Planes are `width` places a line, and a place is a block
    /// of rows.
    fn matches(stencil: &Stencil, planes: &[Line], width: usize, out: &mut [Line]) = matches_generic
}

#[inline(always)]
fn matches_generic<V: Vector>(stencil: &Stencil, planes: &[Line], width: usize, out: &mut [Line]) {
    if stencil.thresholds == [1] {
        let mut any = [0; BLOCK_WORDS];
        each(stencil, planes, width, |found| {
            any.iter_mut().zip(found).for_each(|(any, found)| *any |= found)
        });
        out[0] = any;
        return;
    }
    // A binary counter: two carries into a place make one of the next.
    let mut counts = [[0; BLOCK_WORDS]; COUNT_BITS];
    let mut waiting = [[0; BLOCK_WORDS]; COUNT_BITS];
    let mut seen = 0u32;
    each(stencil, planes, width, |found| {
        let mut carry = found;
        let mut place = 0;
        while seen >> place & 1 != 0 {
            carry = add(&mut counts[place], waiting[place], carry);
            place += 1;
        }
        waiting[place] = carry;
        seen += 1;
    });
    let places = (u32::BITS - seen.leading_zeros()) as usize;
    // What is left over in the waiting places is added bit by bit.
    for first in 0..places {
        if seen >> first & 1 != 0 {
            let mut carry = waiting[first];
            for count in &mut counts[first..places] {
                carry = add(count, carry, [0; BLOCK_WORDS]);
            }
        }
    }
    for (&threshold, out) in stencil.thresholds.iter().zip(out) {
        *out = at_least(&counts[..places], threshold);
    }
}

/// Hands on the rows that match at each shift.
#[inline(always)]
fn each(stencil: &Stencil, planes: &[Line], width: usize, mut take: impl FnMut(Line)) {
    let (across, down) = stencil.shifts;
    for y in 0..down {
        let planes = &planes[y * width..];
        for x in 0..across {
            let mut found = [u64::MAX; BLOCK_WORDS];
            for &place in &stencil.ones {
                let line = &planes[place as usize + x];
                found.iter_mut().zip(line).for_each(|(found, word)| *found &= word);
            }
            for &place in &stencil.zeros {
                let line = &planes[place as usize + x];
                found.iter_mut().zip(line).for_each(|(found, word)| *found &= !word);
            }
            take(found);
        }
    }
}

/// Adds two bits to one, row by row; returns the carries.
#[inline(always)]
fn add(sum: &mut Line, a: Line, b: Line) -> Line {
    let mut carry = [0; BLOCK_WORDS];
    for i in 0..BLOCK_WORDS {
        let either = sum[i] ^ a[i];
        carry[i] = sum[i] & a[i] | either & b[i];
        sum[i] = either ^ b[i];
    }
    carry
}

/// The rows whose count, bit by bit from the lowest, is at least so much.
#[inline(always)]
fn at_least(counts: &[Line], threshold: u32) -> Line {
    if u64::from(threshold) >> counts.len() != 0 {
        return [0; BLOCK_WORDS];
    }
    // From the lowest bit up: greater or equal so far.
    let mut reached = [u64::MAX; BLOCK_WORDS];
    for (place, count) in counts.iter().enumerate() {
        let wanted = threshold >> place & 1 != 0;
        for (reached, count) in reached.iter_mut().zip(count) {
            *reached = if wanted { *reached & count } else { *reached | count };
        }
    }
    reached
}
