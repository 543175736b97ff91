//! Reading bytes without trusting the sizes a file states, and without taking memory that is not there.

use std::io::{BufRead, ErrorKind, Read};

use gatewood::{Error, Result, memory};

/// Bytes asked for at a time.
const CHUNK: usize = 1 << 16;

/// Reads exactly `N` bytes of `what`.
pub(crate) fn read_array<const N: usize>(reader: &mut dyn Read, what: &str) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        match reader.read(&mut bytes[filled..]) {
            Ok(0) => {
                return Err(Error::file(format!("the file ends after {filled} of the {N} bytes of {what}")));
            }
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io(error.to_string())),
        }
    }
    Ok(bytes)
}

/// Reads exactly `length` bytes and checks that nothing follows. Memory grows with what is read, not with what is stated.
pub(crate) fn read_to_length(reader: &mut dyn Read, length: usize, what: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    memory::reserve(&mut bytes, length.min(1 << 24))?;
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
    loop {
        memory::reserve(bytes, CHUNK)?;
        let room = bytes.capacity() - bytes.len();
        match reader.take(room as u64).read_to_end(bytes) {
            Ok(count) if count < room => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                return Err(Error::too_large("the file does not fit in memory"));
            }
            Err(error) => return Err(Error::io(error.to_string())),
        }
    }
}

/// Reads one line into an emptied buffer, with its end; the buffer stays empty at the end of the file.
///
/// # Errors
/// When the line is longer than `longest` bytes, which the message says in megabytes; the caller names the line.
pub(crate) fn read_line(reader: &mut dyn BufRead, line: &mut Vec<u8>, longest: usize) -> Result<()> {
    line.clear();
    loop {
        let part = match reader.fill_buf() {
            Ok(part) => part,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::io(error.to_string())),
        };
        let end = part.iter().position(|&byte| byte == b'\n');
        let part = &part[..end.map_or(part.len(), |end| end + 1)];
        if line.len() + part.len() > longest {
            return Err(Error::file(format!("longer than {} MB", longest >> 20)));
        }
        memory::reserve(line, part.len())?;
        line.extend_from_slice(part);
        let count = part.len();
        reader.consume(count);
        if end.is_some() || count == 0 {
            return Ok(());
        }
    }
}
