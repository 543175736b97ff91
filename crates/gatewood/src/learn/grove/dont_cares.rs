//! Addresses of gates that no training row has, used so that gates read fewer inputs.
//!
//! What a gate says at such an address is a guess. Where two addresses that differ in one input never say different things on rows that
//! were seen, the gate can do without that input, and what only that input needed goes from the circuit, too. The gates of
//! the model are changed, so that exports stay proven equal to it.
//!
//! The rows of four fifths are counted, and those of the last fifth judge: where more of them come out wrong, all rows are
//! counted instead, and no training row changes.

use crate::Result;
use crate::bits::kernels::Kernels;
use crate::bits::{BitView, WORD_BITS, words_for};
use crate::circuit::{CHUNK_ROWS, Grove, MAX_ARITY, Scratch, VoteTree, Wide, add_votes};
use crate::platform::parallel::*;

/// One row of so many judges.
const PARTS: usize = 5;

/// Training rows: bits, classes, and how many come before their copies.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) bits: BitView<'a>,
    pub(super) targets: &'a [u32],
    pub(super) originals: usize,
    pub(super) kernels: Kernels,
}

impl Seen<'_> {
    /// Whether a row judges. Copies of a row do as it does.
    fn judges(&self, row: usize) -> bool {
        row % self.originals.max(1) % PARTS == PARTS - 1
    }

    /// Judging rows that a grove gets wrong.
    fn wrong(&self, grove: &Grove) -> usize {
        let rows = self.targets.len();
        let wide = Wide::new(self.bits, grove.spans());
        let wrong_from = |first: usize| {
            let count = CHUNK_ROWS.min(rows - first);
            let mut sums: Vec<Vec<i32>> = grove.bias().iter().map(|&bias| vec![bias; count]).collect();
            let mut sums: Vec<&mut [i32]> = sums.iter_mut().map(Vec::as_mut_slice).collect();
            let (mut scratch, mut addresses) = (Scratch::default(), [0u16; CHUNK_ROWS]);
            for tree in grove.trees() {
                tree.addresses(wide, first, self.kernels, &mut scratch, &mut addresses[..count]);
                add_votes(tree, &addresses[..count], &mut sums);
            }
            let is_wrong = |row: &usize| {
                let margins: Vec<i32> = sums.iter().map(|sums| sums[*row]).collect();
                self.judges(first + row) && Grove::class_of(&margins) != self.targets[first + row] as usize
            };
            (0..count).filter(is_wrong).count()
        };
        let chunks = (0..rows.div_ceil(CHUNK_ROWS)).into_par_iter();
        chunks.map(|chunk| wrong_from(chunk * CHUNK_ROWS)).reduce(|| 0, |some, others| some + others)
    }
}

/// The grove with gates that read fewer inputs.
pub(super) fn without_unseen(grove: &Grove, seen: Seen<'_>) -> Result<Grove> {
    let part = changed(grove, seen, false)?;
    if seen.wrong(&part) <= seen.wrong(grove) { Ok(part) } else { changed(grove, seen, true) }
}

fn changed(grove: &Grove, seen: Seen<'_>, all: bool) -> Result<Grove> {
    let counted: Vec<u64> = (0..words_for(seen.targets.len()))
        .map(|word| {
            let rows = (0..WORD_BITS).map(|bit| (bit, word * WORD_BITS + bit));
            let counted = rows.filter(|&(_, row)| row < seen.targets.len() && (all || !seen.judges(row)));
            counted.fold(0, |word, (bit, _)| word | 1 << bit)
        })
        .collect();
    let trees = grove
        .trees()
        .par_iter()
        .map(|tree| changed_tree(tree, grove, seen, &counted))
        .collect::<Result<_>>()?;
    let features = (grove.spans().to_vec(), grove.patterns().clone());
    Grove::with_output(grove.inputs(), features, grove.output(), grove.bias().to_vec(), grove.unit(), trees)
}

fn changed_tree(tree: &VoteTree, grove: &Grove, seen: Seen<'_>, counted: &[u64]) -> Result<VoteTree> {
    let wide = Wide::new(seen.bits, grove.spans());
    let words = counted.len();
    let column = |&leaf: &u32| {
        let mut column = vec![0; words];
        wide.fill(leaf, 0, seen.kernels, &mut column);
        column
    };
    let mut below: Vec<Vec<u64>> = tree.leaves().iter().map(column).collect();
    let mut tables = Vec::with_capacity(tree.tables().len());
    for level in 1..tree.depth() {
        let arity = tree.arities()[level - 1];
        let mut says = Vec::with_capacity(tree.level_gates(level));
        for gate in 0..tree.level_gates(level) {
            let inputs = &below[gate * arity..][..arity];
            let table = tree.table_words(level, gate);
            let at = |address: usize| table[address / WORD_BITS] >> (address % WORD_BITS) & 1;
            let from = sources(&addresses_seen(inputs, counted, seen.kernels), |a, b| at(a) == at(b));
            let mut new = vec![0; table.len()];
            for (address, &from) in from.iter().enumerate() {
                new[address / WORD_BITS] |= at(from) << (address % WORD_BITS);
            }
            let mut output = vec![0; words];
            seen.kernels.evaluate(&new, &views(inputs)[..arity], &mut output);
            says.push(output);
            tables.extend(new);
        }
        below = says;
    }
    let from =
        sources(&addresses_seen(&below, counted, seen.kernels), |a, b| tree.votes_at(a) == tree.votes_at(b));
    let votes = from.iter().flat_map(|&from| tree.votes_at(from)).copied().collect();
    VoteTree::new(tree.arities().to_vec(), tree.target(), tree.leaves().to_vec(), tables, votes)
}

fn views(inputs: &[Vec<u64>]) -> [&[u64]; MAX_ARITY] {
    let mut views: [&[u64]; MAX_ARITY] = [&[]; MAX_ARITY];
    views.iter_mut().zip(inputs).for_each(|(to, from)| *to = from);
    views
}

/// Which addresses of some inputs the counted rows have.
fn addresses_seen(inputs: &[Vec<u64>], counted: &[u64], kernels: Kernels) -> Vec<bool> {
    let mut seen = vec![false; 1 << inputs.len()];
    let mut addresses = [0u16; CHUNK_ROWS];
    for (chunk, counted) in counted.chunks(CHUNK_ROWS / WORD_BITS).enumerate() {
        let inputs_here =
            views(inputs).map(|input| input.get(chunk * CHUNK_ROWS / WORD_BITS..).unwrap_or_default());
        let count = counted.len() * WORD_BITS;
        kernels.addresses(&inputs_here[..inputs.len()], &mut addresses[..count]);
        for (addresses, &counted) in addresses[..count].chunks(WORD_BITS).zip(counted) {
            for (bit, &address) in addresses.iter().enumerate() {
                seen[usize::from(address)] |= counted >> bit & 1 != 0;
            }
        }
    }
    seen
}

/// For each address the one whose value it gets, so that a gate reads as few inputs as what was seen allows. Inputs are tried from the
/// last to the first.
fn sources(seen: &[bool], same: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut seen = seen.to_vec();
    let mut from: Vec<usize> = (0..seen.len()).collect();
    for input in (0..seen.len().ilog2()).rev() {
        let bit = 1 << input;
        let pairs =
            || (0..from.len()).filter(|address| address & bit == 0).map(|address| (address, address | bit));
        if pairs().any(|(no, yes)| seen[no] && seen[yes] && !same(from[no], from[yes])) {
            continue;
        }
        let pairs: Vec<(usize, usize)> = pairs().collect();
        for (no, yes) in pairs {
            let kept = if seen[no] || !seen[yes] { from[no] } else { from[yes] };
            (from[no], from[yes]) = (kept, kept);
            let either = seen[no] || seen[yes];
            (seen[no], seen[yes]) = (either, either);
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitMatrix;
    use crate::circuit::Target;

    #[test]
    fn gates_lose_inputs_that_no_row_needs() {
        // An exclusive or of two inputs that are never both one is an or, and needs both.
        let xor = |address: usize| (address ^ address >> 1) & 1;
        assert_eq!(sources(&[true, true, true, false], |a, b| xor(a) == xor(b)), [0, 1, 2, 3]);
        // Of two that are always equal, one is enough, and so for an and.
        let and = |address: usize| usize::from(address == 3);
        assert_eq!(sources(&[true, false, false, true], |a, b| and(a) == and(b)), [0, 3, 0, 3]);
        // What no row ever says otherwise is constant.
        assert_eq!(sources(&[false, false, true, false], |a, b| a == b), [2; 4]);
    }

    #[test]
    fn training_rows_keep_their_votes() {
        let bits: Vec<bool> = (0..200).flat_map(|row| [row % 3 == 0, row % 3 == 0, row % 7 < 3]).collect();
        let bits = BitMatrix::from_bools(3, &bits).unwrap();
        let votes = vec![3, -1, 0, 2, -5, 7, 1, 4];
        let tree = VoteTree::new(vec![3], Target::One(0), vec![0, 1, 2], Vec::new(), votes).unwrap();
        let grove = Grove::new(3, 2, vec![0], 1.0, vec![tree]).unwrap();
        let targets: Vec<u32> = (0..200).map(|row| u32::from(row % 7 < 3)).collect();
        let kernels = Kernels::best();
        let seen = Seen { bits: bits.view(), targets: &targets, originals: 200, kernels };
        for all in [false, true] {
            let less = changed(&grove, seen, all).unwrap();
            for row in 0..200 {
                let margins = |grove: &Grove| grove.margins_of(|column| bits.get(row, column));
                assert_eq!(margins(&less), margins(&grove));
            }
            // The first two columns are equal: one of them is no longer read.
            let [tree] = less.trees() else { panic!("one tree") };
            assert!((0..8).all(
                |address: usize| tree.votes()[address] == tree.votes()[address & !2 | (address & 1) << 1]
            ));
        }
    }
}
