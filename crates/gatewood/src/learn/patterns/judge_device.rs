//! Patterns climbed by a device.

use super::climb::{ARITY, Climb, ClimbPatterns, Found};
use super::packed::PackedPlanes;
use super::sketch::MOST_READ;
use crate::circuit::{Pattern, Planes};
use crate::learn::device::{Device, DevicePlanes, Handle, PatternClimb, PatternFound, PlanesToLoad};
use crate::learn::engine::{DeviceEngine, Picks};
use crate::learn::gate::LogTable;
use crate::pool::each_awake;
use crate::random::Stream;
use crate::{Error, Result};

/// Planes in the memory of a device.
pub(super) struct PlanesThere(Box<dyn DevicePlanes>);

impl PlanesThere {
    /// # Errors
    /// When the memory of the device does not hold them, or the device fails; so do all others.
    pub(super) fn load(
        device: &dyn Device,
        planes: &Planes,
        packed: &PackedPlanes,
        logs: &LogTable,
        climb: &Climb<'_>,
    ) -> Result<Self> {
        let limits = &climb.limits;
        let apart = climb.plan.kinds.iter().map(|kind| limits.apart(kind) as u32);
        let to_load = PlanesToLoad {
            size: (planes.width(), planes.height()),
            words: packed.words(),
            width: packed.width(),
            rows: packed.rows(),
            areas: &climb.draw.areas(),
            levels: limits.levels,
            apart: &apart.collect::<Vec<_>>(),
            counts: climb.plan.counts > 0,
            trials: climb.plan.trials as usize,
            logs,
            sample_rows: climb.plan.sample_rows,
        };
        device.planes(&to_load).map(Self)
    }
}

impl ClimbPatterns<DeviceEngine<'_>> for PlanesThere {
    fn trees(
        &self,
        climb: &Climb<'_>,
        rows: Vec<(Picks, Stream)>,
        weights: &[u32],
    ) -> Result<Vec<Vec<Found>>> {
        let (picks, mut streams): (Vec<Picks>, Vec<Stream>) = rows.into_iter().unzip();
        let mut trees: Vec<Vec<Found>> = picks.iter().map(|_| Vec::with_capacity(ARITY)).collect();
        let mut samples = self.0.gather(&picks)?;
        // All trees get their first pattern, then their second, and so on.
        for place in 0..ARITY {
            let begin = |(tree, stream): (usize, &mut Stream)| {
                let drawn = climb.drawn(weights, stream);
                // The numbers that variations may read.
                let begun = stream.place();
                let random = (0..MOST_READ * climb.plan.trials as usize).map(|_| stream.number()).collect();
                let is_last = place + 1 == ARITY;
                (begun, PatternClimb { tree, drawn, random, is_last })
            };
            let growing = (0..).zip(&mut streams).filter(|(tree, _)| trees[*tree].len() == place);
            let (begun, climbs): (Vec<u128>, Vec<PatternClimb>) =
                each_awake(growing.collect(), begin).into_iter().unzip();
            let found = self.0.climb(&mut samples, &climbs)?;
            for ((begun, PatternClimb { tree, .. }), found) in begun.into_iter().zip(&climbs).zip(found) {
                let Some(PatternFound { sketch, threshold, read }) = found else { continue };
                streams[*tree].go_on_from(begun + read as u128);
                let pattern =
                    climb.pattern(&sketch).ok_or_else(|| Error::data("a device found no pattern"))?;
                let pattern = pattern.with_thresholds(vec![threshold])?;
                trees[*tree].push(Found { sketch, pattern });
            }
        }
        Ok(trees)
    }

    fn addresses(&self, trees: &[Vec<&Pattern>]) -> Result<Vec<Handle>> {
        self.0.addresses(trees)
    }
}
