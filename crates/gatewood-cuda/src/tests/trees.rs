//! The paper's tree, learned by a device, is that of the processor.

use gatewood::learn::{Criterion, Silent, TreeSettings, Unseen, fit_tree, fit_tree_on};

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

/// With little memory a tree is grown piece by piece; with less it is refused, and so is hill climbing.
#[test]
fn memory_and_climbing() {
    let (bits, labels) = rows(3000, 30, 2, 9);
    let settings = TreeSettings { arity: 2, depth: 7, threads: 1, ..TreeSettings::default() };
    let expected = fit_tree(bits.view(), &labels, &settings, &Silent).unwrap();
    let grow = |device: &CudaDevice, settings: &TreeSettings| {
        fit_tree_on(device, bits.view(), &labels, settings, &Silent)
    };
    // A column takes about 450 bytes; the whole tree has outputs of 97 at a time, in pieces of 29 at the least.
    for device in devices() {
        let limited = Limited::new(device, 40_000);
        assert_eq!(grow(&CudaDevice(limited.clone()), &settings).unwrap(), expected);
        for (limit, what) in [(20_000, "outputs of a tree"), (10_000, "30 columns")] {
            let error = grow(&CudaDevice(Limited::new(device, limit)), &settings).unwrap_err();
            assert!(error.is_too_large() && error.to_string().contains("--device cpu"), "{error}");
            assert!(error.to_string().contains(what), "{error}");
        }
        let climbed = TreeSettings { climb: 10, ..settings.clone() };
        assert!(grow(device, &climbed).is_err_and(|error| error.is_setting()));
    }
}
