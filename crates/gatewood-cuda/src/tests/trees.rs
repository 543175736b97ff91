//! The paper's tree, learned by a device, is that of the processor.

use gatewood::learn::{Criterion, Judge, Silent, TreeSettings, Unseen, fit_tree, fit_tree_on};

use super::limited::Limited;
use super::{devices, rows};
use crate::CudaDevice;

#[test]
fn trees_of_every_arity() {
    let shapes = [(1, 3), (2, 5), (3, 3), (4, 3), (5, 2), (6, 2), (7, 2), (12, 1)];
    for (number, (arity, depth)) in shapes.into_iter().enumerate() {
        let (bits, labels) = rows(300 + 550 * (number % 3), 40, 2, number as u64);
        let (criterion, unseen) = match number % 3 {
            0 => (Criterion::InformationGain, Unseen::Prior),
            1 => (Criterion::Accuracy, Unseen::Prior),
            _ => (Criterion::InformationGain, Unseen::Zero),
        };
        let settings =
            TreeSettings { arity, depth, criterion, unseen, seed: 5, threads: 1, ..TreeSettings::default() };
        let expected = fit_tree(bits.view(), &labels, &settings, &Silent).unwrap();
        for device in devices() {
            let found = fit_tree_on(&**device, bits.view(), &labels, &settings, &Silent).unwrap();
            assert_eq!(found, expected, "arity {arity}, depth {depth}");
        }
    }
}

/// Trees that are climbed, with every way to fit and to judge.
#[test]
fn climbed_trees() {
    let shapes = [(2, 4, 2), (4, 3, 2), (3, 3, 3), (2, 3, 1), (5, 2, 2), (6, 2, 1), (7, 2, 1), (1, 3, 2)];
    for (number, (arity, depth, height)) in shapes.into_iter().enumerate() {
        let (bits, labels) = rows(300 + 550 * (number % 3), 25, 2, 20 + number as u64);
        for variant in 0..4 {
            let (criterion, unseen, judge) = match variant {
                0 => (Criterion::InformationGain, Unseen::Prior, Judge::Better),
                1 => (Criterion::Accuracy, Unseen::Prior, Judge::NotWorse),
                2 => (Criterion::InformationGain, Unseen::Zero, Judge::NotWorse),
                _ => (Criterion::Accuracy, Unseen::Zero, Judge::Better),
            };
            let climb = 300;
            let settings =
                TreeSettings { arity, depth, height, climb, criterion, unseen, judge, seed: 5, threads: 1 };
            let expected = fit_tree(bits.view(), &labels, &settings, &Silent).unwrap();
            let greedy = TreeSettings { climb: 0, ..settings.clone() };
            assert_ne!(fit_tree(bits.view(), &labels, &greedy, &Silent).unwrap(), expected);
            for device in devices() {
                let found = fit_tree_on(&**device, bits.view(), &labels, &settings, &Silent).unwrap();
                assert_eq!(
                    found, expected,
                    "arity {arity}, depth {depth}, height {height}, variant {variant}"
                );
            }
        }
    }
}

/// With little memory a tree is grown piece by piece; with less it is refused.
#[test]
fn trees_in_little_memory() {
    let (bits, labels) = rows(3000, 30, 2, 9);
    let greedy = TreeSettings { arity: 2, depth: 7, threads: 1, ..TreeSettings::default() };
    let climbed = TreeSettings { climb: 50, ..greedy.clone() };
    let grow = |device: &CudaDevice, settings: &TreeSettings| {
        fit_tree_on(device, bits.view(), &labels, settings, &Silent)
    };
    // A column takes about 400 bytes. The whole tree has outputs of 97 at a time, 144 where it is climbed, 20 at the least.
    for device in devices() {
        for (settings, limit) in [(&greedy, 64_000), (&climbed, 90_000)] {
            let expected = fit_tree(bits.view(), &labels, settings, &Silent).unwrap();
            assert_eq!(grow(&CudaDevice(Limited::new(device, limit)), settings).unwrap(), expected);
        }
        for (limit, what) in [(45_000, "outputs of a tree"), (30_000, "30 columns")] {
            let error = grow(&CudaDevice(Limited::new(device, limit)), &greedy).unwrap_err();
            assert!(error.is_too_large() && error.to_string().contains("--device cpu"), "{error}");
            assert!(error.to_string().contains(what), "{error}");
        }
    }
}
