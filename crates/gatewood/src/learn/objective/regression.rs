//! Values: one margin, the value in fixed point; or one for each of some quantiles.

use super::value_scale::in_ranges;
use super::{Hessian, Loss, Objective, ValueLoss, ValueScale, WEIGHT_ONE};
use crate::bits::kernels::{Kernels, Slope};
use crate::circuit::{Output, Quantiles, ValueOutput};
use crate::learn::device::DeviceObjective;
use crate::{Error, Result};

/// The part of the standard deviation within which the gradient of an absolute difference is not yet plus or minus one: with a
/// bend in place of a jump, leaves know how far to step.
pub(crate) const BEND: f64 = 0.2;

/// Bits of a target that the bins of a histogram leave out, and bins on either side of zero.
const BIN_SHIFT: u32 = 18;
const BINS: i32 = 1 << 12;

/// Learns values: the margin is the value in ranges above the offset of a [`ValueScale`].
#[derive(Debug, Clone)]
pub struct Regression {
    loss: ValueLoss,
    scale: ValueScale,
    unit: f64,
    /// How the gradient of each margin follows from what it falls short.
    slopes: Vec<Slope>,
}

/// A gradient in proportion to what a margin falls short, up to a size.
fn slope_within(size: f64, unit: f64) -> Slope {
    Slope { unit, centre: 0.0, low: -size, high: size }
}

/// The gradient of the pinball loss, with a bend of such a size around zero.
fn slope_of_quantile(level: f64, bend: f64, unit: f64) -> Slope {
    let centre = (2.0 * level - 1.0) * bend;
    Slope { unit, centre, low: -2.0 * (1.0 - level) * bend, high: 2.0 * level * bend }
}

impl Regression {
    /// For targets of such a scale, and votes that are worth `unit` ranges each.
    ///
    /// The loss is any but that of counts, which are [`Poisson`](super::Poisson)'s.
    pub fn new(loss: ValueLoss, scale: ValueScale, unit: f64) -> Self {
        let spread = scale.spread().min(1.0);
        let slopes = match loss {
            ValueLoss::Squared | ValueLoss::Poisson => vec![slope_within(1.0, unit)],
            ValueLoss::Huber => vec![slope_within(spread, unit)],
            ValueLoss::Absolute => vec![slope_within(BEND * spread, unit)],
            ValueLoss::Quantile(quantiles) => {
                let slope = |&level: &f64| slope_of_quantile(level, BEND * spread, unit);
                quantiles.levels().iter().map(slope).collect()
            }
        };
        Self { loss, scale, unit, slopes }
    }

    /// How far a margin falls short, in ranges.
    fn short(&self, margin: i32, target: u32) -> f64 {
        in_ranges(target) - self.unit * f64::from(margin)
    }

    /// The loss of a margin that falls short so far. It is one, on average, for squared error and margins at the mean.
    fn loss_of(&self, margin: usize, short: f64) -> f64 {
        let short = short / self.scale.spread();
        match self.loss {
            ValueLoss::Squared | ValueLoss::Poisson => short * short,
            ValueLoss::Huber if short.abs() <= 1.0 => short * short,
            ValueLoss::Huber => 2.0 * short.abs() - 1.0,
            ValueLoss::Absolute => short.abs(),
            ValueLoss::Quantile(quantiles) => {
                let level = quantiles.levels()[margin];
                2.0 * (level * short).max((level - 1.0) * short) / self.slopes.len() as f64
            }
        }
    }

    /// The quantiles where margins start; none where they start at the mean.
    fn starts(&self) -> Option<Vec<f64>> {
        match self.loss {
            ValueLoss::Absolute => Some(vec![0.5]),
            ValueLoss::Quantile(quantiles) => Some(quantiles.levels().to_vec()),
            _ => None,
        }
    }
}

/// The sum of targets and of weights, shifted so that four billion rows add up in 64 bits.
pub(super) fn mean_totals(targets: &[u32], weights: &[u32]) -> [i64; 2] {
    let mut totals = [0; 2];
    for (row, &target) in targets.iter().enumerate() {
        let weight = i64::from(*weights.get(row).unwrap_or(&WEIGHT_ONE));
        totals[0] += i64::from(target as i32 >> 8) * weight;
        totals[1] += weight;
    }
    totals
}

/// The mean target in ranges, of [`mean_totals`].
pub(super) fn mean_of(totals: &[i64]) -> Result<f64> {
    match totals {
        &[sum, weight @ 1..=i64::MAX, ..] => Ok(sum as f64 / weight as f64 * 256.0 / f64::from(1u32 << 30)),
        _ => Err(Error::data("all rows have weight zero")),
    }
}

/// The next power of two, which can be a unit.
pub(super) fn power_of_two(wanted: f64) -> f64 {
    libm::exp2(libm::ceil(libm::log2(wanted)).clamp(-28.0, 0.0))
}

fn bin(target: u32) -> usize {
    ((target as i32 >> BIN_SHIFT).clamp(-BINS, BINS - 1) + BINS) as usize
}

/// The target in ranges below which such a part of the weight lies.
fn quantile_of(histogram: &[i64], level: f64) -> f64 {
    let all: i64 = histogram.iter().sum();
    let (wanted, mut below) = (level * all as f64, 0);
    for (place, &weight) in histogram.iter().enumerate() {
        if (below + weight) as f64 >= wanted && weight > 0 {
            let part = (wanted - below as f64) / weight as f64;
            let width = f64::from(1u32 << BIN_SHIFT) / f64::from(1u32 << 30);
            return (place as f64 - f64::from(BINS) + part) * width;
        }
        below += weight;
    }
    0.0
}

impl Objective for Regression {
    fn margins(&self) -> usize {
        self.slopes.len()
    }

    fn recipe(&self) -> Option<super::Recipe> {
        Some(super::Recipe::Values { loss: self.loss, scale: self.scale, unit: self.unit })
    }

    fn accepts(&self, _: u32) -> bool {
        true
    }

    fn totals(&self, targets: &[u32], weights: &[u32]) -> Vec<i64> {
        let mut totals = mean_totals(targets, weights).to_vec();
        if self.starts().is_some() {
            totals.resize(2 + 2 * BINS as usize, 0);
            for (row, &target) in targets.iter().enumerate() {
                totals[2 + bin(target)] += i64::from(*weights.get(row).unwrap_or(&WEIGHT_ONE));
            }
        }
        totals
    }

    fn bias(&self, totals: &[i64]) -> Result<Vec<i32>> {
        let mean = mean_of(totals)?;
        let in_votes = |start: f64| libm::rint((start / self.unit).clamp(-1e9, 1e9)) as i32;
        Ok(match self.starts() {
            None => vec![in_votes(mean)],
            Some(levels) => levels.iter().map(|&level| in_votes(quantile_of(&totals[2..], level))).collect(),
        })
    }

    fn gradients(&self, margins: &[&[i32]], targets: &[u32], gradients: &mut [&mut [i32]]) {
        for ((gradients, margins), slope) in gradients.iter_mut().zip(margins).zip(&self.slopes) {
            for ((gradient, &margin), &target) in gradients.iter_mut().zip(*margins).zip(targets) {
                *gradient = slope.gradient(margin, target);
            }
        }
    }

    fn loss(&self, kernels: Kernels, margins: &[&[i32]], _: &[&[i32]], targets: &[u32]) -> Loss {
        if self.loss == ValueLoss::Squared {
            let spread = self.scale.spread();
            return Loss::new(0, kernels.squares(self.unit, targets, margins[0]) / (spread * spread));
        }
        let of_margin = |(place, margins): (usize, &&[i32])| -> f64 {
            let rows = margins.iter().zip(targets);
            rows.map(|(&margin, &target)| self.loss_of(place, self.short(margin, target))).sum()
        };
        Loss::new(0, margins.iter().enumerate().map(of_margin).sum())
    }

    /// Values are not scaled: the factor stays what it is.
    fn scaled(&self, margins: &[i32], target: u32, _: f64, _: f64) -> [f64; 3] {
        let of_margin = |(place, &margin)| self.loss_of(place, self.short(margin, target));
        [margins.iter().enumerate().map(of_margin).sum(), 0.0, 0.0]
    }

    fn max_step(&self) -> f64 {
        match self.loss {
            ValueLoss::Absolute | ValueLoss::Quantile(_) => {
                self.slopes.iter().fold(0.0, |most, slope| slope.high.max(-slope.low).max(most))
            }
            _ => 0.5,
        }
    }

    /// A power of two, so that what a margin stands for is exact.
    fn unit(&self, wanted: f64) -> f64 {
        power_of_two(wanted)
    }

    fn classifies(&self) -> bool {
        false
    }

    fn output(&self) -> Output {
        let quantiles = match self.loss {
            ValueLoss::Quantile(quantiles) => quantiles,
            _ => Quantiles::default(),
        };
        let output = ValueOutput::new(self.scale.offset(), self.scale.range() * self.unit);
        Output::Value(output.in_logarithm(self.scale.is_log()).with_quantiles(quantiles))
    }

    fn on_device(&self) -> DeviceObjective<'_> {
        let slopes = self.slopes.iter().map(|slope| [slope.centre, slope.low, slope.high]).collect();
        DeviceObjective::Slopes { unit: self.unit, slopes }
    }

    fn hessian(&self) -> Hessian {
        Hessian::One
    }

    fn update(
        &self,
        kernels: Kernels,
        votes: &[i32],
        addresses: &[u16],
        targets: &[u32],
        margins: &mut [i32],
        gradients: &mut [i32],
    ) {
        kernels.vote_values(addresses, votes, self.slopes[0], targets, margins, gradients);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::objective::ONE;

    fn losses() -> [ValueLoss; 4] {
        ["squared", "huber", "absolute", "quantile:0.1,0.5,0.8"].map(|text| text.parse().unwrap())
    }

    /// Gradients fall short as the loss does, and are never more than one.
    #[test]
    fn gradients_point_where_the_loss_falls() {
        let values = [0.0, 1.0, 2.0, 10.0];
        let scale = ValueScale::of(&values).unwrap();
        let targets: Vec<u32> = values.iter().map(|&value| scale.target(value)).collect();
        for loss in losses() {
            let objective = Regression::new(loss, scale, 1.0 / 4096.0);
            let count = objective.margins();
            for margin in [-4000, -700, 0, 300, 4000] {
                let margins = vec![vec![margin; values.len()]; count];
                let margins: Vec<&[i32]> = margins.iter().map(|margins| &margins[..]).collect();
                let mut gradients = vec![vec![0; values.len()]; count];
                let mut lists: Vec<&mut [i32]> = gradients.iter_mut().map(|list| &mut list[..]).collect();
                objective.gradients(&margins, &targets, &mut lists);
                for (place, gradients) in gradients.iter().enumerate() {
                    for (&target, &gradient) in targets.iter().zip(gradients) {
                        let short = objective.short(margin, target);
                        let at = |margin| objective.loss_of(place, objective.short(margin, target));
                        // Within the bend of a quantile, the gradient is that of a smoothed loss.
                        if short.abs() > BEND * scale.spread() || matches!(loss, ValueLoss::Squared) {
                            let slope = at(margin + 1) - at(margin - 1);
                            assert!(slope * f64::from(gradient) <= 0.0, "{loss} {margin}");
                        }
                        assert!(gradient.abs() <= ONE);
                    }
                }
            }
        }
    }

    /// Margins start at the mean, or at the quantiles.
    #[test]
    fn margins_start_where_no_column_is_needed() {
        let values: Vec<f64> = (0..1000).map(|row| f64::from(row) / 10.0).chain([500.0; 10]).collect();
        let scale = ValueScale::of(&values).unwrap();
        let targets: Vec<u32> = values.iter().map(|&value| scale.target(value)).collect();
        let mean = values.iter().sum::<f64>() / 1010.0;
        let starts = [vec![mean], vec![mean], vec![50.5], vec![10.1, 50.5, 80.8]];
        for (loss, expected) in losses().into_iter().zip(starts) {
            let objective = Regression::new(loss, scale, 1.0 / 65536.0);
            let bias = objective.bias(&objective.totals(&targets, &[])).unwrap();
            let Output::Value(output) = objective.output() else { unreachable!() };
            assert_eq!((bias.len(), output.margins()), (expected.len(), expected.len()));
            for (&bias, expected) in bias.iter().zip(expected) {
                let start = output.value(bias);
                assert!((start - expected).abs() < 0.2, "{loss}: {start} for {expected}");
            }
            assert!(objective.bias(&[0, 0]).unwrap_err().is_data());
        }
    }
}
