use proptest::prelude::*;

use super::super::{Examples, GroveSettings, GroveTask, fit_grove};
use super::*;
use crate::bits::BitMatrix;
use crate::bits::kernels::Level;
use crate::learn::{Profile, Silent};

const COLUMNS: usize = 9;

/// Rows of random bits, whose class is how many of two pairs differ, with some noise.
fn rows(count: usize, classes: u32, seed: u64) -> (BitMatrix, Vec<u32>) {
    let mut stream = Stream::new(seed, Purpose::Generate, 0);
    let bits: Vec<bool> = (0..count * COLUMNS).map(|_| stream.below(2) == 1).collect();
    let label = |row: &[bool]| match stream.below(10) {
        0 => stream.below(classes),
        _ => (u32::from(row[0] != row[1]) + u32::from(row[2] != (row[3] && row[4]))).min(classes - 1),
    };
    let labels = bits.chunks(COLUMNS).map(label).collect();
    (BitMatrix::from_bools(COLUMNS, &bits).unwrap(), labels)
}

fn settings(refits: usize, seed: u64) -> GroveSettings {
    GroveSettings {
        arity: Some(3),
        depth: Some(1),
        rounds: Some(3),
        trees_per_round: Some(1),
        climb: Some(5),
        learning_rate: Some(0.3),
        sample_rows: Some(100),
        vote_bits: Some(1),
        refits: Some(refits),
        shared_gates: Some(4),
        seed,
        ..GroveSettings::default()
    }
}

/// The loss of a row by its margins, as it is defined.
fn loss_of(margins: &[i32], target: u32, unit: f64) -> f64 {
    let mut odds: Vec<f64> = margins.iter().map(|&margin| unit * f64::from(margin)).collect();
    if let [margin] = odds[..] {
        odds = vec![0.0, margin];
    }
    libm::log(odds.iter().map(|odds| libm::exp(*odds)).sum()) - odds[target as usize]
}

fn grove_of(network: &Network, bias: &[i32], unit: f64) -> Grove {
    let classes = if bias.len() == 1 { 2 } else { bias.len() };
    Grove::new(network.inputs, classes, bias.to_vec(), unit, network.trees().unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// What a row gains is the difference of two losses: those of the grove whose gate always says yes, and always no.
    #[test]
    fn gains_are_differences_of_losses(seed in 0u64..1 << 32, classes in 2u32..4, count in 70usize..200) {
        let (bits, targets) = rows(count, classes, seed);
        let task = GroveTask::new(Examples { bits: bits.view(), targets: &targets, weights: None }, classes as usize);
        let start = GroveSettings { shared_gates: None, ..settings(0, seed) };
        let grove = fit_grove(&task, &start, &Silent).unwrap().grove;
        let plan = settings(2, seed).resolve(&task.profile).unwrap();
        let train = Judges { bits: bits.view(), targets: &targets, weights: &[] };
        let bias = grove.bias().to_vec();
        let network = Network::before_passes(&grove, plan.shared_gates);
        let mut work = Work::new(network, train, &bias, grove.unit(), Kernels::best()).unwrap();
        let tracker = Tracker::new(&Silent, 1);
        (0..2).for_each(|pass| work.pass(pass, &plan, &tracker).unwrap());
        let unit = grove.unit();
        let mean = |network: &Network| {
            let grove = grove_of(network, &bias, unit);
            let loss = |row: usize| loss_of(&grove.margins_of(|column| bits.get(row, column)), targets[row], unit);
            (0..count).map(loss).sum::<f64>() / count as f64
        };
        prop_assert!((work.margins.loss().0 - mean(&work.network)).abs() < 1e-3);
        let mut gains = vec![0; count];
        let compare = |gains: &[i32], [no, yes]: [Network; 2]| {
            let [no, yes] = [no, yes].map(|network| grove_of(&network, &bias, unit));
            for (row, &gain) in gains.iter().enumerate() {
                let loss = |grove: &Grove| loss_of(&grove.margins_of(|column| bits.get(row, column)), targets[row], unit);
                prop_assert!((f64::from(gain) / 65536.0 - (loss(&yes) - loss(&no))).abs() < 2e-3, "row {row}");
            }
            Ok(())
        };
        for vote in 0..work.network.votes.len() {
            let (gate, margin) = &work.network.votes[vote];
            work.margins.vote_gains(*margin, &work.rows.outputs(gate), &mut gains);
            let saying = |table: u64| {
                let mut network = work.network.clone();
                network.votes[vote].0.table = table;
                network
            };
            compare(&gains, [saying(0), saying(!0)])?;
        }
        for shared in 0..work.network.shared.len() {
            work.margins.shared_gains(&work.readers(shared), &mut gains);
            let saying = |table: u64| {
                let mut network = work.network.clone();
                network.shared[shared].table = table;
                network
            };
            compare(&gains, [saying(0), saying(!0)])?;
        }
    }
}

#[test]
fn no_pass_raises_the_loss_and_some_lower_it() {
    for classes in [2, 3] {
        let (bits, targets) = rows(1000, classes, 5);
        let task = GroveTask::new(
            Examples { bits: bits.view(), targets: &targets, weights: None },
            classes as usize,
        );
        let start = GroveSettings { shared_gates: None, ..settings(0, 5) };
        let grove = fit_grove(&task, &start, &Silent).unwrap().grove;
        let plan = settings(6, 5).resolve(&task.profile).unwrap();
        let train = Judges { bits: bits.view(), targets: &targets, weights: &[] };
        let bias = grove.bias().to_vec();
        let network = Network::before_passes(&grove, plan.shared_gates);
        let mut work = Work::new(network, train, &bias, grove.unit(), Kernels::best()).unwrap();
        let tracker = Tracker::new(&Silent, 1);
        let first = work.margins.loss();
        let mut last = first;
        for pass in 0..6 {
            work.pass(pass, &plan, &tracker).unwrap();
            let now = work.margins.loss();
            assert!(now.0 <= last.0 + 1e-4, "{last:?} {now:?}");
            last = now;
        }
        assert!(last.0 < 0.8 * first.0 && last.1 < first.1, "{classes} classes: {first:?} {last:?}");
        assert!(work.network.trees().unwrap().iter().any(|tree| tree.depth() == 2));
    }
}

#[test]
fn threads_and_levels_fit_the_same_gates() {
    let (bits, targets) = rows(9000, 3, 8);
    let weights: Vec<f64> = (0..9000).map(|row| 1.0 + f64::from(row % 3)).collect();
    let examples = Examples { bits: bits.view(), targets: &targets, weights: Some(&weights) };
    let learned = |level: Level, threads: usize, refit_rows: Option<usize>| {
        let mut task = GroveTask::new(examples, 3);
        task.kernels = Kernels::at(level).unwrap();
        fit_grove(&task, &GroveSettings { threads, refit_rows, ..settings(2, 3) }, &Silent).unwrap().grove
    };
    for refit_rows in [None, Some(4001)] {
        let grove = learned(Level::Portable, 1, refit_rows);
        for level in Level::available() {
            assert_eq!(learned(level, 3, refit_rows), grove, "{level:?}");
        }
    }
    // As many rows as there are, or more, are all of them.
    assert_eq!(learned(Level::Portable, 1, Some(9000)), learned(Level::Portable, 1, None));
    assert_ne!(learned(Level::Portable, 1, Some(4001)), learned(Level::Portable, 1, None));
}

#[test]
fn every_pass_draws_other_rows() {
    let (bits, targets) = rows(1000, 3, 4);
    let weights: Vec<u32> = (0..1000).collect();
    let train = Judges { bits: bits.view(), targets: &targets, weights: &weights };
    let plan = GroveSettings { refit_rows: Some(300), ..settings(2, 4) };
    let plan = plan.resolve(&Profile::of_bits(1000, COLUMNS, 3)).unwrap();
    let [first, second] = [0, 1].map(|pass| Drawn::of(train, &plan, pass).unwrap().unwrap());
    for drawn in [&first, &second] {
        assert_eq!((drawn.bits.rows(), drawn.weights.len()), (300, 300));
        for (place, &row) in drawn.weights.iter().enumerate() {
            assert_eq!(drawn.targets[place], targets[row as usize]);
            assert!(
                (0..COLUMNS).all(|column| drawn.bits.get(place, column) == bits.get(row as usize, column))
            );
        }
    }
    assert_ne!(first.weights, second.weights);
}

#[test]
fn the_pass_best_on_other_rows_stays() {
    let (bits, targets) = rows(300, 2, 9);
    let (other, others) = rows(2000, 2, 10);
    let mut task = GroveTask::new(Examples { bits: bits.view(), targets: &targets, weights: None }, 2);
    task.validation = Some(Examples { bits: other.view(), targets: &others, weights: None });
    let wrong = |refits: usize| {
        let shared_gates = Some(4).filter(|_| refits > 0);
        let grove =
            fit_grove(&task, &GroveSettings { shared_gates, ..settings(refits, 2) }, &Silent).unwrap().grove;
        let said = grove.predict(other.view(), 1).unwrap();
        said.iter().zip(&others).filter(|(said, target)| said != target).count()
    };
    assert!(wrong(10) < wrong(0), "{} {}", wrong(10), wrong(0));
}

#[test]
fn what_cannot_be_fitted_anew_is_refused() {
    let profile = Profile::of_bits(100, COLUMNS, 2);
    let good = settings(3, 1);
    assert_eq!(good.resolve(&profile).unwrap().shared_gates, 4);
    let open = GroveSettings { refits: Some(3), ..GroveSettings::default() }.resolve(&profile).unwrap();
    assert_eq!((open.arities, open.vote_bits), (vec![6], 1));
    for bad in [
        GroveSettings { refits: Some(1001), ..good.clone() },
        GroveSettings { refits: None, ..good.clone() },
        GroveSettings { shared_gates: Some(100_001), ..good.clone() },
        GroveSettings { vote_bits: Some(2), ..good.clone() },
        GroveSettings { arity: Some(7), ..good.clone() },
        GroveSettings { depth: Some(2), ..good.clone() },
        GroveSettings { spans: Some(3), ..good.clone() },
        GroveSettings { max_gates: Some(10), ..good.clone() },
        GroveSettings { refit_rows: Some(15), ..good.clone() },
        GroveSettings { refit_rows: Some(50), refits: None, shared_gates: None, ..good.clone() },
    ] {
        assert!(bad.resolve(&profile).is_err_and(|error| error.is_setting()), "{bad:?}");
    }
    assert!(good.resolve(&Profile::of_bits(100, COLUMNS, 0)).is_err());
    let (bits, targets) = rows(100, 2, 1);
    let task = GroveTask::new(Examples { bits: bits.view(), targets: &targets, weights: None }, 2);
    let grove =
        fit_grove(&task, &GroveSettings { shared_gates: None, ..settings(0, 1) }, &Silent).unwrap().grove;
    let task = GroveTask { start: Some(&grove), ..task };
    assert!(fit_grove(&task, &good, &Silent).unwrap_err().is_setting());
}
