//! The bit-parallel learner gives the tree of the definitions, for any number of threads and at every SIMD level.

use gatewood::bits::BitMatrix;
use gatewood::bits::kernels::{Kernels, Level};
use gatewood::circuit::Tree;
use gatewood::learn::{
    Criterion, Judge, Observer, Silent, TreeSettings, Unseen, fit_tree, fit_tree_at, reference,
};
use gatewood::random::{Purpose, Stream};
use proptest::prelude::*;

/// Rows whose label is a noisy function of a few columns.
fn rows(count: usize, columns: usize, seed: u64) -> (BitMatrix, Vec<u32>) {
    let mut stream = Stream::new(seed, Purpose::Generate, 0);
    let mut bits = BitMatrix::zeros(count, columns).unwrap();
    bits.columns_mut()
        .for_each(|column| column.iter_mut().for_each(|word| *word = stream.bits() & stream.bits()));
    bits.clear_tail();
    let mut labels: Vec<u32> = (0..count)
        .map(|row| {
            let votes = (0..columns.min(5)).filter(|&column| bits.get(row, column)).count();
            u32::from(votes % 3 == 1) ^ u32::from(stream.below(10) == 0)
        })
        .collect();
    labels[0] = 0;
    labels[1] = 1;
    (bits, labels)
}

fn check_all_ways(bits: &BitMatrix, labels: &[u32], settings: &TreeSettings, expected: &Tree) {
    for level in Level::available() {
        for threads in [1, 2, 5] {
            let settings = TreeSettings { threads, ..settings.clone() };
            let kernels = Kernels::at(level).unwrap();
            let tree = fit_tree_at(bits.view(), labels, &settings, &Silent, kernels).unwrap();
            assert!(tree == *expected, "{level:?} with {threads} threads");
            for threads in [1, 3] {
                let output = tree.run_at(bits.view(), threads, kernels).unwrap();
                for row in 0..bits.rows() {
                    let said = output[row / 64] >> (row % 64) & 1 != 0;
                    assert_eq!(said, expected.output(|column| bits.get(row, column)), "row {row}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn greedy_equals_the_definition(
        count in 2usize..400, columns in 1usize..20, arity in 1usize..=5, depth in 1usize..=4,
        accuracy: bool, zero: bool, seed: u64,
    ) {
        let (bits, labels) = rows(count, columns, seed);
        let settings = TreeSettings {
            arity, depth, seed,
            criterion: if accuracy { Criterion::Accuracy } else { Criterion::InformationGain },
            unseen: if zero { Unseen::Zero } else { Unseen::Prior },
            ..TreeSettings::default()
        };
        let expected = reference::fit_tree(bits.view(), &labels, &settings).unwrap();
        check_all_ways(&bits, &labels, &settings, &expected);
    }

    #[test]
    fn climbing_equals_the_definition(
        count in 2usize..300, columns in 1usize..12, arity in 2usize..=4, depth in 1usize..=3, height in 1usize..=3,
        climb in 1u64..120, accuracy: bool, zero: bool, not_worse: bool, seed: u64,
    ) {
        let (bits, labels) = rows(count, columns, seed);
        let settings = TreeSettings {
            arity, depth, height: height.min(depth), climb, seed,
            criterion: if accuracy { Criterion::Accuracy } else { Criterion::InformationGain },
            unseen: if zero { Unseen::Zero } else { Unseen::Prior },
            judge: if not_worse { Judge::NotWorse } else { Judge::Better },
            ..TreeSettings::default()
        };
        let expected = reference::fit_tree(bits.view(), &labels, &settings).unwrap();
        check_all_ways(&bits, &labels, &settings, &expected);
    }
}

#[test]
fn wide_gates_equal_the_definition() {
    for (arity, depth, climb) in [(8, 2, 60), (9, 2, 60), (11, 1, 40), (12, 2, 10)] {
        let (bits, labels) = rows(700, 40, arity as u64);
        for judge in [Judge::Better, Judge::NotWorse] {
            let height = depth.min(2);
            let settings =
                TreeSettings { arity, depth, climb, height, judge, seed: 3, ..TreeSettings::default() };
            let expected = reference::fit_tree(bits.view(), &labels, &settings).unwrap();
            check_all_ways(&bits, &labels, &settings, &expected);
        }
    }
}

#[test]
fn climbing_makes_the_training_error_smaller() {
    let (bits, labels) = rows(3000, 30, 9);
    let errors = |climb| {
        let settings = TreeSettings { arity: 3, depth: 3, height: 3, climb, ..TreeSettings::default() };
        let tree = fit_tree(bits.view(), &labels, &settings, &Silent).unwrap();
        let output = tree.run(bits.view(), 1).unwrap();
        (0..3000).filter(|row| (output[row / 64] >> (row % 64) & 1) as u32 != labels[*row]).count()
    };
    assert!(errors(2000) < errors(0));
}

#[test]
fn packed_rows_run_as_columns_do() {
    let (bits, labels) = rows(10_000, 37, 4);
    let settings = TreeSettings { arity: 4, depth: 3, ..TreeSettings::default() };
    let tree = fit_tree(bits.view(), &labels, &settings, &Silent).unwrap();
    let mut packed = vec![0u8; 10_000 * 5];
    for row in 0..10_000 {
        for column in 0..37 {
            packed[row * 5 + column / 8] |= u8::from(bits.get(row, column)) << (column % 8);
        }
    }
    assert_eq!(tree.run_packed(10_000, &packed, 2).unwrap(), tree.run(bits.view(), 1).unwrap());
    assert!(tree.run_packed(9_999, &packed, 2).unwrap_err().is_data());
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let (bits, labels) = rows(100, 10, 1);
    let fit =
        |settings: TreeSettings| fit_tree(bits.view(), &labels, &settings, &Silent).unwrap_err().to_string();
    let default = TreeSettings::default();
    assert_eq!(fit(TreeSettings { arity: 0, ..default.clone() }), "arity 0 is not between 1 and 12");
    assert_eq!(fit(TreeSettings { arity: 40, ..default.clone() }), "arity 40 is not between 1 and 12");
    assert_eq!(fit(TreeSettings { depth: 0, ..default.clone() }), "depth must be at least 1");
    assert_eq!(
        fit(TreeSettings { depth: 70, ..default.clone() }),
        "a tree of arity 4 and depth 70 has more leaves than can be numbered"
    );
    let memory = fit(TreeSettings { arity: 11, depth: 9, ..default.clone() });
    assert!(memory.starts_with("a tree of 2357947691 leaves: "), "{memory}");
    assert_eq!(
        fit(TreeSettings { height: 9, climb: 5, ..default.clone() }),
        "height 9 is not between 1 and the depth 8"
    );

    let learn = |bits: &BitMatrix, labels: &[u32]| {
        fit_tree(bits.view(), labels, &default, &Silent).unwrap_err().to_string()
    };
    assert_eq!(learn(&BitMatrix::zeros(0, 10).unwrap(), &[]), "nothing to learn from: 0 rows of 10 bits");
    assert_eq!(learn(&bits, &labels[..99]), "99 labels for 100 rows");
    assert_eq!(learn(&bits, &[1; 100]), "all 100 rows are of class 1: there is nothing to learn");
    assert_eq!(learn(&bits, &[2; 100]), "row 0 has label 2: a tree learns two classes, 0 and 1");
    assert!(
        BitMatrix::from_bools(3, &[true; 10]).unwrap_err().to_string().contains("rows of unequal length")
    );
}

#[test]
fn an_observer_sees_all_the_work_and_can_stop_it() {
    use std::sync::atomic::{AtomicU64, Ordering};
    struct StopAt(AtomicU64, u64);
    impl Observer for StopAt {
        fn progress(&self, progress: gatewood::learn::Progress) {
            assert!(progress.done <= progress.total);
            self.0.fetch_max(progress.done, Ordering::Relaxed);
        }
        fn stop(&self) -> bool {
            self.0.load(Ordering::Relaxed) >= self.1
        }
    }
    let (bits, labels) = rows(500, 20, 2);
    for (climb, total, threads) in [(0, 1365, 1), (0, 1365, 16), (5000, 1365 + 5000 * 3, 2)] {
        let settings = TreeSettings { depth: 6, climb, threads, ..TreeSettings::default() };
        let all = StopAt(AtomicU64::new(0), u64::MAX);
        fit_tree(bits.view(), &labels, &settings, &all).unwrap();
        assert_eq!(all.0.into_inner(), total);
        let half = StopAt(AtomicU64::new(0), total / 2);
        assert!(fit_tree(bits.view(), &labels, &settings, &half).unwrap_err().is_cancelled());
    }
}
