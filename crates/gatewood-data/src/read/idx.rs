//! IDX: the format of MNIST and its kin. A big-endian header of sizes, then bytes.

use std::io::Read;

use super::bytes::{read_array, read_to_length};
use gatewood::{Error, Result};

/// The dimensions and bytes of an IDX file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idx {
    /// The size of each dimension; the first is the number of rows.
    pub dimensions: Vec<usize>,
    /// The values, row by row.
    pub bytes: Vec<u8>,
}

impl Idx {
    /// Number of rows: the first dimension.
    pub fn rows(&self) -> usize {
        self.dimensions[0]
    }

    /// Bytes of a row: the product of the other dimensions.
    pub fn row_bytes(&self) -> usize {
        self.dimensions[1..].iter().product()
    }
}

/// Reads an IDX file of unsigned bytes: labels (one dimension) or images (two to four).
///
/// # Errors
/// When it is not such a file, is cut short, or goes on past its end.
///
/// ```
/// let file = [0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9];
/// let labels = gatewood_data::read::read_idx(&mut &file[..])?;
/// assert_eq!(labels.bytes, [7, 8, 9]);
/// # Ok::<(), gatewood::Error>(())
/// ```
pub fn read_idx(reader: &mut dyn Read) -> Result<Idx> {
    let [zero, also_zero, kind, count] = read_array(reader, "the header of an IDX file")?;
    if (zero, also_zero) != (0, 0) || !(1..=4).contains(&count) {
        return Err(Error::file(format!(
            "not an IDX file: it starts with the bytes {zero:02x} {also_zero:02x} {kind:02x} {count:02x}"
        )));
    }
    if kind != 8 {
        return Err(Error::file(format!(
            "an IDX file of unsigned bytes (type 08) was expected, but its values are of type {kind:02x}"
        )));
    }
    let mut dimensions = Vec::with_capacity(usize::from(count));
    for _ in 0..count {
        let size = u32::from_be_bytes(read_array(reader, "the sizes in the header of an IDX file")?);
        dimensions.push(size as usize);
    }
    if let Some(place) = dimensions[1..].iter().position(|&size| size == 0) {
        return Err(Error::file(format!("dimension {} of the IDX file has size 0", place + 2)));
    }
    let shape = dimensions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
    // The bytes of a row first: no rows of very many bytes are too large as well.
    let length = dimensions
        .iter()
        .rev()
        .try_fold(1usize, |length, &size| length.checked_mul(size))
        .filter(|&length| length <= isize::MAX as usize)
        .ok_or_else(|| Error::too_large(format!("an IDX file of {shape} bytes does not fit in memory")))?;
    let bytes = read_to_length(reader, length, &format!("the {shape} values of an IDX file"))?;
    Ok(Idx { dimensions, bytes })
}
