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
    let mut counted = Counted { bytes: [V::zero(); 8], wide: [[V::zero(); 2]; 8] };
    // SAFETY: the caller's promise.
    let load = |leaf: u32| unsafe {
        V::load(columns.words.as_ptr().add(leaf as usize * columns.stride + columns.first + at))
    };
    // Trees alike in a row have a loop of their own, in which the sums stay in registers.
    for alike in ballots.trees.chunk_by(|a, b| (a.arity, a.inputs) == (b.arity, b.inputs)) {
        let leaves = &ballots.leaves[alike[0].first..];
        match (alike[0].arity, alike[0].inputs) {
            (0, 4) => roots::<V, 4>(alike, leaves, load, &mut counted),
            (0, 5) => roots::<V, 5>(alike, leaves, load, &mut counted),
            (0, 6) => roots::<V, 6>(alike, leaves, load, &mut counted),
            (0, inputs) => {
                for (ballot, leaves) in alike.iter().zip(leaves.chunks_exact(inputs)) {
                    let mut values = [V::zero(); 4];
                    values.iter_mut().zip(leaves).for_each(|(value, &leaf)| *value = load(leaf));
                    counted.add(ballot, values, [V::zero(); 2]);
                }
            }
            (arity, inputs) => {
                for (ballot, leaves) in alike.iter().zip(leaves.chunks_exact(inputs * arity)) {
                    let mut outputs = [V::zero(); MAX_ROOT];
                    let gates = leaves.chunks_exact(arity).zip(&ballot.tables);
                    for (output, (leaves, &table)) in outputs.iter_mut().zip(gates) {
                        let mut values = [V::zero(); MAX_GATE];
                        values.iter_mut().zip(leaves).for_each(|(value, &leaf)| *value = load(leaf));
                        *output = match arity {
                            2 => gate::<V, 2, 4>(values, table),
                            3 => gate::<V, 3, 4>(values, table),
                            4 => gate::<V, 4, 4>(values, table),
                            5 => gate::<V, 5, 16>(values, table),
                            _ => gate::<V, 6, 16>(values, table),
                        };
                    }
                    let [a, b, c, d, e, f] = outputs;
                    counted.add(ballot, [a, b, c, d], [e, f]);
                }
            }
        }
    }
    counted.empty();
    for (k, halves) in counted.wide.iter().enumerate() {
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

/// Adds the votes of roots of `INPUTS` inputs that read columns, given the columns of all one after the other.
#[inline(always)]
fn roots<V: Vector, const INPUTS: usize>(
    ballots: &[Ballot],
    leaves: &[u32],
    load: impl Fn(u32) -> V,
    counted: &mut Counted<V>,
) {
    let mut here = *counted;
    for (ballot, leaves) in ballots.iter().zip(leaves.as_chunks::<INPUTS>().0) {
        let mut values = [V::zero(); MAX_ROOT];
        for (value, &leaf) in values.iter_mut().zip(leaves) {
            *value = load(leaf);
        }
        let [a, b, c, d, e, f] = values;
        here.add_to_root::<INPUTS>(ballot, [a, b, c, d], [e, f]);
    }
    *counted = here;
}

/// Votes added up so far.
#[derive(Clone, Copy)]
struct Counted<V> {
    /// `bytes[k]` holds the sums of rows `8 b + k` in byte `b`.
    bytes: [V; 8],
    /// The sums of the even and of the odd bytes before they were last emptied.
    wide: [[V; 2]; 8],
}

impl<V: Vector> Counted<V> {
    /// Adds the votes of a tree, given the first four and the other two inputs of its root.
    #[inline(always)]
    fn add(&mut self, ballot: &Ballot, first: [V; 4], last: [V; 2]) {
        match ballot.inputs {
            5 => self.add_to_root::<5>(ballot, first, last),
            6 => self.add_to_root::<6>(ballot, first, last),
            _ => self.add_to_root::<4>(ballot, first, last),
        }
    }

    /// [`Counted::add`] for roots of at most `INPUTS` inputs, from 4 to 6.
    #[inline(always)]
    fn add_to_root<const INPUTS: usize>(&mut self, ballot: &Ballot, first: [V; 4], last: [V; 2]) {
        if ballot.full {
            self.empty();
        }
        let [mut a, mut b, mut c, mut d] = first;
        interleave::<V, 1>(&mut a, &mut b, 0x55);
        interleave::<V, 1>(&mut c, &mut d, 0x55);
        interleave::<V, 2>(&mut a, &mut c, 0x33);
        interleave::<V, 2>(&mut b, &mut d, 0x33);
        // Now `a` has the nibbles of rows 0, 4, 8 and so on, `b` those of 1, 5, 9, then `c` and `d`.
        let quarters = [a, b, c, d];
        let nibble = V::splat(0x0f);
        let [mut fifth, mut sixth] = last;
        let [zero, one, two, three] = &ballot.votes;
        for k in (0..8).rev() {
            let index = if k < 4 { quarters[k] } else { quarters[k - 4].shift_right::<4>() };
            let index = index.and(nibble);
            let mut vote = V::look_up(zero, index);
            if INPUTS > 4 {
                // Bit `k` of each byte of the fifth and sixth input belongs to `bytes[k]`; it is brought to the top.
                vote = V::choose(fifth, vote, V::look_up(one, index));
                if INPUTS > 5 {
                    let other = V::choose(fifth, V::look_up(two, index), V::look_up(three, index));
                    vote = V::choose(sixth, vote, other);
                    sixth = sixth.shift_left::<1>();
                }
                fifth = fifth.shift_left::<1>();
            }
            self.bytes[k] = self.bytes[k].add_bytes(vote);
        }
    }

    /// Adds the bytes to the 16-bit sums and sets them to zero.
    #[inline(always)]
    fn empty(&mut self) {
        let low = V::splat_pair(0x00ff);
        for (bytes, [even, odd]) in self.bytes.iter_mut().zip(&mut self.wide) {
            *even = even.add_pairs(bytes.and(low));
            *odd = odd.add_pairs(bytes.shift_right::<8>().and(low));
            *bytes = V::zero();
        }
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
