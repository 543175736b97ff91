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

/// A file, opened once and unpacked while it is read.
pub(crate) struct Opened {
    /// Its content, unpacked.
    pub(crate) reader: Box<dyn BufRead + Send>,
    /// What messages call it.
    pub(crate) place: String,
    /// The file itself, where it can be read from any place: not packed, and not a pipe.
    pub(crate) file: Option<File>,
}

impl Opened {
    /// Opens a file, a pipe or a device; `-` is standard input.
    pub(crate) fn new(source: &str) -> Result<Self> {
        if source == "-" {
            let place = "standard input".to_owned();
            let (reader, _) = unpack_stream(Box::new(io::stdin())).map_err(|error| error.at(&place))?;
            return Ok(Self { reader, place, file: None });
        }
        Self::at_path(Path::new(source))
    }

    fn at_path(path: &Path) -> Result<Self> {
        let place = path.display().to_string();
        let file = File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::io(format!("{place}: there is no such file")),
            _ => Error::io(format!("{place}: cannot be opened: {error}")),
        })?;
        let metadata = file.metadata().ok();
        if metadata.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(Error::io(format!("{place}: this is a folder, but a file is wanted")));
        }
        let is_regular = metadata.is_some_and(|metadata| metadata.is_file());
        let again = if is_regular { file.try_clone().ok() } else { None };
        let (reader, packing) = unpack_stream(Box::new(file)).map_err(|error| error.at(&place))?;
        Ok(Self { reader, place, file: again.filter(|_| packing == Packing::Plain) })
    }

    /// Bytes in memory, as those of a file with this name.
    pub(crate) fn of_bytes(name: &str, bytes: Vec<u8>) -> Result<Self> {
        let (reader, _) = unpack_stream(Box::new(io::Cursor::new(bytes))).map_err(|error| error.at(name))?;
        Ok(Self { reader, place: name.to_owned(), file: None })
    }
}

/// Opens a file and unpacks it while it is read.
///
/// # Errors
/// When it cannot be opened; the message names it.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    Ok(Opened::at_path(path)?.reader)
}

/// Unpacks a stream while it is read: standard input, or a file opened elsewhere.
///
/// # Errors
/// When the first bytes cannot be read.
pub fn unpack(stream: Box<dyn Read + Send>) -> Result<Box<dyn BufRead + Send>> {
    unpack_stream(stream).map(|(reader, _)| reader)
}

fn unpack_stream(stream: Box<dyn Read + Send>) -> Result<(Box<dyn BufRead + Send>, Packing)> {
    let mut stream = BufReader::with_capacity(BUFFER, Filling::new(stream));
    let start = stream.fill_buf().map_err(|error| Error::io(format!("cannot be read: {error}")))?;
    let packing = Packing::of(start);
    let unpacked: Box<dyn Read + Send> = match packing {
        Packing::Plain => return Ok((Box::new(stream), packing)),
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(stream)),
        #[cfg(feature = "packed")]
        Packing::Xz => Box::new(lzma_rust2::XzReader::new(stream, true)),
        #[cfg(feature = "packed")]
        Packing::Zstandard => Box::new(Frames { stream: Some(stream), frame: None }),
        #[cfg(not(feature = "packed"))]
        _ => {
            return Err(Error::file(
                "the file is packed as xz or zstandard, which this program cannot unpack",
            ));
        }
    };
    Ok((Box::new(BufReader::with_capacity(BUFFER, Filling::new(Named(unpacked)))), packing))
}

/// Fills what it is given, however little a pipe or a decoder gives at a time: what is found out from the first bytes
/// does not depend on how they arrive.
struct Filling<R> {
    stream: R,
    /// What went wrong after the bytes that were given out.
    error: Option<io::Error>,
}

impl<R> Filling<R> {
    fn new(stream: R) -> Self {
        Self { stream, error: None }
    }
}

impl<R: Read> Read for Filling<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut filled = 0;
        while filled < buffer.len() {
            match self.stream.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if filled == 0 => return Err(error),
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        Ok(filled)
    }
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

#[cfg(feature = "packed")]
type Frame<R> = ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

/// All frames of a zstandard stream, one after the other.
#[cfg(feature = "packed")]
struct Frames<R: BufRead> {
    stream: Option<R>,
    frame: Option<Frame<R>>,
}

#[cfg(feature = "packed")]
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

    /// Gives one byte at a time, as a slow pipe does.
    struct Drops(Vec<u8>, usize);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = usize::from(self.1 < self.0.len() && !buffer.is_empty());
            buffer[..count].copy_from_slice(&self.0[self.1..self.1 + count]);
            self.1 += count;
            Ok(count)
        }
    }

    #[test]
    fn the_packing_is_known_however_slowly_bytes_arrive() {
        for packed in [b"gatewood\n".to_vec(), gzip(b"gatewood\n"), bytes(XZ), bytes(ZSTANDARD)] {
            let mut reader = unpack(Box::new(Drops(packed, 0))).unwrap();
            assert_eq!(reader.fill_buf().unwrap(), b"gatewood\n");
        }
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
