//! numpy archives: NPZ, a zip file of arrays, read from front to back.

use std::io::{BufRead, Read};

use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;
use gatewood::encode::{Column, Table};
use gatewood::{Error, Result};

use super::bytes::read_array;
use super::npy::{Array, Data, read_npy};
use super::table::{RawRows, ReadOptions};

/// What stands before a file in an archive.
struct Entry {
    name: String,
    deflated: bool,
    /// Checksum and packed size, unless they come after the file.
    known: Option<(u32, u64)>,
    /// Whether sizes after the file take eight bytes.
    wide: bool,
}

/// Reads an archive of arrays: the array `X` (or the only one of two dimensions, or the one asked for), and `y` as the
/// label.
pub(crate) fn read_npz(reader: &mut dyn BufRead, options: &ReadOptions) -> Result<RawRows> {
    let mut arrays = Vec::new();
    while let Some(entry) = next_entry(reader)? {
        let place = format!("array \"{}\"", entry.name);
        arrays.push(
            read_entry(reader, &entry).map_err(|error| error.at(&place)).map(|array| (entry.name, array))?,
        );
    }
    choose(arrays, options)
}

fn next_entry(reader: &mut dyn BufRead) -> Result<Option<Entry>> {
    let signature: [u8; 4] = read_array(reader, "an entry of the archive")?;
    match &signature {
        b"PK\x03\x04" => {}
        // The directory at the end: all files are read.
        b"PK\x01\x02" | b"PK\x05\x06" | b"PK\x06\x06" => return Ok(None),
        _ => return Err(Error::file("the archive is damaged: no entry where there should be one")),
    }
    let fixed: [u8; 26] = read_array(reader, "an entry of the archive")?;
    let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
    let long = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let (flags, method) = (short(2), short(4));
    let name = read_exactly(reader, short(22).into())?;
    let extra = read_exactly(reader, short(24).into())?;
    let name = String::from_utf8_lossy(&name).into_owned();
    if flags & 1 != 0 {
        return Err(Error::file(format!("\"{name}\" in the archive is encrypted")));
    }
    if !matches!(method, 0 | 8) {
        return Err(Error::file(format!(
            "\"{name}\" in the archive is packed by method {method}, which is not known"
        )));
    }
    let sizes = wide_sizes(&extra);
    let packed = if long(14) == u32::MAX { sizes.map(|sizes| sizes.1) } else { Some(long(14).into()) };
    let after = flags & 8 != 0;
    Ok(Some(Entry {
        name: name.trim_end_matches(".npy").to_owned(),
        deflated: method == 8,
        known: packed.filter(|_| !after).map(|packed| (long(10), packed)),
        wide: sizes.is_some(),
    }))
}

/// The sizes, plain and packed, in the extra fields of an entry that is ready for more than 4 GB.
fn wide_sizes(mut extra: &[u8]) -> Option<(u64, u64)> {
    while let [a, b, c, d, rest @ ..] = extra {
        let (id, length) = (u16::from_le_bytes([*a, *b]), usize::from(u16::from_le_bytes([*c, *d])));
        let (field, rest) = rest.split_at_checked(length)?;
        if id == 1 {
            let (words, _) = field.as_chunks::<8>();
            return Some((u64::from_le_bytes(*words.first()?), u64::from_le_bytes(*words.get(1)?)));
        }
        extra = rest;
    }
    None
}

fn read_exactly(reader: &mut dyn BufRead, length: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(length as u64).read_to_end(&mut bytes).map_err(|error| Error::io(error.to_string()))?;
    if bytes.len() < length {
        return Err(Error::file("the file ends inside an entry of the archive"));
    }
    Ok(bytes)
}

fn read_entry(reader: &mut dyn BufRead, entry: &Entry) -> Result<Array> {
    let limit = entry.known.map_or(u64::MAX, |known| known.1);
    let mut packed = reader.take(limit);
    // Without a stated size, the array itself tells where it ends.
    let ends = entry.known.is_some() || entry.deflated;
    let (array, checksum) = if entry.deflated {
        let mut unpacked = CrcReader::new(DeflateDecoder::new(&mut packed));
        (read_npy(&mut unpacked, ends)?, unpacked.crc().sum())
    } else {
        let mut unpacked = CrcReader::new(&mut packed);
        (read_npy(&mut unpacked, ends)?, unpacked.crc().sum())
    };
    match entry.known {
        Some((wanted, _)) if packed.limit() > 0 => Err(Error::file(format!(
            "the archive holds {} bytes after it (checksum {wanted:08x})",
            packed.limit()
        ))),
        Some((wanted, _)) if wanted != checksum => {
            Err(Error::file(format!("its checksum is {checksum:08x}, but should be {wanted:08x}")))
        }
        Some(_) => Ok(array),
        None => {
            skip_descriptor(reader, entry.wide)?;
            Ok(array)
        }
    }
}

/// Passes over the checksum and sizes that follow a file.
fn skip_descriptor(reader: &mut dyn BufRead, wide: bool) -> Result<()> {
    let first: [u8; 4] = read_array(reader, "the sizes after a file in the archive")?;
    let signed = first == *b"PK\x07\x08";
    let left = if wide { 16 } else { 8 } + if signed { 4 } else { 0 };
    read_exactly(reader, left).map(|_| ())
}

/// The name of the label that goes with an array: `y` with `X`, `y_train` with `x_train`.
fn label_names(array: &str) -> Vec<String> {
    let lower = array.to_lowercase();
    let rest = ["features", "data", "x"].iter().find_map(|start| lower.strip_prefix(start));
    let rest = rest.unwrap_or_default();
    ["y", "label", "labels", "target", "targets"].iter().map(|start| format!("{start}{rest}")).collect()
}

fn choose(mut arrays: Vec<(String, Array)>, options: &ReadOptions) -> Result<RawRows> {
    let listed = || arrays.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let position = match &options.array {
        Some(wanted) => arrays.iter().position(|(name, _)| name == wanted).ok_or_else(|| {
            Error::file(format!("there is no array \"{wanted}\" in the archive, but: {}", listed()))
        })?,
        None => {
            let named =
                arrays.iter().position(|(name, _)| matches!(name.as_str(), "X" | "x" | "data" | "features"));
            let mut wide = arrays.iter().enumerate().filter(|(_, (_, array))| array.dimensions > 1);
            let only = wide.next().filter(|_| wide.next().is_none()).map(|(position, _)| position);
            let single = (arrays.len() == 1).then_some(0);
            named.or(only).or(single).ok_or_else(|| {
                Error::file(format!("say which array of the archive holds the rows: {}", listed()))
            })?
        }
    };
    let (name, array) = arrays.swap_remove(position);
    let names = label_names(&name);
    let is_label =
        |(other, label): &(String, Array)| label.dimensions == 1 && names.contains(&other.to_lowercase());
    let label = arrays.iter().position(is_label).map(|position| arrays.swap_remove(position));
    let rows = array.rows;
    let table: Table = array.into_table()?;
    let label = match label {
        Some((label, array)) if array.rows != rows => {
            return Err(Error::file(format!(
                "array \"{name}\" has {rows} rows, but its label \"{label}\" has {}",
                array.rows
            )));
        }
        Some((label, Array { data: Data::Columns(mut columns), .. })) => {
            columns.pop().map(|column: Column| (label, column))
        }
        _ => None,
    };
    Ok(RawRows { table, label, note: None })
}
