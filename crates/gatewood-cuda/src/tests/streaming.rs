//! Rows beyond the memory of a device are learned from all the same.

use gatewood::circuit::Span;
use gatewood::learn::device::Device;
use gatewood::learn::{Examples, GroveSettings, GroveTask, Silent, fit_grove};

use super::learning::settings;
use super::limited::Limited;
use super::{devices, rows};
use crate::CudaDevice;

const ROWS: usize = 12_000;
const COLUMNS: usize = 500;

/// The bytes of all columns.
const BYTES: usize = ROWS.div_ceil(64) * 8 * COLUMNS;

/// The grove is the same where columns are copied when they are needed, be they bits or spans.
#[test]
fn columns_are_copied_again_and_again() {
    let (bits, labels) = rows(ROWS, COLUMNS, 2, 11);
    let mut task = GroveTask::new(Examples { bits: bits.view(), targets: &labels, weights: None }, 2);
    let base = GroveSettings { rounds: Some(2), climb: Some(10), ..settings(3, 3, 2) };
    for (spans, what) in [(0, "bits"), (60, "spans")] {
        let span = |first: u32| match first % 2 {
            0 => Span::any(vec![first, first + 1, first + 40]).unwrap(),
            _ => Span::all(vec![first, first + 7]).unwrap(),
        };
        task.spans = (0..spans).map(span).collect();
        let expected = fit_grove(&task, &base, &Silent).unwrap();
        for device in devices() {
            let limited = Limited::new(device, BYTES);
            let small = CudaDevice(limited.clone());
            let mut task = task.clone();
            task.device = Some(&small);
            let found = fit_grove(&task, &base, &Silent).unwrap();
            assert_eq!(
                (found.grove, found.curve),
                (expected.grove.clone(), expected.curve.clone()),
                "{what}"
            );
            assert!(limited.most() < BYTES, "{} of {BYTES} bytes", limited.most());
        }
    }
}

/// What does not fit at all is refused before anything is copied, and the processor is offered.
#[test]
fn too_little_memory_is_a_clear_error() {
    let (bits, labels) = rows(5000, 20, 2, 12);
    for device in devices() {
        let small = CudaDevice(Limited::new(device, 50_000));
        let mut task = GroveTask::new(Examples { bits: bits.view(), targets: &labels, weights: None }, 2);
        task.device = Some(&small);
        let error = fit_grove(&task, &settings(3, 3, 2), &Silent).unwrap_err();
        assert!(error.is_too_large() && error.to_string().contains("--device cpu"), "{error}");
        assert!(small.name().contains(device.name()));
    }
}
