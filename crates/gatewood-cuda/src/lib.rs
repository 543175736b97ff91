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
mod compile;
mod driver;
#[cfg(test)]
mod host;
mod rows;
#[cfg(test)]
mod tests;

pub use choice::DeviceChoice;

use std::sync::Arc;

use gatewood::Result;
use gatewood::learn::device::{Device, DeviceRows, RowsToLoad};

use backend::Backend;

/// A device that learns.
#[derive(Debug)]
struct CudaDevice(Arc<dyn Backend>);

impl Device for CudaDevice {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn load(&self, rows: &RowsToLoad<'_>) -> Result<Box<dyn DeviceRows>> {
        Ok(Box::new(rows::CudaRows::load(self.0.clone(), rows)?))
    }
}
