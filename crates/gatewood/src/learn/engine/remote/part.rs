//! The rows of one part: answers what the coordinator asks.

use std::collections::HashMap;

use super::super::addresses::RowAddresses;
use super::super::cpu::CpuState;
use super::super::draw::{Spacing, Weights, pick_all};
use super::super::rows::PackedRows;
use super::super::{ColumnOrder, CpuEngine, Direction, Engine, SamplingPower, Scale, Start, Summand};
use super::wire::{Reader, Writer};
use super::{among, climb, op};
use crate::bits::BitMatrix;
use crate::bits::kernels::{Kernels, Sums};
use crate::circuit::{Span, VoteTree, Wide};
use crate::learn::objective::Recipe;
use crate::learn::search::RowWords;
use crate::{Error, Result};

/// The rows of one part, and what is known of them during fits.
pub(crate) struct PartRows {
    bits: BitMatrix,
    spans: Vec<Span>,
    targets: Vec<u32>,
    /// What each row counts for, in fixed point; empty for one each.
    weights: Vec<u32>,
    kernels: Kernels,
    /// The rows to gather from; only for rows that are learned from.
    packed: Option<PackedRows>,
    states: HashMap<u64, PartState>,
}

struct PartState {
    /// How many changes were made since the beginning.
    version: u64,
    rows: CpuState,
    held_out: Vec<bool>,
    /// The root addresses of trees that were summed over and not yet voted.
    addresses: Vec<(VoteTree, RowAddresses)>,
    /// The weights of the last weighing, by its number.
    weighed: Option<(u64, Vec<Weights>)>,
}

impl PartState {
    /// Where the addresses of a tree are, whatever its votes; they are made if they are not there.
    fn find(&mut self, engine: &CpuEngine<'_>, tree: &VoteTree) -> Result<usize> {
        let is_same = |known: &VoteTree| {
            known.leaves() == tree.leaves()
                && known.tables() == tree.tables()
                && known.arities() == tree.arities()
        };
        if let Some(place) = self.addresses.iter().position(|(known, _)| is_same(known)) {
            return Ok(place);
        }
        let addresses = engine.address(&self.rows, tree)?;
        self.addresses.push((tree.clone(), addresses));
        Ok(self.addresses.len() - 1)
    }
}

/// A tree whose addresses gradients are summed over, as a message has it.
struct Asked {
    margin: usize,
    tree: VoteTree,
    count: usize,
    climbed: Vec<bool>,
}

impl PartRows {
    /// Rows that are judged, or with an order of columns those that are learned from, by trees that choose from at most
    /// so many words of them.
    pub(crate) fn new(
        bits: BitMatrix,
        spans: Vec<Span>,
        targets: Vec<u32>,
        weights: Vec<u32>,
        order: Option<(&ColumnOrder, usize)>,
        kernels: Kernels,
    ) -> Result<Self> {
        if targets.len() != bits.rows() || !weights.is_empty() && weights.len() != bits.rows() {
            return Err(Error::data(format!("{} targets for a part of {} rows", targets.len(), bits.rows())));
        }
        let wide = Wide::new(bits.view(), &spans);
        let packed = match order {
            Some((order, words)) => Some(PackedRows::new(wide, order, words, kernels)?),
            None => None,
        };
        Ok(Self { bits, spans, targets, weights, kernels, packed, states: HashMap::new() })
    }

    /// Forgets all fits, as a part does that was lost and made anew.
    #[cfg(test)]
    pub(crate) fn forget(&mut self) {
        self.states.clear();
    }

    /// Lets rows count for something else, and forgets all fits where they did not before.
    pub(crate) fn reweigh(&mut self, weights: Vec<u32>) -> Result<()> {
        if !weights.is_empty() && weights.len() != self.bits.rows() {
            return Err(Error::data("a message does not fit the rows of its part"));
        }
        if weights != self.weights {
            self.weights = weights;
            self.states.clear();
        }
        Ok(())
    }

    /// The rows as bits.
    pub(crate) fn bits(&self) -> &BitMatrix {
        &self.bits
    }

    /// Answers a message about rounds, after its first byte; nothing where what it is about is unknown.
    pub(crate) fn answer(&mut self, what: u8, message: &mut Reader<'_>) -> Result<Option<Vec<u8>>> {
        let mut answer = Writer::new();
        match what {
            op::BEGIN => self.begin(message)?,
            op::GATHER => self.gather(message, &mut answer)?,
            op::CLIMB => climb::answer(message, &mut answer, self.kernels)?,
            _ => {
                let (id, version) = (message.number()?, message.number()?);
                let Some(mut state) = self.states.remove(&id) else { return Ok(None) };
                if state.version != version {
                    return Ok(None);
                }
                let answered = self.answer_of(what, &mut state, message, &mut answer);
                self.states.insert(id, state);
                answered?;
            }
        }
        Ok(Some(answer.finish()))
    }

    /// The rows as the engine of a process has them; `weights` are looked at only when a fit begins.
    fn engine(&self, weights: Vec<u32>) -> CpuEngine<'_> {
        let wide = Wide::new(self.bits.view(), &self.spans);
        CpuEngine::new(wide, &self.targets, weights, self.kernels)
    }

    fn begin(&mut self, message: &mut Reader<'_>) -> Result<()> {
        let (id, version) = (message.number()?, message.number()?);
        for forgotten in message.numbers64()? {
            self.states.remove(&forgotten);
        }
        let recipe: Recipe = serde_json::from_slice(message.bytes()?)
            .map_err(|error| Error::data(format!("a message names no objective: {error}")))?;
        let objective = recipe.make();
        let bias = message.signed32()?;
        let (trees, shifts) = (message.trees()?, message.trees()?);
        let held_out = message.flags()?;
        let is_known = held_out.is_empty() || held_out.len() == self.targets.len();
        if bias.len() != objective.margins() || !is_known {
            return Err(Error::data("a message does not fit the rows of its part"));
        }
        for tree in trees.iter().chain(&shifts) {
            self.check(tree)?;
        }
        let engine = self.engine(self.weights.clone());
        let start = Start {
            objective: &objective,
            bias: &bias,
            trees: &trees,
            held_out: (!held_out.is_empty()).then_some(&held_out),
        };
        let mut rows = engine.begin(&start)?;
        for tree in &shifts {
            let addresses = engine.address(&rows, tree)?;
            engine.shift(&mut rows, tree, &addresses)?;
        }
        let state = PartState { version, rows, held_out, addresses: Vec::new(), weighed: None };
        self.states.insert(id, state);
        Ok(())
    }

    /// Refuses a tree that reads columns which are not there.
    fn check(&self, tree: &VoteTree) -> Result<()> {
        let columns = self.bits.columns() + self.spans.len();
        match tree.leaves().iter().find(|&&leaf| leaf as usize >= columns) {
            Some(leaf) => Err(Error::data(format!("a tree reads column {leaf} of {columns}"))),
            None => Ok(()),
        }
    }

    fn gather(&self, message: &mut Reader<'_>, answer: &mut Writer) -> Result<()> {
        let (rows, words) = (message.numbers32()?, message.numbers32()?);
        let Some(packed) = &self.packed else {
            return Err(Error::data("rows that were not packed cannot be learned from"));
        };
        let width = (self.bits.columns() + self.spans.len()).div_ceil(64);
        if rows.iter().any(|&row| row as usize >= self.targets.len())
            || words.iter().any(|&word| word as usize >= width)
        {
            return Err(Error::data("a message asks for rows that the part does not have"));
        }
        let places: Vec<usize> = words.iter().map(|&word| packed.place(word as usize)).collect();
        let read = |&row: &u32| places.iter().map(move |&place| packed.read(place, row));
        answer.numbers64(&rows.iter().flat_map(read).collect::<Vec<_>>());
        Ok(())
    }

    fn answer_of(
        &self,
        what: u8,
        state: &mut PartState,
        message: &mut Reader<'_>,
        answer: &mut Writer,
    ) -> Result<()> {
        let engine = self.engine(Vec::new());
        match what {
            op::WEIGH | op::PICK => self.draw(what, &engine, state, message, answer)?,
            op::SUM => {
                let asked = self.asked(message)?;
                let place = state.find(&engine, &asked.tree)?;
                let sums = engine.sum(&state.rows, &asked.summand(&state.addresses[place].1))?;
                write_sums(answer, &sums);
            }
            op::STEP => self.step(&engine, state, message, answer)?,
            op::SHIFT => {
                let tree = message.tree()?;
                self.check(&tree)?;
                let place = state.find(&engine, &tree)?;
                let (_, addresses) = state.addresses.swap_remove(place);
                engine.shift(&mut state.rows, &tree, &addresses)?;
                state.version += 1;
            }
            op::MARGINS => {
                for margins in engine.margins(&state.rows)? {
                    answer.signed32(&margins);
                }
            }
            op::LOSS => {
                let loss = engine.loss(&state.rows)?;
                answer.number(loss.wrong).number(loss.loss as u64);
            }
            op::SCALED_LOSS => {
                let [factor, doubt] = [message.number()?, message.number()?].map(f64::from_bits);
                let listed;
                let among = match message.byte()? {
                    among::ALL => None,
                    among::HELD_OUT => Some(&state.held_out),
                    _ => {
                        listed = message.flags()?;
                        Some(&listed)
                    }
                };
                if among.is_some_and(|among| among.len() != self.targets.len()) {
                    return Err(Error::data("a message does not fit the rows of its part"));
                }
                let scale = Scale { factor, doubt };
                let sums = engine.scaled_loss(&state.rows, among.map(Vec::as_slice), &scale)?;
                sums.into_iter().for_each(|sum| {
                    answer.wide(sum);
                });
            }
            _ => return Err(Error::data(format!("{what} is no message to a part"))),
        }
        Ok(())
    }

    /// Weighs rows, or picks some by their weights.
    fn draw(
        &self,
        what: u8,
        engine: &CpuEngine<'_>,
        state: &mut PartState,
        message: &mut Reader<'_>,
        answer: &mut Writer,
    ) -> Result<()> {
        let call = message.number()?;
        let inside;
        let direction = match message.byte()? {
            0 => Direction::Margin(message.size()?),
            _ => {
                inside = message.flags()?;
                Direction::Group(&inside)
            }
        };
        let power = f64::from_bits(message.number()?);
        let among = message.flags()?;
        let gradients = engine.direction(&state.rows, direction);
        let weights = match state.weighed.take() {
            Some((known, weights)) if known == call => weights,
            _ => engine.weigh(&state.rows, &gradients, &SamplingPower::new(power), &among),
        };
        if what == op::WEIGH {
            answer.number(weights.iter().map(|weights| weights.total).sum());
            drop(gradients);
            state.weighed = Some((call, weights));
            return Ok(());
        }
        let (total, size) = (message.number()?, message.size()?);
        let (start, begun) = (message.number()?, message.number()?);
        let own: u64 = weights.iter().map(|weights| weights.total).sum();
        if total == 0 || begun.checked_add(own).is_none_or(|end| end > total) {
            return Err(Error::data("a message draws from more than all rows weigh"));
        }
        let picks = pick_all(weights, &gradients, Spacing::new(total, size, start), begun);
        picks.iter().for_each(|side| {
            answer.numbers32(side);
        });
        Ok(())
    }

    /// Adds the votes of trees; then sums over the next tree, or tells the loss.
    fn step(
        &self,
        engine: &CpuEngine<'_>,
        state: &mut PartState,
        message: &mut Reader<'_>,
        answer: &mut Writer,
    ) -> Result<()> {
        let is_one = message.byte()? == 1;
        let trees = message.trees()?;
        for tree in &trees {
            self.check(tree)?;
            state.find(engine, tree)?;
        }
        let next = match message.byte()? {
            0 => None,
            _ => Some(self.asked(message)?),
        };
        let next_place = match &next {
            Some(next) => Some(state.find(engine, &next.tree)?),
            None => None,
        };
        let places = trees.iter().map(|tree| state.find(engine, tree)).collect::<Result<Vec<_>>>()?;
        let known = std::mem::take(&mut state.addresses);
        let voting: Vec<(&VoteTree, &RowAddresses)> =
            trees.iter().zip(&places).map(|(tree, &place)| (tree, &known[place].1)).collect();
        let summand = next.as_ref().zip(next_place).map(|(next, place)| next.summand(&known[place].1));
        let sums = if is_one && voting.len() < 2 {
            engine.update_and_sum(&mut state.rows, voting.first().copied(), summand.as_ref())?
        } else {
            engine.update(&mut state.rows, &voting)?;
            summand.as_ref().map_or_else(|| Ok(Vec::new()), |next| engine.sum(&state.rows, next))?
        };
        state.version += 1;
        match next {
            Some(_) => write_sums(answer, &sums),
            None => {
                let loss = engine.loss(&state.rows)?;
                answer.number(loss.wrong).number(loss.loss as u64);
            }
        }
        // Trees that have voted are done with; the others wait for their turn.
        let mut place = 0..;
        state.addresses = known;
        state.addresses.retain(|_| !places.contains(&place.next().unwrap_or_default()));
        if next.is_none() {
            state.addresses.clear();
        }
        Ok(())
    }

    fn asked(&self, message: &mut Reader<'_>) -> Result<Asked> {
        let (margin, count) = (message.size()?, message.size()?);
        let (tree, climbed) = (message.tree()?, message.flags()?);
        self.check(&tree)?;
        let addresses = 1usize << tree.arities()[tree.depth() - 1];
        if count != addresses || !climbed.is_empty() && climbed.len() != self.targets.len() {
            return Err(Error::data("a message does not fit the rows of its part"));
        }
        Ok(Asked { margin, tree, count, climbed })
    }
}

impl Asked {
    fn summand<'a>(&'a self, addresses: &'a RowAddresses) -> Summand<'a, RowAddresses> {
        Summand { margin: self.margin, addresses, count: self.count, climbed: &self.climbed }
    }
}

fn write_sums(answer: &mut Writer, sums: &[Sums]) {
    answer.number(sums.len() as u64);
    for sums in sums {
        answer.number(sums.gradient as u64).number(sums.hessian as u64);
    }
}
