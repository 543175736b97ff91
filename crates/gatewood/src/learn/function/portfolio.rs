//! All shapes that are tried for one output, the simplest first, and what held-out rows say of each.

use super::fringe::Fringe;
use super::groves::{SHAPES, Shape, grove};
use super::samples::Samples;
use super::screen::{Telling, pairs, triples};
use super::sketch::Sketch;
use super::{affine, fringe, lists, splits, symmetric, threshold, words};

use crate::Result;
use crate::circuit::{Netlist, SimplifySettings};
use crate::learn::{Observer, Tracker};

/// Rows of one output: those to learn from, and those that judge.
pub(super) struct Task<'a> {
    pub(super) fit: Samples,
    pub(super) held: Samples,
    /// All rows, where those that judge are a part of them.
    pub(super) all: Option<Samples>,
    pub(super) max_ands: usize,
    pub(super) seed: u64,
    pub(super) threads: usize,
    pub(super) observer: &'a dyn Observer,
}

/// How a circuit that is no known shape was learned, so that it can be learned again from more rows.
#[derive(Debug, Clone)]
enum Recipe {
    Tree { fewest: usize, looks_ahead: bool },
    Fringe(Fringe),
    Grove { sums: Vec<Vec<usize>>, shape: Shape },
}

impl Recipe {
    fn learn(&self, task: &Task<'_>, samples: &Samples) -> Result<Option<Netlist>> {
        match self {
            Self::Tree { fewest, looks_ahead } => splits::decision_tree(samples, *fewest, *looks_ahead),
            Self::Fringe(fringe) => {
                let tree = fringe::tree(samples, None, fringe, task.max_ands, || Ok(()))?;
                Ok(tree.map(|(netlist, _)| netlist))
            }
            Self::Grove { sums, shape } => {
                let Task { max_ands, seed, threads, observer, .. } = task;
                grove(samples, sums, *shape, *max_ands, (*seed, *threads), *observer)
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Tree { .. } => "decision tree".into(),
            Self::Fringe(_) => "decision tree over gates".into(),
            Self::Grove { sums, shape } if sums.is_empty() => shape.to_string(),
            Self::Grove { shape, .. } => format!("{shape}, exclusive ors of two columns among them"),
        }
    }
}

/// A circuit for one output, and how it does.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) shape: String,
    pub(super) netlist: Netlist,
    pub(super) ands: usize,
    /// Wrong rows among those that it was learned from, and among those held out.
    pub(super) wrong: [usize; 2],
}

impl Candidate {
    fn is_exact(&self) -> bool {
        self.wrong == [0, 0]
    }
}

/// Exclusive ors of pairs that groves and trees may read.
const SUMS: usize = 48;

/// Changes of the output by an exclusive or of columns that are tried.
const CHANGES: usize = 12;

/// Rows below which a node of a tree over gates is a leaf.
const FEWEST: [usize; 3] = [2, 12, 40];

/// Looks for a circuit for one output.
pub(super) fn best_circuit(task: &Task<'_>) -> Result<Candidate> {
    let mut search = Search { task, best: None, recipe: None, tracker: Tracker::new(task.observer, 1) };
    search.known_shapes()?;
    if !search.is_done() {
        search.trees_and_groves()?;
    }
    // Nothing fits: a constant always does.
    let Some(mut best) = search.best else { return judged(task, "constant".into(), constant(&task.fit)?) };
    if let (Some(recipe), Some(all)) = (&search.recipe, &task.all)
        && let Some(again) = recipe.learn(task, all)?
    {
        let again = judged(task, best.shape.clone(), again)?;
        if again.ands <= task.max_ands {
            // Rows that it has learned from by now say nothing of others: what they said before stays.
            best = Candidate { wrong: best.wrong, ..again };
        }
    }
    Ok(best)
}

fn constant(samples: &Samples) -> Result<Netlist> {
    let ones = samples.label.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    let sketch = Sketch::new(samples.columns())?;
    sketch.finish(crate::circuit::Signal::constant(2 * ones > samples.rows()))
}

/// A circuit made smaller, with what it gets wrong.
fn judged(task: &Task<'_>, shape: String, netlist: Netlist) -> Result<Candidate> {
    let smaller = netlist.simplify(&SimplifySettings { proofs: false, merge: 0 })?.netlist;
    let (before, after) = (netlist.ands(), smaller.ands());
    let (netlist, ands) = if after < before { (smaller, after) } else { (netlist, before) };
    let wrong = |samples: &Samples| -> Result<usize> {
        let said = netlist.evaluate(samples.bits.view())?;
        Ok(samples.wrong(said.view().column(0)))
    };
    let wrong = [wrong(&task.fit)?, wrong(&task.held)?];
    Ok(Candidate { shape, netlist, ands, wrong })
}

struct Search<'a> {
    task: &'a Task<'a>,
    best: Option<Candidate>,
    /// How the best was learned, if it can be learned again.
    recipe: Option<Recipe>,
    tracker: Tracker<'a>,
}

impl Search<'_> {
    /// Whether a circuit was found that tells all rows rightly.
    fn is_done(&self) -> bool {
        self.best.as_ref().is_some_and(Candidate::is_exact)
    }

    /// Keeps a circuit if it is within the ANDs and better than those before; says whether all is done.
    fn offer(&mut self, shape: &str, netlist: Option<Netlist>) -> Result<bool> {
        self.tracker.check()?;
        if let Some(netlist) = netlist {
            let new = judged(self.task, shape.to_owned(), netlist)?;
            let key = |candidate: &Candidate| (candidate.wrong[1], candidate.wrong[0], candidate.ands);
            if new.ands <= self.task.max_ands && self.best.as_ref().is_none_or(|best| key(&new) < key(best)) {
                (self.best, self.recipe) = (Some(new), None);
            }
        }
        Ok(self.is_done())
    }

    /// [`Search::offer`] for what a recipe makes.
    fn offer_made_by(&mut self, recipe: Recipe) -> Result<bool> {
        let made = recipe.learn(self.task, &self.task.fit)?;
        self.offer_with(recipe, made)
    }

    /// [`Search::offer`] for what a recipe has made.
    fn offer_with(&mut self, recipe: Recipe, made: Option<Netlist>) -> Result<bool> {
        let wrong = |search: &Self| search.best.as_ref().map(|best| (best.wrong, best.ands));
        let before = wrong(self);
        let done = self.offer(&recipe.name(), made)?;
        if wrong(self) != before {
            self.recipe = (!done).then_some(recipe);
        }
        Ok(done)
    }

    /// Shapes with a name: constants, exclusive ors, counts, lists, sums, arithmetic.
    fn known_shapes(&mut self) -> Result<()> {
        let fit = &self.task.fit;
        let constant = constant(fit)?;
        if self.offer("constant", Some(constant))? || self.offer("parity", affine::polynomial(fit, 1)?)? {
            return Ok(());
        }
        let pairs = pairs(fit, SUMS);
        for netlist in symmetric::of_counts(fit, &pairs)? {
            if self.offer("symmetric function", Some(netlist))? {
                return Ok(());
            }
        }
        for list in lists::decision_lists(fit)? {
            if self.offer("decision list", Some(list))? {
                return Ok(());
            }
        }
        for change in changes(&pairs, &triples(fit, SUMS)) {
            let changed = fit.changed_by(&change);
            for list in lists::decision_lists(&changed)? {
                let list = changed_back(fit, &change, &list)?;
                if self.offer("exclusive or of columns and a decision list", Some(list))? {
                    return Ok(());
                }
            }
        }
        for (shape, netlist) in words::arithmetic(fit, self.task.max_ands)? {
            if self.offer(shape, Some(netlist))? {
                return Ok(());
            }
        }
        if self.offer_made_by(Recipe::Tree { fewest: 2, looks_ahead: true })? {
            return Ok(());
        }
        for degree in 2..=4 {
            let shape = format!("exclusive or of products of {degree} columns");
            if self.offer(&shape, affine::polynomial(fit, degree)?)? {
                return Ok(());
            }
        }
        for bits in [2, 4, 6] {
            if self.offer("weighted sum", threshold::weighted_sum(fit, bits)?)? {
                return Ok(());
            }
        }
        for (fewest, looks_ahead) in [(12, true), (40, true), (2, false), (12, false), (40, false)] {
            if self.offer_made_by(Recipe::Tree { fewest, looks_ahead })? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Trees and groves over the columns and telling exclusive ors of them.
    fn trees_and_groves(&mut self) -> Result<()> {
        let telling = pairs(&self.task.fit, SUMS);
        let sums: Vec<Vec<usize>> = telling.into_iter().map(|telling| telling.columns).collect();
        let with_sums = if sums.is_empty() { vec![Vec::new()] } else { vec![Vec::new(), sums] };
        for sums in &with_sums {
            for fewest in FEWEST {
                let fringe = Fringe { fewest, sums: sums.clone(), rounds: fringe::ROUNDS };
                let Task { fit, held, max_ands, .. } = self.task;
                let made = fringe::tree(fit, Some(held), &fringe, *max_ands, || self.tracker.check())?;
                let Some((netlist, rounds)) = made else { continue };
                // Learned again, it has as many rounds as were best.
                let recipe = Recipe::Fringe(Fringe { rounds, ..fringe });
                if self.offer_with(recipe, Some(netlist))? {
                    return Ok(());
                }
            }
        }
        for sums in with_sums {
            for shape in SHAPES {
                if self.offer_made_by(Recipe::Grove { sums: sums.clone(), shape })? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// The exclusive ors that might make the output simple: all but one column of those that tell something of it, which leaves
/// an output that agrees with that column.
fn changes(pairs: &[Telling], triples: &[Telling]) -> Vec<Vec<usize>> {
    let mut changes: Vec<Vec<usize>> = Vec::new();
    for telling in triples.iter().chain(pairs) {
        for left_out in 0..telling.columns.len() {
            let mut change = telling.columns.clone();
            change.remove(left_out);
            if !changes.contains(&change) && changes.len() < CHANGES {
                changes.push(change);
            }
        }
    }
    changes
}

/// A circuit for a changed output as one for the output.
fn changed_back(samples: &Samples, change: &[usize], netlist: &Netlist) -> Result<Netlist> {
    let mut sketch = Sketch::new(samples.columns())?;
    let inputs: Vec<_> = (0..samples.columns()).map(|column| sketch.input(column)).collect();
    let output = sketch.add(netlist, &inputs)?[0];
    let sum = sketch.sum(change)?;
    let output = sketch.xor(sum, output)?;
    sketch.finish(output)
}
