//! Gatewood's learner on a GPU: the grove of the processor, bit for bit.
//!
//! The driver and its compiler NVRTC are looked for when a device is asked for; nothing is needed at build time.
//!
//! ```
//! use gatewood_cuda::DeviceChoice;
//! // None on a machine without a GPU: then the processor learns.
//! let device = "auto".parse::<DeviceChoice>()?.open(10_000_000)?;
//! if let Some(device) = &device {
//!     println!("learning on {}", device.name());
//! }
//! # Ok::<(), gatewood::Error>(())
//! ```
//!
//! - [`DeviceChoice`]: what people choose by name; [`DeviceChoice::open`] gives what
//!   [`Training`](gatewood::model::Training) and [`GroveTask`](gatewood::learn::GroveTask) take.

mod backend;
mod choice;
mod climb;
mod columns;
mod compile;
mod draw;
mod driver;
mod gates;
#[cfg(test)]
mod host;
mod planes;
mod rows;
mod run;
mod sheet;
#[cfg(test)]
mod tests;
mod tree_climb;
mod upload;

pub use choice::DeviceChoice;

use std::sync::Arc;

use gatewood::Result;
use gatewood::circuit::{Grove, PatternLayer};
use gatewood::learn::device::*;

use backend::Backend;

/// A device that learns.
#[derive(Debug)]
struct CudaDevice(Arc<dyn Backend>);

impl Device for CudaDevice {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn load<'a>(
        &self,
        columns: ColumnsToLoad<'a>,
        rows: &RowsToLoad<'_>,
    ) -> Result<Box<dyn DeviceRows + 'a>> {
        Ok(Box::new(rows::CudaRows::load(self.0.clone(), columns, rows)?))
    }

    fn grove(&self, grove: &Grove) -> Result<Box<dyn DeviceGrove>> {
        Ok(Box::new(run::CudaGrove::load(self.0.clone(), grove)?))
    }

    fn patterns(&self, patterns: &PatternLayer) -> Result<Box<dyn DevicePatterns>> {
        Ok(Box::new(run::CudaPatterns::load(self.0.clone(), patterns)?))
    }

    fn planes(&self, planes: &PlanesToLoad<'_>) -> Result<Box<dyn DevicePlanes>> {
        Ok(Box::new(planes::CudaPlanes::load(self.0.clone(), planes)?))
    }

    fn sheet(&self, rows: &SheetToLoad<'_>, room: usize) -> Result<Box<dyn DeviceSheet>> {
        Ok(Box::new(sheet::CudaSheet::load(self.0.clone(), rows, room)?))
    }
}
