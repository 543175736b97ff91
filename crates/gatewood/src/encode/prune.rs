//! Which bits are worth keeping: those that change, and are not like an earlier one.

use std::collections::HashMap;

use super::{EncodeSettings, Encoder, TableView, transform};
use crate::Result;
use crate::bits::{BitMatrix, WORD_BITS};
use crate::pool::each;

/// Bits are encoded for pruning this many bytes at a time.
const CHUNK_BYTES: usize = 4 << 20;

/// Nearly equal bits are looked for on at most this many rows.
const SAMPLE_ROWS: usize = 1 << 14;

/// What to do with one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    LowEntropy,
    /// Equal or opposite to this earlier bit.
    Equal(usize),
    /// Nearly so.
    NearlyEqual(usize),
}

/// A verdict on every bit of an encoder, from the rows of a table (or those given).
pub(super) fn prune(
    encoder: &Encoder,
    table: TableView<'_>,
    rows: Option<&[usize]>,
    settings: &EncodeSettings,
    parallel: bool,
) -> Result<Vec<Verdict>> {
    let mut verdicts = vec![Verdict::Keep; encoder.bits.len()];
    if settings.min_entropy == 0.0 && !settings.merge_equal && settings.merge_within == 0.0 {
        return Ok(verdicts);
    }
    let training = training_rows(table.rows(), rows);
    let count = training.iter().map(|word| word.count_ones() as usize).sum();
    let mut seen: HashMap<(u64, u64), usize> = HashMap::new();
    each_chunk(encoder, table, parallel, |first, chunk| {
        let looked_at = each(parallel, chunk.columns(), |column| {
            let column = chunk.column(column);
            let ones: usize =
                column.iter().zip(&training).map(|(word, rows)| (word & rows).count_ones() as usize).sum();
            let too_low = entropy(ones, count) < settings.min_entropy;
            (too_low, (!too_low && settings.merge_equal).then(|| fingerprint(column, &training)))
        });
        for (bit, (too_low, fingerprint)) in (first..).zip(looked_at) {
            if too_low {
                verdicts[bit] = Verdict::LowEntropy;
            } else if let Some(fingerprint) = fingerprint {
                let first = *seen.entry(fingerprint).or_insert(bit);
                if first != bit {
                    verdicts[bit] = Verdict::Equal(first);
                }
            }
        }
    })?;
    if settings.merge_within > 0.0 {
        merge_near(encoder, table, &training, settings.merge_within, &mut verdicts, parallel)?;
    }
    Ok(verdicts)
}

/// What a part of the rows says of one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BitSummary {
    /// Rows where it is one.
    pub(crate) ones: u64,
    /// What it is in the first row.
    pub(crate) first: bool,
    /// The same for bits that are equal or opposite on all rows of the part.
    pub(crate) print: (u64, u64),
}

/// What some rows say of each bit of an encoder.
pub(crate) fn summaries(encoder: &Encoder, table: TableView<'_>, parallel: bool) -> Result<Vec<BitSummary>> {
    let all = training_rows(table.rows(), None);
    let mut found = Vec::with_capacity(encoder.bits.len());
    each_chunk(encoder, table, parallel, |_, chunk| {
        found.extend(each(parallel, chunk.columns(), |column| {
            let column = chunk.column(column);
            let ones = column.iter().map(|word| u64::from(word.count_ones())).sum();
            let first = column.first().is_some_and(|word| word & 1 == 1);
            BitSummary { ones, first, print: fingerprint(column, &all) }
        }));
    })?;
    Ok(found)
}

/// A verdict on every bit, from what the parts of so many rows say of it.
pub(super) fn merged_verdicts(
    bits: usize,
    rows: usize,
    parts: &[Vec<BitSummary>],
    settings: &EncodeSettings,
) -> Result<Vec<Verdict>> {
    if parts.is_empty() || parts.iter().any(|part| part.len() != bits) {
        return Err(crate::Error::data("the parts of the rows do not have the same bits"));
    }
    let mut seen: HashMap<Vec<(u64, u64, bool)>, usize> = HashMap::new();
    let verdict = |bit: usize| {
        let ones: u64 = parts.iter().map(|part| part[bit].ones).sum();
        if entropy(ones as usize, rows) < settings.min_entropy {
            return Verdict::LowEntropy;
        }
        if !settings.merge_equal {
            return Verdict::Keep;
        }
        // Bits are equal or opposite where they are on every part, and there in the same way as on the first.
        let first = parts[0][bit].first;
        let of_part =
            |part: &Vec<BitSummary>| (part[bit].print.0, part[bit].print.1, part[bit].first ^ first);
        match *seen.entry(parts.iter().map(of_part).collect()).or_insert(bit) {
            same if same == bit => Verdict::Keep,
            other => Verdict::Equal(other),
        }
    };
    Ok((0..bits).map(verdict).collect())
}

/// Hands the bit columns to `look`, a few at a time so that all never take memory at once, with the number of the first.
fn each_chunk(
    encoder: &Encoder,
    table: TableView<'_>,
    parallel: bool,
    mut look: impl FnMut(usize, &BitMatrix),
) -> Result<()> {
    let positions = transform::locate(encoder, table)?;
    let column_bytes = table.rows().div_ceil(8).max(1);
    let together = (CHUNK_BYTES / column_bytes).clamp(WORD_BITS, 4096) / WORD_BITS * WORD_BITS;
    let mut chunk = BitMatrix::zeros(table.rows(), encoder.bits.len().min(together))?;
    for first in (0..encoder.bits.len()).step_by(together) {
        let range = first..encoder.bits.len().min(first + together);
        if range.len() < chunk.columns() {
            chunk = BitMatrix::zeros(table.rows(), range.len())?;
        } else if first > 0 {
            chunk.columns_mut().for_each(|column| column.fill(0));
        }
        transform::fill(encoder, table, &positions, range, &mut chunk, parallel)?;
        look(first, &chunk);
    }
    Ok(())
}

/// One bit per row: whether it is a training row.
fn training_rows(rows: usize, chosen: Option<&[usize]>) -> Vec<u64> {
    let mut words = vec![0u64; rows.div_ceil(WORD_BITS)];
    let mut set = |row: usize| words[row / WORD_BITS] |= 1 << (row % WORD_BITS);
    match chosen {
        Some(chosen) => chosen.iter().for_each(|&row| set(row)),
        None => (0..rows).for_each(set),
    }
    words
}

/// Entropy in bits of a bit that is one on `ones` of `rows` rows.
fn entropy(ones: usize, rows: usize) -> f64 {
    if ones == 0 || ones == rows {
        return 0.0;
    }
    let share = ones as f64 / rows as f64;
    -(share * libm::log2(share) + (1.0 - share) * libm::log2(1.0 - share))
}

/// 128 bits that are the same for columns that are equal or opposite on the training rows.
fn fingerprint(column: &[u64], training: &[u64]) -> (u64, u64) {
    let first = training.iter().position(|&rows| rows != 0);
    let flip = first.is_some_and(|word| {
        let row = training[word].trailing_zeros();
        column[word] >> row & 1 != 0
    });
    let flip = if flip { u64::MAX } else { 0 };
    let (mut a, mut b) = (0x243f_6a88_85a3_08d3u64, 0x1319_8a2e_0370_7344u64);
    for (word, rows) in column.iter().zip(training) {
        let word = (word ^ flip) & rows;
        a = (a ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        b = (b.rotate_left(23) ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    (a, b)
}

/// Finds bits that differ from an earlier kept bit, or its opposite, on few of a sample of the training rows.
fn merge_near(
    encoder: &Encoder,
    table: TableView<'_>,
    training: &[u64],
    within: f64,
    verdicts: &mut [Verdict],
    parallel: bool,
) -> Result<()> {
    let rows: Vec<usize> = (0..training.len() * WORD_BITS)
        .filter(|row| training[row / WORD_BITS] >> (row % WORD_BITS) & 1 != 0)
        .collect();
    let step = rows.len().div_ceil(SAMPLE_ROWS).max(1);
    let rows: Vec<usize> = rows.into_iter().step_by(step).collect();
    let most = (within * rows.len() as f64) as usize;
    let sample = table.select_rows(&rows)?;
    let mut kept: Vec<(usize, usize, Vec<u64>)> = Vec::new();
    each_chunk(encoder, sample.view(), parallel, |first, chunk| {
        for (bit, verdict) in verdicts.iter_mut().enumerate().skip(first).take(chunk.columns()) {
            let column = chunk.column(bit - first);
            if *verdict != Verdict::Keep {
                continue;
            }
            let ones: usize = column.iter().map(|word| word.count_ones() as usize).sum();
            let near = kept.iter().find(|(_, other_ones, other)| {
                // Few bits apart means about as many ones, or as many zeros as the other has ones.
                if ones.abs_diff(*other_ones) > most && (rows.len() - ones).abs_diff(*other_ones) > most {
                    return false;
                }
                let apart: usize =
                    column.iter().zip(other).map(|(word, other)| (word ^ other).count_ones() as usize).sum();
                apart.min(rows.len() - apart) <= most
            });
            match near {
                Some((other, ..)) => *verdict = Verdict::NearlyEqual(*other),
                None => kept.push((bit, ones, column.to_vec())),
            }
        }
    })
}
