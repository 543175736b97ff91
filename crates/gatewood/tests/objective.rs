//! An objective of one's own: the hinge of two classes, in a few lines.

use std::sync::Arc;

use gatewood::bits::BitMatrix;
use gatewood::bits::kernels::Kernels;
use gatewood::learn::objective::{Hessian, Loss, ONE, Objective};
use gatewood::learn::{Examples, GroveSettings, GroveTask, Silent, fit_grove_for};
use gatewood::random::{Purpose, Stream};

/// The squared distance of the margin from one, on the side of the class.
#[derive(Debug)]
struct Toy(f64);

impl Toy {
    fn short(&self, margin: i32, target: u32) -> f64 {
        let side = if target == 1 { 1.0 } else { -1.0 };
        (side - self.0 * f64::from(margin)).clamp(-1.0, 1.0)
    }
}

impl Objective for Toy {
    fn margins(&self) -> usize {
        1
    }
    fn accepts(&self, target: u32) -> bool {
        target < 2
    }
    fn totals(&self, _: &[u32], _: &[u32]) -> Vec<i64> {
        Vec::new()
    }
    fn bias(&self, _: &[i64]) -> gatewood::Result<Vec<i32>> {
        Ok(vec![0])
    }
    fn gradients(&self, margins: &[&[i32]], targets: &[u32], gradients: &mut [&mut [i32]]) {
        for (row, gradient) in gradients[0].iter_mut().enumerate() {
            *gradient = (self.short(margins[0][row], targets[row]) * f64::from(ONE)) as i32;
        }
    }
    fn loss(&self, _: Kernels, margins: &[&[i32]], _: &[&[i32]], targets: &[u32]) -> Loss {
        let rows = || margins[0].iter().zip(targets).map(|(&margin, &target)| (margin, target));
        let wrong = rows().filter(|(margin, target)| (*margin > 0) != (*target == 1)).count();
        Loss::new(wrong as u64, rows().map(|(margin, target)| self.short(margin, target).powi(2)).sum())
    }
    fn scaled(&self, margins: &[i32], target: u32, factor: f64, _: f64) -> [f64; 3] {
        let (margin, side) = (self.0 * f64::from(margins[0]), if target == 1 { 1.0 } else { -1.0 });
        let short = side - factor * margin;
        [short * short, -2.0 * margin * short, 2.0 * margin * margin]
    }
    fn hessian(&self) -> Hessian {
        Hessian::One
    }
}

#[test]
fn a_grove_is_learned_for_an_objective_of_ones_own() {
    let mut stream = Stream::new(1, Purpose::Generate, 0);
    let rows: Vec<u64> = (0..2_000).map(|_| stream.bits()).collect();
    let bits: Vec<bool> = rows.iter().flat_map(|row| (0..16).map(move |bit| row >> bit & 1 == 1)).collect();
    let labels: Vec<u32> = rows.iter().map(|row| ((row ^ row >> 1) & 1 | row >> 2 & 1) as u32).collect();
    let bits = BitMatrix::from_bools(16, &bits).unwrap();
    let (train, test) = (&labels[..1_000], &labels[1_000..]);
    let halves = [0..1_000, 1_000..2_000].map(|rows| {
        let half: Vec<bool> = rows
            .flat_map(|row| (0..16).map(move |column| (row, column)))
            .map(|(row, column)| bits.get(row, column))
            .collect();
        BitMatrix::from_bools(16, &half).unwrap()
    });
    let examples = Examples { bits: halves[0].view(), targets: train, weights: None };
    for threads in [1, 3] {
        let settings = GroveSettings { threads, ..GroveSettings::default() };
        let fit =
            fit_grove_for(&|unit| Arc::new(Toy(unit)), &GroveTask::new(examples, 2), &settings, &Silent)
                .unwrap();
        assert_eq!(fit.grove.predict(halves[1].view(), 1).unwrap(), test);
    }
}
