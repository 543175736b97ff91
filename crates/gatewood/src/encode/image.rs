//! How the columns of a row make an image, and how bright its pixels are.

use serde::{Deserialize, Serialize};

use super::{Encoder, Test};

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

/// What is done to training images to have more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Augment {
    /// Each image moved by one pixel left, right, up and down, its edge repeated.
    Shift,
    /// Each image mirrored, left to right.
    Mirror,
    /// Each image turned by nine degrees to either side; not sequences.
    Turn,
    /// Five copies of each image, each turned, stretched, slanted and moved a little by random amounts; not sequences.
    /// Where it is named again, five others.
    Warp,
    /// Two copies of each image, moved by up to three pixels across and down, its edge repeated; brighter or darker, with more or
    /// less contrast and another tint, all at random. One of the two is mirrored, too, where images are. Bits are only moved.
    Jitter,
}

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
}

impl Encoder {
    /// Whether pixels are asked for one bit each and no more.
    pub(crate) fn is_binary(&self) -> bool {
        self.level_tests().len() <= 1
    }

    /// The tests that say how bright a pixel is, the least bright first.
    pub(crate) fn level_tests(&self) -> Vec<&Test> {
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
        tests.into_iter().map(|(test, _)| test).collect()
    }
}
