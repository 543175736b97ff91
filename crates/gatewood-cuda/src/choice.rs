//! Choosing a device by name.

use std::str::FromStr;
use std::sync::Arc;

use gatewood::learn::device::Device;
use gatewood::{Error, Result};

use crate::CudaDevice;
use crate::driver::CudaBackend;

/// Rows from which a GPU is taken where the choice is automatic. With fewer, most of the time goes into telling it what to do.
const MANY_ROWS: usize = 200_000;

/// Where a grove is learned or run: `cpu`, `cuda`, `cuda:N` or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// The processor.
    #[default]
    Cpu,
    /// The GPU of this number.
    Cuda(u32),
    /// The first GPU, where there is one and rows are many; else the processor.
    Auto,
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            "auto" => Ok(Self::Auto),
            _ => {
                let number = text.strip_prefix("cuda:").and_then(|number| number.parse().ok());
                number.map(Self::Cuda).ok_or_else(|| {
                    Error::setting(format!("{text} is not a device: there are cpu, cuda, cuda:N and auto"))
                })
            }
        }
    }
}

impl DeviceChoice {
    /// The device for so many rows; none for the processor.
    ///
    /// # Errors
    /// When a GPU is chosen and there is none, or it cannot be used. The message says why.
    pub fn open(self, rows: usize) -> Result<Option<Arc<dyn Device>>> {
        let number = match self {
            Self::Cpu => return Ok(None),
            Self::Auto if rows < MANY_ROWS => return Ok(None),
            Self::Auto => 0,
            Self::Cuda(number) => number,
        };
        match CudaBackend::open(number) {
            Ok(backend) => Ok(Some(Arc::new(CudaDevice(Arc::new(backend))))),
            Err(_) if self == Self::Auto => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The device to predict on; none for the processor. An automatic choice is the processor: for how many rows a GPU would
    /// pay has not been measured.
    ///
    /// # Errors
    /// As [`DeviceChoice::open`].
    pub fn open_to_predict(self) -> Result<Option<Arc<dyn Device>>> {
        match self {
            Self::Cuda(_) => self.open(0),
            Self::Cpu | Self::Auto => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_chosen_by_name() {
        let choice = |text: &str| text.parse::<DeviceChoice>();
        assert_eq!(choice("cpu"), Ok(DeviceChoice::Cpu));
        assert_eq!(choice("cuda"), Ok(DeviceChoice::Cuda(0)));
        assert_eq!(choice("cuda:3"), Ok(DeviceChoice::Cuda(3)));
        assert_eq!(choice("auto"), Ok(DeviceChoice::Auto));
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "CPU"] {
            assert!(choice(text).unwrap_err().is_setting(), "{text}");
        }
    }

    #[test]
    fn few_rows_are_left_to_the_processor() {
        assert!(DeviceChoice::Auto.open(1000).unwrap().is_none());
        assert!(DeviceChoice::Cpu.open(usize::MAX).unwrap().is_none());
        assert!(DeviceChoice::Cpu.open_to_predict().unwrap().is_none());
        assert!(DeviceChoice::Auto.open_to_predict().unwrap().is_none());
    }

    /// Without a driver, the message says what to do; with one, there is no device of such a number.
    #[test]
    fn a_missing_device_is_a_clear_error() {
        let choice = DeviceChoice::Cuda(1000);
        for opened in [choice.open(1), choice.open_to_predict()] {
            let error = opened.unwrap_err().to_string();
            assert!(error.contains("--device cpu"), "{error}");
        }
    }
}
