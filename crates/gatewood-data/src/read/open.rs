//! Opening files: plain, gzip, xz or zstandard, found by their first bytes and not by their names.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use gatewood::{Error, Result};

/// Bytes read from a file at a time.
const BUFFER: usize = 1 << 17;

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// As it is.
    Plain,
    /// gzip, one or more members.
    Gzip,
    /// xz.
    Xz,
    /// zstandard.
    Zstandard,
}

impl Packing {
    /// How a file that starts with these bytes is packed.
    pub fn of(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstandard,
            _ => Self::Plain,
        }
    }
}

/// Opens a file and unpacks it while it is read.
///
/// # Errors
/// When it cannot be opened; the message names it.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    let place = path.display();
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::io(format!("{place}: there is no such file")),
        _ => Error::io(format!("{place}: cannot be opened: {error}")),
    })?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Error::io(format!("{place}: this is a folder, but a file is wanted")));
    }
    unpack(Box::new(file)).map_err(|error| error.at(place))
}

/// Unpacks a stream while it is read: standard input, or a file opened elsewhere.
///
/// # Errors
/// When the first bytes cannot be read.
pub fn unpack(stream: Box<dyn Read + Send>) -> Result<Box<dyn BufRead + Send>> {
    let mut stream = BufReader::with_capacity(BUFFER, stream);
    let start = stream.fill_buf().map_err(|error| Error::io(format!("cannot be read: {error}")))?;
    let unpacked: Box<dyn Read + Send> = match Packing::of(start) {
        Packing::Plain => return Ok(Box::new(stream)),
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(stream)),
        Packing::Xz => Box::new(lzma_rust2::XzReader::new(stream, true)),
        Packing::Zstandard => Box::new(Frames { stream: Some(stream), frame: None }),
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER, Named(unpacked))))
}

/// Says in an error that it is the packing that is damaged.
struct Named<R>(R);

impl<R: Read> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, format!("the packed file is damaged or cut short ({error})")),
        })
    }
}

type Frame<R> = ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

/// All frames of a zstandard stream, one after the other.
struct Frames<R: BufRead> {
    stream: Option<R>,
    frame: Option<Frame<R>>,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                self.stream = self.frame.take().map(Frame::into_inner);
            }
            let Some(mut stream) = self.stream.take() else { return Ok(0) };
            if stream.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.frame = Some(
                Frame::new(stream)
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        unpack(Box::new(io::Cursor::new(bytes.to_vec()))).unwrap().read_to_end(&mut all).map(|_| all)
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// "gatewood\n" as the tools `xz` and `zstd` pack it.
    const XZ: &str = "fd377a585a000004e6d6b4460200210116000000742fe5a301000867617465776f6f640a00000000b520df88f184693e000121096c18c5d51fb6f37d010000000004595a";
    const ZSTANDARD: &str = "28b52ffd045849000067617465776f6f640ac2689edc";

    fn bytes(digits: &str) -> Vec<u8> {
        (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
    }

    #[test]
    fn every_packing_is_read_once_or_twice_in_a_row() {
        for packed in [b"gatewood\n".to_vec(), gzip(b"gatewood\n"), bytes(XZ), bytes(ZSTANDARD)] {
            assert_eq!(read(&packed).unwrap(), b"gatewood\n");
            assert_eq!(read(&packed.repeat(2)).unwrap(), b"gatewood\ngatewood\n");
        }
        assert_eq!(read(b"").unwrap(), b"");
    }

    #[test]
    fn a_packed_file_that_is_cut_short_is_an_error() {
        for packed in [gzip(b"gatewood\n"), bytes(XZ), bytes(ZSTANDARD)] {
            for length in 7..packed.len() {
                let error = read(&packed[..length]).expect_err("cut short");
                assert!(
                    error.to_string().starts_with("the packed file is damaged or cut short ("),
                    "{length}: {error}"
                );
            }
        }
    }
}
