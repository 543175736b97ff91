//! Reading bytes without trusting the sizes a file states.

use std::io::Read;

use gatewood::{Error, Result};

/// Reads exactly `N` bytes of `what`.
pub(crate) fn read_array<const N: usize>(reader: &mut dyn Read, what: &str) -> Result<[u8; N]> {
    let mut bytes = Vec::new();
    read_whole(&mut reader.take(N as u64), &mut bytes)?;
    bytes.try_into().map_err(|bytes: Vec<u8>| {
        Error::file(format!("the file ends after {} of the {N} bytes of {what}", bytes.len()))
    })
}

/// Reads exactly `length` bytes and checks that nothing follows. Memory grows with what is read, not with what is stated.
pub(crate) fn read_to_length(reader: &mut dyn Read, length: usize, what: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.reserve_exact(length.min(1 << 24));
    read_whole(&mut reader.take(length as u64), &mut bytes)?;
    if bytes.len() < length {
        return Err(Error::file(format!("the file ends after {} of {what}", bytes.len())));
    }
    let mut more = [0];
    if reader.read(&mut more).map_err(|error| Error::io(error.to_string()))? != 0 {
        return Err(Error::file(format!("the file goes on after {what}")));
    }
    Ok(bytes)
}

/// Reads all there is into an emptied buffer.
pub(crate) fn read_whole(reader: &mut dyn Read, bytes: &mut Vec<u8>) -> Result<()> {
    bytes.clear();
    reader.read_to_end(bytes).map(|_| ()).map_err(|error| match error.kind() {
        std::io::ErrorKind::OutOfMemory => Error::too_large("the file does not fit in memory"),
        _ => Error::io(error.to_string()),
    })
}
