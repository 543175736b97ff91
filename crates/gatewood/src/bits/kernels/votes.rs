//! Adding the votes of a tree of two levels, bit by bit.
//!
//! The sum of votes is kept as planes: word `w` of plane `p` holds bit `p` of the sums of 64 rows. A tree's gates, its
//! votes and their addition pass through registers, for a vector of rows at a time.

use super::evaluate::{functions_of_two, multiplex, nibbles_of};
use super::levels;
use super::vector::Vector;

/// Most inputs of a root whose votes are added this way.
pub(crate) const MAX_ROOT: usize = 4;

/// A tree of two levels as the kernel takes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ballot<'a> {
    /// Inputs of a bottom gate: 2 to 6.
    pub(crate) arity: usize,
    /// One word for each bottom gate; as many as the root has inputs, 2 to [`MAX_ROOT`].
    pub(crate) tables: &'a [u64],
    /// For each bit of a vote, lowest first, the table of that bit over the root's addresses.
    pub(crate) votes: &'a [u16],
}

levels! {
    /// Adds a tree's votes to the planes of sums; the inputs are those of all bottom gates, one after the other.
    fn vote(ballot: Ballot<'_>, inputs: &[&[u64]], words: usize, sums: &mut [u64]) = vote_generic
}

#[inline(always)]
fn vote_generic<V: Vector>(ballot: Ballot<'_>, inputs: &[&[u64]], words: usize, sums: &mut [u64]) {
    let whole = words / V::WORDS * V::WORDS;
    vote_range::<V>(ballot, inputs, words, 0, whole, sums);
    if whole < words {
        vote_range::<u64>(ballot, inputs, words, whole, words, sums);
    }
}

#[inline(always)]
fn vote_range<V: Vector>(
    ballot: Ballot<'_>,
    inputs: &[&[u64]],
    words: usize,
    start: usize,
    end: usize,
    sums: &mut [u64],
) {
    match ballot.arity {
        2 => vote_arity::<V, 2>(ballot, inputs, words, start, end, sums),
        3 => vote_arity::<V, 3>(ballot, inputs, words, start, end, sums),
        4 => vote_arity::<V, 4>(ballot, inputs, words, start, end, sums),
        5 => vote_arity::<V, 5>(ballot, inputs, words, start, end, sums),
        _ => vote_arity::<V, 6>(ballot, inputs, words, start, end, sums),
    }
}

#[inline(always)]
fn vote_arity<V: Vector, const ARITY: usize>(
    ballot: Ballot<'_>,
    inputs: &[&[u64]],
    words: usize,
    start: usize,
    end: usize,
    sums: &mut [u64],
) {
    let gates = ballot.tables.len();
    assert!(ballot.arity == ARITY && inputs.len() == gates * ARITY && (2..=MAX_ROOT).contains(&gates));
    assert!(
        inputs.iter().all(|input| input.len() >= end) && words >= end && sums.len().is_multiple_of(words)
    );
    let planes = sums.len() / words;
    assert!(ballot.votes.len() <= planes);
    let mut nibbles = [[0u8; 16]; MAX_ROOT];
    for (nibbles, &table) in nibbles.iter_mut().zip(ballot.tables) {
        *nibbles = nibbles_of(table);
    }
    for at in (start..end).step_by(V::WORDS) {
        let mut outputs = [V::zero(); MAX_ROOT];
        for gate in 0..gates {
            let mut values = [V::zero(); ARITY];
            for j in 0..ARITY {
                // SAFETY: every input holds `end` words, and `end - start` is whole vectors.
                values[j] = unsafe { V::load(inputs[gate * ARITY + j].as_ptr().add(at)) };
            }
            let functions = functions_of_two(values[0], values[1]);
            let mut layer = [V::zero(); 16];
            for i in 0..1 << (ARITY - 2) {
                layer[i] = functions[usize::from(nibbles[gate][i])];
            }
            outputs[gate] = multiplex::<V, ARITY, 16>(&values, layer);
        }
        let functions = functions_of_two(outputs[0], outputs[1]);
        let mut carry = V::zero();
        for (plane, &table) in ballot.votes.iter().enumerate() {
            let pick = |i: u32| functions[usize::from(table >> (4 * i) & 15)];
            let vote = match gates {
                2 => pick(0),
                3 => V::mux(outputs[2], pick(0), pick(1)),
                _ => {
                    let low = V::mux(outputs[2], pick(0), pick(1));
                    let high = V::mux(outputs[2], pick(2), pick(3));
                    V::mux(outputs[3], low, high)
                }
            };
            // SAFETY: each plane holds `words` words, no fewer than `end`.
            unsafe {
                let place = sums.as_mut_ptr().add(plane * words + at);
                let sum = V::load(place);
                let half = sum.xor(vote);
                half.xor(carry).store(place);
                carry = V::mux(half, vote, carry);
            }
        }
        for plane in ballot.votes.len()..planes {
            // SAFETY: as above.
            unsafe {
                let place = sums.as_mut_ptr().add(plane * words + at);
                let sum = V::load(place);
                sum.xor(carry).store(place);
                carry = carry.and(sum);
            }
        }
    }
}
