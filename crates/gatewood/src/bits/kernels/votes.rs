//! Adding up the votes of small trees for many rows at once.
//!
//! The address of a root's first four inputs is a nibble, and a vector has one instruction that looks up a nibble for
//! each of its bytes. So the inputs, a bit a row, are interleaved to nibbles, a byte of votes is looked up for every
//! row, and votes are added as bytes. The fifth and sixth input choose among look-ups. Where a byte could overflow, the
//! bytes are added to 16-bit sums first.

use super::evaluate::{functions_of_two, multiplex, nibbles_of};
use super::levels;
use super::vector::Vector;

/// Most inputs of a root.
const MAX_ROOT: usize = 6;

/// Most inputs of a gate below the root.
const MAX_GATE: usize = 6;

/// A tree as the kernel takes it: a root over columns, or over gates that read columns.
#[derive(Debug, Clone)]
struct Ballot {
    /// Inputs of the root.
    inputs: usize,
    /// Inputs of each gate below the root; 0 where the root reads columns.
    arity: usize,
    /// One word for each gate below the root.
    tables: [u64; MAX_ROOT],
    /// Where the tree's columns start among those of all trees.
    first: usize,
    /// The vote of each address, above the least of the tree.
    votes: [[u8; 16]; 1 << (MAX_ROOT - 4)],
    /// Whether the bytes must be emptied before this tree's votes are added.
    full: bool,
}

/// Trees whose votes are added to the same sum.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ballots {
    trees: Vec<Ballot>,
    leaves: Vec<u32>,
    /// One more than the last column that is read.
    columns: usize,
    /// The largest sum the bytes can hold so far, and that of all votes.
    held: u32,
    most: u32,
}

impl Ballots {
    /// Adds a tree by the columns it reads, the tables of the gates below its root (one word each, none where the root
    /// reads columns) and its votes above the least of them. Says whether it could be: gates of 2 to 6 inputs, a root of
    /// at most 6, and sums that fit.
    pub(crate) fn push(&mut self, leaves: &[u32], gates: &[u64], votes: &[u32]) -> bool {
        let inputs = if gates.is_empty() { leaves.len() } else { gates.len() };
        let arity = if gates.is_empty() { 0 } else { leaves.len() / gates.len() };
        let range = votes.iter().copied().max().unwrap_or(0);
        let fits = (1..=MAX_ROOT).contains(&inputs)
            && votes.len() == 1 << inputs
            && (arity == 0 && leaves.len() == inputs
                || (2..=MAX_GATE).contains(&arity) && leaves.len() == arity * inputs)
            && range <= u32::from(u8::MAX)
            && self.most + range <= u32::from(u16::MAX);
        if !fits {
            return false;
        }
        let mut ballot = Ballot {
            inputs,
            arity,
            tables: [0; MAX_ROOT],
            first: self.leaves.len(),
            votes: [[0; 16]; 1 << (MAX_ROOT - 4)],
            full: self.held + range > u32::from(u8::MAX),
        };
        ballot.tables[..gates.len()].copy_from_slice(gates);
        for (address, vote) in ballot.votes.as_flattened_mut().iter_mut().enumerate() {
            // Inputs the root has not are zero in every row.
            *vote = votes[address % votes.len()] as u8;
        }
        self.held = if ballot.full { range } else { self.held + range };
        self.most += range;
        self.leaves.extend_from_slice(leaves);
        self.columns = leaves.iter().fold(self.columns, |columns, &leaf| columns.max(leaf as usize + 1));
        self.trees.push(ballot);
        true
    }
}

/// Columns of bits: word `w` of column `c` is `words[c * stride + first + w]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) words: &'a [u64],
    pub(crate) stride: usize,
    pub(crate) first: usize,
}

levels! {
    /// Writes the sum of the votes of each of `64 * count` rows.
    fn tally(ballots: &Ballots, columns: Columns<'_>, count: usize, sums: &mut [u16]) = tally_generic
}

#[inline(always)]
fn tally_generic<V: Vector>(ballots: &Ballots, columns: Columns<'_>, count: usize, sums: &mut [u16]) {
    assert!(sums.len() == 64 * count && columns.stride >= columns.first + count);
    assert!(
        ballots.columns == 0
            || columns.words.len() >= (ballots.columns - 1) * columns.stride + columns.first + count
    );
    let whole = count / V::WORDS * V::WORDS;
    let (front, back) = sums.split_at_mut(64 * whole);
    for (block, sums) in front.chunks_exact_mut(64 * V::WORDS).enumerate() {
        // SAFETY: every column a ballot reads holds `count` words from `first` on, and the block is among them.
        unsafe { tally_block::<V>(ballots, columns, block * V::WORDS, sums) };
    }
    for (block, sums) in back.chunks_exact_mut(64).enumerate() {
        // SAFETY: as above.
        unsafe { tally_block::<u64>(ballots, columns, whole + block, sums) };
    }
}

/// The rows of one vector.
///
/// # Safety
/// Every column that a ballot reads must hold a vector of words at `columns.first + at`.
#[inline(always)]
unsafe fn tally_block<V: Vector>(ballots: &Ballots, columns: Columns<'_>, at: usize, sums: &mut [u16]) {
    // `bytes[k]` holds the sums of rows `8 b + k` in byte `b`, `wide` those of its even and its odd bytes.
    let mut bytes = [V::zero(); 8];
    let mut wide = [[V::zero(); 2]; 8];
    let base = columns.words.as_ptr();
    for ballot in &ballots.trees {
        let mut inputs = [V::zero(); MAX_ROOT];
        let leaves = &ballots.leaves[ballot.first..];
        // SAFETY: the caller's promise.
        let load = |leaf: u32| unsafe { base.add(leaf as usize * columns.stride + columns.first + at) };
        if ballot.arity == 0 {
            for (input, &leaf) in inputs.iter_mut().zip(&leaves[..ballot.inputs]) {
                // SAFETY: as above.
                *input = unsafe { V::load(load(leaf)) };
            }
        } else {
            let leaves = leaves[..ballot.inputs * ballot.arity].chunks_exact(ballot.arity);
            for ((input, leaves), &table) in inputs.iter_mut().zip(leaves).zip(&ballot.tables) {
                let mut values = [V::zero(); MAX_GATE];
                for (value, &leaf) in values.iter_mut().zip(leaves) {
                    // SAFETY: as above.
                    *value = unsafe { V::load(load(leaf)) };
                }
                *input = match ballot.arity {
                    2 => gate::<V, 2, 4>(values, table),
                    3 => gate::<V, 3, 4>(values, table),
                    4 => gate::<V, 4, 4>(values, table),
                    5 => gate::<V, 5, 16>(values, table),
                    _ => gate::<V, 6, 16>(values, table),
                };
            }
        }
        if ballot.full {
            empty(&mut bytes, &mut wide);
        }
        let [mut a, mut b, mut c, mut d, e, f] = inputs;
        interleave::<V, 1>(&mut a, &mut b, 0x55);
        interleave::<V, 1>(&mut c, &mut d, 0x55);
        interleave::<V, 2>(&mut a, &mut c, 0x33);
        interleave::<V, 2>(&mut b, &mut d, 0x33);
        // Now `a` has the nibbles of rows 0, 4, 8 and so on, `b` those of 1, 5, 9, then `c` and `d`.
        let nibble = V::splat(0x0f);
        let quarters = [a, b, c, d];
        if ballot.inputs <= 4 {
            for (k, sum) in bytes.iter_mut().enumerate() {
                let index = if k < 4 { quarters[k] } else { quarters[k - 4].shift_right::<4>() };
                *sum = sum.add_bytes(V::look_up(&ballot.votes[0], index.and(nibble)));
            }
            continue;
        }
        // Bit `k` of each byte of the fifth and sixth input belongs to `bytes[k]`; it is brought to the top.
        let (mut fifth, mut sixth) = (e, f);
        for k in (0..8).rev() {
            let index = if k < 4 { quarters[k] } else { quarters[k - 4].shift_right::<4>() };
            let index = index.and(nibble);
            let [zero, one, two, three] = &ballot.votes;
            let mut vote = V::choose(fifth, V::look_up(zero, index), V::look_up(one, index));
            if ballot.inputs == 6 {
                let other = V::choose(fifth, V::look_up(two, index), V::look_up(three, index));
                vote = V::choose(sixth, vote, other);
                sixth = sixth.shift_left::<1>();
            }
            fifth = fifth.shift_left::<1>();
            bytes[k] = bytes[k].add_bytes(vote);
        }
    }
    empty(&mut bytes, &mut wide);
    for (k, halves) in wide.iter().enumerate() {
        for (odd, half) in halves.iter().enumerate() {
            let mut words = [0u64; 8];
            // SAFETY: no vector has more than eight words.
            unsafe { half.store(words.as_mut_ptr()) };
            for (word, rows) in words[..V::WORDS].iter().zip(sums.chunks_exact_mut(64)) {
                for (lane, rows) in rows.chunks_exact_mut(16).enumerate() {
                    rows[8 * odd + k] = (word >> (16 * lane)) as u16;
                }
            }
        }
    }
}

/// Adds the bytes to the 16-bit sums and sets them to zero.
#[inline(always)]
fn empty<V: Vector>(bytes: &mut [V; 8], wide: &mut [[V; 2]; 8]) {
    let low = V::splat_pair(0x00ff);
    for (bytes, [even, odd]) in bytes.iter_mut().zip(wide) {
        *even = even.add_pairs(bytes.and(low));
        *odd = odd.add_pairs(bytes.shift_right::<8>().and(low));
        *bytes = V::zero();
    }
}

/// Exchanges the bits of `a` at the ones of `mask << WIDTH` with those of `b` at the ones of `mask`.
#[inline(always)]
fn interleave<V: Vector, const WIDTH: i32>(a: &mut V, b: &mut V, mask: u8) {
    let swap = a.shift_right::<WIDTH>().xor(*b).and(V::splat(mask));
    *b = b.xor(swap);
    *a = a.xor(swap.shift_left::<WIDTH>());
}

/// The output of a gate whose table fits in one word.
#[inline(always)]
fn gate<V: Vector, const ARITY: usize, const WIDTH: usize>(values: [V; MAX_GATE], table: u64) -> V {
    let nibbles = nibbles_of(table);
    let functions = functions_of_two(values[0], values[1]);
    let mut layer = [V::zero(); WIDTH];
    for i in 0..1 << (ARITY - 2) {
        layer[i] = functions[usize::from(nibbles[i])];
    }
    let mut first = [V::zero(); ARITY];
    first.copy_from_slice(&values[..ARITY]);
    multiplex::<V, ARITY, WIDTH>(&first, layer)
}
