//! Adding up the votes of small trees for many rows at once.

use super::grove_run::Scratch;
use super::predict::add_votes;
use super::span::widen_words;
use super::{Grove, PatternRun, Target, VoteTree, Wide};
use crate::Result;
use crate::bits::kernels::{Ballots, Kernels};
use crate::bits::{AlignedWords, BLOCK_WORDS, BitView, WORD_BITS};

/// Rows whose votes are added up at a time, for all margins: few enough that the columns stay in a near cache, and a line
/// of it for each column.
pub(super) const TALLY_ROWS: usize = BLOCK_WORDS * WORD_BITS;

/// Room to work in.
#[derive(Debug, Default)]
pub(super) struct Room {
    scratch: Scratch,
    addresses: Vec<u16>,
    /// Columns of some rows, spans and patterns included.
    wide: AlignedWords,
    /// What the planes of patterns say of some rows.
    planes: AlignedWords,
}

/// The small trees that vote on one margin.
#[derive(Debug, Clone, Default)]
struct Group {
    ballots: Ballots,
    /// What the margin is before any vote above the least is added.
    base: i32,
}

/// The trees of a grove, those apart whose votes the kernel can add up.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    groups: Vec<Group>,
    /// The positions of the other trees.
    others: Vec<usize>,
    patterns: PatternRun,
}

impl Tally {
    pub(crate) fn new(grove: &Grove) -> Self {
        let mut groups: Vec<Group> =
            grove.bias().iter().map(|&base| Group { base, ..Group::default() }).collect();
        let trees = grove.trees();
        let others = (0..trees.len()).filter(|&tree| !join(&trees[tree], &mut groups)).collect();
        Self { groups, others, patterns: PatternRun::new(grove.patterns()) }
    }

    /// Writes the margins of rows from `first_row`, a multiple of the word, given the grove that it was made for.
    pub(super) fn add_all(
        &self,
        grove: &Grove,
        bits: BitView<'_>,
        first_row: usize,
        kernels: Kernels,
        room: &mut Room,
        margins: &mut [&mut [i32]],
    ) -> Result<()> {
        let (spans, has_patterns) = (grove.spans(), !grove.patterns().is_empty());
        if spans.is_empty() && !has_patterns {
            self.add_columns(grove, bits, first_row, kernels, room, margins);
            return Ok(());
        }
        if has_patterns && margins[0].len() > TALLY_ROWS {
            // Patterns are looked for in one block of rows at a time.
            for start in (0..margins[0].len()).step_by(TALLY_ROWS) {
                let end = margins[0].len().min(start + TALLY_ROWS);
                let mut part: Vec<&mut [i32]> =
                    margins.iter_mut().map(|margins| &mut margins[start..end]).collect();
                self.add_all(grove, bits, first_row + start, kernels, room, &mut part)?;
            }
            return Ok(());
        }
        let (rows, columns) = (margins[0].len(), grove.columns());
        let words = rows.div_ceil(WORD_BITS);
        let stride = words.next_multiple_of(BLOCK_WORDS);
        if room.wide.len() < columns * stride {
            room.wide = AlignedWords::zeros(columns * stride)?;
        }
        let mut wide = std::mem::take(&mut room.wide);
        widen_words(
            bits,
            spans,
            first_row / WORD_BITS,
            words,
            stride,
            kernels,
            &mut wide[..columns * stride],
        );
        if has_patterns {
            let (inputs, made) = wide[..columns * stride].split_at_mut(bits.columns() * stride);
            let made = &mut made[spans.len() * stride..];
            self.patterns.run(inputs, kernels, &mut room.planes, made)?;
        }
        let bits = BitView::new(rows, columns, stride, &wide[..columns * stride])?;
        self.add_columns(grove, bits, 0, kernels, room, margins);
        room.wide = wide;
        Ok(())
    }

    /// [`Tally::add_all`], given the spans too.
    fn add_columns(
        &self,
        grove: &Grove,
        bits: BitView<'_>,
        first_row: usize,
        kernels: Kernels,
        Room { scratch, addresses, .. }: &mut Room,
        margins: &mut [&mut [i32]],
    ) {
        let rows = margins[0].len();
        addresses.resize(rows.max(TALLY_ROWS), 0);
        for start in (0..rows).step_by(TALLY_ROWS) {
            let rows = TALLY_ROWS.min(rows - start);
            let words = rows.div_ceil(WORD_BITS);
            let columns = bits.columns_at((first_row + start) / WORD_BITS);
            let sums = &mut addresses[..words * WORD_BITS];
            for (group, margins) in self.groups.iter().zip(&mut *margins) {
                kernels.tally(&group.ballots, columns, words, sums);
                for (margin, &sum) in margins[start..start + rows].iter_mut().zip(&*sums) {
                    *margin = group.base + i32::from(sum);
                }
            }
        }
        let addresses = &mut addresses[..rows];
        for tree in self.others.iter().map(|&tree| &grove.trees()[tree]) {
            tree.addresses(Wide::new(bits, &[]), first_row, kernels, scratch, addresses);
            add_votes(tree, addresses, margins);
        }
    }
}

/// Puts a tree among those of its margin, if the kernel takes it.
fn join(tree: &VoteTree, groups: &mut [Group]) -> bool {
    let Target::One(margin) = tree.target() else { return false };
    let group = &mut groups[margin as usize];
    let low = tree.votes().iter().copied().min().unwrap_or(0);
    let votes: Vec<u32> = tree.votes().iter().map(|&vote| vote.abs_diff(low)).collect();
    let gates: Vec<u64> = match tree.arities() {
        [_] => Vec::new(),
        [2..=6, _] => (0..tree.level_gates(1)).map(|gate| tree.table_words(1, gate)[0]).collect(),
        _ => return false,
    };
    let Some(base) = group.base.checked_add(low) else { return false };
    let joined = group.ballots.push(tree.leaves(), &gates, &votes);
    if joined {
        group.base = base;
    }
    joined
}

#[cfg(test)]
mod tests {
    use chacha20::rand_core::Rng;
    use proptest::prelude::*;

    use crate::bits::kernels::{Kernels, Level};
    use crate::bits::{BitMatrix, words_for};
    use crate::circuit::testing::{below, generator, random_table};
    use crate::circuit::{Grove, Span, Target, VoteTree};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Trees of every shape that the kernel takes, and some it does not, give each row what the definition gives.
        #[test]
        fn every_level_adds_up_the_votes(
            seed: u64,
            rows in 1usize..1300,
            trees in 0usize..40,
            most in prop::sample::select(vec![1i32, 15, 127, 200, 3000]),
        ) {
            let mut rng = generator(seed);
            let inputs = 2 + below(&mut rng, 90);
            let spans: Vec<Span> = (0..below(&mut rng, 3))
                .map(|_| Span::any(vec![below(&mut rng, inputs - 1) as u32, inputs as u32 - 1]).unwrap())
                .collect();
            let patterns = crate::circuit::testing::random_patterns(seed, inputs);
            let columns = inputs + spans.len() + patterns.columns();
            let trees: Vec<VoteTree> = (0..trees)
                .map(|_| {
                    let arities: Vec<usize> =
                        (0..1 + below(&mut rng, 2)).map(|_| 1 + below(&mut rng, 7)).collect();
                    let leaves = arities.iter().product();
                    let leaves = (0..leaves).map(|_| below(&mut rng, columns) as u32).collect();
                    let gates = if arities.len() == 2 { arities[1] } else { 0 };
                    let tables = (0..gates)
                        .flat_map(|_| random_table(&mut rng, arities[0]).words().to_vec())
                        .collect();
                    let votes = (0..1usize << arities[arities.len() - 1])
                        .map(|_| below(&mut rng, 2 * most as usize + 1) as i32 - most)
                        .collect();
                    VoteTree::new(arities, Target::One(below(&mut rng, 3) as u32), leaves, tables, votes).unwrap()
                })
                .collect();
            let grove = Grove::with_features(inputs, spans, patterns, 3, vec![-4, 0, 9], 0.1, trees).unwrap();
            let bytes: Vec<u8> = (0..rows * inputs.div_ceil(8)).map(|_| rng.next_u32() as u8).collect();
            let bits = BitMatrix::from_packed_rows(rows, inputs, &bytes).unwrap();
            let margins: Vec<Vec<i32>> = (0..rows)
                .map(|row| grove.margins_of(|column| bits.get(row, column)))
                .collect();
            for level in Level::available() {
                let run = grove.run_at(bits.view(), 1, Kernels::at(level).unwrap()).unwrap();
                for (row, margins) in margins.iter().enumerate() {
                    prop_assert_eq!(&run.row(row), margins, "row {} at {:?}", row, level);
                }
            }
            // Columns that are not padded to whole blocks.
            let tight: Vec<u64> =
                (0..inputs).flat_map(|column| bits.column(column)[..words_for(rows)].to_vec()).collect();
            let view = crate::bits::BitView::new(rows, inputs, words_for(rows), &tight).unwrap();
            prop_assert_eq!(grove.run(view, 1).unwrap().row(rows - 1), margins[rows - 1].clone());
            prop_assert_eq!(grove.predict_packed(rows, &bytes, 1).unwrap(), grove.predict(bits.view(), 1).unwrap());
        }
    }
}
