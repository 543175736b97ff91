//! Fitting the gates of a small grove anew, each with all others in place.
//!
//! Boosting fits a tree before those that come after it are known. Where a vote is yes or no and a tree is one gate, the rest of
//! the way is exact: for every row it is known what the loss grows by when one gate says yes instead of no and all others
//! stay. So the best table of a gate follows, and another column in place of one of its inputs is judged by counting. The loss
//! of the training rows never grows.
//!
//! Gates that vote may read gates that vote for nothing and that they share ([`network`]). A shared gate is judged by what its
//! readers would say. It starts as a repeater between a gate and one of its inputs, so that nothing changes, and is fitted from there.

mod gate;
mod margins;
mod network;
mod rows;
#[cfg(test)]
mod tests;

use gate::{Choice, fitted};
use margins::{Margins, Reader};
use network::{Gate, MOST_INPUTS, Network};
use rows::Rows;

use super::settings::GrovePlan;
use super::time_limit::Clock;
use crate::Result;
use crate::bits::kernels::Kernels;
use crate::bits::{BitMatrix, BitView};
use crate::circuit::{Grove, PatternLayer};
use crate::learn::Tracker;
use crate::random::{Purpose, Stream};

/// Inputs of a gate that are tried in a pass.
const TRIES: usize = 3;

/// Rows with their targets, and what each counts for in fixed point, if not one.
#[derive(Clone, Copy)]
pub(super) struct Judges<'a> {
    pub(super) bits: BitView<'a>,
    pub(super) targets: &'a [u32],
    pub(super) weights: &'a [u32],
}

/// A grove whose gates are fitted anew in the passes of a plan. Where other rows judge, that of the pass best on them.
///
/// The trees must be gates of up to six inputs over the columns, with votes of one bit.
pub(super) fn refit(
    grove: &Grove,
    train: Judges<'_>,
    held: Option<Judges<'_>>,
    plan: &GrovePlan,
    kernels: Kernels,
    clock: Clock,
    tracker: &Tracker<'_>,
) -> Result<Grove> {
    // Classes that start from the same number are compared by fewer LUTs.
    let bias = if grove.margins() > 1 { vec![0; grove.margins()] } else { grove.bias().to_vec() };
    let mut network = Network::before_passes(grove, plan.shared_gates);
    let mut best: Option<(f64, Network)> = None;
    for pass in 0..plan.refits {
        if clock.is_over() {
            break;
        }
        let drawn = Drawn::of(train, plan, pass)?;
        let rows = drawn.as_ref().map_or(train, Drawn::judges);
        let mut work = Work::new(network, rows, &bias, grove.unit(), kernels)?;
        work.pass(pass, plan, tracker)?;
        network = work.network;
        if let Some(held) = held {
            let loss = loss_on(&network, held, &bias, grove.unit(), kernels)?;
            if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                best = Some((loss, network.clone()));
            }
        }
        tracker.advance(1)?;
    }
    let network = best.map_or(network, |(_, network)| network);
    let features = (Vec::new(), PatternLayer::default());
    Grove::with_output(grove.inputs(), features, grove.output(), bias, grove.unit(), network.trees()?)
}

/// The rows that a pass is fitted to, where these are not all.
struct Drawn {
    bits: BitMatrix,
    targets: Vec<u32>,
    weights: Vec<u32>,
}

impl Drawn {
    /// As many rows as the plan says, others for every pass.
    fn of(train: Judges<'_>, plan: &GrovePlan, pass: usize) -> Result<Option<Self>> {
        let count = train.bits.rows();
        let Some(mut wanted) = plan.refit_rows.filter(|&rows| rows < count) else { return Ok(None) };
        let mut stream = Stream::new(plan.seed, Purpose::RefitRows, pass as u64);
        let mut rows = Vec::with_capacity(wanted);
        for row in 0..count {
            if (stream.below((count - row) as u32) as usize) < wanted {
                wanted -= 1;
                rows.push(row);
            }
        }
        let bits = train.bits.select_rows(&rows)?;
        let of = |values: &[u32]| rows.iter().filter_map(|&row| values.get(row).copied()).collect();
        Ok(Some(Self { bits, targets: of(train.targets), weights: of(train.weights) }))
    }

    fn judges(&self) -> Judges<'_> {
        Judges { bits: self.bits.view(), targets: &self.targets, weights: &self.weights }
    }
}

/// A network with the rows it is fitted to.
struct Work<'a> {
    network: Network,
    rows: Rows<'a>,
    margins: Margins<'a>,
}

impl<'a> Work<'a> {
    fn new(network: Network, of: Judges<'a>, bias: &[i32], unit: f64, kernels: Kernels) -> Result<Self> {
        let mut rows = Rows::new(of.bits, network.shared.len(), kernels)?;
        for (shared, gate) in network.shared.iter().enumerate().filter(|(_, gate)| !gate.inputs.is_empty()) {
            let says = rows.outputs(gate);
            rows.set_shared(shared, says);
        }
        let margins = margins_of(&network, &rows, of, bias, unit);
        Ok(Self { network, rows, margins })
    }

    /// Fits every gate once, in random order.
    fn pass(&mut self, pass: usize, plan: &GrovePlan, tracker: &Tracker<'_>) -> Result<()> {
        let (votes, shared) = (self.network.votes.len(), self.network.shared.len());
        let first = (pass * (votes + shared + 1)) as u64;
        let mut stream = Stream::new(plan.seed, Purpose::Refit, first);
        (0..shared).for_each(|gate| self.attach(gate, &mut stream));
        let mut order: Vec<usize> = (0..votes + shared).collect();
        stream.shuffle(&mut order);
        let mut gains = vec![0; self.rows.count()];
        let columns = self.network.inputs as u32;
        for gate in order {
            tracker.check()?;
            let mut stream = Stream::new(plan.seed, Purpose::Refit, first + 1 + gate as u64);
            let choice = |columns| Choice { columns, tries: TRIES, sample_rows: plan.sample_rows };
            match gate.checked_sub(votes) {
                None => self.fit_vote(gate, &mut gains, &choice(columns + shared as u32), &mut stream),
                Some(gate) => self.fit_shared(gate, &mut gains, &choice(columns), &mut stream),
            }
        }
        Ok(())
    }

    fn fit_vote(&mut self, vote: usize, gains: &mut [i32], choice: &Choice, stream: &mut Stream) {
        let (gate, margin) = &self.network.votes[vote];
        let now = self.rows.outputs(gate);
        self.margins.vote_gains(*margin, &now, gains);
        let new = fitted(&self.rows, gate, gains, choice, stream);
        self.margins.change(*margin, &now, &self.rows.outputs(&new));
        self.network.votes[vote].0 = new;
    }

    fn fit_shared(&mut self, shared: usize, gains: &mut [i32], choice: &Choice, stream: &mut Stream) {
        let readers = self.readers(shared);
        if readers.is_empty() {
            return;
        }
        self.margins.shared_gains(&readers, gains);
        let new = fitted(&self.rows, &self.network.shared[shared], gains, choice, stream);
        let says = self.rows.outputs(&new);
        for Reader { margin, now, no, yes } in &readers {
            let cases = no.iter().zip(yes).zip(&says);
            let then: Vec<u64> = cases.map(|((no, yes), says)| no & !says | yes & says).collect();
            self.margins.change(*margin, now, &then);
        }
        self.rows.set_shared(shared, says);
        self.network.shared[shared] = new;
    }

    fn readers(&self, shared: usize) -> Vec<Reader> {
        let column = (self.network.inputs + shared) as u32;
        let reader = |(vote, place): (usize, usize)| {
            let (gate, margin) = &self.network.votes[vote];
            Reader {
                margin: *margin,
                now: self.rows.outputs(gate),
                no: self.rows.outputs(&gate.with_fixed(place, false)),
                yes: self.rows.outputs(&gate.with_fixed(place, true)),
            }
        };
        self.network.readers(column).map(reader).collect()
    }

    /// Puts a shared gate without readers between a gate that votes and one of its inputs, if that is a column.
    fn attach(&mut self, shared: usize, stream: &mut Stream) {
        let network = &mut self.network;
        let column = (network.inputs + shared) as u32;
        if network.votes.is_empty() || network.readers(column).next().is_some() {
            return;
        }
        let inputs = network.inputs;
        let mut draw = || {
            let vote = stream.below(network.votes.len() as u32) as usize;
            let place = stream.below(network.votes[vote].0.inputs.len() as u32) as usize;
            (vote, place, network.votes[vote].0.inputs[place])
        };
        let (vote, place, read) = draw();
        if read as usize >= inputs {
            return;
        }
        // The others are columns that some gate reads.
        let mut reads = vec![read];
        for _ in 0..4 * MOST_INPUTS {
            let (_, _, other) = draw();
            if reads.len() < MOST_INPUTS && (other as usize) < inputs && !reads.contains(&other) {
                reads.push(other);
            }
        }
        reads.resize(MOST_INPUTS, read);
        network.votes[vote].0.inputs[place] = column;
        network.shared[shared] = Gate::repeating(reads, 0);
        let says = self.rows.outputs(&self.network.shared[shared]);
        self.rows.set_shared(shared, says);
    }
}

/// The margins of rows by a network, its shared gates being those of the rows.
fn margins_of<'a>(
    network: &Network,
    rows: &Rows<'_>,
    of: Judges<'a>,
    bias: &[i32],
    unit: f64,
) -> Margins<'a> {
    let none = vec![0; rows.count().div_ceil(crate::bits::WORD_BITS)];
    let mut lowest = bias.to_vec();
    network.votes.iter().for_each(|(_, margin)| lowest[*margin] -= 1);
    let mut margins = Margins::new(of.targets, of.weights, &lowest, unit);
    for (gate, margin) in &network.votes {
        margins.change(*margin, &none, &rows.outputs(gate));
    }
    margins
}

/// The mean loss of rows that are not learned from.
fn loss_on(network: &Network, of: Judges<'_>, bias: &[i32], unit: f64, kernels: Kernels) -> Result<f64> {
    Ok(Work::new(network.clone(), of, bias, unit, kernels)?.margins.loss().0)
}
