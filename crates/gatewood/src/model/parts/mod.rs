//! Training where rows are: in parts that live in other processes.
//!
//! - [`Part`]: the rows of one part, raw at first; it lives where they are and answers messages.
//! - [`Parts`](crate::learn::Parts): the way to all parts, which whoever runs the processes implements.
//! - [`train_parts`]: trains a model by asking them; the same model, byte for byte, as [`train`](super::train()) on all
//!   rows in one table, in the order of the parts.
//!
//! What crosses is integers and bytes: counts of values to place thresholds by, the bits of rows that are drawn, trees, and
//! sums. The labels are the coordinator's from the start.

mod part;
mod training;

pub use part::Part;
pub use training::{PartsTraining, train_parts};

use crate::encode::{BitSummary, Sketch};
use crate::learn::remote::op::OTHERS;
use crate::learn::remote::wire::{Reader, Writer};
use crate::{Error, Result};

/// The first byte of a message that is not about rounds.
mod op {
    use super::OTHERS;
    /// What columns there are, and how many rows.
    pub(super) const DESCRIBE: u8 = OTHERS;
    /// Which rows judge.
    pub(super) const SPLIT: u8 = OTHERS + 1;
    /// Sketches of columns, to fit an encoder to.
    pub(super) const SKETCH: u8 = OTHERS + 2;
    /// What the bits of an encoder are like.
    pub(super) const SURVEY: u8 = OTHERS + 3;
    /// The encoder.
    pub(super) const ENCODE: u8 = OTHERS + 4;
    /// Which spans are not the same for all rows.
    pub(super) const TELLING: u8 = OTHERS + 5;
    /// All else before the first round.
    pub(super) const PREPARE: u8 = OTHERS + 6;
    /// The smallest hashes of rows.
    pub(super) const DIGEST: u8 = OTHERS + 7;
    /// The bits of some rows.
    pub(super) const ROWS: u8 = OTHERS + 8;
}

fn write_sketches(answer: &mut Writer, sketches: &[Sketch]) {
    answer.number(sketches.len() as u64);
    for sketch in sketches {
        match sketch {
            Sketch::Numbers { is_date, values, missing, any_missing } => {
                answer.byte(0).byte(u8::from(*is_date)).byte(u8::from(*any_missing)).number(*missing as u64);
                let (values, rows): (Vec<u64>, Vec<u32>) =
                    values.iter().map(|&(value, rows)| (value, rows as u32)).unzip();
                answer.numbers64(&values).numbers32(&rows);
            }
            Sketch::Texts { found, missing } => {
                answer.byte(1).number(*missing as u64).number(found.len() as u64);
                for (text, rows) in found {
                    answer.bytes(text.as_bytes()).number(*rows as u64);
                }
            }
            Sketch::Pixel => {
                answer.byte(2);
            }
            Sketch::Bit => {
                answer.byte(3);
            }
        }
    }
}

fn read_sketches(answer: &[u8]) -> Result<Vec<Sketch>> {
    let mut answer = Reader::new(answer);
    let mut sketches = Vec::new();
    for _ in 0..answer.size()? {
        sketches.push(match answer.byte()? {
            0 => {
                let (is_date, any_missing) = (answer.byte()? == 1, answer.byte()? == 1);
                let missing = answer.size()?;
                let (values, rows) = (answer.numbers64()?, answer.numbers32()?);
                let values = values.into_iter().zip(rows.into_iter().map(|rows| rows as usize)).collect();
                Sketch::Numbers { is_date, values, missing, any_missing }
            }
            1 => {
                let (missing, count) = (answer.size()?, answer.size()?);
                let mut found = Vec::new();
                for _ in 0..count {
                    let text = String::from_utf8(answer.bytes()?.to_vec())
                        .map_err(|_| Error::data("a text from a part is no UTF-8"))?;
                    found.push((text, answer.size()?));
                }
                Sketch::Texts { found, missing }
            }
            2 => Sketch::Pixel,
            _ => Sketch::Bit,
        });
    }
    Ok(sketches)
}

fn write_summaries(answer: &mut Writer, bits: &[BitSummary]) {
    let lists: [fn(&BitSummary) -> u64; 3] = [|bit| bit.ones, |bit| bit.print.0, |bit| bit.print.1];
    for of in lists {
        answer.numbers64(&bits.iter().map(of).collect::<Vec<_>>());
    }
    answer.flags(&bits.iter().map(|bit| bit.first).collect::<Vec<_>>());
}

fn read_summaries(answer: &[u8]) -> Result<Vec<BitSummary>> {
    let mut answer = Reader::new(answer);
    let (ones, lower, upper) = (answer.numbers64()?, answer.numbers64()?, answer.numbers64()?);
    let firsts = answer.flags()?;
    let bits = ones.into_iter().zip(lower.into_iter().zip(upper)).zip(firsts);
    Ok(bits.map(|((ones, print), first)| BitSummary { ones, first, print }).collect())
}
