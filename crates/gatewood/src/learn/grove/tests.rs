//! Every engine, objective, shape and SIMD level learns the grove of the definition.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::fit::{Known, Place, Setup, learn_grove};
use super::reference::{self, Aim};
use super::round::words_seen;
use super::time_limit::Clock;
use super::{Examples, GrovePlan, GroveSettings, GroveTask, fit_grove, fit_grove_for};
use crate::Result;
use crate::bits::BitMatrix;
use crate::bits::kernels::{Kernels, Level};
use crate::circuit::{Grove, Span};
use crate::learn::Silent;
use crate::learn::engine::ColumnOrder;
use crate::learn::engine::remote::{self, Link, PartRows, Parts, RemoteEngine};
use crate::learn::objective::ValueLoss;
use crate::pool::Pool;
use crate::random::{Purpose, Stream};

/// Rows of random bits; the class hangs on three of them, or on the exclusive or of two, with noise.
fn rows(count: usize, columns: usize, classes: u32, seed: u64) -> (Vec<bool>, Vec<u32>) {
    let mut stream = Stream::new(seed, Purpose::Generate, 0);
    let bits: Vec<bool> = (0..count * columns).map(|_| stream.below(2) == 1).collect();
    let mut label = |row: &[bool]| {
        let class = u32::from(row[0] ^ row[1]) + u32::from(row[2] && seed % 4 != 1);
        if stream.below(8) == 0 { stream.below(classes) } else { class % classes }
    };
    let labels = bits.chunks(columns).map(&mut label).collect();
    (bits, labels)
}

fn plan_of(task: &GroveTask<'_>, settings: &GroveSettings) -> GrovePlan {
    settings.resolve(&task.profile).unwrap()
}

fn settings_of(seed: u64) -> GroveSettings {
    let mut stream = Stream::new(seed, Purpose::Generate, 1);
    let mut below = |limit: u32| stream.below(limit) as usize;
    GroveSettings {
        arity: Some(1 + below(4)),
        root_arity: Some(1 + below(4)),
        depth: Some(1 + below(3)),
        climb: Some(30 + below(60) as u32),
        candidates: Some([1, 1, 4][below(3)]),
        rounds: Some(3 + below(8)),
        trees_per_round: Some([1, 2, 3, 10][below(4)]),
        learning_rate: Some(0.3),
        sample_rows: Some(64 + below(400)),
        sampling_power: Some([1.0, 1.0, 1.5][below(3)]),
        honest_fraction: Some([0.0, 0.0, 0.3][below(3)]),
        feature_reuse: Some([0.0, 0.5][below(2)]),
        reg_lambda: Some([0.1, 2.0][below(2)]),
        vote_bits: Some([1, 4, 8][below(3)]),
        shared_trees: Some(below(3) == 0),
        seed,
        threads: 1 + below(3),
        ..GroveSettings::default()
    }
}

/// Parts in this process, of which one forgets all it was told every now and then.
struct Forgetful {
    parts: Vec<Mutex<PartRows>>,
    asked: AtomicU64,
    pool: Pool,
}

impl Parts for Forgetful {
    fn count(&self) -> usize {
        self.parts.len()
    }

    fn ask(&self, messages: Vec<Option<Vec<u8>>>) -> Result<Vec<Option<Vec<u8>>>> {
        let answer = |(part, message): (&Mutex<PartRows>, Option<Vec<u8>>)| {
            let message = message?;
            let mut part = part.lock().unwrap();
            if self.asked.fetch_add(1, Ordering::Relaxed) % 31 == 30 {
                part.forget();
            }
            let part = &mut *part;
            Some(self.pool.run(|| {
                remote::answer(&message, |what, message| {
                    assert_eq!(message.byte()?, 0);
                    part.answer(what, message)
                })
            }))
        };
        Ok(self.parts.iter().zip(messages).map(answer).collect())
    }
}

/// The same task on rows split at some places.
fn fit_parts(
    (bits, labels): (&[bool], &[u32]),
    columns: usize,
    aim: Aim,
    weights: &[u32],
    spans: &[Span],
    cuts: &[usize],
    plan: GrovePlan,
) -> Grove {
    let order = ColumnOrder::new(columns + spans.len(), plan.seed);
    let places: Vec<std::ops::Range<usize>> = cuts.windows(2).map(|pair| pair[0]..pair[1]).collect();
    let matrices: Vec<BitMatrix> = places
        .iter()
        .map(|rows| BitMatrix::from_bools(columns, &bits[rows.start * columns..rows.end * columns]).unwrap())
        .collect();
    let kernels = Kernels::best();
    let parts = places.iter().zip(matrices).map(|(rows, bits)| {
        let weights = weights.get(rows.clone()).unwrap_or_default().to_vec();
        let targets = labels[rows.clone()].to_vec();
        let order = Some((&order, words_seen(&plan)));
        Mutex::new(PartRows::new(bits, spans.to_vec(), targets, weights, order, kernels).unwrap())
    });
    let parts = Forgetful {
        parts: parts.collect(),
        asked: AtomicU64::new(plan.seed % 30),
        pool: Pool::new(1).unwrap(),
    };
    let link = Link::new(&parts, |_| Vec::new());
    let sizes: Vec<usize> = places.iter().map(ExactSizeIterator::len).collect();
    let rows = (labels.to_vec(), weights.to_vec());
    let engine = RemoteEngine::new(&link, 0, &sizes, rows, &order, kernels);
    let place =
        Place { engine: &engine, order: &order, kernels, inputs: columns, originals: labels.len(), spans };
    let make = |unit| aim.objective(unit);
    let mut setup = Setup::new(place, &make, None, &plan).unwrap();
    learn_grove(&mut setup, None, (plan, Known::Nothing), false, Clock::new(None), &Silent).unwrap().grove
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The definition, this process at every SIMD level, and rows in parts learn one grove.
    #[test]
    fn all_engines_learn_the_grove_of_the_definition(
        count in 40usize..400, columns in 3usize..80, classes in 2u32..5, weighted: bool, spans: bool, cut in 1usize..39, seed: u64,
    ) {
        let (bits, labels) = rows(count, columns, classes, seed);
        prop_assume!((0..classes).all(|class| labels.contains(&class)));
        let matrix = BitMatrix::from_bools(columns, &bits).unwrap();
        let weights: Vec<f64> = (0..count).map(|row| [0.0, 0.5, 1.0, 3.0][row % 4]).collect();
        let examples = Examples { bits: matrix.view(), targets: &labels, weights: weighted.then_some(&weights) };
        let mut task = GroveTask::new(examples, classes as usize);
        if spans {
            task.spans = vec![Span::any(vec![0, 1]).unwrap(), Span::all(vec![0, 1, 2]).unwrap()];
        }
        let settings = settings_of(seed);
        let plan = plan_of(&task, &settings);
        let fixed = super::task::row_weights(examples.targets, examples.weights, &[]).unwrap();
        let spans = super::features::candidates(matrix.view(), task.spans.clone(), None);
        let aim = Aim::Classes(classes as usize);
        let expected = reference::grove(&bits, columns, &spans, &labels, aim, &fixed, &plan);
        for level in Level::available() {
            task.kernels = Kernels::at(level).unwrap();
            let fit = fit_grove(&task, &settings, &Silent);
            prop_assert_eq!(&fit.unwrap().grove, &expected, "{}", level.name());
        }
        let mut cuts = [0, cut, count / 2 + 10, count];
        cuts.sort_unstable();
        let parts = fit_parts((&bits, &labels), columns, aim, &fixed, &spans, &cuts, plan);
        prop_assert_eq!(&parts, &expected);
    }

    /// The same for values.
    #[test]
    fn all_engines_learn_the_values_of_the_definition(
        count in 40usize..400, columns in 3usize..80, weighted: bool, cut in 1usize..39, seed: u64,
        loss in prop::sample::select(&["squared", "huber", "absolute", "poisson", "quantile:0.1,0.5,0.9", "quantile:0.3"][..]),
        is_log: bool,
    ) {
        let (bits, classes) = rows(count, columns, 5, seed);
        let loss: ValueLoss = loss.parse().unwrap();
        let mut stream = Stream::new(seed, Purpose::Generate, 2);
        let values: Vec<f64> = classes.iter().map(|&class| f64::from(class) * 30.0 + 7.0 * stream.unit() + 0.1).collect();
        let scale = loss.scale_of(&values, is_log && loss != ValueLoss::Poisson).unwrap();
        let targets: Vec<u32> = values.iter().map(|&value| scale.target(value)).collect();
        let matrix = BitMatrix::from_bools(columns, &bits).unwrap();
        let weights: Vec<f64> = (0..count).map(|row| [0.0, 0.5, 1.0, 3.0][row % 4]).collect();
        let examples = Examples { bits: matrix.view(), targets: &targets, weights: weighted.then_some(&weights) };
        let mut task = GroveTask::new(examples, 0);
        let settings = GroveSettings { vote_bits: Some(12), ..settings_of(seed) };
        let plan = plan_of(&task, &settings);
        let fixed = super::task::row_weights(examples.targets, examples.weights, &[]).unwrap();
        let aim = Aim::Values(loss, scale);
        let expected = reference::grove(&bits, columns, &[], &targets, aim, &fixed, &plan);
        for level in Level::available() {
            task.kernels = Kernels::at(level).unwrap();
            let fit = fit_grove_for(&|unit| aim.objective(unit), &task, &settings, &Silent);
            prop_assert_eq!(&fit.unwrap().grove, &expected, "{}", level.name());
        }
        let mut cuts = [0, cut, count / 2 + 10, count];
        cuts.sort_unstable();
        let parts = fit_parts((&bits, &targets), columns, aim, &fixed, &[], &cuts, plan);
        prop_assert_eq!(&parts, &expected);
    }
}

/// Folds, pruning and calibration by held-out rows cross the seam too.
#[test]
fn parts_choose_the_same_rounds_and_prune_the_same_trees() {
    for (classes, max_gates) in [(2, None), (3, None), (2, Some(40)), (3, Some(60))] {
        let (bits, labels) = rows(700, 12, classes, 3);
        let matrix = BitMatrix::from_bools(12, &bits).unwrap();
        let examples = Examples { bits: matrix.view(), targets: &labels, weights: None };
        let settings =
            GroveSettings { max_gates, cv_folds: Some(2), seed: 5, threads: 2, ..GroveSettings::default() };
        let task = GroveTask::new(examples, classes as usize);
        let whole = fit_grove(&task, &settings, &Silent).unwrap();
        let plan = plan_of(&task, &settings);
        let cuts = [0, 1, 65, 300, 300, 700];
        let aim = Aim::Classes(classes as usize);
        let parts = fit_parts((&bits, &labels), 12, aim, &[], &[], &cuts, plan);
        assert_eq!(parts, whole.grove, "{classes} classes, {max_gates:?} gates");
    }
}

/// Rows of all folds fit, so that what is left of doubt follows from all of them, and margins are scaled as far as that.
#[test]
fn rows_that_all_fit_are_as_certain_as_their_number_allows() {
    let (bits, _) = rows(400, 8, 2, 5);
    let labels: Vec<u32> = bits.chunks(8).map(|row| u32::from(row[3])).collect();
    let matrix = BitMatrix::from_bools(8, &bits).unwrap();
    let examples = Examples { bits: matrix.view(), targets: &labels, weights: None };
    let fit =
        fit_grove(&GroveTask::new(examples, 2), &GroveSettings { threads: 1, ..Default::default() }, &Silent);
    let loss = fit.unwrap().held_out_loss.unwrap();
    // By the rows of one fold alone, the doubt would make it 0.0008.
    assert!((1e-6..2e-4).contains(&loss), "{loss}");
}
