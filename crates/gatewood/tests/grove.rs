//! Groves: what they learn, and that it depends on data, settings and seed alone.

use gatewood::bits::BitMatrix;
use gatewood::bits::kernels::{Kernels, Level};
use gatewood::circuit::{Grove, Span};
use gatewood::encode::{Encoder, ImageShape};
use gatewood::learn::{Examples, GroveFit, GroveSettings, GroveTask, Silent, fit_grove, image_spans};
use gatewood::random::{Purpose, Stream};

/// Rows of 24 random bits; the class counts how many of four pairs of bits differ, with a tenth of the labels random.
fn rows(rows: usize, classes: u32, seed: u64) -> (BitMatrix, Vec<u32>) {
    let mut stream = Stream::new(seed, Purpose::Generate, 0);
    let (mut bits, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let row = stream.bits();
        let differing =
            (0..4).filter(|pair| (row >> (2 * pair) ^ row >> (2 * pair + 1)) & 1 == 1).count() as u32;
        let label = if classes == 2 { u32::from(differing >= 2) } else { differing.min(classes - 1) };
        labels.push(if stream.below(10) == 0 { stream.below(classes) } else { label });
        bits.extend((0..24).map(|bit| row >> bit & 1 == 1));
    }
    (BitMatrix::from_bools(24, &bits).unwrap(), labels)
}

fn settings() -> GroveSettings {
    GroveSettings {
        rounds: Some(20),
        climb: Some(200),
        sample_rows: Some(512),
        learning_rate: Some(0.3),
        seed: 7,
        ..GroveSettings::default()
    }
}

fn examples(rows: &(BitMatrix, Vec<u32>)) -> Examples<'_> {
    Examples { bits: rows.0.view(), targets: &rows.1, weights: None }
}

fn task(rows: &(BitMatrix, Vec<u32>), classes: usize) -> GroveTask<'_> {
    GroveTask::new(examples(rows), classes)
}

fn fit(train: &(BitMatrix, Vec<u32>), classes: usize, settings: &GroveSettings) -> GroveFit {
    fit_grove(&task(train, classes), settings, &Silent).unwrap()
}

fn error(grove: &Grove, rows: &(BitMatrix, Vec<u32>)) -> f64 {
    let said = grove.predict(rows.0.view(), 1).unwrap();
    said.iter().zip(&rows.1).filter(|(said, label)| said != label).count() as f64 / rows.1.len() as f64
}

/// The mean of minus the logarithm of the probability of the right class.
fn loss(grove: &Grove, rows: &(BitMatrix, Vec<u32>)) -> f64 {
    let probabilities = grove.probabilities(rows.0.view(), 1).unwrap();
    let of = |(row, &label): (&[f64], &u32)| -row[label as usize].ln();
    probabilities.chunks_exact(grove.classes()).zip(&rows.1).map(of).sum::<f64>() / rows.1.len() as f64
}

#[test]
fn threads_and_levels_do_not_matter() {
    for classes in [2, 4] {
        let train = rows(1_500, classes, 1);
        for base in [
            GroveSettings { trees_per_round: Some(3), ..settings() },
            GroveSettings { shared_trees: Some(true), arity: Some(3), root_arity: Some(5), ..settings() },
            GroveSettings { depth: Some(1), arity: Some(7), vote_bits: Some(1), ..settings() },
            GroveSettings { max_gates: Some(60), ..settings() },
            GroveSettings { candidates: Some(8), trees_per_round: Some(5), ..settings() },
            GroveSettings { candidates: Some(6), sampling_power: Some(1.4), rounds: Some(30), ..settings() },
            GroveSettings { depth: Some(3), arity: Some(2), rounds: Some(5), ..settings() },
        ] {
            let one = fit(&train, classes as usize, &GroveSettings { threads: 1, ..base.clone() });
            let three = fit(&train, classes as usize, &GroveSettings { threads: 3, ..base.clone() });
            assert_eq!(one.grove, three.grove);
            assert_eq!(one.curve, three.curve);
            let mut task = task(&train, classes as usize);
            for level in Level::available() {
                task.kernels = Kernels::at(level).unwrap();
                assert_eq!(fit_grove(&task, &base, &Silent).unwrap().grove, one.grove, "{}", level.name());
            }
        }
    }
}

#[test]
fn running_equals_the_definition() {
    for classes in [2, 3] {
        let train = rows(700, classes, 2);
        for base in [settings(), GroveSettings { shared_trees: Some(true), ..settings() }] {
            let grove = fit(&train, classes as usize, &base).grove;
            let margins: Vec<Vec<i32>> =
                (0..700).map(|row| grove.margins_of(|column| train.0.get(row, column))).collect();
            for level in Level::available() {
                let run = grove.run_at(train.0.view(), 2, Kernels::at(level).unwrap()).unwrap();
                for (row, margins) in margins.iter().enumerate() {
                    assert_eq!(&run.row(row), margins);
                    assert_eq!(run.classes()[row] as usize, Grove::class_of(margins));
                }
            }
        }
    }
}

#[test]
fn the_curve_is_what_the_grove_does() {
    let (train, test) = (rows(1_500, 3, 3), rows(1_000, 3, 4));
    let learned = examples(&train);
    let held = examples(&test);
    let fit = {
        let mut task = GroveTask::new(learned, 3);
        task.validation = Some(held);
        fit_grove(&task, &settings(), &Silent)
    }
    .unwrap();
    let best = &fit.curve[fit.rounds - 1];
    assert_eq!(best.train_error, error(&fit.grove, &train));
    assert_eq!(best.validation_error, Some(error(&fit.grove, &test)));
    assert_eq!(best.gates, fit.grove.gates());
}

#[test]
fn early_stopping_cuts_back_to_the_best_round() {
    let (train, held) = (rows(300, 2, 5), rows(300, 2, 6));
    let train = examples(&train);
    let held = examples(&held);
    let settings = GroveSettings {
        rounds: Some(400),
        early_stopping_rounds: Some(10),
        learning_rate: Some(0.5),
        ..settings()
    };
    let fit = {
        let mut task = GroveTask::new(train, 2);
        task.validation = Some(held);
        fit_grove(&task, &settings, &Silent)
    }
    .unwrap();
    assert!(fit.curve.len() < 400);
    assert_eq!(fit.curve.len(), fit.rounds + 10);
    assert_eq!(fit.grove.trees().len(), fit.rounds * fit.plan.trees_per_round);
    let best = fit.curve[fit.rounds - 1].validation_loss;
    assert!(fit.curve.iter().all(|point| point.validation_loss >= best));
}

#[test]
fn continuing_equals_learning_in_one_go() {
    for (classes, shared) in [(2, false), (3, false), (3, true)] {
        let rows = rows(600, classes, 8);
        let train = examples(&rows);
        let base = GroveSettings { shared_trees: Some(shared), trees_per_round: Some(2), ..settings() };
        let whole = fit(&rows, classes as usize, &base).grove;
        let part = GroveSettings { rounds: Some(8), ..base.clone() };
        let start = fit(&rows, classes as usize, &part).grove;
        let rest = GroveSettings { rounds: Some(12), ..base };
        let continued = {
            let mut task = GroveTask::new(train, classes as usize);
            task.start = Some(&start);
            fit_grove(&task, &rest, &Silent)
        }
        .unwrap();
        assert_eq!(continued.grove, whole);
    }
}

/// Rows of 64 bits, an image of 8 x 8, whose class is whether any of four lines across is all ones: a matter of spans.
fn lines(rows: usize, seed: u64) -> (BitMatrix, Vec<u32>) {
    let mut stream = Stream::new(seed, Purpose::Generate, 0);
    let bits: Vec<bool> = (0..64 * rows).map(|_| stream.below(5) > 0).collect();
    let full = |row: usize, line: usize| bits[row * 64 + line * 16 + 2..][..5].iter().all(|&bit| bit);
    let labels = (0..rows).map(|row| u32::from((0..4).any(|line| full(row, line)))).collect();
    (BitMatrix::from_bools(64, &bits).unwrap(), labels)
}

fn spans() -> Vec<Span> {
    image_spans(&Encoder::identity(64), ImageShape::grey(8, 8), 5, usize::MAX).unwrap()
}

fn fit_lines(
    rows: &(BitMatrix, Vec<u32>),
    spans: Vec<Span>,
    start: Option<&Grove>,
    settings: &GroveSettings,
) -> GroveFit {
    let mut task = task(rows, 2);
    (task.spans, task.start) = (spans, start);
    fit_grove(&task, settings, &Silent).unwrap()
}

#[test]
fn lines_are_told_by_spans() {
    let (train, test) = (lines(1_000, 1), lines(4_000, 2));
    let settings =
        GroveSettings { rounds: Some(60), trees_per_round: Some(2), threads: 1, ..GroveSettings::default() };
    let without = fit_lines(&train, Vec::new(), None, &settings);
    let with = fit_lines(&train, spans(), None, &settings);
    let (bare, better) = (error(&without.grove, &test), error(&with.grove, &test));
    assert!(better < 0.01 && better < bare / 4.0, "{bare} without spans, {better} with");
    assert!(with.grove.spans().iter().any(Span::is_all));
    // Of the spans, it has those that trees read.
    let read =
        |span: usize| with.grove.trees().iter().any(|tree| tree.leaves().contains(&(64 + span as u32)));
    assert!((0..with.grove.spans().len()).all(read));
    // And it runs as it is defined, on any number of threads.
    let margins = with.grove.run(test.0.view(), 2).unwrap();
    for row in (0..4_000).step_by(37) {
        assert_eq!(margins.row(row), with.grove.margins_of(|column| test.0.get(row, column)));
    }
    let three = fit_lines(&train, spans(), None, &GroveSettings { threads: 3, ..settings });
    assert_eq!(three.grove, with.grove);
    assert_eq!(three.curve, with.curve);
}

#[test]
fn a_grove_with_spans_can_be_continued_and_cut() {
    let rows = lines(600, 3);
    let base = GroveSettings { trees_per_round: Some(2), ..settings() };
    let start = fit_lines(&rows, spans(), None, &GroveSettings { rounds: Some(8), ..base.clone() }).grove;
    let more = GroveSettings { rounds: Some(12), ..base.clone() };
    let whole = fit_lines(&rows, spans(), None, &base).grove;
    assert_eq!(fit_lines(&rows, spans(), Some(&start), &more).grove, whole);
    // With those that it has, and no others.
    let longer = fit_lines(&rows, Vec::new(), Some(&start), &more).grove;
    assert_eq!((longer.trees().len(), longer.spans()), (40, start.spans()));
    assert_eq!(longer.trees()[..16], *start.trees());
    let examples = examples(&rows);
    assert_eq!(
        {
            let mut task = GroveTask::new(examples, 2);
            task.start = Some(&start);
            fit_grove(&task, &more, &Silent)
        }
        .unwrap()
        .grove,
        longer
    );
    for kernels in Level::available().into_iter().filter_map(Kernels::at) {
        let same = {
            let mut task = GroveTask::new(examples, 2);
            (task.start, task.kernels) = (Some(&start), kernels);
            fit_grove(&task, &more, &Silent)
        };
        assert_eq!(same.unwrap().grove, longer);
    }
    for most in [30, 60, 120] {
        let settings = GroveSettings { max_gates: Some(most), rounds: Some(200), ..base.clone() };
        let gates = fit_lines(&rows, spans(), None, &settings).grove.gates();
        assert!(gates <= most && gates > most / 2, "{gates} of {most}");
    }
    let refused = |spans, start, settings: &GroveSettings| {
        let mut task = task(&rows, 2);
        (task.spans, task.start) = (spans, start);
        fit_grove(&task, settings, &Silent).unwrap_err()
    };
    assert!(refused(Vec::new(), None, &GroveSettings { spans: Some(13), ..base.clone() }).is_setting());
    assert!(refused(vec![Span::any(vec![3, 64]).unwrap()], None, &base).is_data());
    let other = Grove::new(63, 2, vec![0], 0.1, Vec::new()).unwrap();
    assert!(refused(spans(), Some(&other), &base).is_data());
}

#[test]
fn rounds_are_chosen_on_held_out_rows() {
    let (train, test) = (rows(600, 2, 12), rows(2_000, 2, 13));
    let settings = GroveSettings { rounds: None, ..settings() };
    let one = fit(&train, 2, &GroveSettings { threads: 1, ..settings.clone() });
    let three = fit(&train, 2, &GroveSettings { threads: 3, ..settings.clone() });
    // With three threads, rounds are grown that then turn out to be too many.
    assert_eq!((&one.grove, &one.curve), (&three.grove, &three.curve));
    assert_eq!((one.rounds, one.curve.len()), (one.plan.rounds, one.plan.rounds));
    // Folds choose the shape as well, where it is not given.
    let given = GroveSettings { arity: Some(3), root_arity: Some(4), depth: Some(2), ..settings.clone() };
    assert_eq!(fit(&train, 2, &given).plan.arities, [3, 4]);
    // Far fewer rounds have not learned enough, and far more are surer than they are right.
    let loss_of = |rounds| {
        let settings = GroveSettings { rounds: Some(rounds), ..settings.clone() };
        loss(&fit(&train, 2, &settings).grove, &test)
    };
    let chosen = loss(&one.grove, &test);
    assert!(chosen < loss_of(one.rounds / 10 + 1) && chosen < loss_of(10 * one.rounds));
}

/// Of rows that are given a probability, about that share is of the class: off by five in a hundred at the most.
#[test]
fn probabilities_hold_on_new_rows() {
    for classes in [2, 3] {
        let (train, test) = (rows(1_500, classes, 30), rows(20_000, classes, 31));
        let fit = fit(&train, classes as usize, &GroveSettings { seed: 7, ..GroveSettings::default() });
        let probabilities = fit.grove.probabilities(test.0.view(), 1).unwrap();
        let mut bins = [(0.0, 0.0, 0.0); 5];
        for (row, label) in probabilities.chunks_exact(classes as usize).zip(&test.1) {
            for (class, &probability) in row.iter().enumerate() {
                let bin = &mut bins[((probability * 5.0) as usize).min(4)];
                bin.0 += 1.0;
                bin.1 += probability;
                bin.2 += f64::from(class as u32 == *label);
            }
        }
        let off: f64 = bins.iter().map(|(_, said, seen)| (said - seen).abs()).sum();
        let all: f64 = bins.iter().map(|bin| bin.0).sum();
        assert!(off / all < 0.05, "{classes} classes: {bins:?}");
    }
}

#[test]
fn gates_stay_within_the_cap() {
    let rows = rows(600, 3, 9);
    let settings = GroveSettings { max_gates: Some(52), ..settings() };
    let fit = fit(&rows, 3, &settings);
    assert!(fit.grove.gates() <= 52 && fit.grove.gates() > 40, "{}", fit.grove.gates());
    assert!(fit.curve.last().unwrap().gates <= 104);
}

#[test]
fn pruning_is_better_than_stopping() {
    for (classes, shared) in [(2, false), (5, false), (5, true)] {
        let (train, test) = (rows(2_000, classes, 21), rows(2_000, classes, 22));
        // Sixteen trees of two classes: those have not learned all there is, and more than that would fit noise.
        let settings = GroveSettings {
            shared_trees: Some(shared),
            arity: Some(3),
            trees_per_round: Some(2),
            ..settings()
        };
        let stopped = fit(&train, classes as usize, &GroveSettings { rounds: Some(8), ..settings.clone() });
        let gates = stopped.grove.gates();
        let pruned = GroveSettings { rounds: Some(100), max_gates: Some(gates), ..settings };
        let pruned = fit(&train, classes as usize, &pruned);
        assert!(pruned.grove.gates() <= gates);
        assert!(loss(&pruned.grove, &train) < loss(&stopped.grove, &train));
        let (ours, theirs) = (error(&pruned.grove, &test), error(&stopped.grove, &test));
        assert!(ours <= theirs + 0.01, "{classes} classes: {ours} against {theirs}");
    }
}

#[test]
fn where_pruning_would_keep_noise_growing_stops() {
    let (mut pruned, mut stopped) = (0.0, 0.0);
    for seed in 0..6 {
        let (train, test) = (rows(2_000, 2, 2 * seed + 21), rows(2_000, 2, 2 * seed + 22));
        // Thirty-two trees learn all there is to learn.
        let settings = GroveSettings { arity: Some(3), trees_per_round: Some(2), seed, ..settings() };
        let short = fit(&train, 2, &GroveSettings { rounds: Some(16), ..settings.clone() }).grove;
        let within = GroveSettings { rounds: Some(100), max_gates: Some(short.gates()), ..settings };
        pruned += error(&fit(&train, 2, &within).grove, &test) / 6.0;
        stopped += error(&short, &test) / 6.0;
    }
    assert!(pruned < stopped + 0.005, "{pruned} against {stopped}");
}

#[test]
fn weights_shift_the_balance() {
    let rows = rows(2_000, 2, 10);
    let plain = fit(&rows, 2, &settings());
    let weighted = fit(&rows, 2, &GroveSettings { class_weights: vec![1.0, 20.0], ..settings() });
    let ones = |fit: &GroveFit| fit.grove.predict(rows.0.view(), 1).unwrap().iter().sum::<u32>();
    assert!(ones(&weighted) > ones(&plain) + 50);
    // A weight of zero is a row that is not there.
    let weights: Vec<f64> = rows.1.iter().map(|&label| f64::from(label)).collect();
    let only = Examples { bits: rows.0.view(), targets: &rows.1, weights: Some(&weights) };
    assert!(fit_grove(&GroveTask::new(only, 2), &settings(), &Silent).unwrap_err().is_data());
}

#[test]
fn what_cannot_be_learned_from_is_refused() {
    let rows = rows(50, 2, 11);
    let fit = |examples: Examples<'_>, classes, settings: &GroveSettings| {
        fit_grove(&GroveTask::new(examples, classes), settings, &Silent)
    };
    let good = examples(&rows);
    assert!(fit(good, 1, &settings()).unwrap_err().is_data());
    assert!(fit(Examples { targets: &rows.1[1..], ..good }, 2, &settings()).unwrap_err().is_data());
    assert!(fit(Examples { targets: &[0; 50], ..good }, 2, &settings()).unwrap_err().is_data());
    assert!(fit(Examples { targets: &[5; 50], ..good }, 2, &settings()).unwrap_err().is_data());
    assert!(fit(Examples { weights: Some(&[f64::NAN; 50]), ..good }, 2, &settings()).unwrap_err().is_data());
    for bad in [
        GroveSettings { arity: Some(40), ..settings() },
        GroveSettings { depth: Some(4), ..settings() },
        GroveSettings { learning_rate: Some(f64::NAN), ..settings() },
        GroveSettings { vote_bits: Some(0), ..settings() },
        GroveSettings { sampling_power: Some(0.5), ..settings() },
        GroveSettings { class_weights: vec![1.0], ..settings() },
        GroveSettings { time_limit: Some(-1.0), ..settings() },
    ] {
        assert!(fit(good, 2, &bad).unwrap_err().is_setting());
    }
}

#[test]
fn a_budget_of_time_chooses_rounds_and_rate() {
    let (train, test) = (rows(3_000, 2, 30), rows(3_000, 2, 31));
    let base = GroveSettings { seed: 7, ..GroveSettings::default() };
    let usual = fit(&train, 2, &base);
    // Time enough: folds still choose the rounds, of a grove that learns more slowly if that tells held-out rows better.
    let begun = std::time::Instant::now();
    let slow = fit(&train, 2, &GroveSettings { time_limit: Some(60.0), ..base.clone() });
    assert!(begun.elapsed().as_secs_f64() < 60.0, "a table that is learned in a moment takes all the time");
    assert!(slow.plan.cv_folds > 0 && slow.plan.learning_rate <= usual.plan.learning_rate);
    assert_eq!(slow.rounds, slow.plan.rounds);
    assert!(error(&slow.grove, &test) <= error(&usual.grove, &test) + 0.005);
    // Next to no time: a grove all the same, of few rounds and large steps.
    let quick = fit(&train, 2, &GroveSettings { time_limit: Some(1e-6), ..base.clone() });
    assert!(quick.plan.learning_rate > usual.plan.learning_rate && quick.rounds < 10);
    assert!(error(&quick.grove, &test) < 0.45);
    // Where rounds are fixed by the kind of data, as of many classes and columns, time changes them.
    let fixed = GroveSettings { cv_folds: Some(0), climb: Some(20), trees_per_round: Some(1), ..base };
    let usual = fit(&train, 2, &fixed);
    let more = fit(&train, 2, &GroveSettings { time_limit: Some(60.0), ..fixed.clone() });
    assert!(more.rounds > usual.rounds && more.plan.learning_rate < usual.plan.learning_rate);
    // What is given stays as it is.
    let given = GroveSettings { learning_rate: Some(0.2), time_limit: Some(1e-6), ..fixed };
    assert_eq!(fit(&train, 2, &given).plan.learning_rate, 0.2);
}

/// Quality on fixed data and seed, as exact numbers: a change here is a change of what is learned.
#[test]
fn quality_is_pinned() {
    let (train, test) = (rows(3_000, 2, 20), rows(3_000, 2, 21));
    let fit_two = fit(&train, 2, &settings());
    let two = (fit_two.grove.gates(), error(&fit_two.grove, &test));
    let (train, test) = (rows(3_000, 4, 22), rows(3_000, 4, 23));
    let fit_four = fit(&train, 4, &settings());
    let four = (fit_four.grove.gates(), error(&fit_four.grove, &test));
    // A twentieth and three fortieths of the labels are wrong by chance.
    assert_eq!((two, four), PINNED);
}

const PINNED: ((usize, f64), (usize, f64)) = ((80, 0.058333333333333334), (400, 0.108));
