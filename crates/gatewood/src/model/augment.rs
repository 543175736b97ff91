//! Images added to those that are learned from: the same ones, moved or mirrored.

use super::{LabelledRows, Rows};
use crate::bits::BitMatrix;
use crate::encode::{Augment, ImageShape, Labels, Table};
use crate::{Error, Result};

/// Rows from which each image has one copy, of all kinds in turn: there is enough to learn from.
const MANY_ROWS: usize = 20_000;

/// Training rows with others made of them after them.
pub(super) struct Augmented {
    rows: Owned,
    labels: Labels,
    weights: Option<Vec<f64>>,
}

enum Owned {
    Table(Table),
    Bits(BitMatrix),
}

impl Augmented {
    /// # Errors
    /// When the rows are no images, or memory runs out.
    pub(super) fn new(
        train: &LabelledRows<'_>,
        image: Option<ImageShape>,
        ways: &[Augment],
    ) -> Result<Option<Self>> {
        if ways.is_empty() {
            return Ok(None);
        }
        let columns = match train.rows {
            Rows::Raw(table) => table.columns(),
            Rows::Bits(bits) => bits.columns(),
        };
        let Some(image) = image.filter(|image| image.columns() == columns) else {
            return Err(Error::setting(
                "images can be moved and mirrored, and the rows are not known to be any",
            ));
        };
        let sources = sources(image, ways);
        let copies = if train.rows.len() < MANY_ROWS { sources.len() } else { 1 };
        // Where the pixels of a copy of a row come from.
        let source = |copy: usize, row: usize| match copies {
            1 => &sources[row % sources.len()],
            _ => &sources[copy],
        };
        let bits = match train.rows {
            Rows::Raw(table) => match (table.pixels(), table.bits()) {
                (Some(bytes), _) => {
                    crate::memory::check(bytes.len().saturating_mul(copies + 1))?;
                    let mut all = bytes.to_vec();
                    for copy in 0..copies {
                        for (row, pixels) in bytes.chunks_exact(columns).enumerate() {
                            all.extend(source(copy, row).iter().map(|&from| pixels[from]));
                        }
                    }
                    let table = names(Table::from_pixels(columns, all)?, table)?;
                    return Self::with(train, Owned::Table(table), copies).map(Some);
                }
                (None, Some(bits)) => bits.view(),
                _ => return Err(Error::setting("only images of pixels or bits can be moved and mirrored")),
            },
            Rows::Bits(bits) => bits,
        };
        let mut all = BitMatrix::zeros(bits.rows() * (copies + 1), columns)?;
        for column in 0..columns {
            for row in (0..bits.rows()).filter(|&row| bits.get(row, column)) {
                all.set(row, column, true);
            }
        }
        for copy in 0..copies {
            for to in 0..columns {
                for row in (0..bits.rows()).filter(|&row| bits.get(row, source(copy, row)[to])) {
                    all.set((copy + 1) * bits.rows() + row, to, true);
                }
            }
        }
        let rows = match train.rows {
            Rows::Raw(table) => Owned::Table(names(Table::from_bits(all), table)?),
            Rows::Bits(_) => Owned::Bits(all),
        };
        Self::with(train, rows, copies).map(Some)
    }

    fn with(train: &LabelledRows<'_>, rows: Owned, copies: usize) -> Result<Self> {
        let labels = match train.labels.values() {
            Some(values) => Labels::from_values(values.repeat(copies + 1))?,
            None => Labels::new(train.labels.classes().to_vec(), train.labels.codes().repeat(copies + 1))?,
        };
        let weights = train.weights.map(|weights| weights.repeat(copies + 1));
        Ok(Self { rows, labels, weights })
    }

    pub(super) fn rows(&self) -> LabelledRows<'_> {
        let rows = match &self.rows {
            Owned::Table(table) => Rows::Raw(table.view()),
            Owned::Bits(bits) => Rows::Bits(bits.view()),
        };
        LabelledRows { rows, labels: &self.labels, weights: self.weights.as_deref() }
    }
}

fn names(made: Table, table: crate::encode::TableView<'_>) -> Result<Table> {
    if !table.is_named() {
        return Ok(made);
    }
    made.with_names((0..table.columns()).map(|column| table.name(column).into_owned()).collect())
}

/// For each copy of an image, the pixel that each pixel comes from.
fn sources(image: ImageShape, ways: &[Augment]) -> Vec<Vec<usize>> {
    let copy = |from: &dyn Fn(usize, usize) -> (usize, usize)| -> Vec<usize> {
        (0..image.columns())
            .map(|column| {
                let (line, x) = (column / image.width, column % image.width);
                let (x, y) = from(x, line % image.height);
                (line / image.height * image.height + y) * image.width + x
            })
            .collect()
    };
    let mut copies = Vec::new();
    if ways.contains(&Augment::Shift) {
        copies.push(copy(&|x, y| (x.saturating_sub(1), y)));
        copies.push(copy(&|x, y| ((x + 1).min(image.width - 1), y)));
        if image.height > 1 {
            copies.push(copy(&|x, y| (x, y.saturating_sub(1))));
            copies.push(copy(&|x, y| (x, (y + 1).min(image.height - 1))));
        }
    }
    if ways.contains(&Augment::Mirror) {
        copies.push(copy(&|x, y| (image.width - 1 - x, y)));
    }
    copies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_moved_and_mirrored() {
        let image = ImageShape { width: 3, height: 2, channels: 1 };
        let table = Table::from_pixels(6, vec![1, 2, 3, 4, 5, 6]).unwrap();
        let labels = Labels::new(vec!["a".into(), "b".into()], vec![1]).unwrap();
        let rows = LabelledRows { rows: Rows::Raw(table.view()), labels: &labels, weights: Some(&[2.0]) };
        let ways = [Augment::Shift, Augment::Mirror];
        let made = Augmented::new(&rows, Some(image), &ways).unwrap().unwrap();
        let Rows::Raw(all) = made.rows().rows else { panic!("a table was given") };
        let expected = [
            [1, 2, 3, 4, 5, 6],
            [1, 1, 2, 4, 4, 5],
            [2, 3, 3, 5, 6, 6],
            [1, 2, 3, 1, 2, 3],
            [4, 5, 6, 4, 5, 6],
            [3, 2, 1, 6, 5, 4],
        ];
        assert_eq!(all.pixels().unwrap(), expected.as_flattened());
        assert_eq!((made.rows().labels.codes(), made.rows().weights.unwrap()), (&[1; 6][..], &[2.0; 6][..]));
        // Bits likewise.
        let bits: Vec<bool> = [1, 0, 0, 0, 1, 1].iter().map(|&bit| bit == 1).collect();
        let bits = BitMatrix::from_bools(6, &bits).unwrap();
        let rows = LabelledRows { rows: Rows::Bits(bits.view()), ..rows };
        let made = Augmented::new(&rows, Some(image), &[Augment::Mirror]).unwrap().unwrap();
        let Rows::Bits(all) = made.rows().rows else { panic!("bits were given") };
        let row = |row: usize| (0..6).map(|column| u8::from(all.get(row, column))).collect::<Vec<_>>();
        assert_eq!((row(0), row(1)), (vec![1, 0, 0, 0, 1, 1], vec![0, 0, 1, 1, 1, 0]));
        assert!(Augmented::new(&rows, None, &ways).is_err_and(|error| error.is_setting()));
    }

    #[test]
    fn many_images_have_a_copy_each() {
        let pixels: Vec<u8> = (0..MANY_ROWS).flat_map(|row| [row as u8, 1, 2]).collect();
        let table = Table::from_pixels(3, pixels).unwrap();
        let labels = Labels::new(vec!["a".into(), "b".into()], vec![0; MANY_ROWS]).unwrap();
        let rows = LabelledRows { rows: Rows::Raw(table.view()), labels: &labels, weights: None };
        let made = Augmented::new(&rows, Some(ImageShape::grey(3, 1)), &[Augment::Shift]).unwrap().unwrap();
        let Rows::Raw(all) = made.rows().rows else { panic!("a table was given") };
        let copies = &all.pixels().unwrap()[3 * MANY_ROWS..];
        assert_eq!(copies.len(), 3 * MANY_ROWS);
        assert_eq!(copies[..12], [0, 0, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2]);
        assert_eq!(made.rows().labels.len(), 2 * MANY_ROWS);
        let weighed = LabelledRows { weights: Some(&[]), ..rows };
        assert!(Augmented::new(&weighed, Some(ImageShape::grey(3, 1)), &[]).unwrap().is_none());
    }
}
