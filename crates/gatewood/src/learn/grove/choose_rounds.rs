//! Choosing the number of rounds, and whether to prune, by what held-out rows say.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::calibrate::{Calibrated, calibrate};
use super::fit::Setup;
use super::prune::prune;
use super::round::Growing;
use super::settings::GrovePlan;
use super::task::GroveTask;
use super::time_limit::Clock;
use crate::Result;
use crate::learn::Tracker;
use crate::learn::engine::Engine;
use crate::learn::objective::Objective;
use crate::platform::parallel;
use crate::pool::each_awake;
use crate::random::{Purpose, Stream};

/// Parts the rows are split into; each part is held out in turn, as many as the plan has folds.
pub(crate) const PARTS: u32 = 5;

/// Rounds without improvement after which a fold ends: such a part of those there were, and no fewer than make so many
/// trees. Several folds may end sooner, since their losses are added up.
const STALE_ROUNDS: [(usize, usize); 2] = [(4, 60), (6, 40)];

/// The same for values where a few rows are held out: a few of them have most of the loss, so that it says little at first.
const STALE_ROUNDS_OF_VALUES: (usize, usize) = (2, 400);

/// The part of the loss that it must fall by to be called better, and what it must fall by in any case.
const BETTER: (f64, f64) = (0.001, 0.00002);

/// The same where values are learned: their loss falls slowly, and for long.
const BETTER_VALUES: (f64, f64) = (0.0005, 0.0);

/// A judging of the held-out rows every so many rounds, and one round more for every so many done.
const EVERY: usize = 5;
const SPREAD: usize = 20;

/// A round, and what held-out rows say of it.
pub(super) type Judged = (usize, Calibrated);

/// What held-out rows call for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chosen {
    pub(super) rounds: usize,
    /// What a vote is worth then, as a multiple of what it is worth while learning.
    pub(super) factor: f64,
    /// The loss of the folds then.
    pub(super) loss: f64,
}

/// Chooses the rounds whose loss on held-out rows is least, while `grow` learns from all rows.
///
/// Folds and `grow` are begun in this order as threads are free, and `grow` is told what is chosen as soon as the folds
/// have ended. Where there are threads for all, it need not wait for them: it takes about as many rounds as they do.
/// Where not, those that others wait for have their part of the time.
///
/// Margins grow more certain than they are right with every round, while the classes they tell go on getting better. So
/// the loss is that of margins scaled to suit the held-out rows.
pub(super) fn choose_while<E: Engine, T: Send>(
    setup: &Setup<'_, E>,
    plan: &GrovePlan,
    clock: Clock,
    tracker: &Tracker<'_>,
    grow: impl FnOnce(&OnceLock<Chosen>) -> Result<T> + Send,
) -> Result<(Chosen, T)> {
    let parts = &parts(setup, plan.seed)?;
    let judged: &Vec<OnceLock<Result<Vec<Judged>>>> = &vec![OnceLock::new(); plan.cv_folds];
    let (chosen, mut grown) = (&OnceLock::new(), None);
    let threads = parallel::current_num_threads();
    let turns = (plan.cv_folds + 1).div_ceil(threads);
    parallel::scope_fifo(|scope| {
        for (fold, this) in judged.iter().enumerate() {
            let clock = clock.part((fold / threads + 1) as f64 / turns as f64);
            scope.spawn_fifo(move |_| {
                this.get_or_init(|| judge_fold(setup, plan.clone(), parts, fold as u32, clock, tracker));
                let all = judged.iter().map(|judged| judged.get()?.as_ref().ok());
                if let Some(folds) = all.collect::<Option<Vec<&Vec<Judged>>>>() {
                    chosen.get_or_init(|| least_loss(&folds, plan));
                }
            });
        }
        scope.spawn_fifo(|_| grown = Some(grow(chosen)));
    });
    if let Some(error) = judged.iter().find_map(|judged| judged.get()?.as_ref().err()) {
        return Err(error.clone());
    }
    match (chosen.get(), grown) {
        (Some(&chosen), Some(grown)) => Ok((chosen, grown?)),
        _ => unreachable!("the scope waits for all it began"),
    }
}

/// Of several plans, that whose folds have the smaller loss, and the rounds they choose.
pub(super) fn better_by_folds<E: Engine>(
    setup: &mut Setup<'_, E>,
    plan: GrovePlan,
    others: Vec<GrovePlan>,
    clock: Clock,
    tracker: &Tracker<'_>,
) -> Result<(GrovePlan, Chosen)> {
    let parts = parts(setup, plan.seed)?;
    let mut best: Option<(GrovePlan, Chosen)> = None;
    for plan in std::iter::once(plan).chain(others) {
        setup.rebase(&plan)?;
        let judge = |fold: usize| judge_fold(setup, plan.clone(), &parts, fold as u32, clock, tracker);
        let judged = each_awake((0..plan.cv_folds).collect(), judge);
        let judged = judged.into_iter().collect::<Result<Vec<_>>>()?;
        let chosen = least_loss(&judged.iter().collect::<Vec<_>>(), &plan);
        if best.as_ref().is_none_or(|(_, best)| chosen.loss < best.loss) {
            best = Some((plan, chosen));
        }
    }
    let best = best.expect("there is a plan");
    setup.rebase(&best.0)?;
    Ok(best)
}

/// How much more than the least loss is still called flat: a part of it, and an amount in any case.
const FLAT: (f64, f64) = (0.01, 0.0005);

/// The rounds at which the loss of all folds is least, or the last at which it is flat.
fn least_loss(folds: &[&Vec<Judged>], plan: &GrovePlan) -> Chosen {
    let longest = folds.iter().map(|judged| judged.len()).max().unwrap_or(0);
    let mean = |judging: usize| {
        // A fold that ended early stays where it was.
        let at = |judged: &&Vec<Judged>| judged[judging.min(judged.len() - 1)];
        let sum = |of: fn(Judged) -> f64| folds.iter().map(at).map(of).sum::<f64>() / folds.len() as f64;
        let round = folds.iter().map(at).map(|judged| judged.0).max().unwrap_or(1);
        // The factor that suits the rows of all folds: a fold whose rows all fit says little of it.
        let bend = sum(|judged| judged.1.bend);
        let factor = sum(|judged| judged.1.bend * judged.1.factor) / bend.max(f64::MIN_POSITIVE);
        (round, Calibrated { loss: sum(|judged| judged.1.loss), factor, bend })
    };
    let judged: Vec<Judged> = (0..longest).map(mean).collect();
    let (rounds, Calibrated { factor, loss, .. }) =
        best_of(&judged, plan).unwrap_or((1, Calibrated { loss: f64::INFINITY, factor: 1.0, bend: 0.0 }));
    // The folds learn from all parts but one; all rows bear so many rounds more, where rounds are not fixed.
    let more = if plan.keep_flat_rounds { rounds } else { rounds * PARTS as usize / (PARTS as usize - 1) };
    Chosen { rounds: more.min(plan.rounds), factor, loss }
}

/// Of rounds that were judged, that with the least loss, or the last one that is flat where the plan keeps those.
pub(super) fn best_of(judged: &[Judged], plan: &GrovePlan) -> Option<Judged> {
    let least = judged.iter().map(|(_, judged)| judged.loss).fold(f64::INFINITY, f64::min);
    let mut best = None;
    for &(round, now) in judged {
        let is_flat = plan.keep_flat_rounds && now.loss <= least * (1.0 + FLAT.0) + FLAT.1;
        if is_flat || now.loss == least && best.is_none() {
            best = Some((round, now));
        }
    }
    best
}

/// A share of the rows to hold out, classes spread evenly: that of the plan, or else that of a fold.
pub(super) fn held_out_part<E: Engine>(setup: &Setup<'_, E>, plan: &GrovePlan) -> Result<Vec<bool>> {
    let parts = if plan.validation_fraction > 0.0 { parts_of(plan.validation_fraction) } else { PARTS };
    Ok(held_out(&split(setup, plan.seed, parts)?, 0))
}

/// Parts that rows are split into for one of them to be such a share.
fn parts_of(share: f64) -> u32 {
    (1.0 / share).round().max(2.0) as u32
}

/// Whether so many rounds after the best one are too many to go on.
pub(super) fn is_enough(round: usize, best: usize, plan: &GrovePlan, objective: &dyn Objective) -> bool {
    let (part, trees) = match plan.cv_folds {
        0 if !objective.classifies() => STALE_ROUNDS_OF_VALUES,
        ..=1 => STALE_ROUNDS[0],
        _ => STALE_ROUNDS[1],
    };
    round - best > trees.div_ceil(plan.trees_per_round).max(best / part) && !plan.keep_flat_rounds
}

/// Whether a loss is better than another by more than chance.
pub(super) fn is_better(loss: f64, than: f64, objective: &dyn Objective) -> bool {
    let (part, least) = if objective.classifies() { BETTER } else { BETTER_VALUES };
    loss < than * (1.0 - part) - least
}

/// The round after which held-out rows are judged next, after one at which they were.
pub(super) fn judging_after(round: usize) -> usize {
    round + EVERY + round / SPREAD
}

/// The part each row belongs to, classes spread evenly.
fn parts<E: Engine>(setup: &Setup<'_, E>, seed: u64) -> Result<Vec<u32>> {
    split(setup, seed, PARTS)
}

/// [`parts`], so many of them.
fn split<E: Engine>(setup: &Setup<'_, E>, seed: u64, count: u32) -> Result<Vec<u32>> {
    Ok(split_rows(&setup.engine.targets()?, setup.originals, setup.objective(), seed, count))
}

/// The part each row belongs to, where the rows after so many are copies of these, as often as there are: a copy is where
/// its original is.
fn split_rows(
    targets: &[u32],
    originals: usize,
    objective: &dyn Objective,
    seed: u64,
    count: u32,
) -> Vec<u32> {
    let mut order: Vec<usize> = (0..originals).collect();
    Stream::new(seed, Purpose::Split, 0).shuffle(&mut order);
    let mut next: HashMap<u32, u32> = HashMap::new();
    let mut parts = vec![0; targets.len()];
    for row in order {
        let next = next.entry(objective.stratum(targets[row])).or_default();
        parts[row] = *next % count;
        *next += 1;
    }
    (originals..targets.len()).for_each(|row| parts[row] = parts[row % originals]);
    parts
}

/// The rows that are held out for good, which nothing may be learned from beforehand either. Where a fold judges, patterns
/// are learned from all rows: without a fifth of them, they are worse by more than the fold is misled.
pub(crate) fn judging_rows(
    task: &GroveTask<'_>,
    objective: &dyn Objective,
    plan: &GrovePlan,
) -> Option<Vec<bool>> {
    let is_fit = task.validation.is_some() || task.start.is_some();
    if is_fit || plan.cv_folds > 0 || plan.validation_fraction == 0.0 {
        return None;
    }
    let count = parts_of(plan.validation_fraction);
    Some(held_out(&split_rows(task.train.targets, task.originals(), objective, plan.seed, count), 0))
}

/// Which rows are held out when one part is.
fn held_out(parts: &[u32], fold: u32) -> Vec<bool> {
    parts.iter().map(|&part| part == fold).collect()
}

/// What held-out rows say of learning from the others, after each round of judging.
fn judge_fold<E: Engine>(
    setup: &Setup<'_, E>,
    plan: GrovePlan,
    parts: &[u32],
    fold: u32,
    clock: Clock,
    tracker: &Tracker<'_>,
) -> Result<Vec<Judged>> {
    let grower = setup.grower(plan);
    let held_out = held_out(parts, fold);
    let mut growing = setup.begin(&grower, Some(&held_out))?;
    let mut judged = Vec::new();
    let mut best = (f64::INFINITY, 0);
    let mut gates = setup.gates();
    let mut judge_at = judging_after(0);
    let mut factor = 1.0;
    for round in 1..=grower.plan.rounds {
        let room = grower.room(&gates);
        let grown = grower.round(setup.first_round(&grower.plan) + round - 1, &mut growing, room)?;
        tracker.check()?;
        grown.iter().for_each(|tree| gates.add(tree));
        let last = if growing.easy == Some(true) { grower.plan.easy_rounds } else { grower.plan.rounds };
        let done = grown.is_empty() || round >= last || clock.is_over();
        if round == judge_at || done {
            judge_at = judging_after(round);
            let now = calibrate(
                setup.engine,
                &growing.rows,
                setup.objective(),
                Some(&held_out),
                factor,
                grower.plan.cv_folds,
            )?;
            factor = now.factor;
            judged.push((round, now));
            if is_better(now.loss, best.0, setup.objective()) {
                best = (now.loss, round);
            }
        }
        if done || is_enough(round, best.1, &grower.plan, setup.objective()) {
            break;
        }
    }
    Ok(judged)
}

/// Whether a grove of so many rounds, pruned to so many gates, tells held-out rows better than one that stopped there.
///
/// Trees that are grown after all is learned fit noise, and pruning keeps some of them.
pub(super) fn pruning_pays<E: Engine>(
    setup: &Setup<'_, E>,
    plan: &GrovePlan,
    rounds: usize,
    most: usize,
    tracker: &Tracker<'_>,
) -> Result<bool> {
    let held_out = held_out(&parts(setup, plan.seed)?, 0);
    let grower = setup.grower(plan.clone());
    let mut growing = setup.begin(&grower, Some(&held_out))?;
    let loss = |growing: &Growing<E>| -> Result<f64> {
        let judge =
            |factor| calibrate(setup.engine, &growing.rows, setup.objective(), Some(&held_out), factor, 1);
        Ok(judge(judge(1.0)?.factor)?.loss)
    };
    let mut trees = setup.trees.clone();
    let mut gates = setup.gates();
    let mut stopped = f64::INFINITY;
    for round in 0..rounds {
        let grown = grower.round(setup.first_round(plan) + round, &mut growing, grower.room(&gates))?;
        tracker.advance(1)?;
        let before = gates.total();
        grown.iter().for_each(|tree| gates.add(tree));
        trees.extend(grown);
        let now = gates.total();
        if now <= most && now + (now - before) > most {
            stopped = loss(&growing)?;
        }
    }
    prune(&grower, &mut growing.rows, &mut trees, most)?;
    Ok(loss(&growing)? < stopped)
}
