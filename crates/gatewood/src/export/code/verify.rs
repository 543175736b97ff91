//! Whether exported C or Rust computes what the model computes, tested on random rows.

use std::path::Path;
use std::time::Duration;

use super::compile::{Source, answers};
use super::harness::{HARNESS_BLOCK, harness, raw_harness, raw_value_harness, value_harness};
use super::raw_rows::raw_rows;
use crate::bits::BitMatrix;
use crate::circuit::Deadline;
use crate::export::{Format, VerifyOptions, test_rows};
use crate::model::Model;
use crate::platform::programs::Folder;
use crate::{Error, Result};

/// What a test of exported C or Rust found. It is a test, not a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeTest {
    /// Rows of bits that were sent through the functions for one row, for 64 and for 256, and through that for margins.
    pub rows: usize,
    /// Rows of raw values that were sent through the function that takes them; 0 where the file has none.
    pub raw_rows: usize,
    /// The first row that differs, in words; nothing when all rows agree.
    pub difference: Option<String>,
}

/// How exported C or Rust is tested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodeTestOptions {
    /// Random rows at the least.
    pub rows: usize,
    /// The time that compiling and running may take in all.
    pub time_limit: Option<Duration>,
}

impl Default for CodeTestOptions {
    fn default() -> Self {
        Self { rows: 100_000, time_limit: Some(VerifyOptions::TIME_LIMIT) }
    }
}

/// Compiles a file of exported C or Rust and compares what it says of random rows with what the model says.
///
/// The C compiler is `$CC` or `cc`, the Rust compiler `$RUSTC` or `rustc`.
///
/// # Errors
/// When the format is neither C nor Rust, the file is not one that was exported, or the compiler is missing or
/// refuses it.
pub fn test_code(model: &Model, format: Format, path: &Path, options: &CodeTestOptions) -> Result<CodeTest> {
    if !matches!(format, Format::C | Format::Rust) {
        return Err(Error::setting(format!("{format} is not a program; C and Rust are")));
    }
    let source = Source::open(format, path)?;
    let deadline = Deadline::after(options.time_limit);
    let rows = options
        .rows
        .max(1)
        .checked_next_multiple_of(HARNESS_BLOCK)
        .ok_or_else(|| Error::too_large(format!("{} rows are more than can be tested", options.rows)))?;
    let is_value = model.circuit().says_values();
    let difference = match is_value {
        true => test_value_bits(model, &source, rows, deadline)?,
        false => test_bits(model, &source, rows, deadline)?,
    };
    let mut test = CodeTest { rows, raw_rows: 0, difference };
    if test.difference.is_none() && source.has_function("raw") {
        test.raw_rows = rows;
        test.difference = match is_value {
            true => test_raw_values(model, &source, rows, deadline)?,
            false => test_raw(model, &source, rows, deadline)?,
        };
    }
    Ok(test)
}

/// The outputs that a file shows for a class: its number, and after it one output a class where it has them.
struct Shown {
    class_bits: u32,
    one_hot: bool,
}

impl Shown {
    fn of(model: &Model, source: &Source) -> Result<Self> {
        let classes = model.classes().len();
        let class_bits = (usize::BITS - classes.saturating_sub(1).leading_zeros()).max(1);
        let outputs = source.outputs()?;
        let one_hot = outputs == class_bits as usize + classes;
        if !one_hot && outputs != class_bits as usize {
            return Err(Error::data(format!(
                "{} has {outputs} outputs, which code of the model never has",
                source.path.display()
            )));
        }
        Ok(Self { class_bits, one_hot })
    }

    fn word(&self, class: u32) -> u64 {
        let class = u64::from(class);
        if self.one_hot { class | 1 << (u64::from(self.class_bits) + class) } else { class }
    }
}

fn check_count(source: &Source, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let path = source.path.display();
    Err(Error::data(format!("the program of {path} wrote {found} words instead of {expected}")))
}

/// Sends rows of bits through the functions for one row, for 64 and for 256, and through that for the margins.
fn test_bits(model: &Model, source: &Source, rows: usize, deadline: Deadline) -> Result<Option<String>> {
    let has_margins = source.has_function("margins");
    let folder = Folder::new()?;
    let main = harness(source.format, &source.options, &source.path, has_margins)?;
    let program = source.compile(&folder, &main, deadline)?;
    let bits = test_rows(rows, model.circuit().inputs(), 0)?;
    let answers = answers(&program, packed(&bits), deadline)?;
    let shown = Shown::of(model, source)?;
    let prediction = model.predict_bits(bits.view(), 0)?;
    let margins = prediction.margins().filter(|_| has_margins);
    let width = 3 + margins.map_or(0, |_| prediction.width().unwrap_or(0));
    check_count(source, answers.len(), rows * width)?;
    for (row, words) in answers.chunks(width).enumerate() {
        let outputs = shown.word(prediction.classes()[row]);
        let expected = margins.map_or(&[][..], |margins| &margins[row * (width - 3)..][..width - 3]);
        let said: Vec<i64> = words[3..].iter().map(|&word| word as i64).collect();
        let differs = if words[..3].iter().any(|&word| word != outputs) {
            let (one, narrow, wide) = (words[0], words[1], words[2]);
            format!(
                "the outputs are {outputs}, but the file says {one} (row), {narrow} (64 rows), {wide} (256 rows)"
            )
        } else if !said.iter().zip(expected).all(|(&said, &margin)| said == i64::from(margin)) {
            format!("the margins are {expected:?}, but the file says {said:?}")
        } else {
            continue;
        };
        let row_bits: String =
            (0..bits.columns()).map(|column| if bits.get(row, column) { '1' } else { '0' }).collect();
        return Ok(Some(format!("{differs}, for the row\n  {row_bits}")));
    }
    Ok(None)
}

/// Sends raw values through the function that takes them.
fn test_raw(model: &Model, source: &Source, rows: usize, deadline: Deadline) -> Result<Option<String>> {
    let folder = Folder::new()?;
    let main = raw_harness(source.format, &source.options, &source.path, model.encoder())?;
    let program = source.compile(&folder, &main, deadline)?;
    let raw = raw_rows(model.encoder(), rows, 0)?;
    let answers = answers(&program, raw.bytes, deadline)?;
    let shown = Shown::of(model, source)?;
    let prediction = model.predict(&raw.table, 0)?;
    check_count(source, answers.len(), rows)?;
    for (row, (&said, &class)) in answers.iter().zip(prediction.classes()).enumerate() {
        let outputs = shown.word(class);
        if said != outputs {
            let values: Vec<String> = (0..raw.table.columns())
                .map(|column| format!("  {} = {:?}", raw.table.name(column), raw.table.value(row, column)))
                .collect();
            return Ok(Some(format!(
                "the outputs are {outputs}, but the file says {said}, for the raw values\n{}",
                values.join("\n")
            )));
        }
    }
    Ok(None)
}

/// Whether a value of a program is that of the model, as a 32-bit float. An exponential may be off by the last digit, since no
/// two libraries round it alike.
fn is_value(said: f64, expected: f64, is_log: bool) -> bool {
    let expected = f64::from(expected as f32);
    said == expected || is_log && (said - expected).abs() <= 1.2e-7 * expected.abs()
}

/// Sends rows of bits through the functions for one row, for 64 and for 256, of a model that says values.
fn test_value_bits(
    model: &Model,
    source: &Source,
    rows: usize,
    deadline: Deadline,
) -> Result<Option<String>> {
    let folder = Folder::new()?;
    let bits = test_rows(rows, model.circuit().inputs(), 0)?;
    let prediction = model.predict_bits(bits.view(), 0)?;
    let width = prediction.width().unwrap_or(1);
    let main = value_harness(source.format, &source.options, &source.path, width == 1)?;
    let program = source.compile(&folder, &main, deadline)?;
    let answers = answers(&program, packed(&bits), deadline)?;
    check_count(source, answers.len(), rows * width * 4)?;
    let (margins, values) =
        (prediction.margins().unwrap_or_default(), prediction.values().unwrap_or_default());
    let is_log = model.circuit().is_log();
    for (row, words) in answers.chunks(4 * width).enumerate() {
        let (expected, value) = (&margins[row * width..][..width], &values[row * width..][..width]);
        let said: Vec<i64> = words[..3 * width].iter().map(|&word| word as i64).collect();
        let values: Vec<f64> = words[3 * width..].iter().map(|&word| f64::from_bits(word)).collect();
        let is_margin = |(place, &said): (usize, &i64)| said == i64::from(expected[place % width]);
        let differs = if !said.iter().enumerate().all(is_margin) {
            format!("the margins are {expected:?}, but the file says {said:?} (row, 64 rows, 256 rows)")
        } else if !values.iter().zip(value).all(|(&said, &value)| is_value(said, value, is_log)) {
            format!("the values are {value:?}, but the file says {values:?}")
        } else {
            continue;
        };
        let row_bits: String =
            (0..bits.columns()).map(|column| if bits.get(row, column) { '1' } else { '0' }).collect();
        return Ok(Some(format!("{differs}, for the row\n  {row_bits}")));
    }
    Ok(None)
}

/// Sends raw values through the function that takes them, of a model that says values.
fn test_raw_values(
    model: &Model,
    source: &Source,
    rows: usize,
    deadline: Deadline,
) -> Result<Option<String>> {
    let folder = Folder::new()?;
    let raw = raw_rows(model.encoder(), rows, 0)?;
    let prediction = model.predict(&raw.table, 0)?;
    let width = prediction.width().unwrap_or(1);
    let encoder = model.encoder();
    let main = raw_value_harness(source.format, &source.options, &source.path, encoder, width == 1)?;
    let program = source.compile(&folder, &main, deadline)?;
    let answers = answers(&program, raw.bytes, deadline)?;
    check_count(source, answers.len(), rows * width)?;
    let values = prediction.values().unwrap_or_default();
    let is_log = model.circuit().is_log();
    for (place, (&said, &value)) in answers.iter().zip(&values).enumerate() {
        let said = f64::from_bits(said);
        if !is_value(said, value, is_log) {
            let row = place / width;
            let values: Vec<String> = (0..raw.table.columns())
                .map(|column| format!("  {} = {:?}", raw.table.name(column), raw.table.value(row, column)))
                .collect();
            return Ok(Some(format!(
                "the value is {value}, but the file says {said}, for the raw values\n{}",
                values.join("\n")
            )));
        }
    }
    Ok(None)
}

/// Rows as the words that programs read.
fn packed(rows: &BitMatrix) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in 0..rows.rows() {
        for first in (0..rows.columns()).step_by(64) {
            let columns = first..(first + 64).min(rows.columns());
            let word = columns.rev().fold(0u64, |word, column| word << 1 | u64::from(rows.get(row, column)));
            bytes.extend(word.to_ne_bytes());
        }
    }
    bytes
}
