//! The coordinator's engine: it has the targets, and asks the parts for all else.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::cpu::add_sums;
use super::super::{ColumnOrder, Direction, Draw, Engine, Picks, Scale, Start, Summand, TreeToClimb};
use super::wire::{Reader, Writer};
use super::{DONE, Parts, UNKNOWN, among, climb, op};
use crate::bits::kernels::{Kernels, Sums};
use crate::circuit::VoteTree;
use crate::learn::gate::LogTable;
use crate::learn::objective::{Loss, Objective};
use crate::learn::search::{Climbed, RowWords, Sample};
use crate::platform::parallel::current_num_threads;
use crate::pool::each_awake;
use crate::{Error, Result};

/// How often a part may have to be told again before one message is answered.
const TRIES: usize = 20;

/// The way to the parts, and what one that was made anew is told first.
pub(crate) struct Link<'a> {
    parts: &'a dyn Parts,
    setup: Box<dyn Fn(usize) -> Vec<Vec<u8>> + Sync + 'a>,
    /// The number of the next fit, weighing or other thing with a number.
    next: AtomicU64,
}

impl<'a> Link<'a> {
    pub(crate) fn new(parts: &'a dyn Parts, setup: impl Fn(usize) -> Vec<Vec<u8>> + Sync + 'a) -> Self {
        Self { parts, setup: Box::new(setup), next: AtomicU64::new(1) }
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Tells the parts that have rows all that one made anew is told.
    pub(crate) fn tell(&self, sizes: &[usize]) -> Result<()> {
        let message = |(part, &rows): (usize, &usize)| (rows > 0).then(|| sequence(&(self.setup)(part)));
        self.ask(sizes.iter().enumerate().map(message).collect(), &|_| None).map(|_| ())
    }

    /// Asks parts; those that do not know what a message is about are told all before it again, which ends with `before`.
    pub(crate) fn ask(
        &self,
        messages: Vec<Option<Vec<u8>>>,
        before: &dyn Fn(usize) -> Option<Vec<u8>>,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let asked: Vec<bool> = messages.iter().map(Option::is_some).collect();
        let mut answers: Vec<Option<Vec<u8>>> = vec![None; messages.len()];
        let mut open = messages.clone();
        for _ in 0..TRIES {
            let got = self.parts.ask(std::mem::take(&mut open))?;
            open = vec![None; messages.len()];
            if got.len() != messages.len() {
                return Err(Error::data("not every part has answered"));
            }
            for (part, got) in got.into_iter().enumerate().filter(|(part, _)| asked[*part]) {
                let Some(mut got) = got else { continue };
                match got.first() {
                    Some(&DONE) => {
                        got.remove(0);
                        answers[part] = Some(got);
                    }
                    Some(&UNKNOWN) => {
                        let all = (self.setup)(part).into_iter().chain(before(part));
                        let all: Vec<Vec<u8>> = all.chain(messages[part].clone()).collect();
                        open[part] = Some(sequence(&all));
                    }
                    _ => {
                        let text = String::from_utf8_lossy(got.get(1..).unwrap_or_default()).into_owned();
                        return Err(Error::data(format!("part {part} of the rows: {text}")));
                    }
                }
            }
            if open.iter().all(Option::is_none) {
                let is_whole = asked.iter().zip(&answers).all(|(asked, answer)| !asked || answer.is_some());
                return if is_whole { Ok(answers) } else { Err(Error::data("not every part has answered")) };
            }
        }
        Err(Error::data("a part of the rows was lost again and again"))
    }
}

/// Several messages as one.
fn sequence(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut all = Writer::new();
    all.byte(op::SEQUENCE).number(messages.len() as u64);
    messages.iter().for_each(|message| {
        all.bytes(message);
    });
    all.finish()
}

/// Rows in parts that live elsewhere.
pub(crate) struct RemoteEngine<'a> {
    link: &'a Link<'a>,
    /// Rows of a part may be of two kinds: those that are learned from, and those that judge.
    role: u8,
    /// The rows of each part.
    places: Vec<Range<usize>>,
    targets: Vec<u32>,
    weights: Vec<u32>,
    order: &'a ColumnOrder,
    kernels: Kernels,
    /// Fits that are over, which parts may forget.
    over: Arc<Mutex<Vec<u64>>>,
}

/// What the coordinator knows of a fit: enough to tell a part all of it again.
pub(crate) struct RemoteState {
    id: u64,
    /// How many changes were made since the beginning.
    version: u64,
    recipe: Vec<u8>,
    margins: usize,
    bias: Vec<i32>,
    /// Trees whose votes the gradients know of, and others that were added since.
    trees: Vec<VoteTree>,
    shifts: Vec<VoteTree>,
    held_out: Option<Vec<bool>>,
    /// The loss, where parts have told it.
    loss: Option<Loss>,
    over: Arc<Mutex<Vec<u64>>>,
}

impl Drop for RemoteState {
    fn drop(&mut self) {
        self.over.lock().unwrap_or_else(PoisonError::into_inner).push(self.id);
    }
}

impl<'a> RemoteEngine<'a> {
    /// Parts with so many rows each.
    pub(crate) fn new(
        link: &'a Link<'a>,
        role: u8,
        sizes: &[usize],
        (targets, weights): (Vec<u32>, Vec<u32>),
        order: &'a ColumnOrder,
        kernels: Kernels,
    ) -> Self {
        let mut end = 0;
        let places = sizes.iter().map(|&size| {
            end += size;
            end - size..end
        });
        let places = places.collect();
        Self { link, role, places, targets, weights, order, kernels, over: Arc::default() }
    }

    /// The beginning of a message about a fit.
    fn about(&self, what: u8, state: &RemoteState) -> Writer {
        let mut message = Writer::new();
        message.byte(what).byte(self.role).number(state.id).number(state.version);
        message
    }

    /// What a part is told for it to know a fit.
    fn beginning(&self, state: &RemoteState, part: usize, forgotten: &[u64]) -> Vec<u8> {
        let mut message = self.about(op::BEGIN, state);
        message.numbers64(forgotten).bytes(&state.recipe).signed32(&state.bias);
        message.trees(state.trees.iter()).trees(state.shifts.iter());
        let held_out = state.held_out.as_ref().map(|held| &held[self.places[part].clone()]);
        message.flags(held_out.unwrap_or_default());
        message.finish()
    }

    /// The messages that a function makes for each part that has rows.
    fn each(&self, make: impl Fn(usize, Range<usize>) -> Vec<u8>) -> Vec<Option<Vec<u8>>> {
        let places = self.places.iter().enumerate();
        places.map(|(part, rows)| (!rows.is_empty()).then(|| make(part, rows.clone()))).collect()
    }

    /// Asks all parts that have rows about a fit; their answers with the rows of each.
    fn ask(
        &self,
        state: &RemoteState,
        make: impl Fn(usize, Range<usize>) -> Vec<u8>,
    ) -> Result<Vec<(usize, Vec<u8>)>> {
        let again = |part: usize| Some(self.beginning(state, part, &[]));
        let answers = self.link.ask(self.each(make), &again)?;
        Ok(answers.into_iter().enumerate().filter_map(|(part, answer)| Some((part, answer?))).collect())
    }

    fn write_summand(&self, message: &mut Writer, what: &Summand<'_, VoteTree>, rows: Range<usize>) {
        message.number(what.margin as u64).number(what.count as u64).tree(what.addresses);
        message.flags(what.climbed.get(rows).unwrap_or_default());
    }

    /// Adds the votes of trees; then the sums over the next, or the loss.
    fn step(
        &self,
        state: &mut RemoteState,
        trees: &[&VoteTree],
        next: Option<&Summand<'_, VoteTree>>,
        is_one: bool,
    ) -> Result<Vec<Sums>> {
        let answers = self.ask(state, |_, rows| {
            let mut message = self.about(op::STEP, state);
            message.byte(u8::from(is_one)).trees(trees.iter().copied());
            message.byte(u8::from(next.is_some()));
            if let Some(next) = next {
                self.write_summand(&mut message, next, rows);
            }
            message.finish()
        })?;
        state.version += 1;
        let before = std::mem::take(&mut state.shifts);
        state.trees.extend(before);
        state.trees.extend(trees.iter().map(|&tree| tree.clone()));
        match next {
            Some(_) => {
                state.loss = None;
                sums_of(&answers)
            }
            None => {
                state.loss = Some(loss_of(&answers)?);
                Ok(Vec::new())
            }
        }
    }

    /// The part of picks that each part of the rows has: its own numbers of them.
    fn shares<'p>(&self, picks: &'p [u32]) -> Vec<&'p [u32]> {
        let mut left = picks;
        let share = |rows: &Range<usize>| {
            let count = left.partition_point(|&row| (row as usize) < rows.end);
            let (own, others) = left.split_at(count);
            left = others;
            own
        };
        self.places.iter().map(share).collect()
    }
}

/// What parts say; those whose answers were added to another's on the way say nothing.
fn told(answers: &[(usize, Vec<u8>)]) -> impl Iterator<Item = &[u8]> {
    answers.iter().map(|(_, answer)| answer.as_slice()).filter(|answer| !answer.is_empty())
}

/// The sums of all parts.
fn sums_of(answers: &[(usize, Vec<u8>)]) -> Result<Vec<Sums>> {
    let mut all = None;
    for answer in told(answers) {
        let mut answer = Reader::new(answer);
        let count = answer.size()?;
        let mut sums = Vec::new();
        for _ in 0..count {
            let (gradient, hessian) = (answer.number()? as i64, answer.number()? as i64);
            sums.push(Sums { gradient, hessian });
        }
        all = add_sums(all, Some(sums));
    }
    Ok(all.unwrap_or_default())
}

fn loss_of(answers: &[(usize, Vec<u8>)]) -> Result<Loss> {
    told(answers).try_fold(Loss::default(), |all, answer| {
        let mut answer = Reader::new(answer);
        let (wrong, loss) = (answer.number()?, answer.number()? as i64);
        Ok(all.and(Loss { wrong, loss }))
    })
}

/// Words of rows as the parts have sent them: those of a row side by side.
struct Sent<'a> {
    words: Vec<u64>,
    chosen: &'a [u32],
}

impl RowWords for Sent<'_> {
    fn place(&self, word: usize) -> usize {
        self.chosen.iter().position(|&chosen| chosen as usize == word).unwrap_or_default()
    }

    fn read(&self, place: usize, row: u32) -> u64 {
        self.words[row as usize * self.chosen.len() + place]
    }
}

impl Engine for RemoteEngine<'_> {
    type State = RemoteState;
    /// Parts find the addresses of a tree themselves.
    type Addresses = VoteTree;

    fn rows(&self) -> usize {
        self.targets.len()
    }

    fn targets(&self) -> Result<Vec<u32>> {
        Ok(self.targets.to_vec())
    }

    fn totals(&self, objective: &dyn Objective) -> Result<Vec<i64>> {
        Ok(objective.totals(&self.targets, &self.weights))
    }

    fn begin(&self, start: &Start<'_>) -> Result<RemoteState> {
        let Some(recipe) = start.objective.recipe() else {
            return Err(Error::setting("an objective of one's own cannot be learned on other machines"));
        };
        let recipe = serde_json::to_vec(&recipe)
            .map_err(|error| Error::setting(format!("the objective cannot be sent: {error}")))?;
        let state = RemoteState {
            id: self.link.number(),
            version: 0,
            recipe,
            margins: start.objective.margins(),
            bias: start.bias.to_vec(),
            trees: start.trees.to_vec(),
            shifts: Vec::new(),
            held_out: start.held_out.map(<[bool]>::to_vec),
            loss: None,
            over: self.over.clone(),
        };
        let over = std::mem::take(&mut *self.over.lock().unwrap_or_else(PoisonError::into_inner));
        let messages = self.each(|part, _| self.beginning(&state, part, &over));
        self.link.ask(messages, &|_| None)?;
        Ok(state)
    }

    fn draw(&self, state: &RemoteState, by: &Draw<'_>) -> Result<Picks> {
        let call = self.link.number();
        let message = |what: u8, rows: &Range<usize>| {
            let mut message = self.about(what, state);
            message.number(call);
            match by.direction {
                Direction::Margin(margin) => message.byte(0).number(margin as u64),
                Direction::Group(inside) => message.byte(1).flags(inside),
            };
            message.number(by.power.power().to_bits());
            message.flags(by.among.get(rows.clone()).unwrap_or_default());
            message
        };
        let answers = self.ask(state, |_, rows| message(op::WEIGH, &rows).finish())?;
        let mut totals = vec![0; self.places.len()];
        for (part, answer) in &answers {
            totals[*part] = Reader::new(answer).number()?;
        }
        let total: u64 = totals.iter().sum();
        if total == 0 {
            return Ok(Picks::default());
        }
        let begun: Vec<u64> =
            totals.iter().scan(0, |sum, total| Some(std::mem::replace(sum, *sum + total))).collect();
        let answers = self.ask(state, |part, rows| {
            let mut message = message(op::PICK, &rows);
            message.number(total).number(by.size as u64).number(by.start).number(begun[part]);
            message.finish()
        })?;
        let mut picks = Picks::default();
        for (part, answer) in &answers {
            let (mut answer, first) = (Reader::new(answer), self.places[*part].start as u32);
            for side in &mut picks {
                side.extend(answer.numbers32()?.into_iter().map(|row| first + row));
            }
        }
        Ok(picks)
    }

    fn gather(&self, picks: &Picks, words: &[u32]) -> Result<Sample> {
        let shares: [Vec<&[u32]>; 2] = [self.shares(&picks[0]), self.shares(&picks[1])];
        let messages = self.places.iter().enumerate().map(|(part, rows)| {
            let own = shares.iter().flat_map(|side| side[part]);
            let own: Vec<u32> = own.map(|&row| row - rows.start as u32).collect();
            (!own.is_empty()).then(|| {
                let mut message = Writer::new();
                message.byte(op::GATHER).byte(self.role).numbers32(&own).numbers32(words);
                message.finish()
            })
        });
        let answers = self.link.ask(messages.collect(), &|_| None)?;
        // A part sends the rows of its lower side, then those of its upper side.
        let mut sides = [Vec::new(), Vec::new()];
        for (part, answer) in answers.iter().enumerate() {
            let Some(answer) = answer else { continue };
            let sent = Reader::new(answer).numbers64()?;
            let [lower, upper] = [&shares[0], &shares[1]].map(|side| side[part].len() * words.len());
            if sent.len() != lower + upper {
                return Err(Error::data(format!("part {part} of the rows has sent other rows")));
            }
            sides[0].extend_from_slice(&sent[..lower]);
            sides[1].extend_from_slice(&sent[lower..]);
        }
        let [mut all, upper] = sides;
        all.extend(upper);
        let (lower, upper) = (picks[0].len() as u32, picks[1].len() as u32);
        let places = [(0..lower).collect(), (lower..lower + upper).collect()];
        Sample::gather(&Sent { words: all, chosen: words }, self.order, words, &places, self.kernels)
    }

    fn searches(&self, _: &[usize], _: u32) -> bool {
        self.link.parts.climbers().len() > current_num_threads()
    }

    fn search(&self, trees: Vec<TreeToClimb<'_>>, logs: &LogTable) -> Result<Vec<Climbed>> {
        if trees.len() <= current_num_threads() {
            let climbed = each_awake(trees, |tree| climb::climb(tree, logs, self.kernels));
            return climbed.into_iter().collect();
        }
        let climbers = self.link.parts.climbers();
        let mut all = Vec::with_capacity(trees.len());
        for trees in trees.chunks(climbers.len()) {
            let mut messages = vec![None; self.link.parts.count()];
            for (&part, tree) in climbers.iter().zip(trees) {
                messages[part] = Some(climb::message(self.role, tree));
            }
            let answers = self.link.ask(messages, &|_| None)?;
            for &part in &climbers[..trees.len()] {
                all.push(climb::climbed(answers[part].as_deref().unwrap_or_default())?);
            }
        }
        Ok(all)
    }

    fn address(&self, _: &RemoteState, tree: &VoteTree) -> Result<VoteTree> {
        Ok(tree.clone())
    }

    fn sum(&self, state: &RemoteState, what: &Summand<'_, VoteTree>) -> Result<Vec<Sums>> {
        let answers = self.ask(state, |_, rows| {
            let mut message = self.about(op::SUM, state);
            self.write_summand(&mut message, what, rows);
            message.finish()
        })?;
        sums_of(&answers)
    }

    fn update(&self, state: &mut RemoteState, trees: &[(&VoteTree, &VoteTree)]) -> Result<()> {
        let trees: Vec<&VoteTree> = trees.iter().map(|(tree, _)| *tree).collect();
        self.step(state, &trees, None, false).map(|_| ())
    }

    fn update_and_sum(
        &self,
        state: &mut RemoteState,
        tree: Option<(&VoteTree, &VoteTree)>,
        next: Option<&Summand<'_, VoteTree>>,
    ) -> Result<Vec<Sums>> {
        let trees: Vec<&VoteTree> = tree.iter().map(|(tree, _)| *tree).collect();
        self.step(state, &trees, next, true)
    }

    fn shift(&self, state: &mut RemoteState, tree: &VoteTree, _: &VoteTree) -> Result<()> {
        self.ask(state, |_, _| {
            let mut message = self.about(op::SHIFT, state);
            message.tree(tree);
            message.finish()
        })?;
        state.version += 1;
        state.shifts.push(tree.clone());
        state.loss = None;
        Ok(())
    }

    fn margins(&self, state: &RemoteState) -> Result<Vec<Vec<i32>>> {
        let answers = self.ask(state, |_, _| self.about(op::MARGINS, state).finish())?;
        let mut margins = vec![Vec::with_capacity(self.rows()); state.margins];
        for (_, answer) in &answers {
            let mut answer = Reader::new(answer);
            for margins in &mut margins {
                margins.extend(answer.signed32()?);
            }
        }
        Ok(margins)
    }

    fn loss(&self, state: &RemoteState) -> Result<Loss> {
        match state.loss {
            Some(loss) => Ok(loss),
            None => loss_of(&self.ask(state, |_, _| self.about(op::LOSS, state).finish())?),
        }
    }

    fn scaled_loss(&self, state: &RemoteState, among: Option<&[bool]>, scale: &Scale) -> Result<[i128; 3]> {
        // Rows that are held out are known to the parts.
        let is_held_out = among.is_some() && among == state.held_out.as_deref();
        let answers = self.ask(state, |_, rows| {
            let mut message = self.about(op::SCALED_LOSS, state);
            message.number(scale.factor.to_bits()).number(scale.doubt.to_bits());
            match among {
                None => message.byte(among::ALL),
                Some(_) if is_held_out => message.byte(among::HELD_OUT),
                Some(among) => message.byte(among::LISTED).flags(&among[rows]),
            };
            message.finish()
        })?;
        let mut sums = [0; 3];
        for answer in told(&answers) {
            let mut answer = Reader::new(answer);
            for sum in &mut sums {
                *sum += answer.wide()?;
            }
        }
        Ok(sums)
    }
}
