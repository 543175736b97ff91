//! What an encoder is fitted to, for rows that are in several places: each part is sketched, and the sketches are merged.
//!
//! Sketches are counts of values and texts, so that the encoder is that of all rows in one table.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::fit::{
    Columns, Distinct, Offer, counted_texts, distinct_of_part, offer_counted, offer_dates, offer_distinct,
};
use super::prune::{BitSummary, Verdict, merged_verdicts};
use super::table::Store;
use super::treat::{Treated, treat};
use super::{
    Codes, Column, ColumnSettings, EncodeReport, EncodeSettings, Encoder, Input, Kind, Numbers, Strings,
    Table, TableView, Texts, Treatment, fit,
};
use crate::text::quote;
use crate::{Error, Result};

/// The sketch of one column of some rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Sketch {
    /// Numbers, or moments: the bits of those that occur with how many rows hold each; rows without one among those that
    /// were looked at; whether any row has none.
    Numbers { is_date: bool, values: Vec<(u64, usize)>, missing: usize, any_missing: bool },
    /// Texts in the order in which they come, with how many rows hold each; and rows without one.
    Texts { found: Vec<(String, usize)>, missing: usize },
    /// Pixels.
    Pixel,
    /// Ready bits.
    Bit,
}

/// The shape of a table, and what its columns hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) names: Vec<String>,
    pub(crate) is_named: bool,
    pub(crate) has_pixels: bool,
}

impl Shape {
    pub(crate) fn of(table: TableView<'_>) -> Self {
        Self {
            names: (0..table.columns()).map(|column| table.name(column).into_owned()).collect(),
            is_named: table.is_named(),
            has_pixels: table.pixels().is_some(),
        }
    }
}

/// Sketches all columns of a part whose first row is row `first` of `total`.
pub(crate) fn sketch(
    table: TableView<'_>,
    settings: &EncodeSettings,
    first: usize,
    total: usize,
) -> Result<Vec<Sketch>> {
    let asked = settings.by_column();
    let sketch = |position: usize| -> Result<Sketch> {
        let Some(column) = table.column(position) else {
            return Ok(if table.kind(position) == Kind::Bit { Sketch::Bit } else { Sketch::Pixel });
        };
        let own = asked.get(&*table.name(position)).and_then(|own| own.treatment);
        // Numbers that are to be categories are counted as texts.
        let as_texts = matches!(own, Some(Treatment::Category | Treatment::Words));
        let treated = match as_texts {
            true => treat(column, None, own, settings)?,
            false => Treated { column: Cow::Borrowed(column), written: None, note: None },
        };
        Ok(match &*treated.column {
            Column::Number(numbers) | Column::Date(numbers) => {
                let Distinct { values, missing, .. } = distinct_of_part(numbers, first, total);
                let any_missing = missing > 0 || (0..numbers.len()).any(|row| numbers.get(row).is_nan());
                let values = values.into_iter().map(|(value, rows)| (value.to_bits(), rows)).collect();
                let is_date = matches!(&*treated.column, Column::Date(_));
                Sketch::Numbers { is_date, values, missing, any_missing }
            }
            Column::Text(texts) => {
                let (found, missing) = counted_texts(texts, None);
                let found = found.into_iter().map(|(text, rows)| (text.to_owned(), rows)).collect();
                Sketch::Texts { found, missing }
            }
        })
    };
    (0..table.columns()).map(sketch).collect()
}

/// Columns of all rows, as the sketches of the parts tell of them.
pub(crate) struct Merged {
    shape: Shape,
    rows: usize,
    columns: Vec<Sketch>,
}

impl Merged {
    /// Merges the sketches of parts that have so many rows each; parts without rows say nothing.
    ///
    /// # Errors
    /// When a column holds one thing in one part and another in another.
    pub(crate) fn new(shape: Shape, parts: Vec<(usize, Vec<Sketch>)>) -> Result<Self> {
        let parts: Vec<_> = parts.into_iter().filter(|(rows, _)| *rows > 0).collect();
        let rows = parts.iter().map(|(rows, _)| rows).sum();
        let width = shape.names.len();
        if parts.iter().any(|(_, sketches)| sketches.len() != width) {
            return Err(Error::data("the partitions do not have the same columns"));
        }
        let mut of_columns: Vec<Vec<(usize, Sketch)>> = vec![Vec::new(); width];
        for (rows, sketches) in parts {
            for (of_column, sketch) in of_columns.iter_mut().zip(sketches) {
                of_column.push((rows, sketch));
            }
        }
        let merge = |(position, sketches): (usize, Vec<(usize, Sketch)>)| {
            merge(sketches).ok_or_else(|| {
                Error::data(format!(
                    "column {} holds numbers in some partitions and texts or dates in others: give it one type first",
                    quote(&shape.names[position])
                ))
            })
        };
        let columns = of_columns.into_iter().enumerate().map(merge).collect::<Result<_>>()?;
        Ok(Self { shape, rows, columns })
    }

    /// Fits an encoder, given what parts say of the bits of a draft of it.
    ///
    /// # Errors
    /// As [`Encoder::fit`].
    pub(crate) fn fit(
        &self,
        settings: &EncodeSettings,
        survey: impl FnOnce(&Encoder) -> Result<Vec<Vec<BitSummary>>>,
    ) -> Result<(Encoder, EncodeReport)> {
        if settings.merge_within > 0.0 {
            return Err(Error::setting("merge_within is unavailable where rows are on several machines"));
        }
        fit::fit_columns(self, settings, |encoder| -> Result<Vec<Verdict>> {
            if settings.min_entropy == 0.0 && !settings.merge_equal {
                return Ok(vec![Verdict::Keep; encoder.bits.len()]);
            }
            merged_verdicts(encoder.bits.len(), self.rows, &survey(encoder)?, settings)
        })
    }
}

/// One sketch of all; nothing where they do not go together.
fn merge(sketches: Vec<(usize, Sketch)>) -> Option<Sketch> {
    // A column of objects that are all missing is taken for numbers.
    let is_empty = |sketch: &Sketch| matches!(sketch, Sketch::Numbers { values, .. } if values.is_empty());
    let kind = sketches.iter().map(|(_, sketch)| sketch).find(|sketch| !is_empty(sketch));
    match kind.or(sketches.first().map(|(_, sketch)| sketch))? {
        Sketch::Texts { .. } => {
            let (mut places, mut found, mut missing) = (HashMap::new(), Vec::new(), 0);
            for (rows, sketch) in sketches {
                match sketch {
                    Sketch::Texts { found: here, missing: gaps } => {
                        missing += gaps;
                        for (text, rows) in here {
                            let place = *places.entry(text.clone()).or_insert_with(|| {
                                found.push((text, 0));
                                found.len() - 1
                            });
                            found[place].1 += rows;
                        }
                    }
                    sketch if is_empty(&sketch) => missing += rows,
                    _ => return None,
                }
            }
            Some(Sketch::Texts { found, missing })
        }
        &Sketch::Numbers { is_date, .. } => {
            let (mut all, mut missing, mut any_missing) = (Vec::new(), 0, false);
            for (_, sketch) in sketches {
                let is_nothing = is_empty(&sketch);
                let Sketch::Numbers { is_date: kind, values, missing: gaps, any_missing: any } = sketch
                else {
                    return None;
                };
                if kind != is_date && !is_nothing {
                    return None;
                }
                missing += gaps;
                any_missing |= any;
                all.extend(values);
            }
            Some(Sketch::Numbers { is_date, values: all, missing, any_missing })
        }
        kind => {
            let kind = kind.clone();
            sketches.iter().all(|(_, sketch)| *sketch == kind).then_some(kind)
        }
    }
}

impl Columns for Merged {
    fn rows(&self) -> usize {
        self.rows
    }

    fn width(&self) -> usize {
        self.columns.len()
    }

    fn name(&self, position: usize) -> Cow<'_, str> {
        Cow::Borrowed(&self.shape.names[position])
    }

    fn kind(&self, position: usize) -> Kind {
        match &self.columns[position] {
            Sketch::Numbers { is_date: false, .. } => Kind::Number,
            Sketch::Numbers { is_date: true, .. } => Kind::Date,
            Sketch::Texts { .. } => Kind::Text,
            Sketch::Pixel => Kind::Pixel,
            Sketch::Bit => Kind::Bit,
        }
    }

    fn offer(
        &self,
        position: usize,
        own: &ColumnSettings,
        most: usize,
        settings: &EncodeSettings,
    ) -> Result<Offer> {
        match &self.columns[position] {
            Sketch::Pixel | Sketch::Bit => Ok(fit::offer_ready(self.kind(position), own, settings)),
            Sketch::Numbers { is_date, values, missing, any_missing } => {
                // What the settings ask for is refused as it is for all rows.
                let empty = Numbers::F64(Vec::new());
                let column = if *is_date { Column::Date(empty) } else { Column::Number(empty) };
                treat(&column, None, own.treatment, settings)?;
                let values = values.iter().map(|&(bits, rows)| (f64::from_bits(bits), rows)).collect();
                let found = Distinct::new(values, *missing);
                let offer = match is_date {
                    false => offer_distinct(&found, *any_missing, most, settings),
                    true => offer_dates(&found, most),
                };
                Ok(Offer { kind: Some(column.kind()), ..offer })
            }
            Sketch::Texts { found, missing } => offer_texts(found, *missing, own, most, settings),
        }
    }
}

/// What a column of texts gives, one way or another.
fn offer_texts(
    found: &[(String, usize)],
    missing: usize,
    own: &ColumnSettings,
    most: usize,
    settings: &EncodeSettings,
) -> Result<Offer> {
    // A row for each text.
    let texts: Strings = found.iter().map(|(text, _)| text).collect();
    let codes: Codes = (0..found.len() as u32).collect();
    let column = Column::Text(Texts::new(codes, texts, None)?);
    let Treated { column, written, note } = treat(&column, None, own.treatment, settings)?;
    let offer = match &*column {
        Column::Text(_) => {
            let found = found.iter().map(|(text, rows)| (text.as_str(), *rows)).collect();
            offer_counted(found, missing, own, settings)
        }
        Column::Number(numbers) | Column::Date(numbers) => {
            let values = (0..found.len()).map(|row| (numbers.get(row), found[row].1));
            let (gaps, values): (Vec<_>, Vec<_>) = values.partition(|(value, _)| value.is_nan());
            let missing = missing + gaps.iter().map(|(_, rows)| rows).sum::<usize>();
            let found = Distinct::new(values, missing);
            match &*column {
                Column::Date(_) => offer_dates(&found, most),
                _ => offer_distinct(&found, missing > 0, most, settings),
            }
        }
    };
    Ok(Offer { kind: Some(column.kind()), written, note, ..offer })
}

/// Whether a column is nothing but gaps, and was taken for numbers though an encoder reads texts or dates there.
fn is_gap(column: &Column, input: &Input) -> bool {
    let Column::Number(numbers) = column else { return false };
    let is_other = input.kind == Kind::Text || input.written.is_some() || input.kind == Kind::Date;
    is_other && (0..numbers.len()).all(|row| numbers.get(row).is_nan())
}

impl Table {
    /// The same rows, columns of nothing but gaps being what an encoder reads.
    pub(crate) fn suited_to(&self, encoder: &Encoder) -> Cow<'_, Self> {
        let Store::Columns(columns) = &self.store else { return Cow::Borrowed(self) };
        let gaps = encoder
            .inputs
            .iter()
            .filter(|input| columns.get(input.position).is_some_and(|column| is_gap(column, input)));
        let gaps: Vec<&Input> = gaps.collect();
        if gaps.is_empty() {
            return Cow::Borrowed(self);
        }
        let (mut table, rows) = (self.clone(), self.rows());
        if let Store::Columns(columns) = &mut table.store {
            for input in gaps {
                columns[input.position] = match input.kind == Kind::Text || input.written.is_some() {
                    true => Column::Text(Texts::from_rows(std::iter::repeat_n(None, rows))),
                    false => Column::Date(Numbers::F64(vec![f64::NAN; rows])),
                };
            }
        }
        Cow::Owned(table)
    }
}
