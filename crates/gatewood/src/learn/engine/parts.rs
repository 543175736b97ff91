//! An engine whose rows are split into parts: what crosses between them is integers.
//!
//! It is the tiniest second engine there can be, and shows that the seam is one: it learns the same groves.

use super::cpu::{CpuState, add_sums};
use super::draw::{Spacing, Weights, join};
use super::*;
use crate::bits::kernels::Kernels;
use crate::learn::search::RowWords;

/// Rows in parts, each with the number of its first row.
pub(crate) struct PartsEngine<'a> {
    pub(crate) parts: Vec<(usize, CpuEngine<'a>)>,
    pub(crate) order: &'a ColumnOrder,
    pub(crate) kernels: Kernels,
}

impl<'a> PartsEngine<'a> {
    /// Each part with its rows of a list of all rows, or an empty list.
    fn each<'s, T>(&'s self, all: &'s [T]) -> impl Iterator<Item = (&'s CpuEngine<'a>, &'s [T])> {
        self.parts
            .iter()
            .map(|(first, part)| (part, all.get(*first..first + part.rows()).unwrap_or_default()))
    }

    fn part_of(&self, row: u32) -> &(usize, CpuEngine<'a>) {
        let after = self.parts.partition_point(|(first, _)| *first <= row as usize);
        &self.parts[after - 1]
    }
}

impl RowWords for PartsEngine<'_> {
    fn place(&self, word: usize) -> usize {
        word
    }

    fn read(&self, place: usize, row: u32) -> u64 {
        let (first, part) = self.part_of(row);
        let (_, rows) = part.packed.as_ref().unwrap();
        rows.read(rows.place(place), row - *first as u32)
    }
}

impl Engine for PartsEngine<'_> {
    type State = Vec<CpuState>;
    type Addresses = Vec<Vec<u16>>;

    fn rows(&self) -> usize {
        self.parts.iter().map(|(_, part)| part.rows()).sum()
    }

    fn targets(&self) -> Result<Vec<u32>> {
        Ok(self.parts.iter().flat_map(|(_, part)| part.targets).copied().collect())
    }

    fn totals(&self, objective: &dyn Objective) -> Result<Vec<i64>> {
        let parts = self.parts.iter().map(|(_, part)| part.totals(objective).unwrap());
        Ok(parts.reduce(|a, b| a.iter().zip(b).map(|(a, b)| a + b).collect()).unwrap())
    }

    fn begin(&self, start: &Start<'_>) -> Result<Self::State> {
        let held_out = start.held_out.unwrap_or_default();
        let begin = |(part, held): (&CpuEngine<'_>, &[bool])| {
            part.begin(&Start { held_out: start.held_out.map(|_| held), ..*start })
        };
        self.each(held_out).map(begin).collect()
    }

    fn draw(&self, state: &Self::State, by: &Draw<'_>) -> Result<Picks> {
        let mut weighed = Vec::new();
        for (((first, part), (_, among)), state) in self.parts.iter().zip(self.each(by.among)).zip(state) {
            let gradients = part.direction(state, by.direction);
            let weights = part.weigh(state, &gradients, by.power, among);
            let weights: Vec<u32> = weights.into_iter().flat_map(|weights| weights.weights).collect();
            weighed.push((Weights::new(*first, weights), gradients));
        }
        // One integer from every part; then each part knows where on the sum of all it begins.
        let spacing = match weighed.iter().map(|(weights, _)| weights.total).sum() {
            0 => return Ok(Picks::default()),
            total => Spacing::new(total, by.size, by.start),
        };
        let mut begun = 0;
        let pick = |(weights, gradients): &(Weights, std::borrow::Cow<'_, [i32]>)| {
            let picks = spacing.pick(weights, begun, gradients);
            begun += weights.total;
            picks
        };
        Ok(join(weighed.iter().map(pick).collect()))
    }

    fn gather(&self, picks: &Picks, words: &[u32]) -> Result<Sample> {
        Sample::gather(self, self.order, words, picks, self.kernels)
    }

    fn address(&self, state: &Self::State, tree: &VoteTree) -> Result<Self::Addresses> {
        self.parts.iter().zip(state).map(|((_, part), state)| part.address(state, tree)).collect()
    }

    fn sum(&self, state: &Self::State, what: &Summand<'_, Self::Addresses>) -> Result<Vec<Sums>> {
        let parts = self.each(what.climbed).zip(what.addresses).zip(state);
        let sums = parts.map(|(((part, climbed), addresses), state)| {
            let (margin, count) = (what.margin, what.count);
            part.sum(state, &Summand { margin, addresses, count, climbed }).ok()
        });
        Ok(sums.fold(None, add_sums).unwrap())
    }

    fn update(&self, state: &mut Self::State, trees: &[(&VoteTree, &Self::Addresses)]) -> Result<()> {
        for (number, ((_, part), state)) in self.parts.iter().zip(state).enumerate() {
            let trees: Vec<_> = trees.iter().map(|(tree, addresses)| (*tree, &addresses[number])).collect();
            part.update(state, &trees)?;
        }
        Ok(())
    }

    fn shift(&self, state: &mut Self::State, tree: &VoteTree, addresses: &Self::Addresses) -> Result<()> {
        let mut parts = self.parts.iter().zip(state).zip(addresses);
        parts.try_for_each(|(((_, part), state), addresses)| part.shift(state, tree, addresses))
    }

    fn margins(&self, state: &Self::State) -> Result<Vec<Vec<i32>>> {
        let parts = self.parts.iter().zip(state).map(|((_, part), state)| part.margins(state));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let margins = parts.first().map_or(0, Vec::len);
        Ok((0..margins).map(|margin| parts.iter().flat_map(|part| part[margin].clone()).collect()).collect())
    }

    fn loss(&self, state: &Self::State) -> Result<Loss> {
        let mut parts = self.parts.iter().zip(state);
        parts.try_fold(Loss::default(), |sum, ((_, part), state)| Ok(sum.and(part.loss(state)?)))
    }

    fn scaled_loss(&self, state: &Self::State, among: Option<&[bool]>, scale: &Scale) -> Result<[i128; 3]> {
        let mut sums = [0; 3];
        for ((part, rows), state) in self.each(among.unwrap_or_default()).zip(state) {
            let part = part.scaled_loss(state, among.map(|_| rows), scale)?;
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        Ok(sums)
    }
}
