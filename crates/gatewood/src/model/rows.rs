//! Rows to learn from or to run on, raw or ready.

use super::Model;
use crate::bits::{BitMatrix, BitView};
use crate::encode::{BitMeaning, Encoder, Labels, TableView, Test};
use crate::{Error, Result};

/// Rows to learn from or to run on.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'a> {
    /// Raw columns, to be encoded.
    Raw(TableView<'a>),
    /// Bits that are used where they lie, all of them, without an encoder.
    Bits(BitView<'a>),
}

impl Rows<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Raw(table) => table.rows(),
            Self::Bits(bits) => bits.rows(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Rows with the class of each.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRows<'a> {
    /// The rows.
    pub rows: Rows<'a>,
    /// The class of each row.
    pub labels: &'a Labels,
    /// What each row counts for; one each where not given.
    pub weights: Option<&'a [f64]>,
}

/// Bits, made here or lent.
pub(super) enum Encoded<'a> {
    Made(BitMatrix),
    Lent(BitView<'a>),
}

impl Encoded<'_> {
    pub(super) fn view(&self) -> BitView<'_> {
        match self {
            Self::Made(bits) => bits.view(),
            Self::Lent(bits) => *bits,
        }
    }
}

impl Model {
    /// What the model says of rows, raw or ready, on `threads` threads, 0 for one a core.
    ///
    /// # Errors
    /// When a column is missing or of the wrong kind, or the bits are not those the circuit takes.
    pub fn predict_rows(&self, rows: Rows<'_>, threads: usize) -> Result<super::Prediction> {
        self.predict_bits(encode(&self.encoder, rows, threads)?.view(), threads)
    }
}

/// The rows as bits; ready bits stay where they are if the encoder takes them all as they are.
pub(super) fn encode<'a>(encoder: &Encoder, rows: Rows<'a>, threads: usize) -> Result<Encoded<'a>> {
    let bits = match rows {
        Rows::Raw(table) => match table.bits().filter(|_| takes_as_it_is(encoder, table)) {
            Some(bits) => return Ok(Encoded::Lent(bits.view())),
            None => return Ok(Encoded::Made(encoder.transform_on(table, threads)?)),
        },
        Rows::Bits(bits) => bits,
    };
    if bits.columns() != encoder.width() {
        return Err(Error::data(format!(
            "the rows have {} columns, but those of training had {}",
            bits.columns(),
            encoder.width()
        )));
    }
    let position = |meaning: &BitMeaning| match meaning.test {
        Test::Set => Ok(encoder.inputs()[meaning.column as usize].position),
        _ => Err(Error::data("the model encodes raw columns, and cannot take rows that are bits already")),
    };
    let positions: Vec<usize> = encoder.meanings().iter().map(position).collect::<Result<_>>()?;
    if positions.iter().copied().eq(0..bits.columns()) {
        return Ok(Encoded::Lent(bits));
    }
    let columns: Vec<&[u64]> = positions.iter().map(|&column| bits.column(column)).collect();
    Ok(Encoded::Made(BitMatrix::from_columns(bits.rows(), &columns)?))
}

/// Whether an encoder's bits are the columns of a table of ready bits, all of them in their order.
fn takes_as_it_is(encoder: &Encoder, table: TableView<'_>) -> bool {
    let is_column = |(column, meaning): (usize, &BitMeaning)| {
        let input = &encoder.inputs()[meaning.column as usize];
        let fits = if table.is_named() { table.name(column) == input.name } else { input.position == column };
        meaning.test == Test::Set && fits
    };
    encoder.width() == table.columns()
        && encoder.bits() == table.columns()
        && encoder.meanings().iter().enumerate().all(is_column)
}
