//! Images added to those that are learned from: the same ones, moved, mirrored or turned.

use super::{LabelledRows, Rows};
use crate::bits::BitMatrix;
use crate::encode::{Augment, ImageShape, Labels, Table, TableView};
use crate::learn::patterns::MakeImages;
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// Rows from which each image has one copy of each way, of its kinds in turn: there is enough to learn from.
const MANY_ROWS: usize = 20_000;

/// Training rows with others made of them after them.
pub(super) struct Augmented<'a> {
    rows: Owned<'a>,
    labels: Labels,
    weights: Option<Vec<f64>>,
}

/// What each pixel of a copy is made of: some pixels of the image, and how much of each in parts of [`WHOLE`].
#[derive(Debug)]
struct Recipe(Vec<Vec<(usize, u32)>>);

/// Images of pixels, and copies of them that are made when they are asked for.
#[derive(Debug)]
struct Copies<'a> {
    table: TableView<'a>,
    bytes: &'a [u8],
    image: ImageShape,
    /// Those of each copy, which images take in turn.
    recipes: Vec<Vec<Recipe>>,
    /// How many of the copies have their brightness changed, which come last.
    shaded: usize,
}

impl Copies<'_> {
    /// Writes an image: an original, or a copy, those of one kind after those of another.
    fn write(&self, row: usize, out: &mut Vec<u8>) {
        let columns = self.table.columns();
        let (copy, row) = (row / self.table.rows(), row % self.table.rows());
        let pixels = &self.bytes[row * columns..][..columns];
        let Some(copy) = copy.checked_sub(1) else {
            out.extend_from_slice(pixels);
            return;
        };
        let recipe = &self.recipes[copy][row % self.recipes[copy].len()];
        let first = out.len();
        out.extend((0..columns).map(|to| recipe.mix(pixels, to)));
        if copy + self.shaded >= self.recipes.len() {
            shade(&mut out[first..], self.image, (copy, row));
        }
    }

    fn table(&self, rows: impl ExactSizeIterator<Item = usize>) -> Result<Table> {
        let (count, columns) = (rows.len(), self.table.columns());
        crate::memory::check(count.saturating_mul(columns))?;
        let mut made = Vec::with_capacity(count * columns);
        rows.for_each(|row| self.write(row, &mut made));
        names(Table::from_pixels(columns, made)?, self.table)
    }
}

impl MakeImages for Copies<'_> {
    fn rows(&self) -> usize {
        self.table.rows() * (self.recipes.len() + 1)
    }

    fn originals(&self) -> TableView<'_> {
        self.table
    }

    fn select(&self, rows: &[usize]) -> Result<Table> {
        self.table(rows.iter().copied())
    }
}

/// All of a pixel.
const WHOLE: u32 = 1 << 16;

/// The sine and cosine of the angle that images are turned by, nine degrees, in parts of [`WHOLE`].
const SINE: i64 = 10_252;
const COSINE: i64 = 64_729;

/// Warped copies of an image, and how many ways of warping the images of a copy take in turn.
const WARPED: usize = 5;
const WARPS: usize = 61;

/// Ways of making copies that can be asked for at once, those named again counted.
const MOST_WAYS: usize = 20;

/// Jittered copies of an image.
const JITTERS: usize = 2;

/// Pixels that they are moved by at the most, in both directions.
const MOVED: usize = 3;

/// How many levels a jittered copy is brighter or darker by at the most, as a whole and each of its colours besides.
const BRIGHTER: u32 = 20;
const TINTED: u32 = 6;

/// The logarithm of what its contrast is multiplied by at the most.
const CONTRAST: f64 = 0.3;

/// Where the streams of jittered copies begin.
const JITTERED: u64 = 1 << 40;

/// Where the pixels of a copy come from: the place of each from the middle, times a matrix, and moved, in parts of [`WHOLE`].
struct Affine {
    across: [i64; 2],
    down: [i64; 2],
    moved: [i64; 2],
}

impl Affine {
    fn turn(sine: i64) -> Self {
        Self { across: [COSINE, -sine], down: [sine, COSINE], moved: [0; 2] }
    }

    /// Turned by up to eleven degrees, each way stretched by up to a tenth, slanted by up to a fifth, moved by up to a pixel.
    fn warp(stream: &mut Stream) -> Self {
        let whole = f64::from(WHOLE);
        let mut within = |most: f64| (2.0 * stream.unit() - 1.0) * most;
        let (angle, slant) = (within(0.2), within(0.2));
        let [wide, high] = [1.0 + within(0.1), 1.0 + within(0.1)];
        let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
        let fixed = |part: f64| libm::rint(part * whole) as i64;
        Self {
            across: [fixed(cosine * wide), fixed(slant - sine)],
            down: [fixed(sine), fixed(cosine * high)],
            moved: [fixed(within(1.0)), fixed(within(1.0))],
        }
    }
}

impl Recipe {
    /// A pixel of the copy of some pixels.
    fn mix(&self, pixels: &[u8], to: usize) -> u8 {
        match self.0[to][..] {
            [(from, _)] => pixels[from],
            ref parts => {
                let sum: u32 = parts.iter().map(|&(from, part)| part * u32::from(pixels[from])).sum();
                ((sum + WHOLE / 2) / WHOLE) as u8
            }
        }
    }

    /// The pixel that most of a pixel of the copy is made of.
    fn nearest(&self, to: usize) -> usize {
        self.0[to].iter().rev().max_by_key(|&&(_, part)| part).map_or(to, |&(from, _)| from)
    }
}

enum Owned<'a> {
    Table(Table),
    Bits(BitMatrix),
    Copies(Copies<'a>),
}

impl<'a> Augmented<'a> {
    /// The rows and the others; images of pixels are made when they are asked for, where they may be.
    ///
    /// # Errors
    /// When the rows are no images, or memory runs out.
    pub(super) fn new(
        train: &LabelledRows<'a>,
        image: Option<ImageShape>,
        ways: &[Augment],
        when_asked: bool,
    ) -> Result<Option<Self>> {
        if ways.is_empty() {
            return Ok(None);
        }
        if ways.len() > MOST_WAYS {
            return Err(Error::setting(format!("augment has more than {MOST_WAYS} ways")));
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
        let recipes = recipes(image, ways);
        let mut random = warps(image, ways.iter().filter(|&&way| way == Augment::Warp).count());
        // The copies whose brightness changes come last.
        let shaded = if ways.contains(&Augment::Jitter) { JITTERS } else { 0 };
        random.extend((0..shaded).map(|copy| moves(image, ways.contains(&Augment::Mirror), copy)));
        if recipes.is_empty() && random.is_empty() {
            return Ok(None);
        }
        let mut recipes: Vec<Vec<Recipe>> = match train.rows.len() < MANY_ROWS {
            true => recipes.into_iter().flatten().map(|recipe| vec![recipe]).collect(),
            false => recipes,
        };
        recipes.extend(random);
        let copies = recipes.len();
        let bits = match train.rows {
            Rows::Raw(table) => match (table.pixels(), table.bits()) {
                (Some(bytes), _) => {
                    let made = Copies { table, bytes, image, recipes, shaded };
                    let rows = match when_asked {
                        true => Owned::Copies(made),
                        false => Owned::Table(made.table(0..made.rows())?),
                    };
                    return Self::with(train, rows, copies).map(Some);
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
        for (copy, recipes) in recipes.iter().enumerate().take(copies) {
            for to in 0..columns {
                let from: Vec<usize> = recipes.iter().map(|recipe| recipe.nearest(to)).collect();
                for row in (0..bits.rows()).filter(|&row| bits.get(row, from[row % from.len()])) {
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

    fn with(train: &LabelledRows<'_>, rows: Owned<'a>, copies: usize) -> Result<Self> {
        let labels = match train.labels.values() {
            Some(values) => Labels::from_values(values.repeat(copies + 1))?,
            None => Labels::new(train.labels.classes().to_vec(), train.labels.codes().repeat(copies + 1))?,
        };
        let weights = train.weights.map(|weights| weights.repeat(copies + 1));
        Ok(Self { rows, labels, weights })
    }

    /// The labels of all rows, and all rows; or the originals alone, where the others are made when they are asked for.
    pub(super) fn rows(&self) -> LabelledRows<'_> {
        let rows = match &self.rows {
            Owned::Table(table) => Rows::Raw(table.view()),
            Owned::Bits(bits) => Rows::Bits(bits.view()),
            Owned::Copies(copies) => Rows::Raw(copies.table),
        };
        LabelledRows { rows, labels: &self.labels, weights: self.weights.as_deref() }
    }

    /// The images that are made when they are asked for.
    pub(super) fn images(&self) -> Option<&dyn MakeImages> {
        match &self.rows {
            Owned::Copies(copies) => Some(copies),
            _ => None,
        }
    }
}

fn names(made: Table, table: crate::encode::TableView<'_>) -> Result<Table> {
    if !table.is_named() {
        return Ok(made);
    }
    made.with_names((0..table.columns()).map(|column| table.name(column).into_owned()).collect())
}

/// What a copy of an image is made of, given that for the pixel in each column and line.
fn recipe(image: ImageShape, from: impl Fn(usize, usize) -> Vec<((usize, usize), u32)>) -> Recipe {
    let pixel = |column: usize| {
        let (line, x) = (column / image.width, column % image.width);
        let place = |(x, y): (usize, usize)| (line / image.height * image.height + y) * image.width + x;
        let parts = from(x, line % image.height).into_iter();
        parts.map(|(from, part)| (place(from), part)).collect()
    };
    Recipe((0..image.columns()).map(pixel).collect())
}

/// What the copies of an image are made of, those of each way together.
fn recipes(image: ImageShape, ways: &[Augment]) -> Vec<Vec<Recipe>> {
    let whole = |x: usize, y: usize| vec![((x, y), WHOLE)];
    let mut copies = Vec::new();
    if ways.contains(&Augment::Shift) {
        let mut moved = vec![
            recipe(image, |x, y| whole(x.saturating_sub(1), y)),
            recipe(image, |x, y| whole((x + 1).min(image.width - 1), y)),
        ];
        if image.height > 1 {
            moved.push(recipe(image, |x, y| whole(x, y.saturating_sub(1))));
            moved.push(recipe(image, |x, y| whole(x, (y + 1).min(image.height - 1))));
        }
        copies.push(moved);
    }
    if ways.contains(&Augment::Mirror) {
        copies.push(vec![recipe(image, |x, y| whole(image.width - 1 - x, y))]);
    }
    if ways.contains(&Augment::Turn) && image.height > 1 {
        let turned = |sine| recipe(image, |x, y| mapped(image, x, y, &Affine::turn(sine)));
        copies.push(vec![turned(SINE), turned(-SINE)]);
    }
    copies
}

/// What warped copies are made of, each in several ways that images take in turn.
fn warps(image: ImageShape, times: usize) -> Vec<Vec<Recipe>> {
    let warp = |position: usize| {
        let affine = Affine::warp(&mut Stream::new(0, Purpose::Augment, position as u64));
        recipe(image, |x, y| mapped(image, x, y, &affine))
    };
    let copies = if image.height > 1 { times * WARPED } else { 0 };
    (0..copies).map(|copy| (copy * WARPS..(copy + 1) * WARPS).map(warp).collect()).collect()
}

/// What a jittered copy is made of, in all ways that it may be moved, which images take in turn; every other one is mirrored,
/// too, where images are: in the first copy others than in the second.
fn moves(image: ImageShape, mirrors: bool, copy: usize) -> Vec<Recipe> {
    let (wide, high) = (MOVED.min(image.width - 1), MOVED.min(image.height - 1));
    let all = (0..=2 * high).flat_map(|down| (0..=2 * wide).map(move |across| (across, down)));
    let mut all: Vec<(usize, usize)> = all.filter(|&moved| moved != (wide, high)).collect();
    Stream::new(0, Purpose::Augment, JITTERED - 1 - copy as u64).shuffle(&mut all);
    let make = |(at, (across, down)): (usize, (usize, usize))| {
        recipe(image, |x, y| {
            let x = if mirrors && (at + copy) % 2 == 1 { image.width - 1 - x } else { x };
            let moved = |at: usize, by: usize, middle: usize, size: usize| {
                (at + by).saturating_sub(middle).min(size - 1)
            };
            let place = (moved(x, across, wide, image.width), moved(y, down, high, image.height));
            vec![(place, WHOLE)]
        })
    };
    all.into_iter().enumerate().map(make).collect()
}

/// Changes the brightness, the contrast and the tint of an image at random.
fn shade(pixels: &mut [u8], image: ImageShape, (copy, row): (usize, usize)) {
    let mut stream = Stream::new(0, Purpose::Augment, JITTERED + ((copy as u64) << 32) + row as u64);
    let contrast = libm::exp((2.0 * stream.unit() - 1.0) * CONTRAST) * f64::from(WHOLE);
    let contrast = libm::rint(contrast) as i64;
    let mut within = |most: u32| i64::from(stream.below(2 * most + 1)) - i64::from(most);
    let brighter = within(BRIGHTER);
    let sum: i64 = pixels.iter().map(|&pixel| i64::from(pixel)).sum();
    let mean = sum / pixels.len().max(1) as i64;
    for plane in pixels.chunks_exact_mut(image.width * image.height) {
        let base = mean + brighter + if image.channels > 1 { within(TINTED) } else { 0 };
        for pixel in plane {
            let apart = (i64::from(*pixel) - mean) * contrast / i64::from(WHOLE);
            *pixel = (base + apart).clamp(0, 255) as u8;
        }
    }
}

/// The four pixels around the place that a pixel of a copy comes from, and how much of each it is.
fn mapped(image: ImageShape, x: usize, y: usize, affine: &Affine) -> Vec<((usize, usize), u32)> {
    let whole = i64::from(WHOLE);
    // Twice the distance from the middle, which may be between two pixels.
    let (wide, high) = (image.width as i64 - 1, image.height as i64 - 1);
    let (across, down) = (2 * x as i64 - wide, 2 * y as i64 - high);
    let left = (across * affine.across[0] + down * affine.across[1] + wide * whole) / 2 + affine.moved[0];
    let top = (across * affine.down[0] + down * affine.down[1] + high * whole) / 2 + affine.moved[1];
    // The place is between two pixels, and so near the first in 256ths.
    let near = |at: i64, step: i64, most: i64| {
        let part = (at.rem_euclid(whole) >> 8) as u32;
        let pixel = (at.div_euclid(whole) + step).clamp(0, most) as usize;
        (pixel, if step == 0 { 256 - part } else { part })
    };
    let mut parts: Vec<((usize, usize), u32)> = Vec::new();
    for (down, across) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let ((x, part), (y, other)) = (near(left, across, wide), near(top, down, high));
        let part = part * other;
        match parts.iter_mut().find(|(place, _)| *place == (x, y)) {
            Some((_, sum)) => *sum += part,
            None if part > 0 => parts.push(((x, y), part)),
            None => {}
        }
    }
    parts
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
        let made = Augmented::new(&rows, Some(image), &ways, false).unwrap().unwrap();
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
        let made = Augmented::new(&rows, Some(image), &[Augment::Mirror], false).unwrap().unwrap();
        let Rows::Bits(all) = made.rows().rows else { panic!("bits were given") };
        let row = |row: usize| (0..6).map(|column| u8::from(all.get(row, column))).collect::<Vec<_>>();
        assert_eq!((row(0), row(1)), (vec![1, 0, 0, 0, 1, 1], vec![0, 0, 1, 1, 1, 0]));
        assert!(Augmented::new(&rows, None, &ways, false).is_err_and(|error| error.is_setting()));
    }

    #[test]
    fn images_are_turned_about_their_middle() {
        let image = ImageShape::grey(15, 15);
        // A line from the top to the bottom, through the middle.
        let pixels: Vec<u8> = (0..225).map(|at| if at % 15 == 7 { 255 } else { 0 }).collect();
        let table = Table::from_pixels(225, pixels).unwrap();
        let labels = Labels::new(vec!["a".into(), "b".into()], vec![1]).unwrap();
        let rows = LabelledRows { rows: Rows::Raw(table.view()), labels: &labels, weights: None };
        let made = Augmented::new(&rows, Some(image), &[Augment::Turn], false).unwrap().unwrap();
        let Rows::Raw(all) = made.rows().rows else { panic!("a table was given") };
        let copies: Vec<&[u8]> = all.pixels().unwrap().chunks_exact(225).skip(1).collect();
        // The tangent of nine degrees is 0.158: seven lines off the middle are 1.1 pixels.
        let brightest = |copy: usize, y: usize| (0..15).max_by_key(|&x| copies[copy][y * 15 + x]).unwrap();
        assert_eq!([brightest(0, 0), brightest(0, 7), brightest(0, 14)], [6, 7, 8]);
        assert_eq!([brightest(1, 0), brightest(1, 7), brightest(1, 14)], [8, 7, 6]);
        assert_eq!(copies[0][7 * 15 + 7], 255);
        // One and the other way undo each other about the middle, and what is between two pixels is of both.
        let line: u32 = (0..15).map(|x| u32::from(copies[0][3 * 15 + x])).sum();
        assert!((240..=275).contains(&line) && copies[0].iter().filter(|&&pixel| pixel > 0).count() > 15);
        let bits = BitMatrix::from_bools(225, &(0..225).map(|at| at % 15 == 7).collect::<Vec<_>>()).unwrap();
        let rows = LabelledRows { rows: Rows::Bits(bits.view()), ..rows };
        let made = Augmented::new(&rows, Some(image), &[Augment::Turn], false).unwrap().unwrap();
        let Rows::Bits(all) = made.rows().rows else { panic!("bits were given") };
        assert!(all.get(1, 6) && all.get(1, 7 * 15 + 7) && all.get(1, 14 * 15 + 8) && !all.get(1, 7));
        // Warped copies are of the same size and shade, and not the same.
        let made = Augmented::new(
            &LabelledRows { rows: Rows::Raw(table.view()), ..rows },
            Some(image),
            &[Augment::Warp],
            false,
        );
        let made = made.unwrap().unwrap();
        let Rows::Raw(all) = made.rows().rows else { panic!("a table was given") };
        let copies: Vec<&[u8]> = all.pixels().unwrap().chunks_exact(225).collect();
        assert_eq!(copies.len(), 1 + WARPED);
        for copy in &copies[1..] {
            let sum: u32 = copy.iter().map(|&pixel| u32::from(pixel)).sum();
            assert!((3000..=4700).contains(&sum) && copy != &copies[0], "{sum}");
            assert!((6..=8).any(|x| copy[7 * 15 + x] > 80));
        }
        // Named twice, twice as many, and all others; not without end.
        let warped = |times: usize| {
            let rows = LabelledRows { rows: Rows::Raw(table.view()), ..rows };
            Augmented::new(&rows, Some(image), &vec![Augment::Warp; times], false)
        };
        let twice = warped(2).unwrap().unwrap();
        let Rows::Raw(all) = twice.rows().rows else { panic!("a table was given") };
        let twice: Vec<&[u8]> = all.pixels().unwrap().chunks_exact(225).collect();
        assert_eq!(twice[..copies.len()], copies);
        assert!(
            twice.len() == 1 + 2 * WARPED && twice[copies.len()..].iter().all(|copy| !copies.contains(copy))
        );
        assert!(warped(21).is_err_and(|error| error.is_setting()));
        // There is nothing to turn in a sequence.
        assert!(
            Augmented::new(&rows, Some(ImageShape::grey(225, 1)), &[Augment::Turn], false).unwrap().is_none()
        );
    }

    #[test]
    fn jittered_images_are_moved_and_shaded_and_some_are_mirrored() {
        let image = ImageShape { width: 9, height: 8, channels: 3 };
        let pixel = |channel: usize, x: usize, y: usize| (30 + channel * 60 + y * 9 + x) as u8;
        let one: Vec<u8> = (0..216).map(|at| pixel(at / 72, at % 9, at / 9 % 8)).collect();
        let table = Table::from_pixels(216, one.repeat(48)).unwrap();
        let labels = Labels::new(vec!["a".into(), "b".into()], vec![1; 48]).unwrap();
        let rows = LabelledRows { rows: Rows::Raw(table.view()), labels: &labels, weights: None };
        let mut shades = std::collections::BTreeSet::new();
        for (mirrors, first) in [(false, 0), (true, 0), (true, 1)] {
            let moved: Vec<Vec<u8>> = moves(image, mirrors, first)
                .iter()
                .map(|recipe| (0..216).map(|to| recipe.mix(&one, to)).collect())
                .collect();
            let mut seen = std::collections::BTreeSet::new();
            for (at, copy) in moved.iter().enumerate() {
                // What is in the middle says how it was moved.
                let place = usize::from(copy[4 * 9 + 4]) - 30;
                let (left, up) = ((place % 9) as isize - 4, (place / 9) as isize - 4);
                for (to, &found) in copy.iter().enumerate() {
                    let (x, y) = (to % 9, to / 9 % 8);
                    let x = if mirrors && (at + first) % 2 == 1 { 8 - x } else { x };
                    let place =
                        |at: usize, by: isize, most: isize| (at as isize + by).clamp(0, most) as usize;
                    assert_eq!(found, pixel(to / 72, place(x, left, 8), place(y, up, 7)));
                }
                seen.insert(place);
            }
            assert!(seen.len() == 48 && !seen.contains(&(4 * 9 + 4)));
            let ways: &[Augment] =
                if mirrors { &[Augment::Jitter, Augment::Mirror] } else { &[Augment::Jitter] };
            let made = Augmented::new(&rows, Some(image), ways, false).unwrap().unwrap();
            let Rows::Raw(all) = made.rows().rows else { panic!("a table was given") };
            assert_eq!(all.rows(), 48 * (JITTERS + ways.len()));
            let copies = all.pixels().unwrap()[48 * 216 * (first + ways.len())..].chunks_exact(216);
            for (copy, moved) in copies.zip(&moved) {
                // Brighter pixels of a colour stay so, and none is far from what it was.
                for (copy, moved) in copy.chunks_exact(72).zip(moved.chunks_exact(72)) {
                    let pairs = copy.iter().zip(moved);
                    assert!(pairs.clone().all(|(&a, &b)| a.abs_diff(b) < 75));
                    let mut pairs: Vec<(u8, u8)> = pairs.map(|(&a, &b)| (b, a)).collect();
                    pairs.sort_unstable();
                    assert!(pairs.is_sorted_by_key(|pair| pair.1));
                }
                shades.insert(copy.iter().map(|&pixel| u32::from(pixel)).sum::<u32>());
            }
        }
        assert!(shades.len() > 40);
        // A sequence is moved along.
        let table = Table::from_pixels(3, vec![1, 2, 3]).unwrap();
        let labels = Labels::new(vec!["a".into(), "b".into()], vec![1]).unwrap();
        let rows = LabelledRows { rows: Rows::Raw(table.view()), labels: &labels, weights: None };
        let made =
            Augmented::new(&rows, Some(ImageShape::grey(3, 1)), &[Augment::Jitter], false).unwrap().unwrap();
        assert_eq!(made.rows().labels.len(), 1 + JITTERS);
    }

    #[test]
    fn many_images_have_a_copy_each() {
        let pixels: Vec<u8> = (0..MANY_ROWS).flat_map(|row| [row as u8, 1, 2]).collect();
        let table = Table::from_pixels(3, pixels).unwrap();
        let labels = Labels::new(vec!["a".into(), "b".into()], vec![0; MANY_ROWS]).unwrap();
        let rows = LabelledRows { rows: Rows::Raw(table.view()), labels: &labels, weights: None };
        let made =
            Augmented::new(&rows, Some(ImageShape::grey(3, 1)), &[Augment::Shift], false).unwrap().unwrap();
        let Rows::Raw(all) = made.rows().rows else { panic!("a table was given") };
        let copies = &all.pixels().unwrap()[3 * MANY_ROWS..];
        assert_eq!(copies.len(), 3 * MANY_ROWS);
        assert_eq!(copies[..12], [0, 0, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2]);
        assert_eq!(made.rows().labels.len(), 2 * MANY_ROWS);
        let both = [Augment::Shift, Augment::Mirror];
        let made = Augmented::new(&rows, Some(ImageShape::grey(3, 1)), &both, false).unwrap().unwrap();
        let Rows::Raw(all) = made.rows().rows else { panic!("a table was given") };
        assert_eq!(all.pixels().unwrap()[6 * MANY_ROWS..][..6], [2, 1, 0, 2, 1, 1]);
        assert_eq!(made.rows().labels.len(), 3 * MANY_ROWS);
        let weighed = LabelledRows { weights: Some(&[]), ..rows };
        assert!(Augmented::new(&weighed, Some(ImageShape::grey(3, 1)), &[], false).unwrap().is_none());
    }
}
