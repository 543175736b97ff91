//! Patterns judged by a device.

use super::climb::Judge;
use super::packed::PackedPlanes;
use crate::Result;
use crate::circuit::{Pattern, Planes};
use crate::learn::device::{Device, DevicePlanes, Handle, PlanesToLoad};
use crate::learn::engine::{DeviceEngine, Picks};
use crate::learn::gate::LogTable;

/// Patterns that are judged at once.
const AT_ONCE: usize = 32;

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
        sample_rows: usize,
    ) -> Result<Self> {
        let to_load = PlanesToLoad {
            size: (planes.width(), planes.height()),
            words: packed.words(),
            width: packed.width(),
            rows: packed.rows(),
            logs,
            sample_rows,
        };
        device.planes(&to_load).map(Self)
    }
}

impl Judge<DeviceEngine<'_>> for PlanesThere {
    type Sample = Handle;

    fn at_once(&self) -> usize {
        AT_ONCE
    }

    fn gather(&self, picks: &Picks) -> Result<Handle> {
        self.0.gather(picks)
    }

    fn judge(&self, sample: &Handle, patterns: &[Pattern]) -> Result<Vec<(i64, usize)>> {
        self.0.judge(sample, patterns)
    }

    fn part(&self, sample: &mut Handle, pattern: &Pattern) -> Result<()> {
        self.0.part(sample, pattern)
    }

    fn addresses(&self, trees: &[Vec<&Pattern>]) -> Result<Vec<Handle>> {
        self.0.addresses(trees)
    }
}
