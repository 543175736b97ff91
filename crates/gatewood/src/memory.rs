//! Asking whether there is memory before taking it.

use crate::{Error, Result};

/// Below this many bytes nothing is asked.
const SMALL: usize = 64 << 20;

/// Checks that `bytes` more bytes of memory can be had, as far as the system tells.
///
/// # Errors
/// Says how much is needed and how much is there.
pub(crate) fn check(bytes: usize) -> Result<()> {
    if bytes < SMALL {
        return Ok(());
    }
    match available() {
        Some(available) if bytes > available => Err(Error::too_large(format!(
            "{} of memory are needed, but only {} are free",
            megabytes(bytes),
            megabytes(available)
        ))),
        _ => Ok(()),
    }
}

fn megabytes(bytes: usize) -> String {
    format!("{} MB", bytes / 1_000_000)
}

/// Bytes that can be taken without swapping, where the system says so (Linux).
fn available() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: usize = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn more_than_any_machine_has_is_refused() {
        if super::available().is_some() {
            assert!(super::check(usize::MAX / 2).unwrap_err().is_too_large());
        }
        assert!(super::check(1000).is_ok());
    }
}
