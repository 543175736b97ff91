//! The binary version of CIFAR-10: records of a label byte and 3,072 bytes of colour.

use std::io::Read;

use super::bytes::read_whole;
use gatewood::{Error, Result, memory};

/// Bytes of a record: the label, then 32 by 32 bytes each of red, green and blue.
pub const CIFAR_RECORD: usize = 1 + CIFAR_PIXELS;

/// Bytes of an image.
pub const CIFAR_PIXELS: usize = 3 * 32 * 32;

/// The labels and images of a CIFAR-10 file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cifar {
    /// The class of each image, 0 to 9.
    pub labels: Vec<u8>,
    /// [`CIFAR_PIXELS`] bytes an image: the red plane, the green, the blue, each row by row.
    pub bytes: Vec<u8>,
}

/// Reads a CIFAR-10 binary file and adds the images of the classes that `keep` picks to `images`.
///
/// # Errors
/// When the file is not whole records, or a label is past 9.
pub fn read_cifar(reader: &mut dyn Read, keep: &dyn Fn(u8) -> bool, images: &mut Cifar) -> Result<()> {
    let mut record = Vec::new();
    for row in 0usize.. {
        read_whole(&mut reader.take(CIFAR_RECORD as u64), &mut record)?;
        if record.is_empty() {
            if row == 0 {
                return Err(Error::file("the CIFAR file is empty"));
            }
            break;
        }
        if record.len() < CIFAR_RECORD {
            return Err(Error::file(format!(
                "record {row} of the CIFAR file has {} bytes instead of {CIFAR_RECORD}: the file is cut short, or not of \
                 this format",
                record.len()
            )));
        }
        let label = record[0];
        if label > 9 {
            return Err(Error::file(format!(
                "record {row} of the CIFAR file has label {label}, which is past 9"
            )));
        }
        if keep(label) {
            memory::reserve(&mut images.labels, 1)?;
            memory::reserve(&mut images.bytes, CIFAR_PIXELS)?;
            images.labels.push(label);
            images.bytes.extend_from_slice(&record[1..]);
        }
    }
    Ok(())
}
