//! Planes of images: one question asked of every pixel.

use super::lines::some_of;
use crate::circuit::Planes;
use crate::encode::{BitMeaning, Encoder, ImageShape, Input, Kind, TableView, Test, Value};
use crate::random::{Purpose, Stream};
use crate::{Error, Result};

/// Which planes of images there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlaneSettings {
    /// Levels of brightness, or of numbers, that pixels are compared with.
    pub(crate) levels: usize,
    /// Pixels nearby that each pixel is compared with.
    pub(crate) comparisons: usize,
    /// How far away those are at the most, across and down.
    pub(crate) reach: usize,
    /// By how much a pixel must be above the other, in parts of the range from the least to the greatest value.
    pub(crate) margin: f64,
    /// Where the choice of comparisons comes from.
    pub(crate) seed: u64,
}

/// One question asked at every place of an image.
#[derive(Debug, Clone, PartialEq)]
enum Question {
    Alone { channel: usize, test: Test },
    Pair { channel: usize, other: usize, step: (isize, isize), margin: f64 },
}

/// An encoder with a bit for every place of every plane, and which bit is where.
#[derive(Debug, Clone)]
pub(crate) struct PlaneEncoder {
    /// The encoder: its bits are those of the planes and no others.
    pub(crate) encoder: Encoder,
    /// The bit of each place.
    pub(crate) planes: Planes,
    /// How many of the planes, the first ones, ask for a level; the others compare.
    pub(crate) levels: usize,
}

impl PlaneEncoder {
    /// The planes of images in a table: levels of each channel, and comparisons of pixels with others near them. Levels of
    /// pixels are some of those the encoder asks for; where that is one bit, pixels have no more to compare. Ready bits are
    /// planes as they are.
    ///
    /// # Errors
    /// When the image has other columns than the table, or these are neither pixels, numbers nor bits, all alike.
    pub(crate) fn new(
        encoder: &Encoder,
        table: TableView<'_>,
        image: ImageShape,
        settings: &PlaneSettings,
    ) -> Result<Self> {
        check_shape(image, table.columns())?;
        let kind = table.kind(0);
        if (1..table.columns()).any(|column| table.kind(column) != kind) {
            return Err(Error::data("patterns are of images whose columns are all of one kind"));
        }
        let range = match kind {
            Kind::Bit => (0.0, 1.0),
            Kind::Pixel => (0.0, 255.0),
            Kind::Number => number_range(table),
            _ => return Err(Error::data(format!("patterns are of pixels, numbers or bits, not of {kind}"))),
        };
        let name = |position| table.name(position).into_owned();
        let tests = match kind {
            Kind::Bit => vec![Test::Set],
            Kind::Pixel => encoder.level_tests().into_iter().cloned().collect(),
            _ => {
                let level = |level| range.0 + (range.1 - range.0) * f64::from(level) / 64.0;
                (1..64).map(|at| Test::Above(level(at))).collect()
            }
        };
        Self::ask(image, kind, range, &tests, name, settings)
    }

    /// The planes of images of ready bits.
    ///
    /// # Errors
    /// When the image has another number of columns.
    pub(crate) fn of_bits(columns: usize, image: ImageShape, settings: &PlaneSettings) -> Result<Self> {
        check_shape(image, columns)?;
        let name = |position| format!("bit_{position}");
        Self::ask(image, Kind::Bit, (0.0, 1.0), &[Test::Set], name, settings)
    }

    fn ask(
        image: ImageShape,
        kind: Kind,
        (low, high): (f64, f64),
        tests: &[Test],
        name: impl Fn(usize) -> String,
        settings: &PlaneSettings,
    ) -> Result<Self> {
        let mut questions = Vec::new();
        for channel in 0..image.channels {
            let tests = some_of(tests, settings.levels).into_iter();
            questions.extend(tests.map(|test| Question::Alone { channel, test }));
        }
        let levels = questions.len();
        if kind != Kind::Bit && high > low && tests.len() > 1 {
            questions.extend(pairs(image, (high - low) * settings.margin, kind == Kind::Pixel, settings));
        }
        let inputs = (0..image.columns())
            .map(|position| Input {
                name: name(position),
                position,
                kind,
                categories: Vec::new(),
                written: None,
            })
            .collect();
        let mut bits = Vec::new();
        let mut places = Vec::with_capacity(questions.len() * image.width * image.height);
        for question in &questions {
            for y in 0..image.height {
                for x in 0..image.width {
                    let meaning = question.at(image, x, y);
                    places.push(meaning.is_some().then_some(bits.len() as u32));
                    bits.extend(meaning);
                }
            }
        }
        let encoder = Encoder::from_parts(image.columns(), inputs, bits)?;
        Ok(Self { encoder, planes: Planes::new(image.width, image.height, places)?, levels })
    }
}

impl Question {
    /// What it asks at a place; nothing where the other pixel is outside.
    fn at(&self, image: ImageShape, x: usize, y: usize) -> Option<BitMeaning> {
        let column =
            |channel: usize, x: usize, y: usize| ((channel * image.height + y) * image.width + x) as u32;
        match self {
            Self::Alone { channel, test } => {
                Some(BitMeaning { column: column(*channel, x, y), test: test.clone() })
            }
            Self::Pair { channel, other, step, margin } => {
                let to =
                    |at: usize, step: isize, size: usize| at.checked_add_signed(step).filter(|&at| at < size);
                let (across, down) = (to(x, step.0, image.width)?, to(y, step.1, image.height)?);
                let test = Test::Exceeds { other: column(*other, across, down), margin: *margin };
                Some(BitMeaning { column: column(*channel, x, y), test })
            }
        }
    }
}

/// Comparisons drawn at random, each once. Of colours, as many within one as between two.
fn pairs(image: ImageShape, margin: f64, is_pixel: bool, settings: &PlaneSettings) -> Vec<Question> {
    let mut stream = Stream::new(settings.seed, Purpose::Patterns, 0);
    let reach = |size: usize| settings.reach.min(size - 1) as isize;
    let (across, down) = (reach(image.width), reach(image.height));
    let mut pairs: Vec<Question> = Vec::new();
    let margin = if is_pixel { margin.round() } else { margin };
    // There may be fewer different ones than asked for.
    for _ in 0..settings.comparisons * 20 {
        if pairs.len() >= settings.comparisons {
            break;
        }
        let mut within = |most: isize| stream.below(2 * most as u32 + 1) as isize - most;
        let step = (within(across), within(down));
        let channel = stream.below(image.channels as u32) as usize;
        let other = match stream.below(2) {
            0 => channel,
            _ => stream.below(image.channels as u32) as usize,
        };
        let question = Question::Pair { channel, other, step, margin };
        if (step != (0, 0) || channel != other) && !pairs.contains(&question) {
            pairs.push(question);
        }
    }
    pairs
}

/// The least and the greatest number of a table, of those that are finite.
fn number_range(table: TableView<'_>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let step = (table.rows() / 1000).max(1);
    for row in (0..table.rows()).step_by(step) {
        for column in 0..table.columns() {
            if let Value::Number(number) = table.value(row, column)
                && number.is_finite()
            {
                (low, high) = (low.min(number), high.max(number));
            }
        }
    }
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

fn check_shape(image: ImageShape, columns: usize) -> Result<()> {
    if image.columns() == columns && columns > 0 {
        return Ok(());
    }
    Err(Error::data(format!(
        "images of {} x {} pixels in {} colours have {} columns, but the rows have {columns}",
        image.width,
        image.height,
        image.channels,
        image.columns()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{EncodeSettings, Table};

    const SETTINGS: PlaneSettings =
        PlaneSettings { levels: 2, comparisons: 9, reach: 2, margin: 0.05, seed: 3 };

    #[test]
    fn planes_ask_the_same_everywhere() {
        let image = ImageShape { width: 5, height: 4, channels: 3 };
        let bytes: Vec<u8> = (0..60 * 7).map(|at: u32| (at * at * 31 % 251) as u8).collect();
        let table = Table::from_pixels(60, bytes.clone()).unwrap();
        let settings = EncodeSettings { pixel_bits: 2, ..EncodeSettings::default() };
        let (encoder, _) = Encoder::fit(&table, &settings).unwrap();
        let made = PlaneEncoder::new(&encoder, table.view(), image, &SETTINGS).unwrap();
        assert_eq!((made.levels, made.planes.count()), (6, 15));
        let bits = made.encoder.transform(&table).unwrap();
        let pixel =
            |row: usize, channel: usize, x: usize, y: usize| bytes[row * 60 + channel * 20 + y * 5 + x];
        for row in 0..7 {
            for (x, y) in [(0, 0), (4, 3), (2, 1)] {
                for channel in 0..3 {
                    for (level, test) in encoder.level_tests().into_iter().enumerate() {
                        let bit = made.planes.input(2 * channel + level, x, y).unwrap();
                        let value = Value::Pixel(pixel(row, channel, x, y));
                        assert_eq!(bits.get(row, bit as usize), test.holds(value, &[]));
                    }
                }
                for plane in 6..15 {
                    let Some(bit) = made.planes.input(plane, x, y) else { continue };
                    let meaning = &made.encoder.meanings()[bit as usize];
                    let Test::Exceeds { other, margin } = meaning.test else { panic!("{meaning:?}") };
                    assert_eq!(meaning.column as usize % 20, y * 5 + x);
                    let value = |column: u32| i32::from(bytes[row * 60 + column as usize]);
                    let expected = value(meaning.column) - value(other) > 13;
                    assert_eq!((margin, bits.get(row, bit as usize)), (13.0, expected));
                }
            }
        }
        assert!(PlaneEncoder::new(&encoder, table.view(), ImageShape::grey(5, 4), &SETTINGS).is_err());
    }

    #[test]
    fn bits_that_are_there_are_found() {
        let table = Table::from_pixels(2, vec![0, 9, 200, 100, 90, 9]).unwrap();
        // The encoder has lost the second pixel.
        let settings = EncodeSettings { pixel_bits: 2, ..EncodeSettings::default() };
        let (encoder, _) = Encoder::fit(&table, &settings).unwrap();
        let made = PlaneEncoder::new(&encoder, table.view(), ImageShape::grey(2, 1), &SETTINGS).unwrap();
        let all: Vec<u32> = (0..made.encoder.bits() as u32).collect();
        let (whole, places) = encoder.extended(&made.encoder, &all).unwrap();
        let (bits, expected) = (whole.transform(&table).unwrap(), made.encoder.transform(&table).unwrap());
        for (bit, &place) in places.iter().enumerate() {
            assert_eq!(
                bits.column(place as usize),
                expected.column(bit),
                "{}",
                whole.describe(place as usize)
            );
        }
        let (again, same) = whole.extended(&made.encoder, &all).unwrap();
        assert_eq!((again, same), (whole, places));
    }
}
