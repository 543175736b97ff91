//! The set that ships in the binary: the 3s and 5s of MNIST, one bit a pixel, in the paper's split.

use std::io::Read;

use crate::read::bytes::{read_array, read_to_length};
use gatewood::Result;
use gatewood::bits::BitMatrix;

/// Made by `cargo xtask make-mnist35`: zlib over two counts, the labels (1 for a 5) and the rows, 98 bytes each.
#[cfg(feature = "digits")]
pub(crate) static MNIST35: &[u8] = include_bytes!("../assets/mnist35.bin");

/// Bits of a row.
pub(crate) const PIXELS: usize = 28 * 28;

/// The training and the test rows of that file, each with the class of every row: 0 for a 3, 1 for a 5.
pub(crate) fn mnist35(packed: &[u8]) -> Result<[(BitMatrix, Vec<u32>); 2]> {
    let mut reader = flate2::read::ZlibDecoder::new(packed);
    let counts = [(); 2].map(|()| read_array(&mut reader, "the embedded set"));
    let [train, test] = counts.map(|count| count.map(|bytes| u32::from_le_bytes(bytes) as usize));
    let (train, test) = (train?, test?);
    let mut labels = vec![0; train + test];
    reader.read_exact(&mut labels).map_err(|error| gatewood::Error::io(error.to_string()))?;
    let row_bytes = PIXELS / 8;
    let rows = read_to_length(&mut reader, (train + test) * row_bytes, "the embedded set")?;
    let part = |first: usize, count: usize| -> Result<(BitMatrix, Vec<u32>)> {
        let bits =
            BitMatrix::from_packed_rows(count, PIXELS, &rows[first * row_bytes..][..count * row_bytes])?;
        Ok((bits, labels[first..first + count].iter().map(|&label| u32::from(label)).collect()))
    };
    Ok([part(0, train)?, part(train, test)?])
}
