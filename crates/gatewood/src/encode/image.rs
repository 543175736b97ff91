//! How the columns of a row make an image, and the lines in it.

use serde::{Deserialize, Serialize};

use super::{Encoder, Test};
use crate::circuit::Span;
use crate::{Error, Result};

/// How the columns of a row make an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageShape {
    /// Pixels in a line.
    pub width: usize,
    /// Lines.
    pub height: usize,
    /// Planes of colour, one after the other: 1 or 3.
    #[serde(default = "one")]
    pub channels: usize,
}

fn one() -> usize {
    1
}

/// The ways a line can run: right, down, and along both diagonals.
const WAYS: [(isize, isize); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

/// How many tests of a pixel there are lines of, where it has more: those in between tell much the same.
const LEVELS: usize = 3;

impl ImageShape {
    /// A grey image.
    pub const fn grey(width: usize, height: usize) -> Self {
        Self { width, height, channels: 1 }
    }

    /// Columns of a row.
    pub fn columns(&self) -> usize {
        self.width.saturating_mul(self.height).saturating_mul(self.channels)
    }

    /// A name for each column: `r3c14` is the pixel of line 3 and column 14, counted from 0; colours come before it.
    pub fn names(&self) -> Vec<String> {
        let planes: &[&str] = if self.channels == 3 { &["red_", "green_", "blue_"] } else { &[""] };
        let name =
            |plane: &str, place: usize| format!("{plane}r{}c{}", place / self.width, place % self.width);
        planes
            .iter()
            .flat_map(|plane| (0..self.width * self.height).map(move |place| name(plane, place)))
            .collect()
    }

    /// The columns along a line of so many pixels around one: those that are in the image.
    fn line(
        self,
        plane: usize,
        (row, column): (usize, usize),
        way: (isize, isize),
        length: usize,
    ) -> Vec<usize> {
        let within = |start: usize, step: isize, size: usize| {
            start.checked_add_signed(step).filter(|&place| place < size)
        };
        let steps = (0..length as isize).map(|step| step - (length / 2) as isize);
        let place = |step: isize| {
            let row = within(row, step * way.0, self.height)?;
            let column = within(column, step * way.1, self.width)?;
            Some((plane * self.height + row) * self.width + column)
        };
        steps.filter_map(place).collect()
    }
}

impl Encoder {
    /// The spans along the lines of an image: for each pixel, way and colour, whether any of the pixels on a line of so
    /// many around it is bright, and whether all are. A pixel without a bit of its own is never bright.
    ///
    /// ```
    /// use gatewood::encode::{EncodeSettings, Encoder, ImageShape, Table};
    /// // Two images of three pixels by one.
    /// let table = Table::from_pixels(3, vec![0, 200, 0, 255, 0, 255])?;
    /// let settings = EncodeSettings { merge_equal: false, ..EncodeSettings::keep_all(1) };
    /// let (encoder, _) = Encoder::fit(&table, &settings)?;
    /// let spans = encoder.spans(ImageShape::grey(3, 1), 3)?;
    /// let read: Vec<&[u32]> = spans.iter().map(|span| span.columns()).collect();
    /// assert_eq!(read, [&[0, 1][..], &[0, 1, 2], &[0, 1, 2], &[1, 2]]);
    /// # Ok::<(), gatewood::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the image has other columns than the encoder's, or spans cannot be so long.
    pub fn spans(&self, image: ImageShape, length: usize) -> Result<Vec<Span>> {
        if image.columns() != self.width() {
            return Err(Error::data(format!(
                "images of {} x {} pixels in {} colours have {} columns, but the rows have {}",
                image.width,
                image.height,
                image.channels,
                image.columns(),
                self.width()
            )));
        }
        let mut spans = Vec::new();
        for bits in self.levels() {
            for plane in 0..image.channels {
                for way in WAYS {
                    for row in 0..image.height {
                        for column in 0..image.width {
                            let line = image.line(plane, (row, column), way, length);
                            let mut line: Vec<u32> = line.iter().filter_map(|&column| bits[column]).collect();
                            line.sort_unstable();
                            if line.len() == length {
                                spans.push(Span::all(line.clone())?);
                            }
                            if line.len() > 1 {
                                spans.push(Span::any(line)?);
                            }
                        }
                    }
                }
            }
        }
        // Near the edge, lines that run the same way may have the same pixels.
        let mut seen = std::collections::HashSet::new();
        spans.retain(|span| seen.insert(span.clone()));
        Ok(spans)
    }

    /// The bits of some levels of brightness, by column: of those whose test is the same.
    fn levels(&self) -> Vec<Vec<Option<u32>>> {
        let mut tests: Vec<(&Test, f64)> = Vec::new();
        for meaning in self.meanings() {
            let level = match meaning.test {
                Test::Above(threshold) => threshold,
                Test::PixelBit(7) | Test::Set => 0.0,
                _ => continue,
            };
            if !tests.iter().any(|(test, _)| **test == meaning.test) {
                tests.push((&meaning.test, level));
            }
        }
        tests.sort_by(|a, b| a.1.total_cmp(&b.1));
        let places: Vec<usize> = match tests.len() {
            count @ 0..=LEVELS => (0..count).collect(),
            count => (1..=LEVELS).map(|level| level * count / (LEVELS + 1)).collect(),
        };
        let bits_of = |place: usize| {
            let mut bits = vec![None; self.width()];
            for (bit, meaning) in (0..).zip(self.meanings()) {
                if meaning.test == *tests[place].0 {
                    bits[self.inputs()[meaning.column as usize].position] = Some(bit);
                }
            }
            bits
        };
        places.into_iter().map(bits_of).collect()
    }
}
