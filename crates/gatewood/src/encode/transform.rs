//! Raw rows to bits, 64 bits of 256 rows at a time.
//!
//! A column whose values are codes needs each test once per distinct value: the answers of up to 64 tests are one
//! word, found by code. Words of 64 rows make a square of bits, and its transpose is one word of each bit column.

use std::collections::HashMap;
use std::ops::Range;

use crate::platform::parallel::*;

use super::compare::{self, Compared};
use super::source::Piece;
use super::view::StoreView;
use super::{BitMeaning, Column, Encoder, Input, Kind, TableView, Test, Texts, Value, words};
use crate::bits::kernels::{BLOCKS, Blocks, Kernels};
use crate::bits::{BitMatrix, WORD_BITS};
use crate::pool::with_pool;
use crate::text::short;
use crate::{Error, Result};

/// Words of a column that are written together.
const BAND: usize = BLOCKS;

/// Words of a column that are one task.
const TASK: usize = 1024;

/// Bits that are worth threads.
const MANY: usize = 1 << 22;

pub(super) fn transform(encoder: &Encoder, table: TableView<'_>, threads: usize) -> Result<BitMatrix> {
    let mut matrix = BitMatrix::zeros(table.rows(), encoder.bits.len())?;
    let positions = locate(encoder, table)?;
    let many = is_many(table.rows(), encoder.bits.len());
    with_pool(threads, many, |parallel| {
        fill(encoder, table, &positions, 0..encoder.bits.len(), &mut matrix, parallel)
    })?;
    Ok(matrix)
}

/// Whether so many bits are worth threads.
pub(super) fn is_many(rows: usize, bits: usize) -> bool {
    rows.saturating_mul(bits) >= MANY
}

/// The error of rows without names that have another number of columns than the encoder takes.
pub(super) fn wrong_width(encoder: &Encoder, columns: usize) -> Error {
    const SHOWN: usize = 5;
    let width = encoder.width;
    let are_named = encoder.inputs.iter().any(|input| input.name != format!("column_{}", input.position + 1));
    let names: Vec<String> = encoder.inputs.iter().take(SHOWN).map(|input| short(&input.name)).collect();
    let more = if names.len() < width { ", …" } else { "" };
    let names = if are_named { format!(": {}{more}", names.join(", ")) } else { String::new() };
    Error::data(format!(
        "the rows have {columns} columns without names, but those of training had {width}{names}"
    ))
}

/// The column of the table that each input of the encoder reads.
pub(super) fn locate(encoder: &Encoder, table: TableView<'_>) -> Result<Vec<usize>> {
    if !table.is_named() {
        if table.columns() != encoder.width {
            return Err(wrong_width(encoder, table.columns()));
        }
        return Ok(encoder.inputs.iter().map(|input| input.position).collect());
    }
    let names: Vec<_> = (0..table.columns()).map(|column| table.name(column)).collect();
    let by_name: HashMap<&str, usize> = names.iter().map(AsRef::as_ref).zip(0..).collect();
    let find = |input: &Input| {
        by_name.get(input.name.as_str()).copied().ok_or_else(|| {
            Error::data(format!("column \"{}\" is missing: the model was trained with it", input.name))
        })
    };
    encoder.inputs.iter().map(find).collect()
}

/// Fills a matrix of zeros with a range of the encoder's bits, in the thread pool this is called in if so asked.
pub(super) fn fill(
    encoder: &Encoder,
    table: TableView<'_>,
    positions: &[usize],
    range: Range<usize>,
    matrix: &mut BitMatrix,
    parallel: bool,
) -> Result<()> {
    let bits = &encoder.bits[range];
    let parts = parts(encoder, table, positions, bits)?;
    let mut columns = matrix.columns_mut();
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for part in &parts {
        match part {
            Part::Ready(ready) => {
                if let (Some(to), Some(ready)) = (columns.next(), ready) {
                    to.copy_from_slice(ready);
                }
            }
            Part::Texts { texts, input, bits } => {
                let columns: Vec<&mut [u64]> = columns.by_ref().take(bits.len()).collect();
                tasks.push(Box::new(move || {
                    set_texts(texts, input, bits, columns);
                    Ok(())
                }));
            }
            Part::Group { pieces, bits } => {
                let columns = columns.by_ref().take(*bits);
                tasks.extend(group_tasks(pieces, columns, table.rows()));
            }
            Part::Compared(compared) => {
                let columns: Vec<&mut [u64]> = columns.by_ref().take(compared.bits()).collect();
                for (block, columns) in compare::blocks(columns).into_iter().enumerate() {
                    tasks.push(Box::new(move || compared.write(block, columns)));
                }
            }
        }
    }
    if parallel {
        // The first error is that of the first task, not of the first to fail.
        let results: Vec<Result<()>> = tasks.into_par_iter().map(|task| task()).collect();
        return results.into_iter().collect();
    }
    tasks.into_iter().try_for_each(|task| task())
}

/// Some bits for some rows.
type Task<'t> = Box<dyn FnOnce() -> Result<()> + Send + 't>;

/// Some neighbouring bits of an encoder.
enum Part<'a> {
    /// One bit that is there already; never set where there is none.
    Ready(Option<&'a [u64]>),
    /// Bits of one column of texts.
    Texts { texts: &'a Texts, input: &'a Input, bits: &'a [BitMeaning] },
    /// Up to 64 bits of any columns.
    Group { pieces: Vec<Piece<'a>>, bits: usize },
    /// Bits that compare values.
    Compared(Compared<'a>),
}

/// Parts that are all the bits, in order.
fn parts<'a>(
    encoder: &'a Encoder,
    table: TableView<'a>,
    positions: &[usize],
    bits: &'a [BitMeaning],
) -> Result<Vec<Part<'a>>> {
    let mut parts = Vec::new();
    let compares = |bit: &BitMeaning| Compared::takes(encoder, table, bit);
    let together = |bit: &BitMeaning, next: &BitMeaning| match (compares(bit), compares(next)) {
        (false, false) => bit.column == next.column,
        (one, other) => one && other,
    };
    for run in bits.chunk_by(together) {
        if compares(&run[0]) {
            parts.push(Part::Compared(Compared::new(encoder, table, positions, run)));
            continue;
        }
        let column = run[0].column as usize;
        let (input, position) = (&encoder.inputs[column], positions[column]);
        if let (StoreView::Bits(ready), Kind::Bit) = (table.store, input.kind) {
            let words = ready.column(position);
            parts.extend(run.iter().map(|bit| Part::Ready((bit.test == Test::Set).then_some(words))));
            continue;
        }
        if let (Some(Column::Text(texts)), Kind::Text) = (table.column(position), input.kind) {
            parts.push(Part::Texts { texts, input, bits: run });
            continue;
        }
        let mut rest = run;
        while !rest.is_empty() {
            if !matches!(parts.last(), Some(Part::Group { bits: ..WORD_BITS, .. })) {
                parts.push(Part::Group { pieces: Vec::new(), bits: 0 });
            }
            let Some(Part::Group { pieces, bits }) = parts.last_mut() else { unreachable!("there is one") };
            let (now, later) = rest.split_at(rest.len().min(WORD_BITS - *bits));
            pieces.push(Piece::new(table, position, input, now, *bits)?);
            *bits += now.len();
            rest = later;
        }
    }
    Ok(parts)
}

/// Sets the bits of a text column, each text looked at once.
fn set_texts(texts: &Texts, input: &Input, bits: &[BitMeaning], mut columns: Vec<&mut [u64]>) {
    let (mut is, mut has) = (HashMap::<&str, Vec<usize>>::new(), HashMap::<&str, Vec<usize>>::new());
    let mut rest = Vec::new();
    for (bit, meaning) in bits.iter().enumerate() {
        match &meaning.test {
            Test::Is(text) => is.entry(text).or_default().push(bit),
            Test::Word(word) => has.entry(word).or_default().push(bit),
            test => rest.push((bit, test)),
        }
    }
    let bits_of = |code: usize| {
        let text = texts.text(code);
        let value = text.map_or(Value::Missing, Value::Text);
        let mut on: Vec<usize> = rest
            .iter()
            .filter(|(_, test)| test.holds(value, &input.categories))
            .map(|&(bit, _)| bit)
            .chain(text.and_then(|text| is.get(text)).into_iter().flatten().copied())
            .collect();
        if let (false, Some(text)) = (has.is_empty(), text) {
            on.extend(words(text).filter_map(|word| has.get(word.as_str())).flatten());
        }
        on
    };
    let on: Vec<Vec<usize>> = (0..texts.distinct()).map(bits_of).collect();
    for (row, code) in texts.codes().iter().enumerate() {
        for &bit in &on[code] {
            columns[bit][row / WORD_BITS] |= 1 << (row % WORD_BITS);
        }
    }
}

/// Tasks that write up to 64 neighbouring bit columns.
fn group_tasks<'t>(
    pieces: &'t [Piece<'_>],
    columns: impl Iterator<Item = &'t mut [u64]>,
    rows: usize,
) -> Vec<Task<'t>> {
    let mut stretches: Vec<Vec<&mut [u64]>> =
        (0..rows.div_ceil(TASK * WORD_BITS)).map(|_| Vec::with_capacity(WORD_BITS)).collect();
    for column in columns {
        for (stretch, words) in stretches.iter_mut().zip(column.chunks_mut(TASK)) {
            stretch.push(words);
        }
    }
    let task = |(stretch, columns): (usize, Vec<&'t mut [u64]>)| -> Task<'t> {
        let first = stretch * TASK * WORD_BITS;
        Box::new(move || write_group(pieces, columns, first..rows.min(first + TASK * WORD_BITS)))
    };
    stretches.into_iter().enumerate().map(task).collect()
}

/// Writes some rows of up to 64 neighbouring bit columns.
fn write_group(pieces: &[Piece<'_>], mut columns: Vec<&mut [u64]>, rows: Range<usize>) -> Result<()> {
    let kernels = Kernels::best();
    let (two_valued, other): (Vec<&Piece<'_>>, Vec<_>) =
        pieces.iter().partition(|piece| piece.is_two_valued());
    let first_rows = rows.clone().step_by(BAND * WORD_BITS);
    let mut blocks: Blocks = [[0; BLOCKS]; WORD_BITS];
    let mut answers = [0u64; BAND * WORD_BITS];
    for (band, first) in
        (0..).step_by(BAND).zip(first_rows.take(if other.is_empty() { 0 } else { usize::MAX }))
    {
        answers.fill(0);
        let count = answers.len().min(rows.end - first);
        for piece in &other {
            piece.add(first, &mut answers[..count])?;
        }
        for (block, answers) in answers.as_chunks::<WORD_BITS>().0.iter().enumerate() {
            for (word, answer) in blocks.iter_mut().zip(answers) {
                word[block] = *answer;
            }
        }
        kernels.transpose(&mut blocks);
        for piece in &other {
            let bits = piece.first..piece.first + piece.count;
            for (column, words) in columns[bits.clone()].iter_mut().zip(&blocks[bits]) {
                match column[band..].first_chunk_mut::<BAND>() {
                    Some(to) => *to = *words,
                    None => column[band..].iter_mut().zip(words).for_each(|(to, word)| *to = *word),
                }
            }
        }
    }
    for piece in two_valued {
        let mut words = [0; WORD_BITS];
        for (word, row) in rows.clone().step_by(WORD_BITS).enumerate() {
            piece.words(row, &mut words);
            for bit in piece.first..piece.first + piece.count {
                columns[bit][word] = words[bit];
            }
        }
    }
    Ok(())
}
